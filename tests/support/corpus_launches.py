"""The launches of the corpus as far as their dispatch, for engines beside that of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import corpus_cases
import own_cases
from corpus import HAS_MORE, HAS_OWN, place

from visa_lsp.app.launch.file import LaunchFile
from visa_lsp.app.launch.program import module_of_text
from visa_lsp.app.launch.runner import RunOptions, ready
from visa_lsp.isa.platforms import platform_named
from visa_lsp.program.model import Module
from visa_lsp.sim.launch.config import LaunchConfig

if TYPE_CHECKING:
    from corpus_cases import Case

    from visa_lsp.app.launch.runner import ReadyRun

CASES = [*(own_cases.cases() if HAS_OWN else ()), *(corpus_cases.cases() if HAS_MORE else ())]


def program(case: Case, platform: str) -> Module:
    """Return the kernel's text, and the functions of its program from their own files."""
    folder = place(f"run/{platform}/{case.source}")
    entry = (folder / f"{case.source}.zeinfo.yaml").read_text()
    modules = [
        module_of_text(path.read_text(), path, platform_named(platform), [])
        for path in sorted(folder.glob("*.visaasm"))
        if path.stem == case.kernel or f"name:            {path.stem}\n" not in entry
    ]
    first = next(m for m in modules if m.kernels)
    return Module(first.version, first.kernels, first.variables, tuple(f for m in modules for f in m.functions))


def prepare(case: Case, platform: str) -> ReadyRun:
    """Return a launch that is ready to run, with buffers of its own."""
    folder = place(f"run/{platform}/{case.source}")
    config = LaunchConfig(
        kernel=case.kernel, groups=case.groups, local_size=case.local, args=case.args, global_offset=case.offset or (0, 0, 0)
    )  # fmt: skip
    launch = LaunchFile(folder / "case.launch.yaml", None, config, zebin=folder / f"{case.source}.zebin")
    return ready(program(case, platform), launch, RunOptions(platform=platform, engine="interp", checks="none"))
