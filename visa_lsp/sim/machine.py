"""The machine: creates groups of threads, runs them in turn between barriers, and notifies observers.

The machine owns the shared state: compiled kernels, shared local memory, barriers, the step budget, the list of faults.
It prints nothing. Groups run one after another, threads of a group round robin; the order never depends on time.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from visa_lsp.isa import predefined
from visa_lsp.sim.dispatch import Dispatch, GroupShape, RecordedMessages, RunResult
from visa_lsp.sim.faults import Fault, FaultKind, KernelFault, thread_fault
from visa_lsp.sim.group import Barrier, ThreadGroup, Wait
from visa_lsp.sim.interp import Code, Thread
from visa_lsp.sim.memory import Buffer, Space, allocate_aligned
from visa_lsp.sim.observers.hooks import MemoryAccess, Observer
from visa_lsp.sim.registers import SCRATCH_HANDLE, SCRATCH_SURFACE, SLM_SURFACE, Frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from visa_lsp.program.model import Input, Kernel
    from visa_lsp.sim.operands import Op

    FaultKey = tuple[FaultKind, str, int, str, bool]

QUANTUM: Final = 20_000
MAX_FAULTS: Final = 200
MAX_FRAME_BYTES: Final = 1 << 29  # of all activations at once; checkers keep twice as much in addition
SCRATCH_BYTES: Final = 1 << 18
FUNCTION_ADDRESSES: Final = 0x7FFF_0000
_STATELESS: Final = frozenset({0xFF, 0xFD})
_SLM_INDEX: Final = 0xFE


class _Ended(Exception):  # noqa: N818 - not an error: the run is to end there
    """The run ends at its first fault."""


class RegisterBytes:
    """A count of the bytes of a group's registers; code that adds to it keeps no machine alive."""

    total = 0

    def grow(self, size: int) -> None:
        """Count ``size`` bytes of registers for an activation.

        Raises KernelFault if all activations of a group have more than ``MAX_FRAME_BYTES``.
        """
        self.total += size
        if self.total > MAX_FRAME_BYTES:
            raise KernelFault(
                FaultKind.CALL,
                f"the threads and functions of a group have more than {MAX_FRAME_BYTES} bytes of registers",
            )


class Machine:
    """A run in progress. ``run`` executes all of it; ``start`` returns the threads of one group, for callers that step them."""

    def __init__(self, dispatch: Dispatch, observers: Sequence[Observer] = (), quantum: int | None = None) -> None:
        self.dispatch = dispatch
        self.heard_by(observers)
        self.has_findings = False  # whether an observer has new findings
        # The budget is checked after a time slice.
        self.quantum = min(QUANTUM, dispatch.step_budget) if quantum is None else quantum
        self.steps = 0
        self.result = RunResult()
        self._faults: list[Fault] = []
        self._dropped = False  # whether faults beyond MAX_FAULTS were dropped
        self.tell = dispatch.show_progress or (lambda _groups, _steps: None)
        self._seen: set[FaultKey] = set()
        self.register_bytes = RegisterBytes()
        self.grew = self.register_bytes.grow
        self._sent: dict[tuple[str, int], RecordedMessages] = {}
        self._codes: dict[int, Code] = {}
        self._traced: dict[int, list[Op]] = {}
        self._free: dict[int, list[Frame]] = {}
        self.function_addresses = {
            dispatch.symbols.get(name, FUNCTION_ADDRESSES + 64 * i): body
            for i, (name, body) in enumerate(sorted(dispatch.functions.items()))
        }

    def symbol_address(self, name: str) -> int | None:
        """Return the address of a symbol or function; None where the program has none."""
        body = self.dispatch.functions.get(name)
        return self.dispatch.symbols.get(name, next((a for a, b in self.function_addresses.items() if b is body), None))

    def heard_by(self, observers: Sequence[Observer]) -> None:
        """Replace the observers."""
        self.observers = tuple(observers)
        self.watched = bool(self.observers)
        self._trace = any(o.wants_instructions for o in self.observers)

    # ---- code and frames

    def code(self, kernel: Kernel) -> Code:
        """Return the compiled form of a kernel or function."""
        code = self._codes.get(id(kernel))
        if code is None:
            code = self._codes[id(kernel)] = Code(
                kernel, self.dispatch.platform.grf_bytes, self.dispatch.file_variables
            )
            code.grew = self.grew
        return code

    def ops_of(self, code: Code) -> list[Op]:
        """Return the ops of a kernel; if an observer wants instructions, each op notifies it first."""
        if not self._trace:
            return code.ops
        ops = self._traced.get(id(code))
        if ops is None:
            ops = self._traced[id(code)] = code.lazily(
                lambda pc: code.prepend_join(self._wrap_in_hooks(code, code.op_alone(pc), pc), pc)
            )
        return ops

    def _wrap_in_hooks(self, code: Code, op: Op, pc: int) -> Op:
        if pc >= len(code.kernel.instructions):
            return op
        with code.let_grow():  # an observer may need views of operands that the op does not use
            listeners = [o for o in self.observers if o.wants_instructions and o.concerns(code, pc)]
        if not listeners:
            return op
        before = [o.before_instruction for o in listeners]
        after = [o.after_instruction for o in listeners if type(o).after_instruction is not Observer.after_instruction]

        def announce_and_run(f: Frame) -> int | None:
            thread = f.thread
            assert thread is not None
            for tell in before:
                tell(thread, pc)
            if self.has_findings:
                self.take_findings()
            signal = op(f)
            for tell_after in after:
                tell_after(thread, f, pc)
            return signal

        return announce_and_run

    def acquire(self, kernel: Kernel) -> Frame:
        """Return a new or recycled frame for an activation."""
        code = self.code(kernel)
        free = self._free.setdefault(id(code), [])
        if free:
            frame = free.pop()
            frame.reset()
            return frame
        self.grew(code.layout.size)
        return Frame(code)

    def release(self, frame: Frame) -> None:
        """Recycle a frame."""
        frame.thread = None
        self._free.setdefault(id(frame.code), []).append(frame)

    # ---- running

    def group_ids(self) -> Iterator[tuple[int, int, int]]:
        """Return the group ids in the order of the run, x fastest."""
        gx, gy, gz = self.dispatch.groups
        return ((x, y, z) for z in range(gz) for y in range(gy) for x in range(gx))

    def start(self, number: tuple[int, int, int]) -> tuple[ThreadGroup, list[Thread]]:
        """Return a group and its threads, each at its first instruction."""
        dispatch = self.dispatch
        shape = dispatch.shape(number)
        group = ThreadGroup(number, allocate_aligned(dispatch.slm_bytes), shape.threads, dispatch.shared_parts)
        return group, [self._make_thread(group, n, shape) for n in range(shape.threads)]

    def _make_thread(self, group: ThreadGroup, number: int, shape: GroupShape) -> Thread:
        frame = self.acquire(self.dispatch.kernel)
        self.begin_thread(frame, group.id, number, shape)
        return self.thread(group, number, frame)

    def begin_thread(self, frame: Frame, group: tuple[int, int, int], number: int, shape: GroupShape) -> None:
        """Write what a thread of a group begins with to its frame: its payload, lanes and numbers."""
        dispatch, layout = self.dispatch, frame.code.layout
        payload = shape.payload(group, number)
        head = payload[: layout.grf_bytes]
        frame.regs.data[layout.offset(7) : layout.offset(7) + len(head)] = head
        for item in dispatch.kernel.inputs:
            _place_input(frame, item, payload)
        mask = shape.lanes(number)
        frame.emask = frame.call_mask = mask
        state, message = dispatch.platform.thread_number.registers(number)
        for variable, value, size in (
            (1, group[0], 2), (2, group[1], 2), (3, group[0], 4), (4, group[1], 4), (5, group[2], 4),
            (12, number, 4), (13, state, 4), (20, message, 4), (predefined.SCRATCHLOC.number, SCRATCH_HANDLE, 8),
        ):  # fmt: skip
            frame.put(layout.offset(variable), value, size)
        frame.put(layout.offset(13) + 8, mask)

    def thread(self, group: ThreadGroup, number: int, frame: Frame) -> Thread:
        """Return a thread at the first instruction of its frame."""
        return Thread(self, group, number, frame)

    def run(self, run_groups: Callable[[], None] | None = None) -> RunResult:
        """Run every group, by default one after another; a fatal fault ends the run."""
        try:
            with np.errstate(all="ignore"):
                try:
                    self._run_to_its_end(run_groups or self.run_groups)
                except _Ended:
                    self.result.ended = True
            return self.finish()
        finally:
            self.unlink()

    def _run_to_its_end(self, run_groups: Callable[[], None]) -> None:
        try:
            run_groups()
        except KernelFault as fault:
            self._report_end(fault)

    def unlink(self) -> None:
        """Break the cycles between the machine, its threads and their frames, so that the memory of its launch is freed at once."""
        self._running = None
        for ops in self._traced.values():
            ops.clear()
        for code in self._codes.values():
            for frame in code.frames:
                frame.thread = None

    def run_groups(self) -> None:
        """Run one group after another. Raises KernelFault if one cannot continue."""
        for number in self.group_ids():
            self._run_group(number)
            self.result.groups += 1
            self.tell(self.result.groups, self.steps)

    def finish(self) -> RunResult:
        """Return the result, with totals and the findings of the observers."""
        if not self.result.ended:
            with suppress(_Ended):  # the run has ended already
                for observer in self.observers:
                    observer.on_end()
                self.take_findings()
        counts: Counter[str] = Counter()
        for code in (code for code in self._codes.values() if any(code.counts)):
            self.result.executions[code.kernel.name] = tuple(code.counts[: len(code.kernel.instructions)])
            for inst, count in zip(code.kernel.instructions, code.counts, strict=False):
                if count and not inst.row.opens_label and not inst.row.marks_source:
                    counts[inst.row.mnemonic] += count
        self.result.instructions = dict(counts)
        self.result.steps = sum(counts.values())
        # A race may leave memory unwritten, so that uninitialised reads may follow from it: report the race first.
        raced = any(fault.kind is FaultKind.RACE for fault in self._faults)
        self._faults.sort(key=lambda f: raced and f.kind is FaultKind.UNINITIALISED and not f.variable)
        self.result.faults = tuple(self._faults)
        self.result.sent = tuple(self._sent.values())
        self.result.limits = tuple(line for observer in self.observers for line in observer.limits())
        if self._dropped:
            self.result.limits += (f"only the first {MAX_FAULTS} faults and notes of the run are kept",)
        return self.result

    _running: Thread | None = None

    def _run_group(self, number: tuple[int, int, int]) -> None:
        _, threads = self.start(number)
        for observer in self.observers:
            observer.on_group(number)
        if self.dispatch.first_fault:  # a finding that is complete at the end of the group before ends the run too
            self.take_findings()
        self.result.threads += len(threads)
        self.go_on(threads, {}, len(threads))

    def go_on(self, threads: Sequence[Thread], waits: dict[int, Wait], total: int, start: int = 0) -> None:
        """Run the remaining ``threads`` of a group of ``total`` to their end; thread ``start`` has the first turn."""
        live: list[tuple[Thread, Iterator[Wait | None]]] = [(t, t.run(self.quantum)) for t in threads]
        turn = [(t, steps) for t, steps in live if t.number >= start]
        while live:
            moved = False
            for thread, steps in turn:
                wait = waits.get(thread.number)
                if wait is not None:
                    if not wait.ready():
                        continue
                    del waits[thread.number]
                moved = True
                self._running = thread
                try:
                    yielded = next(steps)
                except StopIteration:
                    live.remove((thread, steps))
                    self._retire(thread)
                    continue
                if yielded is not None:
                    waits[thread.number] = yielded
            if not moved and len(turn) == len(live):
                self._unlock(live, waits, total)
            turn = list(live)
        self._running = None

    def _retire(self, thread: Thread) -> None:
        for frame in (thread.frame, *thread.frames):
            self.release(frame)

    def _unlock(
        self, live: Sequence[tuple[Thread, Iterator[Wait | None]]], waits: dict[int, Wait], threads: int
    ) -> None:
        """Report barriers that cannot complete, once per waiting thread, and release them."""
        ended = sorted(set(range(threads)) - {thread.number for thread, _ in live})
        if ended:
            names = ", ".join(str(n) for n in ended[:8]) + (", ..." if len(ended) > 8 else "")
            other = f"{'thread' if len(ended) == 1 else 'threads'} {names} {'has' if len(ended) == 1 else 'have'} ended"
        for thread, _ in live:
            wait = waits[thread.number]
            line, kernel = -1, ""
            if not ended:
                away = next(
                    (t for t, _ in live if waits[t.number].what != wait.what or t.frame.pc != thread.frame.pc), thread
                )
                what = waits[away.number].what
                other = "no other thread can arrive"
                if away is not thread:
                    body = away.frame.code.kernel
                    line, kernel = body.instructions[away.frame.pc - 1].line, body.name  # its pc is after its barrier
                    other = f"thread {away.number} waits at {what}" + (f", line {line + 1}" if line >= 0 else "")
            fault = thread_fault(
                thread, FaultKind.BARRIER, f"{wait.what} can never complete", other=other, other_line=line, other_kernel=kernel,
            )  # fmt: skip
            place = thread.frame.pc - 1  # its pc is after its barrier
            where = thread.frame.code.kernel.instructions[place].line
            self._add(replace(fault, instruction=place, line=where))
        for thread, _ in live:
            waits[thread.number].release()

    def spend(self, steps: int) -> None:
        """Subtract steps, one for each instruction, from the budget. Raises KernelFault if it is exhausted."""
        self.steps += steps
        self.tell(self.result.groups, self.steps)
        self.check_budget(self.steps)

    def check_budget(self, steps: int) -> None:
        """Raise KernelFault where the launch has exceeded its budget of steps."""
        if steps > self.dispatch.step_budget:
            raise KernelFault(
                FaultKind.BUDGET,
                f"the run exceeded its budget of {self.dispatch.step_budget} instructions; it may never end",
            )

    def count_instructions(self, frame: Frame) -> int:
        """Return the number of instructions so far, including the current one of ``frame``."""
        del frame
        return sum(sum(code.counts) for code in self._codes.values())

    # ---- memory and reports

    def space(self, frame: Frame, surface: int) -> Space | None:
        """Return the memory of a surface variable's value; None if nothing is bound."""
        thread = frame.thread
        if thread is not None and surface in (SLM_SURFACE, _SLM_INDEX):
            return thread.group.slm
        if surface in self.dispatch.surfaces:
            return self.dispatch.surfaces[surface]
        if surface in _STATELESS:
            return self.dispatch.memory
        if surface == SCRATCH_SURFACE and thread is not None:
            if thread.scratch is None:
                thread.scratch = Buffer(f"scratch of thread {thread.number}", np.zeros(SCRATCH_BYTES, np.uint8))
            scratch: Buffer = thread.scratch
            return scratch
        return None

    def announce_access(self, access: MemoryAccess) -> None:
        """Notify the observers of a message."""
        used = access.used
        for observer in self.observers:
            heard = access if observer.wants_unread else used
            if heard is not None:
                (observer.on_read if access.kind == "read" else observer.on_write)(heard)
        if self.has_findings:
            self.take_findings()

    def take_findings(self) -> None:
        """Report the new findings of the observers."""
        self.has_findings = False
        for observer in self.observers:
            for fault in observer.take():
                self._add(fault)

    def announce_barrier(self, thread: Thread) -> None:
        """Notify the observers of a thread at a barrier."""
        self.result.barriers += 1
        for observer in self.observers:
            observer.on_barrier(thread)
        self.take_findings()

    def announce_arrival(self, thread: Thread, barrier: Barrier) -> None:
        """Notify the observers of an arrival at a barrier of any kind."""
        for observer in self.observers:
            observer.on_arrival(thread, barrier)

    def announce_wait(self, thread: Thread, barrier: Barrier, generation: int) -> None:
        """Notify the observers of a thread that waits for a round of a barrier."""
        for observer in self.observers:
            observer.on_wait(thread, barrier, generation)

    def announce_fence(self, thread: Thread, memories: tuple[int, ...]) -> None:
        """Notify the observers of a fence of memories."""
        for observer in self.observers:
            observer.on_fence(thread, memories)

    def record_message(
        self, thread: Thread, pc: int, reason: str, payload: Callable[[], list[tuple[str, bytes]]]
    ) -> None:
        """Record a message that is not executed; store the payload of the first one of an instruction."""
        kernel = thread.frame.code.kernel
        earlier = self._sent.get((kernel.name, pc))
        if earlier is not None:
            earlier.count += 1
            return
        inst = kernel.instructions[pc]
        self._sent[kernel.name, pc] = RecordedMessages(
            inst.row.mnemonic, reason, kernel.name, pc, inst.line, thread.group.id, thread.number, tuple(payload())
        )

    def note(self, thread: Thread, kind: FaultKind, message: str) -> None:
        """Report a fault that counts only if an observer watches its kind."""
        if any(kind in o.kinds for o in self.observers):
            self.report(thread, kind, message)

    def report(
        self, thread: Thread, kind: FaultKind, message: str, *, lane: int | None = None,
        address: int | None = None, other: str | None = None,
    ) -> None:  # fmt: skip
        """Add a fault at the current place of a thread; ``address`` is that of a byte."""
        self._add(thread_fault(thread, kind, message, lane=lane, address=address, other=other))

    def _add(self, fault: Fault) -> None:
        key = fault_key(fault)
        if key in self._seen:
            return
        if len(self._faults) >= MAX_FAULTS:
            self._dropped = True
            return
        self._seen.add(key)
        self._faults.append(fault)
        for observer in self.observers:
            observer.on_fault(fault)
        if self.dispatch.first_fault and not fault.is_note:
            raise _Ended

    def _report_end(self, fault: KernelFault) -> None:
        if self._running:
            self.report(self._running, fault.kind, fault.message, lane=fault.lane, address=fault.address)
        else:
            self._add(Fault(fault.kind, fault.message, self.dispatch.kernel.name, (0, 0, 0), 0))


def fault_key(fault: Fault) -> FaultKey:
    """Return a key that is equal for equal faults, which are reported once."""
    about = fault.message if fault.instruction < 0 else fault.variable
    return fault.kind, fault.kernel, fault.instruction, about, fault.is_note


def _place_input(frame: Frame, item: Input, payload: bytes) -> None:
    data = payload[item.offset : item.offset + item.size]
    layout = frame.code.layout
    kind = item.kind & 7
    if kind == 0:
        offset = layout.offset(item.id)
        frame.regs.data[offset : offset + len(data)] = data
    elif kind == 1:
        frame.samplers[layout.sampler_base[item.id]] = int.from_bytes(data[:4], "little")
    else:
        frame.surfaces[layout.surface_base[item.id]] = int.from_bytes(data[:4], "little")


def run(dispatch: Dispatch, observers: Sequence[Observer] = ()) -> RunResult:
    """Run all groups of a dispatch in the reference interpreter."""
    return Machine(dispatch, observers).run()
