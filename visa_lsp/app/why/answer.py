"""Explains a value: runs and records the launch, slices the recording, and compares it with the run of a reference.

Prints nothing. Invariant: every run starts from the same memory, that of the launch file.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from visa_lsp.app.compare_runs.programs import ComparedProgram
from visa_lsp.app.errors import UserError
from visa_lsp.app.launch import ready_run
from visa_lsp.app.launch.expectation_words import finite, numbers
from visa_lsp.app.launch.unit import LaunchJob, open_job
from visa_lsp.app.why.dependences import Cause, Execution, Unwritten
from visa_lsp.app.why.folding import fold_alike
from visa_lsp.app.why.question import Element, element_of, find_failed_element
from visa_lsp.app.why.recording import LaunchRecorder, RecordedRun
from visa_lsp.app.why.report import Describer, WhyNode, WhyReport
from visa_lsp.app.why.slices import RunComparison, SliceNode, nodes_of, slice_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.app.launch.ready_run import ReadyRun
    from visa_lsp.sim.faults import Fault

SHOWN_NODES: Final = 40
_WIDENING_STEPS: Final = 2_000  # of the slice that selects the other groups
Needed = tuple[int | str, int, int]  # argument, offset and size in bytes


@dataclass(frozen=True, slots=True)
class WhyQuestion:
    """The question: a value or the number of a fault; if both are missing, the first failure.

    At most ``most`` nodes are shown.
    """

    value: str | None = None
    fault: int | None = None
    most: int = SHOWN_NODES


def answer(question: WhyQuestion, job: LaunchJob, reference: ComparedProgram | None = None) -> WhyReport:
    """Answer a question about a launch. Raises UserError, LaunchError and TextProblems for mistakes of the user."""
    opened = open_job(job)
    launch = opened.launch
    path = opened.options.path or Path(job.name)
    program = ComparedProgram(str(path), path, opened.data)
    checks = "all" if question.value is None else "none"
    options = replace(job.options, checks=checks)
    run = program.ready(launch, options)
    report = ready_run.run_ready(run)
    element = find_failed_element(run.prepared, report) if question.fault is None else None
    if question.value is not None:
        element = element_of(question.value, run.prepared, report)
    needed: list[Needed] = []
    group: tuple[int, int, int] | None = None
    if element is not None:
        why_report = WhyReport(element.words, element.value, element.expected)
        needed = [(element.arg, element.offset, element.dtype.itemsize)]
        ours = _record(program.ready(launch, options), report.instructions, needed)
        starts = _last_writers(ours, needed)
    else:
        fault = _fault((*report.faults, *report.findings), question.fault)
        why_report, group = WhyReport(str(fault)), fault.group
        ours = _record(program.ready(launch, options), report.instructions, needed, group)
        starts = _fault_starts(ours, fault)
    theirs = None
    if reference is not None:
        why_report.against = reference.name
        steps = ready_run.run_ready(reference.ready(launch, options)).instructions
        theirs = _record(reference.ready(launch, options), steps, needed, group)
    _fill(why_report, ours, starts, theirs, element, question.most)
    why_report.notes += ours.notes
    return why_report


def explain_recorded(recorded: RecordedRun, words: str, starts: list[Cause], most: int = SHOWN_NODES) -> WhyReport:
    """Explain the last writes of a value, from a run that is recorded already."""
    report = WhyReport(words, notes=list(recorded.notes))
    _fill(report, recorded, starts, None, None, most)
    return report


def _record(
    run: ReadyRun, steps: int, needed: Sequence[Needed], group: tuple[int, int, int] | None = None
) -> RecordedRun:
    """Record a run; of a large one record only some groups, and then those that wrote the bytes that these load."""
    buffers = run.prepared.buffers
    recorder = LaunchRecorder(run, steps)
    recorded = recorder.record([(buffers[arg], offset, size) for arg, offset, size in needed if arg in buffers], group)
    while needed and recorded.groups and recorded.groups[0] > 0:
        buffers_by_id = {id(buffer.whole): buffer for buffer in run.prepared.dispatch.buffers}
        origins = [
            (buffers_by_id[cause.where], cause.offset, cause.size)
            for cause in slice_of(recorded.dependences, _last_writers(recorded, needed), most=_WIDENING_STEPS).steps
            if isinstance(cause, Unwritten) and cause.kind == "memory" and cause.where in buffers_by_id
        ]
        wider = recorder.widen(recorded, origins) if origins else None
        if wider is None:
            break
        recorded = wider
    return recorded


def _last_writers(run: RecordedRun, needed: Sequence[Needed]) -> list[Cause]:
    """Return the last steps that wrote the needed bytes of arguments."""
    dependences = run.dependences
    return [
        cause
        for arg, offset, size in needed if arg in run.run.prepared.buffers
        for cause in dependences.memory_writers(run.run.prepared.buffers[arg].whole, offset, size, len(dependences.pcs))
    ]  # fmt: skip


def _fault(faults: Sequence[Fault], number: int | None) -> Fault:
    if not faults:
        raise UserError("no expectation fails and there is no fault; name a value with --value 'NAME[INDEX]'")
    if number is not None and not 0 < number <= len(faults):
        raise UserError(f"--fault {number}: the run has {len(faults)} faults")
    return faults[(number or 1) - 1]


def _fault_starts(ours: RecordedRun, fault: Fault) -> list[Cause]:
    """Return the step at the place of a fault, or the last step of its thread if that step did not complete."""
    run = ours.dependences
    owners = [a for a in run.recorder.activations if (a.group, a.thread) == (fault.group, fault.thread)]
    for owner in owners:
        if owner.code.kernel.name == fault.kernel and fault.instruction >= 0:
            for row in run.occurrences(owner.number, fault.instruction).tolist():
                place = run.place(row)
                unit = fault.lane - place.plan.mask_offset if fault.lane is not None and place.by_lane else 0
                if run.is_enabled(Execution(row, unit)):
                    return [Execution(row, unit)]
    rows = [row for owner in owners for row in (run.owners == owner.number).nonzero()[0].tolist()[-1:]]
    return [Execution(max(rows), 0)] if rows else []


def _fill(
    report: WhyReport,
    ours: RecordedRun,
    starts: list[Cause],
    theirs: RecordedRun | None,
    element: Element | None,
    most: int,
) -> None:
    """Add the nodes of a slice to the answer."""
    comparison, other = None, None
    if theirs is not None:
        comparison = RunComparison(ours.dependences, theirs.dependences)
        goals = _reference_starts(theirs, element, comparison, starts)
        other = slice_of(theirs.dependences, goals, comparison.backward)
        if element is not None and element.arg in theirs.run.prepared.arrays:
            array = theirs.run.prepared.arrays[element.arg].reshape(-1)[element.index : element.index + 1]
            report.expected = finite(numbers(array)[0]) if array.size else report.expected
        if not any(comparison.forward.differs(s) for s in starts) and not any(
            comparison.backward.differs(g) for g in goals
        ):
            report.notes.append("the reference run gives the same value")
            comparison = other = None
    sliced = slice_of(ours.dependences, starts, comparison.forward if comparison is not None else None)
    nodes = fold_alike(ours.dependences, nodes_of(ours.dependences, sliced, comparison, other), most)
    if sliced.is_cut:
        report.notes.append(f"the slice is cut off after {len(sliced.steps):,} steps")
    describer = Describer(ours)
    describers = {
        False: describer,
        True: Describer(theirs) if theirs is not None else describer,
    }
    report.total = len(nodes)
    ids = {id(node): number for number, node in enumerate(nodes, 1)}
    for number, node in enumerate(nodes[:most], 1):
        shown = describers[node.of_reference].node(number, node)
        _compare(shown, node, comparison, describers[True])
        shown.causes = sorted(ids[id(cause)] for cause in node.causes if ids[id(cause)] <= most)
        shown.races = sorted(ids[id(rival)] for rival in node.rivals if ids[id(rival)] <= most)
        report.nodes.append(shown)


def _compare(shown: WhyNode, node: SliceNode, comparison: RunComparison | None, theirs: Describer) -> None:
    """Add the values of the reference run."""
    nearest = node.steps[0]
    if comparison is None or not isinstance(nearest, Execution):
        return
    if node.of_reference:
        shown.differs = True
        return
    shown.differs = comparison.forward.differs(nearest)
    partner = comparison.forward.partner(nearest)
    if shown.differs and partner is not None:
        shown.reference = theirs.values_written(partner)


def _reference_starts(
    theirs: RecordedRun, element: Element | None, comparison: RunComparison, starts: Sequence[Cause]
) -> list[Cause]:
    if element is not None:
        return _last_writers(theirs, [(element.arg, element.offset, element.dtype.itemsize)])
    partners = (comparison.forward.partner(start) for start in starts if isinstance(start, Execution))
    return [partner for partner in partners if partner is not None]
