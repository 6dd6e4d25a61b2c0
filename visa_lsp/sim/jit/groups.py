"""Whole groups as compiled code: the scheduler of ``sim.machine`` over the function of a kernel.

``GroupWriter`` writes ``groups(launch, first, end, turn)``: for each group it sets the first registers of its threads,
then runs them in turn, in the order of the machine, each until it ends, waits at the barrier or has used its time slice.
It returns early with a reason and the state of all threads. From there the machine continues, or another call, whose
``turn`` is the thread of the first group that has the next turn; -1 begins that group.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from llvmlite import ir

from visa_lsp.sim.group import GLOBAL, SHARED
from visa_lsp.sim.jit import state
from visa_lsp.sim.jit.body import BEGIN
from visa_lsp.sim.jit.writer import I1, I8, I16, I32, I64, PTR, Node, Writer, constants, splat, vector

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from visa_lsp.sim.jit.activations import ActivationLayout
    from visa_lsp.sim.jit.body import CompiledBody

_MASKS: Final = 32  # copied at a time; every register begins at a multiple


class GroupField(NamedTuple):
    """The place of a group's number in one dimension in the first registers of its threads."""

    offset: int
    size: int
    dimension: int
    read: bool  # read by an instruction


class Sizes(NamedTuple):
    """The layout of each thread's activation of the kernel, and the bytes of the shared memory of a group.

    ``given`` are the registers set at the start of a thread; it writes all others before it reads them. ``changed`` are
    registers not held by the function that a thread may leave with other values. ``scratch`` is the size of the marks
    behind a thread's scratch space; 0 without checkers.
    """

    activation: ActivationLayout
    shared: int
    given: tuple[range, ...]
    changed: tuple[range, ...]
    scratch: int = 0


class Calls(NamedTuple):
    """The part of the registers that a call of a function copies to the callee, and back, in bytes.

    ``followed`` has the flags of its bytes whose undefined bits are followed; ``argument`` are undefined after a call.
    """

    copied: int
    followed: np.ndarray[Any, np.dtype[np.bool_]]
    argument: range


class _Memory(NamedTuple):
    """The places in the launch of the round numbers of a memory, and the bit of its fence."""

    group: int
    round: int
    next: int
    ordered: int
    fence: int


_MEMORIES = (
    _Memory(state.GLOBAL_GROUP, state.GLOBAL_ROUND, state.GLOBAL_NEXT, state.GLOBAL_ORDERED, GLOBAL),
    _Memory(state.SHARED_GROUP, state.SHARED_ROUND, state.SHARED_NEXT, state.SHARED_ORDERED, SHARED),
)


class GroupWriter(Writer):
    """Writes ``groups`` into the module of a kernel's function; ``barrier_orders``: any barrier orders shared memory."""

    def __init__(
        self,
        compiled: CompiledBody,
        sizes: Sizes,
        fields: Sequence[GroupField],
        calls: Calls | None,
        *,
        barrier_orders: bool,
    ) -> None:
        super().__init__(ir.Function(compiled.module, ir.FunctionType(I64, (PTR, I64, I64, I64)), "groups"))
        self.body, self.plan, self.sizes, self.fields = compiled.function, compiled.body, sizes, fields
        self.barrier_orders, self.calls = barrier_orders, calls
        self.launch, self.first, self.end, turn = self.function.args
        (self.stop,) = self.blocks("stop")
        self.start = self.variable(turn)  # the thread with the next turn in a group that has begun, or -1

    @property
    def runs_threads(self) -> bool:
        """True if the kernel's function runs new threads one after another."""
        return self.plan.runs_threads and not self.sizes.shared

    def write(self) -> None:
        """Write the function, and in that of the kernel the code that starts threads."""
        self.threads = self._number(state.THREADS)
        self.reason = self.variable(ir.Constant(I64, state.LEAVE))
        self.moved, self.left, self.begun, self.next = (self.builder.alloca(I64) for _ in range(4))
        if self.runs_threads:
            self._run_threads()
        else:
            self.loop(self.first, self.end, self._group)
        self.go_to(self.stop)
        self.builder.ret(self.get(self.reason, I64))
        if BEGIN in self.module.globals:
            self._begin()

    # ---- helpers

    def _number(self, offset: int) -> Node:
        return self.word(self.launch, offset)

    def _put(self, offset: int, value: Node | int) -> None:
        self.put_word(self.launch, offset, value)

    def _is(self, relation: str, a: Node, b: int) -> Node:
        return self.builder.icmp_signed(relation, a, ir.Constant(a.type, b))

    def _of(self, where: int, number: Node, size: int) -> Node:
        base = self.builder.inttoptr(self._number(where), PTR)
        return self.builder.gep(base, [self.builder.mul(number, ir.Constant(I64, size))], source_etype=I8)

    def _thread_block(self, number: Node, base: int = state.ACTIVATIONS) -> Node:
        return self._of(base, number, self.sizes.activation.end)

    def _copy(self, to: Node, source: Node, size: int) -> None:
        no = ir.Constant(I1, 0)
        self.intrinsic("llvm.memcpy.p0.p0.i64", ir.VoidType(), to, source, ir.Constant(I64, size), no)

    def _clear(self, to: Node, size: int) -> None:
        zero = ir.Constant(I8, 0)
        self.intrinsic("llvm.memset.p0.i64", ir.VoidType(), to, zero, ir.Constant(I64, size), ir.Constant(I1, 0))

    def _stop(self, reason: Node | int) -> None:
        node = ir.Constant(I64, reason) if isinstance(reason, int) else self.builder.zext(reason, I64)
        self.set(self.reason, node)
        self.builder.branch(self.stop)

    # ---- groups whose threads run one after another

    def _run_threads(self) -> None:
        """Let the kernel's function run all threads; a thread that leaves it takes turns with the others of its group."""
        builder, none = self.builder, ir.Constant(PTR, None)
        again, done, late, turns = self.blocks("again", "all_over", "late", "turns")
        self.set(self.next, self.first)
        self._put(state.END, self.end)
        self.leave_if(self._is(">=", self.get(self.start, I64), 0), turns)
        self.go_to(again)
        group = self.get(self.next, I64)
        for place, value in zip(state.GROUP_IDS, self._ids(group), strict=True):
            self._put(place, value)
        self._put(state.GROUP, group)
        self._put(state.THREAD, 0)
        why = builder.call(self.body, [none, none, none, self.launch])
        self.leave_if(self._is("==", why, state.LEAVE), done)
        group, thread = self._number(state.GROUP), self._number(state.THREAD)
        next_thread, ids = builder.add(thread, ir.Constant(I64, 1)), self._ids(group)
        over = self._is("==", why, state.OVER)
        last = builder.select(over, ir.Constant(I64, state.ENDED), ir.Constant(I64, state.READY))

        def end(number: Node) -> None:
            ran = builder.icmp_signed("<", number, thread)
            status = builder.select(ran, ir.Constant(I64, state.ENDED), last)
            self.put_word(self._thread_block(number), state.STATUS, status)

        self.loop(ir.Constant(I64, 0), next_thread, end)
        self.loop(next_thread, self.threads, lambda number: self._start(number, ids))
        self.leave_if(self._is("==", why, state.SWITCH), late)
        self._stop(why)
        builder.position_at_end(late)
        self._spend(self._thread_block(thread))
        self.set(self.start, next_thread)
        self.go_to(turns)
        self._rounds(self.get(self.start, I64))
        following = builder.add(self._number(state.GROUP), ir.Constant(I64, 1))
        self.set(self.next, following)
        builder.cbranch(builder.icmp_signed("<", following, self.end), again, done)
        builder.position_at_end(done)

    def _begin(self) -> None:
        """Write the function that sets the group id of a new thread, and restores registers changed by an earlier one."""
        function = self.module.globals[BEGIN]
        registers, initial, *ids = function.args
        self.builder = ir.IRBuilder(function.append_basic_block())
        for changed in self.sizes.changed:
            self._copy(self.address(registers, changed.start), self.address(initial, changed.start), len(changed))
        for field in (field for field in self.fields if field.read):
            for row in (registers, initial):  # from which a function loads what it holds
                self._put_field(row, field, ids[field.dimension])
        self.builder.ret_void()

    # ---- a group

    def _ids(self, number: Node) -> tuple[Node, Node, Node]:
        builder, across, down = self.builder, self._number(state.GROUPS_X), self._number(state.GROUPS_Y)
        row = builder.udiv(number, across)
        return builder.urem(number, across), builder.urem(row, down), builder.udiv(row, down)

    def _group(self, number: Node) -> None:
        with self.builder.if_then(self._is("<", self.get(self.start, I64), 0)):
            self._begin_group(number)
            self.set(self.start, ir.Constant(I64, 0))
        self._rounds(self.get(self.start, I64))
        self.set(self.start, ir.Constant(I64, -1))

    def _begin_group(self, number: Node) -> None:
        self._put(state.GROUP, number)
        ids = self._ids(number)
        if self.sizes.shared:
            shared = self.word(self._thread_block(ir.Constant(I64, 0)), state.SLM)
            self._clear(self.builder.inttoptr(shared, PTR), self.sizes.shared)
        self._put(state.ARRIVED, 0)
        self._put(state.CURRENT, 0)
        for memory in _MEMORIES if self.plan.mode.watched else ():
            self._put(memory.group, self._number(memory.next))
            self._begin_round(memory)
        self.loop(ir.Constant(I64, 0), self.threads, lambda thread: self._start(thread, ids))

    def _rounds(self, start: Node) -> None:
        """Give the threads turns until none is left; the first round begins with ``start``."""
        cells = self.moved, self.left, self.begun
        again, turns, done = self.blocks("round", "take_turns", "group_over")
        for cell in cells:  # because earlier threads have had their turn
            self.set(cell, start)
        self.builder.branch(turns)
        self.builder.position_at_end(again)
        for cell in cells:
            self.set(cell, ir.Constant(I64, 0))
        self.go_to(turns)
        self.loop(self.get(self.begun, I64), self.threads, self._turn)
        self.leave_if(self._is("==", self.get(self.left, I64), 0), done)
        self.leave_if(self._is("!=", self.get(self.moved, I64), 0), again)
        self._stop(state.SWITCH)  # a deadlock, which the machine reports
        self.builder.position_at_end(done)

    def _begin_round(self, memory: _Memory) -> None:
        """Give the threads new numbers, and one more number for several of them."""
        number = self._number(memory.next)
        self._put(memory.round, number)
        self._put(memory.next, self.builder.add(number, self.builder.add(self.threads, ir.Constant(I64, 1))))
        self._put(memory.ordered, 1)

    def _order(self, activation: Node) -> None:
        """Emit the arrival of a thread at the barrier, and whether all threads executed the required fences."""
        builder, fenced = self.builder, self.word(activation, state.FENCED)
        self.put_word(activation, state.FENCED, 0)
        for memory in _MEMORIES:
            ordered = self._is("!=", builder.and_(fenced, ir.Constant(I64, memory.fence)), 0)
            if memory.fence == SHARED:
                ordered = builder.or_(ordered, self._is("==", fenced, 0))
                if self.barrier_orders:
                    ordered = ir.Constant(I1, 1)
            self._put(memory.ordered, builder.and_(self._number(memory.ordered), builder.zext(ordered, I64)))

    def _start(self, thread: Node, ids: tuple[Node, Node, Node]) -> None:
        sizes, layout, builder = self.sizes, self.sizes.activation, self.builder
        block, template = (self._thread_block(thread, base) for base in (state.ACTIVATIONS, state.ACTIVATIONS_FIRST))
        registers, initial = (self.address(of, layout.registers) for of in (block, template))
        for given in sizes.given:
            self._copy(self.address(registers, given.start), self.address(initial, given.start), len(given))
        for field in self.fields:
            self._put_field(registers, field, ids[field.dimension])
        self._copy(block, template, self.plan.layout.size)
        if sizes.scratch:
            scratch = builder.add(self.word(block, state.SCRATCH), ir.Constant(I64, sizes.scratch))
            self._clear(builder.inttoptr(scratch, PTR), sizes.scratch)
        if layout.masks > layout.addresses:
            self._clear(self.address(block, layout.addresses), layout.masks - layout.addresses)

    def _put_field(self, registers: Node, field: GroupField, value: Node) -> None:
        number = self.builder.trunc(value, I16 if field.size == 2 else I32)
        self.builder.store(number, self.address(registers, field.offset), align=1)

    def _turn(self, thread: Node) -> None:
        builder, thread_block = self.builder, self._thread_block(thread)
        run, ended, barrier, late, other, after = self.blocks("run", "ended", "barrier", "late", "other", "after")
        status = self.word(thread_block, state.STATUS)
        self.leave_if(self._is("==", status, state.ENDED), after)
        self.add_to(self.left, 1)
        same = builder.icmp_signed("==", self.word(thread_block, state.ROUND), self._number(state.CURRENT))
        self.leave_if(builder.and_(self._is("==", status, state.WAITING), same), after)
        self.add_to(self.moved, 1)
        self.put_word(thread_block, state.STATUS, state.READY)
        self._put(state.THREAD, thread)
        self.go_to(run)
        activation = thread_block if self.calls is None else self.word(thread_block, state.TOP, PTR)
        why = self._enter(activation)
        choice = builder.switch(why, other)
        cases = {state.LEAVE: ended, state.BARRIER: barrier, state.SWITCH: late}
        if self.calls is not None:
            cases[state.CALL], cases[state.LEAVE] = self.blocks("call", "left")
            builder.position_at_end(cases[state.CALL])
            self._call(self.calls, thread_block, activation, run)
            builder.position_at_end(cases[state.LEAVE])
            self._return(self.calls, thread_block, activation, ended)
            builder.branch(run)
        for reason, to in cases.items():
            choice.add_case(ir.Constant(I32, reason), to)
        builder.position_at_end(other)
        self._stop(why)
        builder.position_at_end(ended)
        self.put_word(thread_block, state.STATUS, state.ENDED)
        builder.branch(late)
        builder.position_at_end(barrier)
        self._barrier(thread_block, activation, run)
        self.go_to(late)
        self._spend(activation)
        self.go_to(after)

    def _enter(self, activation: Node) -> Node:
        """Run the function of a thread's running activation; return why it left."""
        builder, layout, body = self.builder, self.sizes.activation, self.body
        if self.calls is None:
            own = (self.address(activation, offset) for offset in (layout.registers, layout.addresses))
            return builder.call(body, [*own, activation, self.launch])
        row = self.word(activation, state.BODY, PTR)
        self._put(state.COUNTS, self.word(row, state.BODY_COUNTS))
        function = builder.inttoptr(self.word(row, state.FUNCTION), PTR)
        function.type = ir.PointerType(body.function_type)  # which the call needs, and does not print
        own = (self.word(activation, offset, PTR) for offset in (state.OWN_REGISTERS, state.OWN_ADDRESSES))
        return builder.call(function, [*own, activation, self.launch])

    def _spend(self, activation: Node, reason: int = state.OVER) -> None:
        """Subtract a slice's steps from the budget; stop for a reason where it is used up."""
        total = self.builder.add(self._number(state.TOTAL), self.word(activation, state.STEPS))
        self._put(state.TOTAL, total)
        self.put_word(activation, state.STEPS, 0)
        with self.builder.if_then(self.builder.icmp_signed(">", total, self._number(state.BUDGET))):
            self._stop(reason)

    def _barrier(self, thread_block: Node, activation: Node, run: ir.Block) -> None:
        """Emit the arrival of a thread at the barrier, which runs on if it is the last one."""
        for place in (self.address(activation, state.PC), self.address(self.launch, state.BARRIERS)):
            self.add_to(place, 1)
        if self.plan.mode.watched:
            self._order(activation)
        arrived = self.builder.add(self._number(state.ARRIVED), ir.Constant(I64, 1))
        self._put(state.ARRIVED, arrived)
        with self.builder.if_then(self.builder.icmp_signed(">=", arrived, self.threads)):
            for memory in _MEMORIES if self.plan.mode.watched else ():
                with self.builder.if_then(self._is("!=", self._number(memory.ordered), 0)):
                    self._begin_round(memory)
                self._put(memory.ordered, 1)
            self._put(state.ARRIVED, 0)
            self.add_to(self.address(self.launch, state.CURRENT), 1)
            self.builder.branch(run)
        self.put_word(thread_block, state.STATUS, state.WAITING)
        self.put_word(thread_block, state.ROUND, self._number(state.CURRENT))

    # ---- functions

    def _call(self, calls: Calls, thread_block: Node, caller: Node, run: ir.Block) -> None:
        """Emit a call: a new activation behind that of the caller, which goes on behind the call. Without memory for it the machine calls."""
        builder, lanes = self.builder, self._number(state.CALLED_LANES)
        row, new = self._of(state.BODIES, self._number(state.CALLED), state.BODY_ROW), self.word(caller, state.FREE)
        end = builder.add(new, self.word(row, state.ACTIVATION_BYTES))
        with builder.if_then(builder.icmp_unsigned(">", end, self.word(caller, state.LIMIT)), likely=False):
            self._stop(state.CALL)
        self.add_to(self.address(caller, state.PC), 1)
        self.leave_if(self._is("==", lanes, 0), run)
        callee, size, no = builder.inttoptr(new, PTR), self.word(row, state.REGISTERS_OFFSET), ir.Constant(I1, 0)
        copy = partial(self.intrinsic, "llvm.memcpy.p0.p0.i64", ir.VoidType())
        copy(callee, self.word(row, state.FIRST_BLOCK, PTR), size, no)
        self._copy(self.address(callee, state.SCRATCH), self.address(caller, state.SCRATCH), state.BODY - state.SCRATCH)
        registers, rest = builder.add(new, size), builder.sub(self.word(row, state.ACTIVATION_BYTES), size)
        own = builder.inttoptr(registers, PTR)
        self.intrinsic("llvm.memset.p0.i64", ir.VoidType(), own, ir.Constant(I8, 0), rest, no)
        self._copy(own, self.word(caller, state.OWN_REGISTERS, PTR), calls.copied)
        for offset, value in (
            (state.EMASK, lanes), (state.CALL_MASK, lanes), (state.CALLER, builder.ptrtoint(caller, I64)),
            (state.BODY, builder.ptrtoint(row, I64)), (state.OWN_REGISTERS, registers), (state.FREE, end),
            (state.OWN_ADDRESSES, builder.add(new, self.word(row, state.ADDRESSES_OFFSET))),
            (state.UNDEFINED_BITS, builder.add(new, self.word(row, state.MASKS_OFFSET))),
            (state.LIMIT, self.word(caller, state.LIMIT)),
        ):  # fmt: skip
            self.put_word(callee, offset, value)
        self._copy_masks(calls, callee, caller)
        self.put_word(thread_block, state.TOP, new)
        self._spend(caller, state.INSIDE)
        builder.branch(run)

    def _return(self, calls: Calls, thread_block: Node, callee: Node, ended: ir.Block) -> None:
        """Emit the end of an activation: its caller goes on; a thread that has none ends."""
        caller = self.word(callee, state.CALLER, PTR)
        self.leave_if(self.builder.icmp_unsigned("==", caller, ir.Constant(PTR, None)), ended)
        own, others = (self.word(of, state.OWN_REGISTERS, PTR) for of in (caller, callee))
        self._copy(own, others, calls.copied)
        self.put_word(caller, state.FENCED, self.word(callee, state.FENCED))
        self._copy_masks(calls, caller, callee, calls.argument)
        self.put_word(thread_block, state.TOP, self.builder.ptrtoint(caller, I64))
        self._spend(callee, state.INSIDE)

    def _copy_masks(self, calls: Calls, to: Node, source: Node, undefined: range = range(0)) -> None:
        """Copy the masks of undefined bits from another activation; a byte with undefined bits has no other ones there.

        The bytes ``undefined`` are undefined.
        """
        builder, kind = self.builder, vector(I8, _MASKS)
        old, new = (self.word(of, state.UNDEFINED_BITS, PTR) for of in (source, to))
        for start in range(0, calls.copied, _MASKS):
            followed = calls.followed[start : start + _MASKS]
            if not followed.any():
                continue
            masks = builder.load(self.address(old, start), typ=kind, align=1)
            masks = builder.sext(builder.icmp_unsigned("!=", masks, splat(I8, 0, _MASKS)), kind)
            fresh = [255 if flag and start + n in undefined else 0 for n, flag in enumerate(followed)]
            builder.store(builder.or_(masks, constants(I8, fresh)), self.address(new, start), align=1)
