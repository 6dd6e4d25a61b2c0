"""Runs groups of a launch as compiled code, except one that is interpreted for an observer, as a whole or only its end.

Memory is restored to the start of the launch as often as needed; code is compiled once. Invariant: a group has the same
effects as in a run of the whole launch, provided that all groups before it have run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from visa_lsp.sim.faults import KernelFault
from visa_lsp.sim.interp import Thread
from visa_lsp.sim.jit import state
from visa_lsp.sim.jit.launches import runner_of
from visa_lsp.sim.jit.machine import CompiledMachine, CompiledThread
from visa_lsp.sim.jit.whole import GroupQueue
from visa_lsp.sim.machine import QUANTUM

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.sim.contents import Contents
    from visa_lsp.sim.dispatch import Dispatch
    from visa_lsp.sim.group import ThreadGroup, Wait
    from visa_lsp.sim.jit.code_cache import Making
    from visa_lsp.sim.observers.hooks import Observer
    from visa_lsp.sim.registers import Frame


class GroupReplay:
    """Runs parts of a launch repeatedly. ``before`` is the memory at the start of the launch."""

    def __init__(self, dispatch: Dispatch, before: Contents, making: Making) -> None:
        self._dispatch, self._before, self._making = dispatch, before, making
        self.restart()

    def restart(self) -> None:
        """Restore the start of the launch."""
        self._before.restore()
        self._machine = machine = _LateMachine(self._dispatch, self._making)
        runner = runner_of(machine)
        self._runner = None if isinstance(runner, str) else runner

    def run(self, first_group: int, end: int) -> None:
        """Run the groups from ``first_group`` up to ``end``, not included. A fatal fault of a thread ends its group."""
        try:
            with np.errstate(all="ignore"):
                if self._runner is not None:
                    self._runner.run(GroupQueue(end, first_group))
                    return
                for number in range(first_group, end):
                    self._machine.interpret_group(number)
        except KernelFault:
            return

    def steps_of(self, number: int) -> int:
        """Run a group and return the number of its instructions."""
        before = self._machine.steps
        self.run(number, number + 1)
        return self._machine.steps - before

    def interpret(self, number: int, observer: Observer, late: int = 0, quantum: int = QUANTUM) -> None:
        """Run a group for an observer, which gets events from the first change of threads after instruction ``late`` on.

        ``quantum`` is the number of instructions of a turn; a run of fewer instructions than this, times the threads,
        may have no events.
        """
        machine = self._machine
        machine.begin(observer, late, quantum)
        try:
            with np.errstate(all="ignore"):
                machine.interpret_group(number)
        except KernelFault:
            return
        finally:
            machine.heard_by(())


class _LateMachine(CompiledMachine):
    """A machine whose threads change from compiled code to the interpreter at a number of instructions."""

    change_at = 0
    late: Observer | None = None

    def begin(self, observer: Observer, late: int, quantum: int) -> None:
        """Notify an observer of the next group from its instruction ``late`` on."""
        self.late, self.change_at = observer, self.steps + late
        self.quantum = self.launch[state.QUANTUM // 8] = quantum
        self.heard_by(() if late else (observer,))

    def thread(self, group: ThreadGroup, number: int, frame: Frame) -> Thread:
        """Return a thread of the kind needed for the group."""
        late = self.late is not None and not self.observers
        return _LateThread(self, group, number, frame) if late else super().thread(group, number, frame)


class _LateThread(CompiledThread):
    """A thread that is interpreted from a number of instructions of the machine on."""

    machine: _LateMachine

    def run(self, quantum: int) -> Iterator[Wait | None]:
        """Execute until the end, as compiled code first."""
        machine = self.machine
        for waits in super().run(quantum):
            yield waits
            if machine.steps >= machine.change_at:
                if machine.late is not None and not machine.observers:
                    machine.heard_by((machine.late,))
                yield from Thread.run(self, quantum)
                return
