"""Runs two programs at one point of a sweep and finds the difference and its first store.

Prints nothing. Invariant: a point is different only if at least one of the programs ran there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from visa_lsp.app.launch import ready_run, runner
from visa_lsp.app.launch.expectation_words import difference_lines
from visa_lsp.app.launch.file import parse_launch
from visa_lsp.sim.launch.config import Array, Expectation
from visa_lsp.sim.launch.expect import Mismatch, mismatch
from visa_lsp.sim.machine import run as interpret
from visa_lsp.sim.observers.stores import ElementStore, StoreRecorder, first_difference

if TYPE_CHECKING:
    from pathlib import Path

    from visa_lsp.app.compare_runs.programs import ComparedProgram
    from visa_lsp.app.launch.launch_file import LaunchFile
    from visa_lsp.app.launch.options import RunOptions
    from visa_lsp.app.launch.report import RunReport
    from visa_lsp.launchfile.values import SweepPoint

BUDGET: Final = 10_000_000  # instructions of a launch: half a minute in the interpreter
_MAX_SLOWDOWN: Final = 100  # B is stopped after this many times the instructions of A, because it may never end
_LEAST_BUDGET: Final = 100_000
_WATCHED: Final = 4096  # elements whose stores are kept


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The tolerance of results, as in an expectation; exact by default."""

    rtol: float | None = None
    atol: float | None = None
    ulp: int | None = None

    def mismatch(self, a: Array, b: Array) -> Mismatch | None:
        """Return the difference of the second array from the first."""
        return mismatch(b, Expectation(0, a, typed=False, rtol=self.rtol, atol=self.atol, ulp=self.ulp))


@dataclass(frozen=True, slots=True)
class StorePair:
    """The store of each program or None, and the line of its text or an empty string."""

    a: ElementStore | None
    b: ElementStore | None
    a_text: str = ""
    b_text: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Differing:
    """The difference of two runs: ``kind`` is values, faults, printed or launch; ``words`` is one line.

    For values, the rest describes the argument (its number or name, and its title), the numbers of different and of all
    elements, and the first different element: its ``indexes`` and its value in both runs.
    """

    kind: str
    words: str
    arg: int | str | None = None
    title: str = ""
    count: int = 0
    of: int = 0
    indexes: tuple[int, ...] = ()
    a: Array | None = None
    b: Array | None = None
    store: StorePair | None = None


@dataclass(frozen=True, slots=True)
class PointOutcome:
    """The outcome of a point: ``difference`` is None if both agree; ``skipped`` says why neither program ran."""

    difference: Differing | None = None
    skipped: str = ""


class PointComparer:
    """Compares two programs at points of one launch file."""

    def __init__(
        self,
        programs: tuple[ComparedProgram, ComparedProgram],
        text: str,
        path: Path,
        options: RunOptions,
        tolerance: Tolerance,
    ) -> None:
        self._programs = programs
        self._text = text
        self._path = path
        self._options = options
        self._tolerance = tolerance

    def launch(self, point: SweepPoint) -> LaunchFile:
        """Return the launch at a point, without its expectations. Raises LaunchError if it is invalid."""
        launch = parse_launch(self._text, self._path, point)
        return replace(launch, config=replace(launch.config, expect=()), conditions={})

    def at(self, point: SweepPoint) -> PointOutcome:
        """Run both programs at a point."""
        try:
            launch = self.launch(point)
        except runner.LaunchError as error:
            return PointOutcome(skipped=str(error))
        budget = self._options.budget or BUDGET
        a = self._run(self._programs[0], launch, budget)
        if not isinstance(a, str):
            budget = min(budget, max(_LEAST_BUDGET, _MAX_SLOWDOWN * a.instructions))
        b = self._run(self._programs[1], launch, budget)
        if isinstance(a, str) and isinstance(b, str):
            return PointOutcome(skipped=a)
        if isinstance(a, str) or isinstance(b, str):
            which, words = ("A", a) if isinstance(a, str) else ("B", b)
            return PointOutcome(Differing("launch", f"{which} cannot run: {words}"))
        kinds = [sorted({fault.kind.value for fault in report.faults}) for report in (a, b)]
        if kinds[0] != kinds[1]:
            words = " and ".join(f"{n} {_fault_words(report)}" for n, report in zip("AB", (a, b), strict=True))
            return PointOutcome(Differing("faults", words))
        difference = self._values(a, b)
        if difference is None and a.printed != b.printed:
            difference = Differing("printed", "they print different text")
        if difference is None and "step-budget" in kinds[0]:
            return PointOutcome(skipped=f"neither ends within {budget} instructions")
        return PointOutcome(difference)

    def _run(self, program: ComparedProgram, launch: LaunchFile, budget: int) -> RunReport | str:
        """Return the report of one run, or why the program did not run."""
        try:
            return ready_run.run_ready(program.ready(launch, replace(self._options, budget=budget)))
        except runner.LaunchError as error:
            return str(error)

    def _values(self, a: RunReport, b: RunReport) -> Differing | None:
        """Return the difference in the first buffer or image that differs."""
        others = {buffer.arg: buffer.array for buffer in b.buffers}
        for buffer in a.buffers:
            other = others.get(buffer.arg)
            if other is None:
                continue
            wrong = self._tolerance.mismatch(buffer.array, other)
            if wrong is not None and wrong.differs is not None:
                position = wrong.first[0]
                indexes = tuple(int(n) for n in np.unravel_index(position, other.shape)) if other.shape else ()
                words = f"{buffer.title}: {difference_lines(other, wrong)[0]}"
                a_value, b_value = (side.reshape(-1)[position : position + 1] for side in (buffer.array, other))
                return Differing(
                    "values", words, buffer.arg, buffer.title, wrong.count, other.size, indexes, a_value, b_value
                )
        return None

    # The first store.

    def with_store(self, point: SweepPoint, difference: Differing) -> Differing:
        """Return a difference in values with the first store that differs, from a second run in the interpreter."""
        if difference.arg is None:
            return difference
        launch, arg = self.launch(point), difference.arg
        budget = self._options.budget or BUDGET
        runs = [program.ready(launch, replace(self._options, budget=budget)) for program in self._programs]
        for run in runs:  # first without a listener, because the elements to listen for are not known yet
            interpret(run.dispatch(budget), ())
        a, b = (run.prepared.arrays[arg] for run in runs)
        wrong = self._tolerance.mismatch(a, b)
        if wrong is None or wrong.differs is None:
            return difference
        elements = np.flatnonzero(wrong.differs)[:_WATCHED]
        recorders = []
        runs = [program.ready(launch, replace(self._options, budget=budget)) for program in self._programs]
        for run in runs:
            recorders.append(StoreRecorder(run.prepared.buffers[arg], elements, a.dtype.itemsize))
            interpret(run.dispatch(budget), recorders[-1:])
        pair = first_difference(*recorders)
        if pair is None:
            return difference
        element, a_store, b_store = pair
        indexes = tuple(int(n) for n in np.unravel_index(element, a.shape)) if a.shape else ()
        texts = (_line(run, store) for run, store in zip(runs, (a_store, b_store), strict=True))
        values = (side.reshape(-1)[element : element + 1] for side in (a, b))
        a_value, b_value = values
        return replace(difference, indexes=indexes, a=a_value, b=b_value, store=StorePair(a_store, b_store, *texts))


def _fault_words(report: RunReport) -> str:
    return f"fails ({report.faults[0]})" if report.faults else "does not fail"


def _line(run: ready_run.ReadyRun, store: ElementStore | None) -> str:
    source = run.texts.get(store.kernel) if store is not None else None
    if store is None or source is None or not 0 <= store.line < len(source.lines):
        return ""
    return source.lines[store.line].strip()
