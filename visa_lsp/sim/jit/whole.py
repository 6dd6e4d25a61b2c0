"""Runs whole groups in compiled code, and hands groups that cannot be finished there over to the machine."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.sim.effects.sync import make_wait
from visa_lsp.sim.group import ThreadGroup
from visa_lsp.sim.jit import state
from visa_lsp.sim.jit.activations import ActivationLayout, Activations
from visa_lsp.sim.jit.code_cache import MAX_HELD_INSTRUCTIONS
from visa_lsp.sim.jit.machine import CompiledMachine, CompiledThread, address
from visa_lsp.sim.machine import SCRATCH_BYTES
from visa_lsp.sim.memory import allocate_aligned
from visa_lsp.sim.observers.races import LAST_WITH_ORDERED_SHARED
from visa_lsp.sim.operands import CR0
from visa_lsp.sim.registers import Frame

if TYPE_CHECKING:
    from visa_lsp.sim.interp import Code
    from visa_lsp.sim.jit.groups import GroupField

Array = np.ndarray[Any, np.dtype[Any]]

# numbers of threads between barriers: marks have 32 bits, and one call needs far fewer than the remaining numbers
_MAX_THREAD_NUMBERS: Final = 1 << 30
MAX_SLICE_STEPS: Final = 1 << 23  # steps of compiled code, some 20 ms, until Python can be interrupted


class Suspicion(Exception):  # noqa: N818 - no error: a checker may have something to say
    """A possible finding of a run with checkers: the interpreter must run ``group`` again, or all groups if it is None."""

    def __init__(self, group: int | None = None) -> None:
        super().__init__(group)
        self.group = group


class GroupQueue:
    """A queue of the remaining groups by number, in order; several runners may share it."""

    def __init__(self, total: int, start: int = 0, *, runners: int = 1) -> None:
        self.total = total
        self.steps = 0  # steps of all runners
        self.interrupted = False  # whether the runners leave groups unfinished
        self._next, self._runners, self._lock = start, runners, Lock()

    def take(self) -> range:
        """Return the next groups; empty at the end. Several runners get fewer at a time towards the end."""
        with self._lock:
            start, rest = self._next, self.total - self._next
            self._next += rest if self._runners == 1 else -(-rest // (2 * self._runners))
            return range(start, self._next)

    def spend(self, steps: int) -> None:
        """Add steps of a runner."""
        with self._lock:
            self.steps += steps

    def stop(self) -> None:
        """End the queue."""
        with self._lock:
            self._next = self.total


class GroupRunner:
    """Runs whole groups in compiled code. All groups use the same memory for the frames of their threads."""

    def __init__(self, machine: CompiledMachine) -> None:
        # Imported here, as in the machine, only when something is compiled.
        from visa_lsp.sim.jit import groups, spaces

        self.machine = machine
        dispatch = machine.dispatch
        shape = dispatch.shape((0, 0, 0))
        count = shape.threads
        self.shared = allocate_aligned(dispatch.slm_bytes)
        self.group = ThreadGroup((0, 0, 0), self.shared, count, dispatch.shared_parts)
        self.number = 0
        self.threads: dict[int, CompiledThread] = {}
        self._frames: dict[int, Frame] = {}  # of threads that the interpreter has continued
        frame = machine.acquire(dispatch.kernel)
        self.compiled = compiled = machine.compile_for(frame.code)
        machine.grew((count - 1) * frame.code.layout.size)  # the other threads have registers of their own too
        self.functions = machine.compiled_functions or {}
        plans = [of.body for of in (compiled, *self.functions.values())]
        self._layout = layout = ActivationLayout.of(compiled)
        self._memory = allocate_aligned(count * layout.end).reshape(count, layout.end)
        makes_scratch = machine.mode.watched and any(plan.reaches_scratch for plan in plans)
        self._scratch = np.zeros((count, 2 * SCRATCH_BYTES * makes_scratch), np.uint8)
        self.uses = spaces.BufferUses.of({use for plan in plans for use in plan.uses}, dispatch.surfaces)
        marks = 0
        if machine.mode.watched:
            kinds = 3 if compiled.body.has_atomics else 2
            machine.make_marks(self.uses.race, kinds)
            marks = machine.marks_address(self.group.slm, kinds, compiled.body.shared_unit)
        self.states = list[state.StateBlock]()
        for number, memory in enumerate(self._memory):
            machine.begin_thread(frame, (0, 0, 0), number, shape)
            block = layout.place(frame, compiled, memory)
            for place, value in (
                (state.SLM, address(self.group.slm)), (state.SLM_SIZE, self.group.slm.size), (state.SLM_MARKS, marks),
                (state.SCRATCH, self._scratch[number].ctypes.data * makes_scratch), (state.DISPATCHED, frame.emask),
                (state.UNDEFINED_BITS, block.address + layout.masks),
            ):  # fmt: skip
                block.words[place // 8] = value
            self.states.append(block)
        machine.release(frame)
        self._activations = Activations(machine, self.states, compiled, self.functions) if self.functions else None
        self._initial = self._memory.copy()
        if not compiled.has_groups:
            assert "native" not in vars(compiled), "the kernel's function was made without the one for groups"
            shared = self.group.slm.size if any(plan.reaches_shared for plan in plans) else 0
            given, scratch = self._first_bytes(layout.addresses - layout.registers), SCRATCH_BYTES * makes_scratch
            sizes = groups.Sizes(layout, shared, given, self._find_changed(), scratch)
            orders = dispatch.platform.generation <= LAST_WITH_ORDERED_SHARED
            calls = self._activations.calls() if self._activations is not None else None
            groups.GroupWriter(compiled, sizes, self._fields(), calls, barrier_orders=orders).write()
            compiled.has_groups = True
        for place, value in (
            (state.ACTIVATIONS, self._memory.ctypes.data), (state.ACTIVATIONS_FIRST, self._initial.ctypes.data),
            (state.STRIDE, layout.end), (state.COUNTS, compiled.counts.ctypes.data), (state.THREADS, count),
            (state.GROUPS_X, dispatch.groups[0]), (state.GROUPS_Y, dispatch.groups[1]),
            (state.GLOBAL_NEXT, 1), (state.SHARED_NEXT, 1),  # 0 stands for no thread
        ):  # fmt: skip
            machine.launch[place // 8] = value
        self._call = compiled.call_groups
        if self._activations is not None:
            self._activations.link()

    def _first_bytes(self, size: int) -> tuple[range, ...]:
        """Return the registers to set at the start of a thread: all, or only those read before they are written.

        All are set where functions may read them, and for a long kernel without checkers, because a proof would take longer.
        """
        machine = self.machine
        is_long = len(self.compiled.body.instructions) > MAX_HELD_INSTRUCTIONS
        if self.functions or (is_long and not machine.mode.watched):
            return (range(size),)
        proof = machine.definedness_of(machine.dispatch.kernel)
        if proof is None or (proof.tested and not machine.mode.watched):
            return (range(size),)
        return _ranges(proof.given_and_read(), apart=64)

    def _find_changed(self) -> tuple[range, ...]:
        """Return the predefined registers that an instruction may write, and ``%cr0``."""
        code = self.compiled.body.code
        offset = code.layout.offset(CR0)
        written = _find_touched(code, write=True)
        written[offset : offset + 4] |= bool(self.compiled.body.modes.controls)
        return _ranges(written[: code.layout.predefined_end])

    def _fields(self) -> list[GroupField]:
        """Return the places of a group's numbers in the registers of its threads, found by comparing with another group."""
        from visa_lsp.sim.jit.groups import GroupField

        machine, read = self.machine, _find_touched(self.compiled.body.code, write=False)
        fields, shape = list[GroupField](), machine.dispatch.shape((0, 0, 0))
        frame, registers, other = machine.acquire(machine.dispatch.kernel), list[Array](), 0x5A5A5A5A
        for group in ((0, 0, 0), (other, 0, 0), (0, other, 0), (0, 0, other)):
            machine.begin_thread(frame, group, 0, shape)
            registers.append(frame.regs.copy())
        machine.release(frame)
        for dimension in range(3):
            for place in _ranges(registers[0] != registers[dimension + 1]):
                used = bool(read[place.start : place.stop].any())
                fields.append(GroupField(place.start, len(place), dimension, used))
        return fields

    def run(self, queue: GroupQueue) -> None:
        """Run the groups of a queue.

        The machine continues groups that compiled code does not finish. Raises Suspicion if a checker may have a
        finding, and KernelFault if a group cannot continue.
        """
        try:
            while numbers := queue.take():
                self._run(numbers, queue)
        except BaseException:
            queue.stop()
            raise

    def _run(self, numbers: range, queue: GroupQueue) -> None:
        machine, launch, result = self.machine, self.machine.launch, self.machine.result
        start, turn, budget = numbers.start, -1, machine.dispatch.step_budget
        while start < numbers.stop and not queue.interrupted:
            before = machine.steps
            launch[state.TOTAL // 8], launch[state.BUDGET // 8] = before, min(budget, before + MAX_SLICE_STEPS)
            machine.running = self.current_thread
            why = self._call(machine.address, start, numbers.stop, turn)
            machine.running = None
            machine.steps = int(launch[state.TOTAL // 8])
            result.barriers += int(launch[state.BARRIERS // 8])
            launch[state.BARRIERS // 8] = 0
            machine.count_bytes()
            if max(launch[state.GLOBAL_NEXT // 8], launch[state.SHARED_NEXT // 8]) > _MAX_THREAD_NUMBERS:
                raise Suspicion
            group = int(launch[state.GROUP // 8])
            # The interpreter also reports a barrier that cannot complete, and the steps after it.
            if why == state.SUSPECT or (machine.mode.watched and why in (state.FAULT, state.SWITCH, state.CALL)):
                raise Suspicion(group)
            # The thread with the next turn: the same one within its turn, the following one behind it.
            turn = int(launch[state.THREAD // 8]) + (why == state.OVER)
            pauses = why in (state.OVER, state.INSIDE) and machine.steps <= budget
            end = numbers.stop if why == state.LEAVE else group if pauses else group + 1
            result.threads += (end - start) * len(self.states)
            result.groups += end - start
            if why != state.LEAVE and not pauses:
                result.groups -= 1  # because one group is not finished
                self._hand_over(state.OVER if why == state.INSIDE else why)
                result.groups += 1
                turn = -1
            start = end
            machine.tell(result.groups, machine.steps)
            queue.spend(machine.steps - before)
            machine.check_budget(queue.steps)

    def _hand_over(self, why: int) -> None:
        """Let the machine run the group to its end."""
        machine, launch, running = self.machine, self.machine.launch, self.current_thread()
        thread_number, group = running.number, self.group
        group.barrier.arrived = group.barrier.produced = int(launch[state.ARRIVED // 8])
        group.barrier.generation = int(launch[state.CURRENT // 8])
        live, waits = [], {}
        for number, block in enumerate(self.states):
            status = int(block.words[state.STATUS // 8])
            # An exhausted budget is attributed to its thread, even if that thread has ended or waits now.
            over = why == state.OVER and number == thread_number
            if status == state.ENDED and not over:
                continue
            thread = self._thread(number)
            for frame in (*thread.frames, thread.frame):
                machine.blocks[id(frame)].give(frame)
                machine.take_modes(frame)
            live.append(thread)
            if not over and status == state.WAITING and int(block.words[state.ROUND // 8]) == group.barrier.generation:
                waits[number] = make_wait(group.barrier, group.barrier.generation, "the barrier")
        stuck = why == state.SWITCH
        if not stuck:
            running.stopped = why
            machine.give_place(running.frame)
        machine.go_on(live, waits, len(self.states), 0 if stuck else thread_number)
        for compiled in (self.compiled, *self.functions.values()):
            machine.forget_frames(compiled.code)

    def current_thread(self) -> CompiledThread:
        """Return the running thread of compiled code."""
        launch, dispatch = self.machine.launch, self.machine.dispatch
        number = int(launch[state.GROUP // 8])
        if number != self.number or not self.threads:
            self.number, self.threads = number, {}
            self.group = ThreadGroup(dispatch.group_id(number), self.shared, len(self.states), dispatch.shared_parts)
        return self._thread(int(launch[state.THREAD // 8]))

    def _thread(self, number: int) -> CompiledThread:
        if number not in self._frames:
            frame = self._frames[number] = Frame(self.compiled.code)
            self.machine.blocks[id(frame)] = self._layout.attach(frame, self.compiled, self._memory[number])
            self.states[number].give(frame)
        if number not in self.threads:
            self.threads[number] = CompiledThread(self.machine, self.group, number, self._frames[number])
        thread = self.threads[number]
        if self._activations is not None:
            *thread.frames, thread.frame = self._frames[number], *self._activations.frames_of(number)
            for frame in (*thread.frames, thread.frame):
                frame.thread = thread
        return thread


def _find_touched(code: Code, *, write: bool) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return a flag for each byte of the registers: whether an instruction reads it, or writes it if ``write``."""
    touched = np.zeros(code.layout.size, np.bool_)
    for touches in code.touches.values():
        for touch in touches:
            if touch.write is write:
                touched[touch.places] = True
    return touched


def _ranges(flags: np.ndarray[Any, np.dtype[np.bool_]], apart: int = 1) -> tuple[range, ...]:
    """Return the flagged places as ranges with gaps of more than ``apart`` between them."""
    places = np.flatnonzero(flags)
    runs = np.split(places, np.flatnonzero(np.diff(places) > apart) + 1) if places.size else []
    return tuple(range(int(run[0]), int(run[-1]) + 1) for run in runs)
