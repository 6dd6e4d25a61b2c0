"""Our sources and one-instruction texts against the newest compiler: findings in its texts, launches of them, its verdicts.

``VISA_LSP_TEST_OCLOC`` names the compiler that the tests take (``tests/oracle/ocloc2026/install.sh`` installs one);
``benchmarks.newest`` is given one, and prints everything that is new with it.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import corpus_cases
import own_cases
from corpus import BESIDE, HAS_MORE, OWN, frame_form, place
from corpus_launches import join, launch_of
from corpus_results import compare, kept, of_pocl

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.app.compile.build import Build, build_source, read_source
from visa_lsp.app.compile.outputs import files_of
from visa_lsp.app.launch.program import module_of_text
from visa_lsp.app.launch.ready_run import run_ready
from visa_lsp.app.launch.runner import RunOptions, ready
from visa_lsp.diagnostics import Severity, has_errors
from visa_lsp.isa.platforms import platform_named

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from corpus_cases import Case


INSTALLED = os.environ.get("VISA_LSP_TEST_OCLOC", "")
DEVICES = ("lnl", "ptl", "cri", "nvl-p", "dg2", "tgllp")
EFFICIENT = ("cri", "nvl-p")  # compiled with -enableEfficient64b, another dialect of messages
_STANDARDS = ("-cl-std=CL3.0", "-cl-std=CL2.0")  # media block functions are in the older one only
_ROOT = Path(__file__).parents[2]
_ON_PURPOSE = "faulty.cl"  # what is found in these kernels is right
_BATCH_FORMS = 32  # a kernel each; one compilation takes 0.3 s and 10 ms a kernel
_SECONDS = 120


def why_missing() -> str:
    """Return the reason why there is no compiler of 2026 here; empty where there is one."""
    if INSTALLED:
        return ""
    return "no ocloc of 2026 (tests/oracle/ocloc2026/install.sh DIR, then VISA_LSP_TEST_OCLOC=DIR/ocloc)"


# ---- sources


def sources() -> list[Path]:
    """Return all OpenCL sources of the repository, and those of the corpus beside it."""
    own = (path for room in ("tests", "examples", "benchmarks") for path in (_ROOT / room).rglob("*.cl"))
    more = (BESIDE / "dev" / "cl").glob("*.cl") if HAS_MORE else ()
    return sorted(path for path in (*own, *more) if path.name != _ON_PURPOSE)


def compile_source(path: Path, device: str, tool: str, options: str = "") -> Build:
    """Compile a source for a device by the first standard of OpenCL that the compiler takes it in."""
    for standard in _STANDARDS:
        build = build_source(read_source(str(path)), device, f"{standard} {options}".strip(), tool)
        if build.program is not None:
            break
    return build


def findings_in(build: Build) -> list[str]:
    """Return the errors and warnings in the texts of a build."""
    return [
        f"{text.name}: {d.severity.value} {d.rule.code}: {d.message}"
        for text in build.texts
        for d in Analysis.of(text.text, build.platform).diagnostics
        if d.severity in (Severity.ERROR, Severity.WARNING)
    ]


# ---- launches


def launches() -> dict[str, list[Case]]:
    """Return the launches of each source that has any, by the source's name."""
    found: dict[str, list[Case]] = {}
    for case in (*own_cases.launches(), *(corpus_cases.cases() if HAS_MORE else ())):
        found.setdefault(case.source, []).append(case)
    return found


def source_of(name: str) -> Path:
    """Return the source that launches speak of by its name."""
    return next(path for folder in ("cl", "dev/cl") if (path := place(f"{folder}/{name}.cl")).exists())


def check_launch(case: Case, build: Build, engine: str = "interp") -> None:
    """Run a kernel of a build. Raises AssertionError for other results than expected, and for faults."""
    chosen = [text for text in build.texts if not text.is_kernel or text.name == case.kernel]
    with TemporaryDirectory() as room:
        folder = Path(room)
        for file, data in files_of(build).items():
            (folder / file).write_bytes(data)
        platform = platform_named(build.platform)
        modules = [module_of_text(text.text, folder / f"{text.name}.visaasm", platform, []) for text in chosen]
        program = join(modules)
        options = RunOptions(platform=build.platform, engine=engine, checks="all")
        report = run_ready(ready(program, launch_of(case, folder, build.source.path.stem), options))
    faults = [str(fault) for fault in report.faults if fault.kind.value != case.reports]
    assert faults == [], faults  # without pytest an assertion says no more than this
    compare(
        case,
        {buffer.arg: buffer.array for buffer in report.buffers},
        _compute_expected(case, program.kernels[0].int_attribute("SimdSize")),
    )


def _compute_expected(case: Case, simd: int) -> dict[int, np.ndarray]:
    if case.reference:
        return case.reference([getattr(arg, "array", None) for arg in case.args], simd)
    return kept(case, simd) if source_of(case.source).is_relative_to(OWN) else of_pocl(case)[0]


# ---- verdicts


def own_forms() -> list[str]:
    """Return the one-instruction forms of ``tests/own/forms.txt``."""
    lines = (OWN / "forms.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def whole_text(form: str, device: str) -> str:
    """Return a text of 4.2 that holds a form of ``tests/own/forms.txt``."""
    return for_device(frame_form(form)[0].replace(".version 4.1", ".version 4.2", 1), device)


def for_device(text: str, device: str) -> str:
    """Return a text with the build option by which the compiler states the dialect of a device."""
    return f'{text}//Build option: "-enableEfficient64b"\n' if device in EFFICIENT else text


def is_accepted(text: str, device: str) -> bool:
    """Return whether visa-lsp has no error in a text."""
    platform = platform_named(device)
    assert platform is not None
    return not has_errors(Analysis.of(text, platform.name).diagnostics)


def compiler_verdicts(texts: Sequence[str], device: str, tool: str) -> list[str]:
    """Return for each text of one kernel whether the compiler takes its body as inline assembly: accept, reject or crash."""
    found: list[str] = []
    while len(found) < len(texts):
        with TemporaryDirectory() as room:
            found += _of_batch(texts[len(found) : len(found) + _BATCH_FORMS], device, tool, Path(room))
    return found


def _of_batch(texts: Sequence[str], device: str, tool: str, folder: Path) -> list[str]:
    """Return the verdicts of one compilation. Kernels are compiled in their order; a crash is the last one's, and ends it."""
    (folder / "k.cl").write_text("".join(_kernel(number, text) for number, text in enumerate(texts)), encoding="utf-8")
    command = [tool, "compile", "-file", "k.cl", "-device", device, "-output", "z"]
    dump = {"IGC_ShaderDumpEnable": "1", "IGC_DumpToCustomDir": str(folder), "IGC_ShaderDumpPidDisable": "1"}
    done = subprocess.run(
        command, cwd=folder, env=os.environ | dump, capture_output=True, text=True, check=False, timeout=_SECONDS
    )
    said = done.stdout + done.stderr
    ended = "Build succeeded" in said or "Build failed" in said
    crashed = not ended or "Internal Compiler Error" in said
    assert crashed or "Build succeeded" in said or "parsing vISA inline assembly failed" in said, said
    # What is verified is printed once more, without the mark of what is inline.
    names = [path.name.split("_entry_")[1].split(".", 1) for path in folder.glob("*_simd16_entry_*.visaasm")]
    accepted = {int(number) for number, ending in names if ending == "visaasm"}
    last = max((int(number) for number, _ in names), default=1) if crashed else len(texts) + 1
    found = ["accept" if number in accepted else "reject" for number in range(1, min(last, len(texts) + 1))]
    return [*found, "crash"] if crashed else found


def _kernel(number: int, text: str) -> str:
    lines = (line.strip() for line in text.splitlines())
    body = [line for line in lines if line.startswith(".decl") or (line and not line.startswith((".", "//")))]
    inside = ("{", *body[: body.index("ret (M1, 1)")], "}")
    quoted = "\n".join("    " + json.dumps(line + "\n") for line in inside)
    return (
        "__attribute__((intel_reqd_sub_group_size(16)))\n"
        f"kernel void k{number}(global int *p) {{\n  __asm__ volatile(\n{quoted});\n}}\n"
    )
