"""The compiled engine: which launches run as compiled code, with checkers and without.

Without checkers every launch may. Where checkers watch, a launch is compiled together with tests that overlook nothing
(``check_instrumentation``), and with a proof that registers are written before they are read (``definedness_proof``). Where a test strikes, the interpreter
runs the group again (``replay``); where that does not do, or there is no proof, memory is put back and it runs all of them. So
reports are the interpreter's, whoever ran.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from visa_lsp.isa.model import FlowClass
from visa_lsp.sim.contents import Contents
from visa_lsp.sim.jit.code_cache import MAX_INSTRUCTIONS, Making, RunMode, is_large
from visa_lsp.sim.jit.machine import WARM, Hot, Sample
from visa_lsp.sim.machine import Machine
from visa_lsp.sim.observers.accesses import AccessChecker
from visa_lsp.sim.observers.definedness import UninitialisedChecker
from visa_lsp.sim.observers.hooks import AlignmentChecker, BarrierChecker, BoundsChecker, DivisionChecker
from visa_lsp.sim.observers.races import RaceChecker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.program.model import Kernel
    from visa_lsp.sim.analyses.modes import Modes
    from visa_lsp.sim.dispatch import Dispatch, RunResult
    from visa_lsp.sim.jit.machine import CompiledMachine
    from visa_lsp.sim.observers.hooks import Observer

_ALONE: Final = "groups ran one after another, not on several threads: "
_BY_INTERPRETER: Final = "the interpreter ran the launch: "
_ONWARD: Final = (FlowClass.NEXT, FlowClass.LABEL, FlowClass.SUBROUTINE, FlowClass.NOTE)
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
    if is_large(dispatch.kernel) and not at_once:
        count = len(dispatch.kernel.instructions)
        against = f"the kernel has {count:,} instructions; those of more than {MAX_INSTRUCTIONS:,} are interpreted"
        return _interpret(slower, observers, against)
    if unfit := [type(o).__name__ for o in observers if type(o) not in WATCHED]:
        against = f"{_BY_INTERPRETER}compiled code has no form of {', '.join(unfit)}"
        return _interpret(slower, observers, against * at_once)
    again = bool(observers) or dispatch.host_threads > 1  # the sampled steps do not belong to the run
    known = at_once or bool(making.bodies)
    before = None
    if again and not known:
        if _is_straight(dispatch) and math.prod(dispatch.groups) * dispatch.threads_per_group < WARM:
            return _interpret(slower, observers)
        before = Contents(dispatch)
        sample = Sample(slower, making, RunMode(watched=bool(observers), side_by_side=not observers))
        sample.heard_by(_fresh(observers))
        sample.ahead = _compile_ahead
        try:
            result = sample.run()
        except Hot:
            before.restore()
            sample.give_codes()
        else:
            result.interpreted = True
            return _limit(result, "" if observers else f"{_ALONE}the launch is too small")
    # Loaded here: what compiles is not needed for what is over by now.
    from visa_lsp.sim.jit import launches
    from visa_lsp.sim.jit.whole import Suspicion

    if not observers:
        found = launches.side_by_side(dispatch, making) if again else ""
        if not isinstance(found, str):
            return found
        return _limit(launches.run_unwatched(dispatch, making, at_once=known), found and _ALONE + found)
    before = before or Contents(dispatch)
    try:
        found = launches.run_watched(dispatch, making, _fresh(observers), before, slower.step_budget)
    except Suspicion:
        before.restore()
        found = _interpret(slower, observers)
        found.replayed_groups = found.groups
    return _interpret(slower, observers, (_BY_INTERPRETER + found) * at_once) if isinstance(found, str) else found


def _compile_ahead(machine: CompiledMachine, kernel: Kernel, modes: Modes, making: Making) -> None:
    from visa_lsp.sim.jit.launches import compile_ahead

    compile_ahead(machine, kernel, modes, making)


def _fresh(observers: Sequence[Observer]) -> list[Observer]:
    """Return checkers of the same kinds that have seen nothing yet, for a run that may be taken back."""
    return [type(observer)() for observer in observers]


def _limit(result: RunResult, words: str) -> RunResult:
    """Return a result with one more of its limits, if there are words for it."""
    result.limits += (words,) * bool(words)
    return result


def _is_straight(dispatch: Dispatch) -> bool:
    """Return whether a thread executes each instruction of the kernel once at most: all lead behind them, or to the end."""
    instructions = dispatch.kernel.instructions
    labels: dict[object, int] = {inst.get("label"): pc for pc, inst in enumerate(instructions) if inst.row.opens_label}
    return all(
        labels.get(inst.get("label"), pc) > pc
        if inst.row.flow in (FlowClass.GOTO, FlowClass.JUMP)
        else inst.row.flow in _ONWARD or inst.row.flow.returns
        for pc, inst in enumerate(instructions)
    )


def _interpret(dispatch: Dispatch, observers: Sequence[Observer], against: str = "") -> RunResult:
    """Run a launch in the interpreter; ``against`` says why it is not compiled."""
    result = Machine(dispatch, observers).run()
    result.interpreted = True
    return _limit(result, against)
