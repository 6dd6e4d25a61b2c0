"""Answers why a value is what it is: runs, records, slices, and compares with the run of a reference.

Prints nothing. Invariant: every run starts from the same memory, that of the launch file.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from visa_lsp.app.compare_runs.programs import program_at
from visa_lsp.app.errors import UserError
from visa_lsp.app.launch import runner
from visa_lsp.app.launch.file import read_launch_file
from visa_lsp.app.launch.options import RunOptions
from visa_lsp.app.launch.proposal import proposed
from visa_lsp.app.launch.unit import program_of
from visa_lsp.app.why.dependences import Dependences, Step
from visa_lsp.app.why.question import element_of, failed_element
from visa_lsp.app.why.report import Describer, WhyNode, WhyReport
from visa_lsp.app.why.slices import Comparison, nodes_of, slice_of
from visa_lsp.sim.machine import run as interpret
from visa_lsp.sim.observers.recording import StepRecorder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.app.launch.file import LaunchFile
    from visa_lsp.app.launch.runner import ReadyRun
    from visa_lsp.app.why.dependences import Cause
    from visa_lsp.app.why.question import Element
    from visa_lsp.app.why.slices import SliceNode
    from visa_lsp.sim.dispatch import RunResult
    from visa_lsp.sim.faults import Fault

BUDGET: Final = 2_000_000  # instructions of a recorded run: some ten seconds
SHOWN_NODES: Final = 40
_SUFFIXES: Final = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class WhyQuestion:
    """The question: a program or launch file, and a value or the number of a fault; without both the first failure.

    ``against`` is the path of a reference program.
    """

    path: str
    value: str | None = None
    fault: int | None = None
    launch: str | None = None
    against: str | None = None
    platform: str | None = None
    budget: int | None = None
    most: int = SHOWN_NODES


@dataclass(slots=True, eq=False)
class RecordedRun:
    """A run with everything that it executed."""

    run: ReadyRun
    dependences: Dependences
    result: RunResult


def answer(question: WhyQuestion) -> WhyReport:
    """Answer a question. Raises UserError, LaunchError and TextProblems for mistakes of the user."""
    options = RunOptions(platform=question.platform, checks="none", budget=question.budget)
    launch, path = _launch_of(question, options)
    ours = _record(_ready(path, launch, options), question)
    report = None
    if question.value is None:
        report = runner.carried_out(_ready(path, launch, replace(options, checks="all")))
    element: Element | None = None
    starts: list[Cause]
    if question.value is not None:
        element = element_of(question.value, ours.run.prepared, ours.run.report(ours.result, "interp"))
    elif question.fault is None and report is not None:
        element = failed_element(ours.run.prepared, report)
    if element is not None:
        found = WhyReport(element.words, element.value, element.expected)
        starts = ours.dependences.memory_writers(
            element.buffer, element.offset, element.dtype.itemsize, len(ours.dependences.pcs)
        )
    else:
        assert report is not None
        fault = _fault((*report.faults, *report.findings), question.fault)
        found, starts = WhyReport(str(fault)), _fault_starts(ours, fault)
    theirs = None
    if question.against is not None:
        found.against = question.against
        theirs = _record(_ready(Path(question.against), launch, options), question)
    _fill(found, ours, starts, theirs, element, question.most)
    found.notes += _limits(ours)
    return found


def _limits(run: RecordedRun) -> list[str]:
    notes = [str(fault) for fault in run.result.faults if not fault.is_note]
    if run.dependences.recorder.is_full:
        notes.append(f"only the first {len(run.dependences.pcs):,} instructions of the run are recorded")
    return notes


def _launch_of(question: WhyQuestion, options: RunOptions) -> tuple[LaunchFile, Path]:
    """Return the launch and the path of its program; the launch is generated where there is no file."""
    path = Path(question.path)
    if not path.exists() or path.is_dir():
        raise UserError(f"{question.path}: {'is a directory' if path.is_dir() else 'no such file'}")
    if path.suffix in _SUFFIXES:
        launch = read_launch_file(path)
        if launch.file is None:
            raise UserError(f"{path}: no program; name it with file: NAME.visaasm")
        return launch, launch.file
    beside = Path(question.launch) if question.launch else path.with_suffix(".launch.yaml")
    if question.launch or beside.is_file():
        return read_launch_file(beside, named=bool(question.launch)), path
    program = program_of(program_at(question.path).data, path)
    return proposed(program, replace(options, path=path), beside).proposal.read(beside), path


def _ready(path: Path, launch: LaunchFile, options: RunOptions) -> ReadyRun:
    return program_at(str(path)).ready(launch, options)


def _record(run: ReadyRun, question: WhyQuestion) -> RecordedRun:
    recorder = StepRecorder()
    result = interpret(run.dispatch(question.budget or BUDGET), (recorder,))
    return RecordedRun(run, Dependences(recorder), result)


def _fault(faults: Sequence[Fault], number: int | None) -> Fault:
    if not faults:
        raise UserError("no expectation fails and there is no fault; name a value with --value 'NAME[INDEX]'")
    if number is not None and not 0 < number <= len(faults):
        raise UserError(f"--fault {number}: the run has {len(faults)} faults")
    return faults[(number or 1) - 1]


def _fault_starts(ours: RecordedRun, fault: Fault) -> list[Cause]:
    """Return the step at the place of a fault, and the last of its thread where that step did not complete."""
    run = ours.dependences
    owners = [a for a in run.recorder.activations if (a.group, a.thread) == (fault.group, fault.thread)]
    for owner in owners:
        if owner.code.kernel.name == fault.kernel and fault.instruction >= 0:
            for row in run.occurrences(owner.number, fault.instruction).tolist():
                place = run.place(row)
                unit = fault.lane - place.plan.at if fault.lane is not None and place.by_lane else 0
                if run.is_enabled(Step(row, unit)):
                    return [Step(row, unit)]
    rows = [row for owner in owners for row in (run.owners == owner.number).nonzero()[0].tolist()[-1:]]
    return [Step(max(rows), 0)] if rows else []


def _fill(
    report: WhyReport, ours: RecordedRun, starts: list[Cause], theirs: RecordedRun | None, element: Element | None, most: int
) -> None:
    """Add the nodes of a slice to the answer."""
    comparison, other = None, None
    if theirs is not None:
        comparison = Comparison(ours.dependences, theirs.dependences)
        goals = _reference_starts(theirs, element, comparison, starts)
        other = slice_of(theirs.dependences, goals, comparison.backward)
        if element is not None and element.arg in theirs.run.prepared.arrays:
            array = theirs.run.prepared.arrays[element.arg].reshape(-1)
            report.expected = array[element.index].item() if element.index < array.size else report.expected
        if not any(comparison.forward.differs(s) for s in starts) and not any(comparison.backward.differs(g) for g in goals):
            report.notes.append("the reference run gives the same value")
            comparison = other = None
    found = slice_of(ours.dependences, starts, comparison.forward if comparison is not None else None)
    nodes = nodes_of(ours.dependences, found, comparison, other)
    if found.is_cut:
        report.notes.append(f"the slice is cut off after {len(found.steps):,} steps")
    describer = Describer(ours.run, ours.dependences)
    describers = {False: describer, True: Describer(theirs.run, theirs.dependences) if theirs is not None else describer}
    report.total = len(nodes)
    ids = {id(node): number for number, node in enumerate(nodes, 1)}
    for number, node in enumerate(nodes[:most], 1):
        made = describers[node.of_reference].node(number, node)
        _compare(made, node, comparison, describers[True])
        made.causes = sorted(ids[id(cause)] for cause in node.causes if ids[id(cause)] <= most)
        made.races = sorted(ids[id(rival)] for rival in node.rivals if ids[id(rival)] <= most)
        report.nodes.append(made)


def _compare(made: WhyNode, node: SliceNode, comparison: Comparison | None, theirs: Describer) -> None:
    """Add what the reference run wrote."""
    nearest = node.steps[0]
    if comparison is None or not isinstance(nearest, Step):
        return
    if node.of_reference:
        made.differs = True
        return
    made.differs = comparison.forward.differs(nearest)
    partner = comparison.forward.partner(nearest)
    if made.differs and partner is not None:
        made.reference = theirs.written(partner)


def _reference_starts(
    theirs: RecordedRun, element: Element | None, comparison: Comparison, starts: Sequence[Cause]
) -> list[Cause]:
    if element is not None and element.arg in theirs.run.prepared.buffers:
        buffer = theirs.run.prepared.buffers[element.arg].whole
        return theirs.dependences.memory_writers(
            buffer, element.offset, element.dtype.itemsize, len(theirs.dependences.pcs)
        )
    partners = (comparison.forward.partner(start) for start in starts if isinstance(start, Step))
    return [partner for partner in partners if partner is not None]


