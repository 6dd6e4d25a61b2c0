"""The instructions that compiled code leaves to the interpreter, by kernel: ``python -m benchmarks.run --left`` prints the table.

Each kernel of both corpora runs with the launch that ``run --init`` proposes. The first share is that of the executed instructions
that the interpreter carries out: within compiled code, or because compiled code is left there. Barriers and calls of functions of
whole groups are compiled. The second is that of the time of a launch whose code is made: what goes to the interpreter for them. Where nothing is
left, none goes there. A kernel is notable that spends more than 5 % so, whatever their number is.

A second table has the launches without a fault that the interpreter runs, wholly or in part, when all checkers watch, with the reason.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory
from time import thread_time
from typing import TYPE_CHECKING, Final
from unittest.mock import patch

from msgspec.structs import replace

from benchmarks.first import launch_of, short_texts
from benchmarks.measure import table
from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.options import RunOptions
from visa_lsp.app.launch.program import module_of_text
from visa_lsp.app.launch.runner import ready
from visa_lsp.isa.platforms import platform_named
from visa_lsp.sim.jit import engine
from visa_lsp.sim.jit.code_cache import Making
from visa_lsp.sim.jit.machine import CompiledMachine, CompiledThread
from visa_lsp.sim.jit.native import Native
from visa_lsp.sim.machine import run as interpret

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.app.launch.ready_run import ReadyRun

_GROUPS: Final = 4
_STEPS: Final = 3_000_000
NOTABLE: Final = 0.05  # a share above which instructions are worth a compiled form


def instructions_left(run: ReadyRun) -> tuple[Counter[str], int]:
    """Return the interpreted executions of each opcode, and the number of all executed instructions."""
    making = Making()
    result = engine.run(run.dispatch(_STEPS), making=making, at_once=True)
    left = Counter[str]()
    is_whole = all(compiled.body.never_leaves for compiled in making.bodies.values())
    for compiled in making.bodies.values():
        plan, counts = compiled.body, result.executions.get(compiled.code.kernel.name, ())
        for pc in plan.called_out | (plan.exits if is_whole else plan.leaving):
            if pc < len(counts) and counts[pc]:
                left[plan.instructions[pc].row.mnemonic] += counts[pc]
    return left, result.steps


def share_of_time(run: ReadyRun) -> float:
    """Return the share of a launch's time that goes to the interpreter, the least of three runs of code that is made.

    It carries out single instructions within compiled code (``interpret``), and those for which compiled code is left (``enter``).
    """
    spent = Counter[str]()

    def measure(name: str, function: Callable[..., object]) -> Callable[..., object]:
        def run(*arguments: object) -> object:
            began = thread_time()
            try:
                return function(*arguments)
            finally:
                spent[name] += thread_time() - began  # type: ignore[assignment]

        return run

    compiled = Native.function
    with (
        patch.object(CompiledMachine, "interpret", measure("interpret", CompiledMachine.interpret)),
        patch.object(CompiledThread, "enter", measure("enter", CompiledThread.enter)),
        # The scheduler of whole groups is compiled, too; threads are not entered one by one there.
        patch.object(Native, "function", lambda *of: measure(str(of[1]), compiled(*of))),
    ):
        making, shares = Making(), list[float]()
        for _ in range(4):
            spent.clear()
            began = thread_time()
            engine.run(run.dispatch(_STEPS), making=making, at_once=True)
            left = spent["interpret"] + (spent["enter"] - spent["body"] if spent["enter"] else 0)
            shares.append(left / (thread_time() - began))
    return min(shares[1:])


def watched(run: ReadyRun) -> str:
    """Return who ran a launch under all checkers: the reason why it was not compiled code alone, or why it does not count."""
    result = engine.run(run.dispatch(_STEPS), [checker() for checker in engine.WATCHED], at_once=True)
    if any(not fault.is_note for fault in result.faults):
        return "a fault"
    if result.replayed_groups:
        return f"{result.replayed_groups} of {result.groups} groups run again"
    return "; ".join(result.limits)


def print_left(platform: str) -> None:
    """Print the tables of all kernels of the corpora for a platform."""
    rows: list[list[object]] = []
    checked: dict[str, str] = {}
    notable = 0
    with TemporaryDirectory(prefix="visa-bench-") as name:
        for number, (kernel, path) in enumerate(short_texts(platform, "run*")):
            launch = launch_of(path, number, _GROUPS, Path(name))
            if isinstance(launch, str):
                rows.append([f"{path.parts[-4]} {kernel}", "", "", launch])
                continue
            options = RunOptions(platform=platform, path=path)
            module = module_of_text(path.read_text("utf-8"), path, platform_named(platform), [])
            run = ready(module, parse_launch(launch.read_text("utf-8"), launch), options)
            left, steps = instructions_left(run)
            time = share_of_time(run) if left else 0.0
            notable += time > NOTABLE
            checked[f"{path.parts[-4]} {kernel}"] = watched(run)
            words = ", ".join(f"{word} {100 * count / steps:.1f} %" for word, count in left.most_common(6))
            rows.append([f"{path.parts[-4]} {kernel}", 100 * left.total() / max(1, steps), 100 * time, words])
    table(f"left to the interpreter, {platform}, {_GROUPS} groups", ["", "% of instructions", "% of time", ""], rows)
    print(f"{notable} of {len(rows)} kernels spend more than {100 * NOTABLE:.0f} % of their time there")
    clean = {name: why for name, why in checked.items() if why != "a fault"}
    left = [[name, why] for name, why in clean.items() if why]
    table(f"run by the interpreter under all checks, {platform}", ["", "reason"], left)
    print(f"{len(left)} of {len(clean)} launches without a fault")


_SHARING: Final = """.version 4.1
.kernel "share"
.decl at v_type=G type=ud num_elts=16 align=GRF
.kernel_attr SimdSize=16
.function "share_0"
    mov (M1, 16) at(0,0)<1> 0x0:ud
    scatter4_scaled.R (M1, 16) %slm 0x0:ud at.0 at.0
    ret (M1, 16)
"""


def print_slm() -> None:
    """Print the peak memory of a process that runs 10,000 groups with 16 MiB of shared local memory each."""
    rows: list[list[object]] = []
    for name in ("jit", "interp"):
        command = [sys.executable, "-m", "benchmarks.left", name]
        groups, peak = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        rows.append([name, groups, float(peak)])
    table("16 MiB of shared local memory for each group", ["", "groups", "peak MB"], rows)


def _share(name: str) -> None:
    """Run those groups, and print how many have run, and the peak in MB."""
    path = Path("share.visaasm")
    module = module_of_text(_SHARING, path, platform_named("TGLLP"), [])
    launch = parse_launch("groups: [10000, 1, 1]\nlocal_size: [16, 1, 1]\n", path.with_suffix(".launch.yaml"))
    run = ready(module, launch, RunOptions(platform="TGLLP", path=path))
    dispatch = replace(run.dispatch(_STEPS), slm_bytes=1 << 24)
    result = engine.run(dispatch, at_once=True) if name == "jit" else interpret(dispatch)
    print(result.groups, getrusage(RUSAGE_SELF).ru_maxrss / 1024)


if __name__ == "__main__":
    _share(sys.argv[1])
