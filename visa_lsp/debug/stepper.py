"""Runs the threads of a launch in the order of ``Machine.run``, interruptible between any two instructions.

Knows no breakpoints and no history. Time is the number of instructions that all threads have executed. Invariant: without
``alone``, any sequence of ``advance`` executes the instructions of a plain run, in its order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from visa_lsp.debug.trapped_machine import FaultFound, Trap, TrappedMachine
from visa_lsp.sim.faults import KernelFault
from visa_lsp.sim.interp import END, PAUSED, SWITCH, WAIT

if TYPE_CHECKING:
    from visa_lsp.sim.group import Wait
    from visa_lsp.sim.interp import Thread as Thread  # noqa: PLC0414 - for rooms that pass threads on and know no simulator


class Stepper:
    """The schedule of a run between two instructions.

    ``current`` is the thread that executes the next instruction. It is None when the run is over, or while the thread that
    runs ``alone`` waits for others.
    """

    def __init__(self, machine: TrappedMachine) -> None:
        self.machine = machine
        self.groups = tuple(machine.group_ids())
        self.group = -1  # index of the running one in ``groups``
        self.threads: list[Thread] = []
        self.live: list[Thread] = []
        self.waits: dict[int, Wait] = {}
        self.queue: list[Thread] = []  # threads whose turn is still due in this round
        self.current: Thread | None = None
        self.moved = True  # a thread had a turn in this round
        self.used = 0  # instructions of the current turn
        self.alone: int | None = None  # the number of the only thread of the group that runs
        self.time = 0
        self.broken = False  # a fatal fault has ended the run
        self.settle()

    @property
    def over(self) -> bool:
        """True if the run has executed its last instruction."""
        return self.broken or (not self.live and self.group >= len(self.groups) - 1)

    def settle(self) -> None:
        """Choose the thread of the next turn; the next group begins after the end of one.

        Raises FaultFound when all threads of the group wait for each other.
        """
        while self.current is None and not self.over:
            if not self.live:
                self._next_group()
            elif self.alone is not None:
                if not self._only(self.alone):
                    return
            elif self.queue:
                self._turn(self.queue.pop(0))
            else:
                locked, self.moved = not self.moved, False
                self.queue = list(self.live)
                if locked:
                    self.machine.unlock(self.live, self.waits, len(self.threads))

    def _next_group(self) -> None:
        self.group += 1
        self.threads = self.machine.begin(self.groups[self.group])
        self.live, self.queue = list(self.threads), list(self.threads)
        self.waits.clear()
        self.moved, self.alone = False, None

    def _turn(self, thread: Thread) -> None:
        """Give a thread its turn unless it waits."""
        if thread not in self.live:
            return
        wait = self.waits.get(thread.number)
        if wait is not None:
            if not wait.ready():
                return
            del self.waits[thread.number]
        self.moved = True
        self.current, self.used = thread, 0

    def _only(self, number: int) -> bool:
        """Give the thread that runs alone its turn; return False if it waits."""
        thread = next((t for t in self.live if t.number == number), None)
        if thread is None:
            self.alone = None
            return True
        self._turn(thread)
        return self.current is not None

    def run_alone(self, number: int | None) -> None:
        """Run only one thread of the group from now on, or all of them for None."""
        self.alone = number
        if number is not None and (self.current is None or self.current.number != number):
            if self.current is not None:
                self.queue.insert(0, self.current)
            self.current = None
        self.settle()

    def advance(self, most: int) -> None:
        """Execute up to ``most`` instructions of the current thread, fewer if its turn ends.

        Raises Trap and FaultFound when the thread is before a trap or finding, and KernelFault when it cannot continue.
        """
        thread, machine = self.current, self.machine
        if thread is None:
            return
        if machine.passed:
            most = 1
        before = machine.count_instructions(thread.frame) if most > 1 else 0
        try:
            with np.errstate(all="ignore"):
                signal, used = thread.slice(machine.quantum - self.used, most)
        except (Trap, FaultFound, KernelFault):
            frame = thread.frame  # the present instruction was counted, but not executed
            frame.code.counts[frame.pc] -= 1
            self._count(machine.count_instructions(frame) - before if most > 1 else 0)
            raise
        machine.passed.clear()
        self._count(used)
        if signal != PAUSED:
            self._hand_over(thread, signal)

    def _count(self, used: int) -> None:
        self.time += used
        self.used += used

    def _hand_over(self, thread: Thread, signal: int | None) -> None:
        """End a thread's slice, as ``Thread.run`` and ``Machine.go_on`` do."""
        used, self.used = self.used, 0
        self.machine.spend(used)
        if signal == SWITCH:
            return
        self.current = None
        if signal == END:
            self.live.remove(thread)
            self.machine.retire(thread)
            if not self.live:
                self.machine.result.groups += 1
        elif signal == WAIT:
            assert thread.pending is not None
            self.waits[thread.number] = thread.pending
        self.settle()

    def place(self, thread: Thread) -> int:
        """Return the present instruction of a thread; for a waiting thread this is its barrier."""
        pc = thread.frame.pc
        return pc - 1 if thread.number in self.waits and thread in self.live else pc
