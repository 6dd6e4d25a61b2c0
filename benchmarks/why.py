"""Does ``visa-lsp why`` name the cause? Planted mutants, a race, and its time and memory for ten million instructions.

    python -m benchmarks.why [COUNT] [SEED] [--kernels N] [--show] [--quick]

In N kernels (20) of the corpus one instruction is changed at a time: another opcode, operand or number, until COUNT
mutants (300) leave other buffers than the original. The first element that differs is the value in question, the
original the reference. Found means that the line of the mutant is among the first 10 nodes. Then a race whose two
parties must both be named, and two launches of ten million instructions: many groups, and one long group. ``--quick``
leaves those out. Exit 1 where less than 90 % are found, or a party is missing.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.compare_runs import beside, kernels
from benchmarks.measure import product, run
from benchmarks.planted import EDITS
from visa_lsp.app.compare_runs.grid import launches_for
from visa_lsp.app.compare_runs.programs import program_at
from visa_lsp.app.errors import UserError
from visa_lsp.app.launch.body_source import TextProblems
from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.options import RunOptions
from visa_lsp.app.launch.runner import LaunchError, run_launch
from visa_lsp.app.launch.unit import job_at
from visa_lsp.app.why.answer import WhyQuestion, answer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.measure import Cost
    from visa_lsp.app.launch.report import RunReport

KINDS: Final = ("opcode", "operand", "immediate")
FIRST: Final = 10  # nodes
WANTED: Final = 0.9
_DRAWS: Final = 60
_OPTIONS: Final = RunOptions(engine="interp", checks="none", budget=50_000)
_ROOT: Final = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class MutantAnswer:
    """The answer for one mutant: its line, from 1, and the rank of its first node, 0 where no node has the line."""

    kernel: str
    kind: str
    line: int
    value: str
    rank: int
    nodes: int
    seconds: float


def buffers_of(path: Path, launch_path: Path) -> RunReport | None:
    """Return the report of a plain run; None where the program cannot be run, or fails."""
    try:
        launch = parse_launch(launch_path.read_text(encoding="utf-8"), launch_path)
        report = run_launch(launch, replace(_OPTIONS, path=path))
    except (LaunchError, TextProblems):
        return None
    return report if not report.faults else None


def first_difference(a: RunReport, b: RunReport) -> str | None:
    """Return the words of the first element that differs between two runs."""
    for ours, theirs in zip(a.buffers, b.buffers, strict=True):
        left, right = (np.ascontiguousarray(one.array).reshape(-1) for one in (ours, theirs))
        bits = left.view(np.uint8).reshape(left.size, -1) != right.view(np.uint8).reshape(left.size, -1)
        bad = np.flatnonzero(bits.any(axis=1))
        if bad.size:
            return f"{ours.arg}[{bad[0]}]"
    return None


def mutants_of(path: Path, count: int, draw: random.Random, folder: Path) -> Iterator[MutantAnswer]:
    """Yield the answers for up to ``count`` mutants of one kernel."""
    text = path.read_text(encoding="utf-8")
    original = beside(path, text, folder, "a")
    try:
        launch = launches_for([program_at(str(original))], None, _OPTIONS)[-1]
    except (UserError, TextProblems):
        return
    launch_path = original.with_suffix(".launch.yaml")
    launch_path.write_text(launch.text, encoding="utf-8")
    before = buffers_of(original, launch_path)
    if before is None:
        return
    done, seen = 0, set[str]()
    for _ in range(_DRAWS * count):
        if done == count:
            return
        kind = draw.choice(KINDS)
        edit = EDITS[kind](text.splitlines(), draw)
        if edit is None or "\n".join(edit[0]) in seen:
            continue
        seen.add("\n".join(edit[0]))
        changed = beside(path, "\n".join(edit[0]) + "\n", folder, "b")
        after = buffers_of(changed, launch_path)
        value = first_difference(after, before) if after is not None else None
        if value is None:
            continue
        (line,) = edit[2]
        began = time.process_time()
        found = answer(
            WhyQuestion(value), job_at(str(changed), str(launch_path), RunOptions()), program_at(str(original))
        )
        lines = [node.line for node in found.nodes]
        rank = lines.index(line + 1) + 1 if line + 1 in lines else 0
        yield MutantAnswer(path.name, kind, line + 1, value, rank, found.total, time.process_time() - began)
        done += 1


def race_is_named() -> bool:
    """Return whether both parties of the race of ``examples/average.visaasm`` are nodes of the answer for ``x[15]``."""
    found = answer(WhyQuestion("x[15]"), job_at(str(_ROOT / "examples" / "average.visaasm"), None, RunOptions()))
    parties = {(node.group, node.line) for node in found.nodes if node.races}
    return len({group for group, _ in parties}) > 1 and len({line for _, line in parties}) > 1


# Ten million instructions: 720,000 groups, and one group of one thread.
TEN_MILLION_STEPS: Final = {
    "saxpy": (
        _ROOT / "examples" / "saxpy.visaasm",
        """\
groups: [720000]
local_size: [16]
args:
  x: {buffer: {dtype: float32, shape: [11520000], init: arange}}
  y: {buffer: {dtype: float32, shape: [11520000], init: ones}}
  a: {value: 2.5}
  n: {value: 11520000}
""",
        "y[5000000]",
    ),
    "long_loop": (
        Path(__file__).parent / "kernels" / "long_loop.visaasm",
        """\
groups: [1]
local_size: [16]
args:
  n: {value: 1250000}
  y: {buffer: {dtype: int32, shape: [16], init: zeros}}
""",
        "y[5]",
    ),
}


def large_costs(name: str) -> tuple[Cost, Cost]:
    """Return the costs of ``why`` and of ``run --checks none`` for a launch of ten million instructions."""
    path, launch, value = TEN_MILLION_STEPS[name]
    with TemporaryDirectory() as folder:
        file = Path(folder) / "large.launch.yaml"
        file.write_text(launch, encoding="utf-8")
        words = [str(path), "--launch", str(file)]
        plain = run(product("run", *words, "--checks", "none"))
        run(product("why", *words, "--value", value))  # compiles, and keeps what it compiled
        return run(product("why", *words, "--value", value)), plain


def main() -> int:
    """Plant changes, run ``why``, print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.why", description=__doc__)
    parser.add_argument("count", nargs="?", type=int, default=300)
    parser.add_argument("seed", nargs="?", type=int, default=1)
    parser.add_argument("--kernels", type=int, default=20)
    parser.add_argument("--show", action="store_true", help="print a line for each mutant")
    parser.add_argument("--quick", action="store_true", help="leave out the launches of ten million instructions")
    args = parser.parse_args()
    draw = random.Random(args.seed)
    answers: list[MutantAnswer] = []
    used = 0
    for path in kernels(args.kernels, args.seed):
        left = args.kernels - used
        if not left:
            break
        with TemporaryDirectory() as folder:
            made = list(mutants_of(path, -(-(args.count - len(answers)) // left), draw, Path(folder)))
        used += bool(made)
        answers += made
        for one in made:
            if args.show or not 0 < one.rank <= FIRST:
                print(f"{one.kernel:<32} {one.kind:<10} line {one.line:<5} {one.value:<14} rank {one.rank} of {one.nodes}"
                      f"  {one.seconds:.2f} s", flush=True)  # fmt: skip
    found = sum(0 < one.rank <= FIRST for one in answers)
    print(f"{len(answers)} mutants of {used} kernels: the mutated line is among the first {FIRST} nodes of {found}"
          f" ({found / max(1, len(answers)):.1%}), the first node of {sum(one.rank == 1 for one in answers)}")  # fmt: skip
    for kind in KINDS:
        some = [one for one in answers if one.kind == kind]
        print(f"  {kind:<10} {sum(0 < one.rank <= FIRST for one in some)} of {len(some)}")
    race = race_is_named()
    print(f"race of examples/average.visaasm: {'both parties are named' if race else 'A PARTY IS MISSING'}")
    for name in () if args.quick else TEN_MILLION_STEPS:
        cost, plain = large_costs(name)
        print(f"{name}: 10 million instructions: {cost.cpu:.2f} s CPU, {cost.peak_mb:.0f} MB"
              f" (run --checks none: {plain.cpu:.2f} s, {plain.peak_mb:.0f} MB), status {cost.status}")  # fmt: skip
    return 0 if race and len(answers) == args.count and found >= WANTED * len(answers) else 1


if __name__ == "__main__":
    sys.exit(main())
