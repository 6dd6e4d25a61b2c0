"""Launches as compiled code: with and without checkers, one group after another or side by side."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from visa_lsp.sim.jit.machine import CompiledMachine
from visa_lsp.sim.jit.replay import Replay
from visa_lsp.sim.jit.side_by_side import reason_against, run_side_by_side
from visa_lsp.sim.jit.whole import GroupQueue, GroupRunner

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from visa_lsp.sim.contents import Contents
    from visa_lsp.sim.dispatch import Dispatch, RunResult
    from visa_lsp.sim.jit.making import Making
    from visa_lsp.sim.observers.hooks import Observer


def unwatched(dispatch: Dispatch, making: Making, *, at_once: bool) -> RunResult:
    """Run without checkers; what is compiled depends on what is executed, or all is ``at_once``."""
    machine = CompiledMachine(dispatch, making, at_once=at_once)
    if dispatch.partial is None:
        machine.make_whole = partial(_whole, machine)
    result = machine.run()
    result.interpreted = not machine.has_compiled
    return result


def side_by_side(dispatch: Dispatch, making: Making) -> RunResult | str:
    """Run without checkers on several threads of the host, or say in words why that cannot be."""
    machine = CompiledMachine(dispatch, making, side_by_side=True, at_once=True)
    return reason_against(dispatch, machine) or run_side_by_side(dispatch, machine)


def watched(
    dispatch: Dispatch, making: Making, observers: Sequence[Observer], before: Contents, budget: int
) -> RunResult | str:
    """Make a run as compiled code, and of groups in the interpreter, with observers, of which one may have something to say.

    ``before`` is what memory holds now, ``budget`` how many steps the interpreter may take for a group. Words, with nothing
    run, where no proof can be had that the others have nothing to say. Raises Suspicion where all groups have to be interpreted.
    """
    if dispatch.partial is not None or any(b.private or b.undefined or b.whole is not b for b in dispatch.buffers):
        return "some groups are not full, or threads have memory of their own"
    machine = CompiledMachine(dispatch, making, watched=True, at_once=True)
    code = machine.code(dispatch.kernel)
    # The proof comes first: it takes a tenth of the time that writing the code does.
    if not machine.writes_first:
        return "no proof that registers are written before they are read"
    if not machine.fits(code) or not machine.compiled_anew(code).body.seen:
        return "the kernel leaves compiled code, or a message has no compiled form"
    machine.make_whole = lambda: Replay(GroupRunner(machine), observers, before, budget).run
    return machine.run()


def _whole(machine: CompiledMachine) -> Callable[[int], None] | None:
    """Return what runs all groups from a number on as a whole; None where that cannot be."""
    if not machine.fits(machine.code(machine.dispatch.kernel)):
        return None
    runner, total = GroupRunner(machine), math.prod(machine.dispatch.groups)
    return lambda done: runner.run(GroupQueue(total, done))
