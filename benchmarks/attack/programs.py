"""Random programs on both engines: what they leave in memory, count and report has to be the same.

Each program runs interpreted and compiled; some as well with checkers, and some with groups side by side, which leave the same
memory. Most are compiled at the cheapest level, for time; a part at the level that users get. The coverage is printed at the end.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from benchmarks.attack.core import Target, Wrong
from benchmarks.attack.program_texts import ASTRAY, program
from visa_lsp.app.launch import runner
from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.ready_run import run_ready
from visa_lsp.app.launch.runner import RunOptions, ready
from visa_lsp.sema.lower import resolve_text
from visa_lsp.sim import machine as sim_machine
from visa_lsp.sim.jit import engine, native, replay

if TYPE_CHECKING:
    import random

    from benchmarks.attack.program_texts import Program
    from visa_lsp.app.launch.report import RunReport

# How many of all programs are compiled at the full level, run with checkers, and run on several threads of the host.
_FULL: Final = 0.08
_WATCHED: Final = 0.4
_SIDE_BY_SIDE: Final = 0.1
_QUANTA: Final = (20, 60, 20_000)  # instructions of a time slice: short ones end in loops
_COUNTED: Final = ("groups", "threads", "instructions", "barriers", "reads", "writes")


class Programs(Target):
    """Programs whose runs are compared."""

    name = "programs"
    suffix = ".visaasm"

    def __init__(self) -> None:
        # Nothing is too small to be compiled, nothing is interpreted first, and no code is kept on disk.
        engine.WARM, engine.MAX_COPIED_BYTES = 0, -1
        runner.open_for_user = lambda *_: None
        self.has: Counter[str] = Counter()  # programs with a kind of statement, a type, a platform
        self.runs: Counter[str] = Counter()
        self.executed: Counter[str] = Counter()  # instructions by mnemonic

    def make(self, draw: random.Random) -> Program:
        """Return a program."""
        return program(draw)

    def to_bytes(self, case: Any) -> bytes:
        """Return the text, and the launch as a comment."""
        launch = "".join(f"// {line}\n" for line in case.launch.splitlines())
        return f"{case.text}\n// platform: {case.platform}\n{launch}".encode()

    def attempt(self, case: Any, draw: random.Random) -> str:
        """Run it."""
        made = resolve_text(case.text, case.platform)
        if made.module is None:
            return "refused"
        launch = replace(parse_launch(case.launch, Path("k.launch.yaml")), platform=case.platform)
        native.LEVEL = 2 if draw.random() < _FULL else 0
        sim_machine.QUANTUM = draw.choice(_QUANTA)
        replay.COPIED = draw.choice((100, 16_000))  # with little, all groups are interpreted when some have been

        def run(which: str, checks: str, threads: int = 1) -> RunReport:
            self.runs[f"compiled at level {native.LEVEL}"] += which == "jit"
            options = RunOptions(engine=which, checks=checks, budget=2_000_000, threads=threads)
            return run_ready(ready(made.module, launch, options))

        one, other = run("interp", "none"), run("jit", "none")
        compare(one, other, "checks none")
        # What goes astray may meet another group's stores: which of them is the last is open then.
        if draw.random() < _SIDE_BY_SIDE and not case.has[ASTRAY]:
            compare_memory(one, run("jit", "none", threads=3), "side by side")
            self.runs["side by side"] += 1
        if draw.random() < _WATCHED:
            one, other = run("interp", "all"), run("jit", "all")
            compare(one, other, "checks all")
            self.runs[f"watched, told by {_name_engines(other)}"] += 1
        self.has.update(kind for kind, count in case.has.items() if count)
        self.has.update(case.types)
        self.executed.update(one.result.instructions)
        return "a fault in both" if one.faults else "the same"

    def describe_cases(self) -> str:
        """Programs by what they have, runs by how they were made, instructions that were executed."""
        has = ", ".join(f"{kind} {count}" for kind, count in sorted(self.has.items()))
        runs = ", ".join(f"{kind} {count}" for kind, count in sorted(self.runs.items()))
        return f"programs with {has}\nruns: {runs}\nexecuted: {self.executed.total()} instructions of {len(self.executed)} mnemonics"


def _name_engines(report: RunReport) -> str:
    """Return the engines behind the report of a watched run."""
    if not report.result.replayed_groups:
        return "compiled code" if report.engine == "jit" else "the interpreter alone"
    return "both engines" if report.engine == "jit" else "the interpreter, which replayed all groups"


def compare(one: RunReport, other: RunReport, where: str) -> None:
    """Compare two reports. Raises Wrong where their memory, counts or findings differ."""
    compare_memory(one, other, where)
    for name in (*_COUNTED, "faults", "findings", "notes"):
        holders = (one.result, other.result) if name in _COUNTED else (one, other)
        mine, theirs = (getattr(holder, name) for holder in holders)
        if name == "notes":  # only the report of the compiled engine says why it did not run
            mine, theirs = (tuple(note for note in notes if "ran the launch" not in note) for notes in (mine, theirs))
        if mine != theirs:
            raise Wrong(f"{where}: {name} of the interpreter {mine!r:.300}, compiled {theirs!r:.300}")


def compare_memory(one: RunReport, other: RunReport, where: str) -> None:
    """Compare two buffers. Raises Wrong at the first different number."""
    for mine, theirs in zip(one.buffers, other.buffers, strict=True):
        different = np.flatnonzero(mine.array != theirs.array)
        if different.size:
            at = int(different[0])
            raise Wrong(
                f"{where}: {mine.title}[{at}] is {mine.array[at]:#x} interpreted and {theirs.array[at]:#x} compiled"
                f" ({different.size} differ)"
            )
