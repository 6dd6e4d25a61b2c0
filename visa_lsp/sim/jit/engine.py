"""The compiled engine: decides which launches run as compiled code, with and without checkers.

Without checkers every launch may. With checkers, a launch is compiled with tests that miss no finding
(``check_instrumentation``), if there is a proof that registers are written before they are read. After a hit, the
interpreter runs the group again (``replay``), or all groups where that is impossible.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from visa_lsp.sim.analyses.costs import MAX_INSTRUCTIONS, Costs, find_costs, is_large
from visa_lsp.sim.contents import Contents
from visa_lsp.sim.interp import PAUSED, Thread
from visa_lsp.sim.jit.code_cache import Making
from visa_lsp.sim.jit.machine import CompiledMachine
from visa_lsp.sim.machine import Machine
from visa_lsp.sim.observers.access_qualifiers import AccessChecker
from visa_lsp.sim.observers.definedness import UninitialisedChecker
from visa_lsp.sim.observers.hooks import AlignmentChecker, BarrierChecker, BoundsChecker, DivisionChecker, Observer
from visa_lsp.sim.observers.races import RaceChecker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.sim.dispatch import Dispatch, RunResult
    from visa_lsp.sim.group import ThreadGroup
    from visa_lsp.sim.registers import Frame

WARM: Final = 500  # interpreting an instruction this many times takes as long as compiling it
START: Final = 50  # instructions whose compilation takes as long as loading the compiler
CHECKED_STEP: Final = 0.32  # of the time of interpreting an instruction: what each checker takes for it
CHECKED_BYTE: Final = 0.05  # the same for each byte that a message moves
BUILT: Final = 4.3  # executions of an instruction that take as long as building what executes it
LEAST: Final = 8000  # executions that take as long as what the interpreter does before a launch is estimated
SAMPLED: Final = 0.03  # of the time of compiling: the same for kernels that take long to compile
PIECE: Final = 100  # steps of a thread between two estimates
_MOVED: Final = 4  # bytes that a message is expected to move for each lane
MAX_COPIED_BYTES: Final = 1 << 26  # memory that is copied for a sample; with more, a launch is compiled without one
_ALONE: Final = "groups ran one after another, not on several threads: "
_BY_INTERPRETER: Final = "the interpreter ran the launch: "
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
    """Run all groups of a dispatch, as compiled code if that is faster and the observers miss nothing.

    ``interpreted`` is the step budget of the interpreter, if different. ``at_once`` compiles a launch of any size, for
    users who name this engine; if it cannot be compiled, the ``limits`` of the result say why. ``making`` has the code
    compiled by earlier runs of the same dispatch.
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
    if unfit := ", ".join(type(o).__name__ for o in observers if type(o) not in WATCHED):
        return _interpret(slower, observers, f"{_BY_INTERPRETER}compiled code has no form of {unfit}" * at_once)
    before = None
    if not (at_once or making.bodies) and sum(buffer.size for buffer in dispatch.buffers) <= MAX_COPIED_BYTES:
        before = Contents(dispatch)
        sample = Sample(slower, making)
        sample.heard_by(_fresh(observers))
        try:
            result = sample.run()
        except Hot:
            before.restore()
            sample.give_codes()
        else:
            result.interpreted = True
            return _limit(result, "" if observers or dispatch.host_threads == 1 else f"{_ALONE}the launch is too small")
    # Imported here, because launches that have ended by now need no compiler.
    from visa_lsp.sim.jit import launches
    from visa_lsp.sim.jit.whole import Suspicion

    if not observers:
        outcome = launches.side_by_side(dispatch, making) if dispatch.host_threads > 1 else ""
        if not isinstance(outcome, str):
            return outcome
        return _limit(launches.run_unwatched(dispatch, making), outcome and _ALONE + outcome)
    try:
        outcome = launches.run_watched(dispatch, making, _fresh(observers), slower.step_budget, before)
    except Suspicion:
        outcome = _interpret(slower, observers)
        outcome.replayed_groups = outcome.groups
    return _interpret(slower, observers, (_BY_INTERPRETER + outcome) * at_once) if isinstance(outcome, str) else outcome


class Hot(Exception):  # noqa: N818 - no error: it ends a sample
    """Raised when compiling the kernel of a launch pays."""


class Sample(CompiledMachine):
    """The interpreter with its observers, on a launch whose memory can be restored. Raises Hot if compiling it pays."""

    def __init__(self, dispatch: Dispatch, making: Making) -> None:
        super().__init__(dispatch, making)
        self._begun: set[tuple[object, int]] = set()  # the groups and numbers of threads that have executed something
        self._costs: dict[int, Costs] = {}  # of bodies, by identity

    def thread(self, group: ThreadGroup, number: int, frame: Frame) -> Thread:
        """Return an interpreted thread."""
        return _SampledThread(self, group, number, frame)

    def estimate(self, thread: Thread, used: int) -> None:
        """Raise Hot if compiling pays; ``used`` are the steps of the present time slice of a thread."""
        self._begun.add((thread.group.id, thread.number))
        kernel, pc = thread.frame.code.kernel, thread.frame.pc
        if id(kernel) not in self._costs:
            self._costs[id(kernel)] = find_costs(kernel)
        ahead, messages = self._costs[id(kernel)].stretches[pc]  # the thread executes them next
        moved = self.result.reads + self.result.writes + messages * self.dispatch.simd * _MOVED
        spent = self._spent(self.steps + used + ahead, moved)
        building = self._spent(BUILT * (ahead + sum(code.built for code in self._codes.values())), 0)
        compiling = WARM * (START + sum(costs.size for costs in self._costs.values()))
        is_sampled = spent + building >= max(LEAST, SAMPLED * compiling)
        # The steps of threads whose groups have not ended are estimated from those that have begun.
        share = compiling / (math.prod(self.dispatch.groups) - self.result.groups) / self.dispatch.threads_per_group
        if is_sampled and spent >= share * len(self._begun):
            raise Hot

    def _spent(self, steps: float, moved: int) -> float:
        return steps + len(self.observers) * (CHECKED_STEP * steps + CHECKED_BYTE * moved)


class _SampledThread(Thread):
    machine: Sample

    def slice(self, least: int, most: int = PIECE) -> tuple[int | None, int]:
        """Execute a time slice, in pieces; after each of them, the launch is estimated. Raises Hot."""
        signal: int | None = PAUSED
        used = 0
        while signal == PAUSED:
            signal, steps = super().slice(least - used, most)
            used += steps
            self.machine.estimate(self, used)
        return signal, used


def _fresh(observers: Sequence[Observer]) -> list[Observer]:
    """Return fresh checkers of the same kinds, for a run that may be undone."""
    return [type(observer)() for observer in observers]


def _limit(result: RunResult, words: str) -> RunResult:
    """Return a result with an additional limit, unless it is empty."""
    result.limits += (words,) * bool(words)
    return result


def _interpret(dispatch: Dispatch, observers: Sequence[Observer], against: str = "") -> RunResult:
    """Run a launch in the interpreter; ``against`` is the reason why it is not compiled."""
    result = Machine(dispatch, observers).run()
    result.interpreted = True
    return _limit(result, against)
