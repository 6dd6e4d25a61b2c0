"""A benchmark of ``compare-runs``: whether it finds planted changes of one instruction, shrinks them, and finds nothing in renamed copies.

    python -m benchmarks.compare_runs [COUNT] [SEED] [--show]

Takes COUNT kernels of the corpus (40). In each one instruction is changed: another opcode, operand or number, or it is left
out, drawn until a plain run of both texts, without ``compare-runs``, leaves other buffers. Then ``compare-runs`` has to say
that they differ, at a point where a plain run of both differs as well, not larger than the first one, and name the
first store that differs. Copies with other names, another order of declarations and other blanks must do the same at
every point. Without launch files: at the grid that is made up for the kernel. Exit 1 where one of them is not so.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benchmarks.disguise import disguise_text
from benchmarks.inputs import CORPUS
from benchmarks.planted import EDITS
from visa_lsp.app.compare_runs.grid import launches_for
from visa_lsp.app.compare_runs.points import Tolerance
from visa_lsp.app.compare_runs.programs import program_at
from visa_lsp.app.compare_runs.search import ComparedRuns, compare
from visa_lsp.app.errors import UserError
from visa_lsp.app.launch.body_source import TextProblems
from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.options import RunOptions
from visa_lsp.app.launch.runner import LaunchError, run_launch
from visa_lsp.launchfile.values import point_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.app.compare_runs.grid import GridLaunch
    from visa_lsp.launchfile.values import SweepPoint

KINDS = ("opcode", "operand", "immediate", "delete")
_DRAWS = 12
# What is longer, in lines or instructions, is left out, so that this ends in minutes.
_MAX_LINES = 800
_OPTIONS = RunOptions(engine="interp", checks="none", budget=50_000)


@dataclass(frozen=True, slots=True)
class PlantedRun:
    """A kernel and its edited copy, each in a folder with its ze_info."""

    kind: str
    original: Path
    edited: Path


def kernels(count: int, seed: int) -> list[Path]:
    """Texts of the corpus that have a kernel, in an order that the seed decides; one of each name."""
    found = {path.name: path for path in sorted(CORPUS.glob("run/*/*/*.visaasm")) if _is_fit(path.read_text("utf-8"))}
    paths = sorted(found.values())
    random.Random(seed).shuffle(paths)
    return paths[: 4 * count]


def _is_fit(text: str) -> bool:
    return ".kernel" in text and text.count("\n") < _MAX_LINES


def leaves(program: Path, launch: GridLaunch, point: SweepPoint) -> list[bytes] | None:
    """Return the buffers after a plain run at a point; None where it cannot be run, or is wrong."""
    try:
        report = run_launch(parse_launch(launch.text, launch.path, point), replace(_OPTIONS, path=program))
    except (LaunchError, TextProblems):
        return None
    return [buffer.array.tobytes() for buffer in report.buffers] if not report.faults else None


def beside(path: Path, text: str, folder: Path, word: str) -> Path:
    """Return a text beside copies of the original's ze_info and zebin."""
    where = folder / word
    where.mkdir(exist_ok=True)
    for other in path.parent.iterdir():
        if other.suffix != ".visaasm" or other.name != path.name:
            (where / other.name).write_bytes(other.read_bytes())
    target = where / path.name
    target.write_text(text, encoding="utf-8")
    return target


def plant_change(path: Path, folder: Path, draw: random.Random) -> PlantedRun | None:
    """Return the kernel with one instruction changed so that a plain run leaves something else; None where no draw does."""
    text = path.read_text(encoding="utf-8")
    original = beside(path, text, folder, "a")
    try:
        launches = launches_for([program_at(str(original))], None, _OPTIONS)
    except (UserError, TextProblems):
        return None
    shown = [(launch, launch.points[0]) for launch in launches]
    before = [leaves(original, launch, point) for launch, point in shown]
    if None in before:
        return None
    for _ in range(_DRAWS):
        kind = draw.choice(KINDS)
        edit = EDITS[kind](text.splitlines(), draw)
        if edit is None:
            continue
        edited = beside(path, "\n".join(edit[0]) + "\n", folder, "b")
        after = [leaves(edited, launch, point) for launch, point in shown]
        if None not in after and after != before:
            return PlantedRun(kind, original, edited)
    return None


def judge_report(run: PlantedRun) -> tuple[str, ComparedRuns]:
    """Return the errors in the report of ``compare-runs`` on a planted change, empty without any, and the report."""
    launches = launches_for([program_at(str(run.original))], None, _OPTIONS)
    compared = compare((program_at(str(run.original)), program_at(str(run.edited))), launches, _OPTIONS, Tolerance())
    if compared.difference is None:
        return "not found", compared
    launch = next(launch for launch in launches if compared.point in launch.points)
    sides = [leaves(path, launch, compared.smallest) for path in (run.original, run.edited)]
    if sides[0] == sides[1]:
        return "the smallest launch shows no difference", compared
    if not is_smaller(dict(compared.smallest), dict(compared.point)):
        return "what was shrunk is larger", compared
    if compared.difference.kind == "values" and compared.difference.store is None:
        return "no store is named", compared
    return "", compared


def is_smaller(smallest: dict[str, object], first: dict[str, object]) -> bool:
    """Return whether no axis is larger than at the first point; words do not count."""
    for name, value in first.items():
        small = smallest[name]
        if isinstance(value, int) and isinstance(small, int) and small > value:
            return False
        if (
            isinstance(value, tuple)
            and isinstance(small, tuple)
            and any(a > b for a, b in zip(small, value, strict=True))
        ):
            return False
    return True


def same_as_renamed(run: PlantedRun, folder: Path, draw: random.Random) -> ComparedRuns:
    """Return the report of ``compare-runs`` on a kernel and its copy with other names."""
    text, _ = disguise_text(run.original.read_text(encoding="utf-8"), draw)
    copy = beside(run.original, text, folder, "c")
    launches = launches_for([program_at(str(run.original))], None, _OPTIONS)
    return compare((program_at(str(run.original)), program_at(str(copy))), launches, _OPTIONS, Tolerance())


def results(count: int, seed: int) -> Iterator[tuple[PlantedRun, str, ComparedRuns, ComparedRuns]]:
    """Yield planted changes in ``count`` kernels, each with its errors, its report and that of the renamed copy."""
    draw = random.Random(seed)
    done = 0
    for path in kernels(count, seed):
        with TemporaryDirectory() as folder:
            run = plant_change(path, Path(folder), draw)
            if run is None:
                continue
            wrong, compared = judge_report(run)
            yield run, wrong, compared, same_as_renamed(run, Path(folder), draw)
        done += 1
        if done == count:
            return


def main() -> int:
    """Plant, compare, print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare_runs", description=__doc__)
    parser.add_argument("count", nargs="?", type=int, default=40)
    parser.add_argument("seed", nargs="?", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="print a line for each kernel")
    args = parser.parse_args()
    began = time.process_time()
    found = shrunk = same = made = 0
    for run, wrong, compared, copy in results(args.count, args.seed):
        made += 1
        found += not wrong
        same += copy.difference is None
        shrunk += compared.smallest[: len(compared.point)] != compared.point
        if args.show or wrong or copy.difference is not None:
            store = compared.difference.store if compared.difference is not None else None
            lines = [str(s.line + 1) if s is not None else "-" for s in (store.a, store.b)] if store is not None else []
            where = run.original.name
            print(f"{where:<36} {run.kind:<10} {point_words(compared.point)} -> {point_words(compared.smallest)}"
                  f"  lines {' '.join(lines)}  {wrong or 'ok'}{'' if copy.difference is None else '; the copy differs'}", flush=True)  # fmt: skip
    print(
        f"{made} kernels with a planted change: {found} found; {shrunk} at a smaller launch than the first that differs"
    )
    print(f"{same} of {made} renamed copies do the same at every point")
    print(f"{time.process_time() - began:.0f} s of processor time")
    return 0 if made == args.count == found == same else 1


if __name__ == "__main__":
    sys.exit(main())
