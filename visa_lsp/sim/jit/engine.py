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
from visa_lsp.sim.jit.machine import WARM, Hot, Sample
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

_ALONE: Final = "groups ran one after another, not on several threads: "
WATCHED: Final = (
    AccessChecker, AlignmentChecker, BarrierChecker, BoundsChecker, DivisionChecker, RaceChecker, UninitialisedChecker,
)  # fmt: skip


def run(
    dispatch: Dispatch,
    observers: Sequence[Observer] = (),
    *,
    interpreted: int | None = None,
    making: Making | None = None,
    at_once: bool = False,
) -> RunResult:
    """Run all groups of a dispatch: as compiled code where that pays and says all that the observers would.

    ``interpreted`` is the budget of steps of the interpreter, if that is another. ``at_once`` compiles whatever the size, as a
    user wants who names this engine; the result's ``limits`` say why where it cannot be. Its ``interpreted`` says that the
    interpreter ran the launch, ``replayed_groups`` how many groups it ran after compiled code had begun, ``compile_seconds`` how
    long compiling took. ``making`` has what earlier runs of the same dispatch have compiled.
    """
    making = making or Making()
    before = making.stopwatch.seconds
    result = _run(dispatch, observers, interpreted, making, at_once=at_once)
    alone = dispatch.host_threads > 1 and (observers or result.interpreted)
    if alone and not any(words.startswith(_ALONE) for words in result.limits):
        why = "checkers watch one group at a time" if observers else "the interpreter runs the launch"
        _limit(result, _ALONE + why)
    result.compile_seconds = making.stopwatch.seconds - before
    return result


def _run(
    dispatch: Dispatch, observers: Sequence[Observer], interpreted: int | None, making: Making, *, at_once: bool
) -> RunResult:
    slower = dispatch if interpreted is None else replace(dispatch, step_budget=interpreted)
    count = len(dispatch.kernel.instructions)
    against = ""
    if is_large(dispatch.kernel) and not at_once:
        against = f"the kernel has {count:,} instructions; those of more than {MOST_INSTRUCTIONS:,} are interpreted"
    elif unfit := [type(o).__name__ for o in observers if type(o) not in WATCHED]:
        against = f"the interpreter ran the launch: compiled code has no form of {', '.join(unfit)}" if at_once else ""
    else:
        return _compiled(dispatch, slower, observers, making, at_once=at_once)
    return _limit(_interpreted(slower, observers), against)


def _compiled(
    dispatch: Dispatch, slower: Dispatch, observers: Sequence[Observer], making: Making, *, at_once: bool
) -> RunResult:
    """Run a launch that may be compiled. A launch that begins again as compiled code is sampled first, its memory put back."""
    known = at_once or bool(making.bodies)
    again = bool(observers) or dispatch.host_threads > 1
    if again and not known and _is_straight(dispatch) and _threads(dispatch) < WARM:
        return _interpreted(slower, observers)
    before = Contents(dispatch) if observers or (again and not known) else None
    if again and not known:
        sample = Sample(slower, making)
        sample.heard_by(_fresh(observers))
        try:
            result = sample.run()
        except Hot:
            assert before is not None
            before.restore()
            sample.give_codes()
        else:
            result.interpreted = True
            return _limit(result, "" if observers else f"{_ALONE}the launch is too small")
    # Loaded here: what compiles is not needed for what is over by now.
    from visa_lsp.sim.jit import launches
    from visa_lsp.sim.jit.whole import Suspicion

    if before is None or not observers:
        against = launches.side_by_side(dispatch, making) if again else ""
        if not isinstance(against, str):
            return against
        return _limit(launches.unwatched(dispatch, making, at_once=known or again), against and _ALONE + against)
    try:
        found = launches.watched(dispatch, making, _fresh(observers), before, slower.step_budget)
    except Suspicion:
        before.restore()
        found = _interpreted(slower, observers)
        found.replayed_groups = found.groups
    if isinstance(found, str):
        return _limit(_interpreted(slower, observers), f"the interpreter ran the launch: {found}" if at_once else "")
    return found


def _fresh(observers: Sequence[Observer]) -> list[Observer]:
    """Return checkers of the same kinds that have seen nothing yet, for a run that may be taken back."""
    return [type(observer)() for observer in observers]


def _limit(result: RunResult, words: str) -> RunResult:
    """Return a result with one more of its limits, if there are words for it."""
    result.limits += (words,) * bool(words)
    return result


def _is_straight(dispatch: Dispatch) -> bool:
    """Return whether a thread executes each instruction of the kernel once at most."""
    instructions = dispatch.kernel.instructions
    labels: dict[object, int] = {inst.get("label"): pc for pc, inst in enumerate(instructions) if inst.row.opens_label}
    return all(_goes_on(inst, pc, labels) for pc, inst in enumerate(instructions))


def _goes_on(inst: Inst, pc: int, labels: Mapping[object, int]) -> bool:
    """Return whether an instruction leads only to places behind it, or to the end."""
    flow = inst.row.flow
    if flow in (FlowClass.GOTO, FlowClass.JUMP):
        return labels.get(inst.get("label"), pc) > pc
    return flow in (FlowClass.NEXT, FlowClass.LABEL, FlowClass.SUBROUTINE, FlowClass.NOTE) or flow.returns


def _threads(dispatch: Dispatch) -> int:
    return math.prod(dispatch.groups) * dispatch.threads_per_group


def _interpreted(dispatch: Dispatch, observers: Sequence[Observer]) -> RunResult:
    result = Machine(dispatch, observers).run()
    result.interpreted = True
    return result
