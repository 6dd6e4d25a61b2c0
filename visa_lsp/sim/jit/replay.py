"""Replays suspect groups of a launch under checkers: the interpreter runs each of them again, with its observers.

Groups run one after another and depend only on memory. So memory and counts are restored to a checkpoint, the groups
before the suspect one run again as compiled code, the interpreter runs the suspect group, and compiled code continues
after it from a new checkpoint. Invariant: observers report of a group what they would report after observing all groups
before it, because no earlier group has a racing access to the same memory. If one has, or if checkpoints would cost too
much, Suspicion is raised, and all groups must be interpreted.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec.structs import replace

from visa_lsp.sim.contents import Contents
from visa_lsp.sim.faults import FaultKind, KernelFault
from visa_lsp.sim.jit import state
from visa_lsp.sim.jit.check_instrumentation import AGAINST, ATOMIC, READ, WRITTEN
from visa_lsp.sim.jit.whole import GroupQueue, GroupRunner, Suspicion
from visa_lsp.sim.observers.hooks import MemoryAccess, Observer
from visa_lsp.sim.observers.races import split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.sim.jit.machine import CompiledMachine

MAX_BUFFER_BYTES: Final = 1 << 28  # of all buffers: marks take three times as much, and a checkpoint as much as both
# Bytes that checkpoints may copy for each instruction of each thread of a launch: a quarter of the time of interpreting
# it under all checkers.
COPIED: Final = 16_000
_COUNTED: Final = ("threads", "groups", "barriers", "reads", "writes")


class Replay:
    """Runs all groups of a launch, compiled and interpreted.

    ``before`` has the present contents of memory; ``budget`` limits the interpreter's steps for a group.
    """

    def __init__(self, runner: GroupRunner, observers: Sequence[Observer], before: Contents, budget: int) -> None:
        self._runner, self._machine, self._budget = runner, runner.machine, budget
        self._marking = _Marking(self._machine)
        # First in the list, because findings of the other observers do not count after an access that races with another group.
        self._observers = (self._marking, *observers)
        self._checkpoint: _Checkpoint | None = _Checkpoint(self._machine, before, marked=False)
        dispatch = self._machine.dispatch
        self._total = prod(dispatch.groups)
        self._bytes = sum(buffer.size for buffer in dispatch.buffers)
        steps = self._total * dispatch.threads_per_group * len(dispatch.kernel.instructions)
        # What groups before left in private memory is known to observers of all groups only.
        kept = any(buffer.private or buffer.undefined for buffer in dispatch.buffers)
        # Bytes that may still be copied.
        self._left = 0 if kept or self._bytes > MAX_BUFFER_BYTES else COPIED * steps
        self._together = 0  # groups that were interpreted one after another

    def run(self) -> None:
        """Run all groups.

        Raises Suspicion if all must be interpreted, and KernelFault if one cannot continue.
        """
        result, start = self._machine.result, 0
        while start < self._total:
            try:
                self._run_compiled(range(start, self._total))
                start, result.interpreted = self._total, False
            except Suspicion as hit:
                start = self._replay(start, hit.group)

    def _run_compiled(self, groups: range) -> None:
        """Run groups as compiled code, without events for observers."""
        machine, barriers = self._machine, self._machine.result.barriers
        machine.heard_by(())
        try:
            self._runner.run(GroupQueue(groups.stop, groups.start))
        except KernelFault:
            self._listen(barriers)
            raise
        self._listen(barriers)

    def _listen(self, barriers: int) -> None:
        """Notify the observers of events again; after a barrier, collect the findings that are complete at a barrier."""
        self._machine.heard_by(self._observers)
        if self._machine.result.barriers > barriers:
            self._machine.take_findings()

    def _replay(self, start: int, group: int | None) -> int:
        """Interpret the suspect group; ``start`` is the group of the checkpoint. Return the group to continue with."""
        machine, result = self._machine, self._machine.result
        self._left -= 8 * self._bytes  # buffers and their marks are restored from one checkpoint and copied to the next
        if group is None or self._left < 0:
            raise Suspicion
        assert self._checkpoint is not None
        self._checkpoint.restore()
        self._run_compiled(range(start, group))
        # Where compiled code ran no group since the checkpoint, twice as many are interpreted as before it.
        self._together = max(1, 2 * self._together) if group == start else 1
        end = min(self._total, group + self._together)
        for number in range(group, end):
            result.interpreted = result.replayed_groups == number
            result.replayed_groups += 1
            self._interpret(number)
        self._checkpoint = None  # frees the memory before the next checkpoint
        if end < self._total:
            self._checkpoint = _Checkpoint(machine, Contents(machine.dispatch), marked=True)
        return end

    def _interpret(self, group: int) -> None:
        machine, dispatch = self._machine, self._machine.dispatch
        self._marking.begin()
        budget, inlined = min(dispatch.step_budget, machine.steps + self._budget), machine.inlined
        kernel = dispatch.kernel if inlined is None else inlined.original
        machine.dispatch = replace(dispatch, kernel=kernel, step_budget=budget)
        try:
            machine.interpret_group(group)
        except KernelFault as fault:
            if fault.kind is FaultKind.BUDGET and machine.dispatch.step_budget < dispatch.step_budget:
                raise Suspicion from fault
            raise
        finally:
            machine.dispatch = dispatch
        # Findings at the end of the group are complete now; they are collected at the next barrier, as if the next
        # group had begun.
        for observer in self._observers:
            observer.on_end()
        if dispatch.first_fault and any(observer.take() for observer in self._observers):
            raise Suspicion  # because the run ends there, in the middle of a group


class _Checkpoint:
    """The state of a run after some of its groups; without ``marked`` it has no marks yet."""

    def __init__(self, machine: CompiledMachine, contents: Contents, *, marked: bool) -> None:
        self._machine, self._contents = machine, contents
        self._marks = {key: marks.copy() for key, marks in machine.marks.items()} if marked else {}
        self._counts, self._steps = machine.counts(), machine.steps
        self._result = {name: getattr(machine.result, name) for name in _COUNTED}

    def restore(self) -> None:
        """Restore the state. Numbers of marks are not reused."""
        machine = self._machine
        self._contents.restore()
        for key, marks in machine.marks.items():
            marks[:] = self._marks.get(key, 0)
        machine.put_back_counts(self._counts)
        machine.steps = self._steps
        for name, value in self._result.items():
            setattr(machine.result, name, value)


class _Marking(Observer):
    """Adds the accesses of an interpreted group to the marks of compiled code.

    All its threads have one number, because other observers check races among them. Raises Suspicion for a race with
    another group.
    """

    def __init__(self, machine: CompiledMachine) -> None:
        self._launch, self._number = machine.launch, 0
        marks = machine.marks
        self._marks = {id(buffer): marks[id(buffer)] for buffer in machine.dispatch.buffers if id(buffer) in marks}

    def begin(self) -> None:
        """Assign a number to the group."""
        self._number = int(self._launch[state.GLOBAL_NEXT // 8])
        self._launch[state.GLOBAL_NEXT // 8] += 1

    def on_read(self, access: MemoryAccess) -> None:
        """Test a read against the marks of writes and atomics."""
        self._mark(access, READ)

    def on_write(self, access: MemoryAccess) -> None:
        """Test a write against all marks, and an atomic against all marks except those of other atomics."""
        self._mark(access, ATOMIC if access.kind == "atomic" else WRITTEN)

    def _mark(self, access: MemoryAccess, kind: int) -> None:
        for buffer, offsets, _ in split(access.space, access.places, access.size) if access.space is not None else ():
            marks = self._marks.get(id(buffer))
            if marks is None:
                continue  # shared local memory, or a buffer whose uses do not race
            first_dword, last_dword = offsets >> 2, offsets + access.size - 1 >> 2
            cells = np.minimum(first_dword[:, None] + np.arange(access.size + 6 >> 2), last_dword[:, None])
            for other in (other for other in AGAINST[kind] if other < len(marks)):
                other_marks = marks[other, cells]
                if ((other_marks != 0) & (other_marks != self._number)).any():
                    raise Suspicion
            own = marks[kind, cells]
            marks[kind, cells] = np.where(own == 0, self._number, own)
