"""OpenCL kernels of ``sources/``, compiled here: no finding, the finalizer's object, the text back, pocl's results.

A line ``//! kernel GROUPSxLOCAL args`` before a kernel launches it: ``i32:64:-9:9`` is a buffer of 64 random numbers in a
range, ``local:256`` so many bytes of shared local memory. ``nopocl`` leaves out the comparison of results.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import opencl
import pytest
from finalizer import compile_source, find_agreed_object, normal, why_missing
from tiers import first

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.app.launch.launch_file import LaunchFile
from visa_lsp.app.launch.ready_run import run_ready
from visa_lsp.app.launch.runner import RunOptions, ready
from visa_lsp.codec.decode import decode
from visa_lsp.codec.encode import encode
from visa_lsp.isa.platforms import platform_named
from visa_lsp.program.text_form import module_text
from visa_lsp.sema.lower import resolve_text
from visa_lsp.sim.launch.config import BufferArg, LaunchConfig, LocalArg

pytestmark = pytest.mark.skipif(bool(why_missing()), reason=why_missing())

SOURCES = sorted((Path(__file__).parent / "sources").glob("*.cl"))
DEVICES = (("tgllp", "TGLLP"), ("acm-g10", "DG2"), ("pvc", "PVCXT"), ("skl", "SKL"))
DTYPES = {
    f"{letter}{bits}": f"{kind}{bits}" for letter, kind in (("i", "int"), ("u", "uint")) for bits in (8, 16, 32, 64)
}
# Kernels with float results, and how near they must be.
NEAR = {"vl3": 0.0, "sm": 1e-6, "ctab": 0.0, "tr": 0.0, "ca": 1e-6, "wgf": 1e-6}


def arguments(words: list[str]):
    numbers = np.random.default_rng(1)
    for word in words:
        kind, *rest = word.split(":")
        if kind == "local":
            yield LocalArg(int(rest[0]))
        elif kind.startswith("f"):
            low, high = (float(n) for n in rest[1:] or ("-4", "4"))
            yield BufferArg(numbers.uniform(low, high, int(rest[0])).astype(f"float{kind[1:]}"))
        else:
            limits = np.iinfo(DTYPES[kind])
            low, high = (int(n) for n in rest[1:]) if rest[1:] else (limits.min, limits.max)
            yield BufferArg(numbers.integers(low, high, int(rest[0]), DTYPES[kind], endpoint=True))


def launches(source: Path):
    """Kernel name, groups, local size and arguments of each marked kernel."""
    for line in re.findall(r"^//! (.*)$", source.read_text(), re.MULTILINE):
        name, sizes, *words = line.split()
        if sizes == "skiprun" or "nopocl" in words:
            continue
        words = [w for w in words if not w.startswith("tol:")]
        if any(len(w.split(":")) == 2 and w.split(":")[0] != "local" and int(w.split(":")[1]) < 8 for w in words):
            continue  # a value: only buffers are launched here
        groups, local = (tuple(([int(n) for n in part.split(",")] + [1, 1])[:3]) for part in sizes.split("x"))
        yield name, groups, local, tuple(arguments(words))


@pytest.fixture(scope="module", params=first(2, range(len(SOURCES))), ids=[s.stem for s in SOURCES])
def program(request, tmp_path_factory):
    """Return a source, a device's platform (each source has its own), the folder with the zebin, and the texts."""
    source, (device, platform) = SOURCES[request.param], DEVICES[request.param % len(DEVICES)]
    folder = tmp_path_factory.mktemp(source.stem) / "dump"
    text = source.read_text()
    options = re.search(r"^//opts (.*)$", text, re.MULTILINE)
    return source, platform, folder, compile_source(folder, text, device, options[1] if options else "")


def test_text_object_and_text_again(program, tmp_path: Path) -> None:
    _, platform, _, paths = program
    for at, path in enumerate(paths):
        text = path.read_text(encoding="utf-8")
        assert [d.message for d in Analysis.of(text, platform).diagnostics] == []
        ours = find_agreed_object(tmp_path / str(at), text, platform)
        assert normal(module_text(decode(ours), platform_named(platform))) == normal(text)


def test_the_results_are_those_of_pocl(program) -> None:
    if opencl.why_missing():
        pytest.skip(opencl.why_missing())
    source, platform, folder, paths = program
    if platform == "SKL":
        platform = "TGLLP"  # the engines know its messages; the texts of both are alike
    wanted = list(launches(source))
    if not wanted:
        pytest.skip(f"{source.stem} has work-group functions, which pocl 3.1 has not")
    modules = [resolve_text(p.read_text(), platform).module for p in paths]
    for name, groups, local, args in wanted:
        expected = opencl.run(source.read_text(), name, groups, local, args)
        module = next(m for m in modules if m is not None and any(k.name == name for k in m.kernels))
        config = LaunchConfig(kernel=name, groups=groups, local_size=local, args=args)
        launch = LaunchFile(folder / "case.launch.yaml", None, config, zebin=folder / "z")
        options = RunOptions(platform=platform, engine="interp", checks="none")
        report = run_ready(ready(decode(encode(module)), launch, options))
        assert [str(fault) for fault in report.faults] == []
        for buffer in report.buffers:
            theirs = expected[buffer.arg]
            near = NEAR.get(name, 0.0) if theirs.dtype.kind == "f" else 0.0
            assert np.allclose(buffer.array, theirs, rtol=near, atol=near), (name, buffer.arg)
