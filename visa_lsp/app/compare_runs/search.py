"""Searches the points of a sweep for the first where two programs differ, and shrinks it.

Prints nothing. Invariant: a reported difference was observed at the smallest point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from visa_lsp.app.compare_runs.points import Differing, PointComparer, Tolerance
from visa_lsp.app.compare_runs.shrink import shrunk
from visa_lsp.launchfile.source import launch_source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.app.compare_runs.grid import GridLaunch
    from visa_lsp.app.compare_runs.programs import ComparedProgram
    from visa_lsp.app.launch.options import RunOptions
    from visa_lsp.app.progress import ProgressLine
    from visa_lsp.launchfile.values import SweepPoint


@dataclass(frozen=True, slots=True)
class ComparedRuns:
    """The outcome of a comparison: ``difference`` is None if all ``compared`` points agree.

    ``point`` of ``launch`` is the first different point, ``smallest`` the shrunk one. ``skipped`` has a reason for each
    point that was not compared.
    """

    points: int
    compared: int
    skipped: tuple[str, ...]
    launch: str = ""
    point: SweepPoint = ()
    smallest: SweepPoint = ()
    difference: Differing | None = None


def compare(
    programs: tuple[ComparedProgram, ComparedProgram],
    launches: Sequence[GridLaunch],
    options: RunOptions,
    tolerance: Tolerance,
    line: ProgressLine | None = None,
) -> ComparedRuns:
    """Compare at one point after another, up to the first that differs, and shrink that; ``line`` shows the progress.

    Raises TextProblems for a text with errors.
    """
    count = sum(len(launch.points) for launch in launches)
    done, skipped = 0, list[str]()
    for launch in launches:
        comparer = PointComparer(programs, launch.text, launch.path, options, tolerance)
        for point in launch.points:
            if line is not None and line.is_due():
                line.show(f"{done + len(skipped):,} of {count:,} points")
            outcome = comparer.at(point)
            if outcome.skipped:
                skipped.append(outcome.skipped)
                continue
            done += 1
            if outcome.difference is not None:
                smallest, difference = _smallest(comparer, launch, point, outcome.difference)
                return ComparedRuns(count, done, tuple(skipped), launch.name, point, smallest, difference)
    return ComparedRuns(count, done, tuple(skipped))


def _smallest(
    comparer: PointComparer, launch: GridLaunch, point: SweepPoint, original: Differing
) -> tuple[SweepPoint, Differing]:
    """Return the smallest point with a difference of the same kind, and the difference."""
    differences: dict[SweepPoint, Differing] = {}

    def differs(other: SweepPoint) -> bool:
        difference = comparer.at(other).difference
        if difference is None or difference.kind != original.kind:
            return False
        differences[other] = difference
        return True

    axes = launch.sweep.axes if launch.sweep is not None else ()
    start = _with_sizes(comparer, launch, point)
    smallest = shrunk(start, {axis.name: axis.values for axis in axes}, differs)
    return smallest, comparer.with_store(smallest, differences.get(smallest, original))


def _with_sizes(comparer: PointComparer, launch: GridLaunch, point: SweepPoint) -> SweepPoint:
    """Add the numbers of groups or work items to a point, if the file has them as numbers, so that they shrink too."""
    root = launch_source(launch.text).root
    written: Any = root.plain() if root is not None else {}
    config = comparer.launch(point).config
    for name, size in (("groups", config.groups), ("global_size", config.global_size)):
        said = written.get(name)
        numbers = said if isinstance(said, list) else [said]
        if name not in dict(point) and size is not None and all(isinstance(number, int) for number in numbers):
            return (*point, (name, size))
    return point
