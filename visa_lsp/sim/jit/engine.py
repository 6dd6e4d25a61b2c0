"""The compiled engine: which launches run as compiled code, with checkers and without.

Without checkers every launch may. Where checkers watch, a launch is compiled together with tests that overlook nothing
(``watching``), and with a proof that registers are written before they are read (``defined``). Where a test strikes, the interpreter
runs the group again (``replay``); where that does not do, or there is no proof, memory is put back and it runs all of them. So
reports are the interpreter's, whoever ran.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from visa_lsp.isa.model import FlowClass
from visa_lsp.sim.contents import Contents
from visa_lsp.sim.faults import FaultKind
from visa_lsp.sim.jit.making import MOST_INSTRUCTIONS, Making, is_large
from visa_lsp.sim.machine import Machine
from visa_lsp.sim.observers.accesses import AccessChecker
from visa_lsp.sim.observers.definedness import UninitialisedChecker
from visa_lsp.sim.observers.hooks import AlignmentChecker, BarrierChecker, BoundsChecker, DivisionChecker
from visa_lsp.sim.observers.races import RaceChecker

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from visa_lsp.program.model import Inst
    from visa_lsp.sim.dispatch import Dispatch, RunResult
    from visa_lsp.sim.observers.hooks import Observer

PROBE: Final = (
    60_000  # steps that a small launch is interpreted before its kernel is compiled: what takes as long as that
)
LARGE: Final = 60_000  # steps of a launch that is compiled at once, as far as they can be told before
LOOPED: Final = 8  # how often a thread is taken to go round where its kernel has a loop
WATCHED: Final = (
    AccessChecker, AlignmentChecker, BarrierChecker, BoundsChecker, DivisionChecker, RaceChecker, UninitialisedChecker,
)  # fmt: skip


def run(
    dispatch: Dispatch,
    observers: Sequence[Observer] = (),
    *,
    interpreted: int | None = None,
    making: Making | None = None,
) -> RunResult:
    """Run all groups of a dispatch: as compiled code where that says all that the observers would.

    ``interpreted`` is the budget of steps where it has to be the interpreter, if that is another. The result's
    ``interpreted`` tells that it was, ``replayed_groups`` how many groups it ran after compiled code had begun,
    ``compile_seconds`` how long it took to make that. ``making`` has what earlier runs of the same dispatch have compiled.
    """
    making = making or Making()
    before = making.stopwatch.seconds
    result = _run(dispatch, observers, interpreted, making)
    if dispatch.host_threads > 1 and (observers or result.interpreted):
        _one_by_one(result, "checkers watch one group at a time" if observers else "the interpreter runs the launch")
    result.compile_seconds = making.stopwatch.seconds - before
    return result


def _run(dispatch: Dispatch, observers: Sequence[Observer], interpreted: int | None, making: Making) -> RunResult:
    slower = dispatch if interpreted is None else replace(dispatch, step_budget=interpreted)
    if is_large(dispatch.kernel):
        result = _interpreted(slower, observers)
        count = len(dispatch.kernel.instructions)
        words = f"the kernel has {count:,} instructions; those of more than {MOST_INSTRUCTIONS:,} are interpreted"
        result.limits = (*result.limits, words)
        return result
    if not observers:
        return _unwatched(dispatch, making)
    if not all(type(o) in WATCHED for o in observers):
        return _interpreted(slower, observers)
    if not making.bodies and _most_steps(dispatch) <= PROBE:
        return _interpreted(dispatch, observers)
    before = Contents(dispatch)
    if not _is_large(dispatch) and not making.bodies:
        # Most such launches are over before their kernel could be compiled; what an earlier run has compiled is there.
        tried = Machine(replace(dispatch, step_budget=min(PROBE, dispatch.step_budget)), _fresh(observers))
        result = tried.run()
        if dispatch.step_budget <= PROBE or not any(fault.kind is FaultKind.BUDGET for fault in result.faults):
            result.interpreted = True
            return result
        before.restore()
    # Loaded here: what compiles is not needed for what is over by now.
    from visa_lsp.sim.jit.launches import watched
    from visa_lsp.sim.jit.whole import Suspicion

    try:
        found = watched(dispatch, making, _fresh(observers), before, slower.step_budget)
    except Suspicion:
        before.restore()
        result = _interpreted(slower, observers)
        result.replayed_groups = result.groups
        return result
    return found or _interpreted(slower, observers)


def _fresh(observers: Sequence[Observer]) -> list[Observer]:
    """Checkers of the same kinds that have seen nothing yet, for a run that may be taken back."""
    return [type(observer)() for observer in observers]


def _unwatched(dispatch: Dispatch, making: Making) -> RunResult:
    # Loaded here: what compiles is not needed where checkers watch a small launch.
    from visa_lsp.sim.jit import launches

    large, against = _is_large(dispatch), "the launch is too small" if dispatch.host_threads > 1 else ""
    if dispatch.host_threads > 1 and large:
        found = launches.side_by_side(dispatch, making)
        if not isinstance(found, str):
            return found
        against = found
    return _one_by_one(launches.unwatched(dispatch, making, 0 if large else PROBE), against)


def _one_by_one(result: RunResult, against: str) -> RunResult:
    """The result, with what has spoken against running groups side by side, if anything has."""
    if against:
        result.limits = (*result.limits, f"groups ran one after another, not on several threads: {against}")
    return result


def _goes_on(inst: Inst, pc: int, labels: Mapping[object, int]) -> bool:
    """Whether an instruction leads only to places behind it, or to the end."""
    flow = inst.row.flow
    if flow in (FlowClass.GOTO, FlowClass.JUMP):
        return labels.get(inst.get("label"), pc) > pc
    return flow in (FlowClass.NEXT, FlowClass.LABEL, FlowClass.SUBROUTINE, FlowClass.NOTE) or flow.returns


def _most_steps(dispatch: Dispatch) -> float:
    """The most steps that a launch can take: of a kernel that only goes on, each thread executes an instruction once."""
    instructions = dispatch.kernel.instructions
    labels = _labels(dispatch)
    if not all(_goes_on(inst, pc, labels) for pc, inst in enumerate(instructions)):
        return math.inf
    return _threads(dispatch) * (len(instructions) + 1)  # running off the end is one more


def _has_loop(dispatch: Dispatch) -> bool:
    """Whether the kernel may jump back."""
    labels, flows = _labels(dispatch), (FlowClass.GOTO, FlowClass.JUMP)
    return any(
        inst.row.flow in flows and labels.get(inst.get("label"), pc) < pc
        for pc, inst in enumerate(dispatch.kernel.instructions)
    )


def _labels(dispatch: Dispatch) -> dict[object, int]:
    return {inst.get("label"): pc for pc, inst in enumerate(dispatch.kernel.instructions) if inst.row.opens_label}


def _threads(dispatch: Dispatch) -> int:
    return math.prod(dispatch.groups) * dispatch.threads_per_group


def _is_large(dispatch: Dispatch) -> bool:
    """Whether compiling the kernel of a launch pays without a try."""
    rounds = LOOPED if _has_loop(dispatch) else 1
    return _threads(dispatch) * rounds * len(dispatch.kernel.instructions) >= LARGE


def _interpreted(dispatch: Dispatch, observers: Sequence[Observer]) -> RunResult:
    result = Machine(dispatch, observers).run()
    result.interpreted = True
    return result
