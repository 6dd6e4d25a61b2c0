"""The launches of the corpus as far as their dispatch, for engines beside that of a run."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import corpus_cases
import own_cases
from corpus import HAS_MORE, HAS_OWN, place

from visa_lsp.app.launch.body_source import TextProblems
from visa_lsp.app.launch.file import read_launch_file
from visa_lsp.app.launch.launch_file import LaunchFile
from visa_lsp.app.launch.program import load_program, module_of_text, read_bytes
from visa_lsp.app.launch.runner import LaunchError, RunOptions, ready
from visa_lsp.isa.platforms import platform_named
from visa_lsp.program.model import Module
from visa_lsp.sim.launch.config import LaunchConfig

if TYPE_CHECKING:
    from corpus_cases import Case

    from visa_lsp.app.launch.ready_run import ReadyRun


ROOT = Path(__file__).parents[2]
# Launch files of the project, each with the platforms that it is for.
PLATFORMS = ("TGLLP", "DG2", "PVCXT")
FILES = [
    *((path, name) for path in sorted((ROOT / "examples").glob("*.launch.yaml")) for name in PLATFORMS),
    *((path, None) for path in sorted((ROOT / "tests" / "sim_launch" / "newest").glob("*.launch.yaml"))),
]
CASES = [*(own_cases.cases() if HAS_OWN else ()), *(corpus_cases.cases() if HAS_MORE else ())]


def join(modules: list[Module]) -> Module:
    """Return the module that has a kernel, with the functions of all."""
    first = next(m for m in modules if m.kernels)
    return Module(first.version, first.kernels, first.variables, tuple(f for m in modules for f in m.functions))


@cache
def program(source: str, kernel: str, platform: str, part: str = "run") -> Module:
    """Return the kernel's text, and the functions of its program from their own files."""
    folder = place(f"{part}/{platform}/{source}")
    entry = (folder / f"{source}.zeinfo.yaml").read_text()
    notes: list[str] = []
    modules = [
        module_of_text(path.read_text(), path, platform_named(platform), notes)
        for path in sorted(folder.glob("*.visaasm"))
        if path.stem == kernel or f"name:            {path.stem}\n" not in entry
    ]
    assert notes == [] or part != "run"  # no object holds all that texts of other compilers say
    return join(modules)


def launch_of(case: Case, folder: Path, name: str) -> LaunchFile:
    """Return the launch of a case, whose program ``name`` is in a folder."""
    config = LaunchConfig(
        kernel=case.kernel, groups=case.groups, local_size=case.local, args=case.args, global_offset=case.offset or (0, 0, 0)
    )  # fmt: skip
    return LaunchFile(folder / "case.launch.yaml", None, config, zebin=folder / f"{name}.zebin")


def prepare(case: Case, platform: str) -> ReadyRun:
    """Return a launch that is ready to run, with buffers of its own."""
    launch = launch_of(case, place(f"run/{platform}/{case.source}"), case.source)
    options = RunOptions(platform=platform, engine="interp", checks="none")
    return ready(program(case.source, case.kernel, platform), launch, options)


def prepare_file(path: Path, platform: str | None) -> ReadyRun | None:
    """Return the launch of a file, ready to run; None where its program is not for the platform."""
    try:
        launch = read_launch_file(path)
        assert launch.file is not None
        module, texts = load_program(
            read_bytes(launch.file), launch.file, platform_named(platform or launch.platform or ""), []
        )
        return ready(module, launch, RunOptions(launch.file, platform, engine="interp", checks="none"), (), texts)
    except (LaunchError, TextProblems):
        return None
