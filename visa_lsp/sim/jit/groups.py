"""Whole groups as compiled code: the scheduler of ``sim.machine`` over the function of a kernel.

``written`` makes ``groups(launch, first, end)``: for each group it gives its threads their first registers, then runs them in
turn, each until it ends, waits at the barrier or has used its time slice, in the order that the machine has. It returns the
number of groups that are done, or comes back early with a reason, and all threads as they stand, for the machine to go on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from llvmlite import ir

from visa_lsp.sim.group import GLOBAL, SHARED
from visa_lsp.sim.jit import state
from visa_lsp.sim.jit.body import BEGIN
from visa_lsp.sim.jit.emitter import I8, I16, I32, I64, PTR

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from visa_lsp.sim.jit.emitter import Node

KIND = ir.FunctionType(I64, (PTR, I64, I64))


class GroupField(NamedTuple):
    """Where a group's number in one dimension stands in the first registers of its threads."""

    offset: int
    size: int
    dimension: int
    read: bool  # by an instruction
    held: bool | None  # by a function, which takes it when a thread begins; None: a part of it


class Sizes(NamedTuple):
    """Bytes of what each thread has, and of the memory that a group shares; how many instructions the kernel has.

    ``given`` are the registers that a thread is given when it begins; it writes all others before it reads them.
    """

    registers: int
    addresses: int
    block: int
    shared: int
    instructions: int
    given: tuple[range, ...]
    watched: bool = False
    barrier_orders: bool = False  # every barrier orders shared memory, whatever was fenced
    changed: tuple[
        range, ...
    ] = ()  # registers that a function holds nowhere, and that a thread may leave as they did not begin
    runs_threads: bool = False  # the kernel's function runs new threads one after another


class _Memory(NamedTuple):
    """Where the numbers of a memory's rounds stand in the launch, and the bit of its fence."""

    group: int
    round: int
    next: int
    ordered: int
    fence: int


_MEMORIES = (
    _Memory(state.GLOBAL_GROUP, state.GLOBAL_ROUND, state.GLOBAL_NEXT, state.GLOBAL_ORDERED, GLOBAL),
    _Memory(state.SHARED_GROUP, state.SHARED_ROUND, state.SHARED_NEXT, state.SHARED_ORDERED, SHARED),
)


def written(
    module: ir.Module, body: ir.Function, sizes: Sizes, fields: Sequence[GroupField], barriers: frozenset[int]
) -> None:
    """Write ``groups`` into the module of a kernel's function; ``barriers`` are the places of its barriers."""
    _Groups(module, body, sizes, fields, barriers).write()


class _Groups:
    def __init__(
        self, module: ir.Module, body: ir.Function, sizes: Sizes, fields: Sequence[GroupField], barriers: frozenset[int]
    ) -> None:
        self.module, self.body, self.sizes, self.fields, self.barriers = module, body, sizes, fields, barriers
        self.function = ir.Function(module, KIND, "groups")
        self.launch, self.first, self.end = self.function.args
        self.b = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.stop = self.function.append_basic_block("stop")

    def write(self) -> None:
        b = self.b
        self.threads = self._word(state.THREADS)
        self.reason = b.alloca(I64)
        self.moved, self.left, self.begun = (b.alloca(I64) for _ in range(3))
        b.store(ir.Constant(I64, state.LEAVE), self.reason)
        if self.sizes.runs_threads:
            self._run_threads()
        else:
            self._loop("group", self.first, self.end, self._group)
        b.branch(self.stop)
        b.position_at_end(self.stop)
        b.ret(b.load(self.reason, typ=I64))
        if BEGIN in self.module.globals:
            self._begin()

    # ---- helpers

    def _place(self, base: Node, offset: int) -> Node:
        return self.b.gep(base, [ir.Constant(I64, offset)], source_etype=I8)

    def _word(self, offset: int, base: Node | None = None) -> Node:
        return self.b.load(self._place(self.launch if base is None else base, offset), typ=I64)

    def _put(self, offset: int, value: Node | int, base: Node | None = None) -> None:
        node = ir.Constant(I64, value) if isinstance(value, int) else value
        self.b.store(node, self._place(self.launch if base is None else base, offset))

    def _of(self, where: int, number: Node, size: int) -> Node:
        base = self.b.inttoptr(self._word(where), PTR)
        return self.b.gep(base, [self.b.mul(number, ir.Constant(I64, size))], source_etype=I8)

    def _loop(self, name: str, first: Node, end: Node, body: Callable[[Node], None]) -> None:
        b, before = self.b, self.b.block
        head, inner, done = (self.function.append_basic_block(f"{name}_{n}") for n in ("head", "body", "done"))
        b.branch(head)
        b.position_at_end(head)
        number = b.phi(I64)
        number.add_incoming(first, before)
        b.cbranch(b.icmp_signed("<", number, end), inner, done)
        b.position_at_end(inner)
        body(number)
        number.add_incoming(b.add(number, ir.Constant(I64, 1)), b.block)
        b.branch(head)
        b.position_at_end(done)

    def _copy(self, to: Node, source: Node, size: int) -> None:
        copy = self._library("llvm.memcpy.p0.p0.i64", ir.FunctionType(ir.VoidType(), (PTR, PTR, I64, ir.IntType(1))))
        self.b.call(copy, [to, source, ir.Constant(I64, size), ir.Constant(ir.IntType(1), 0)])

    def _clear(self, to: Node, size: int) -> None:
        clear = self._library("llvm.memset.p0.i64", ir.FunctionType(ir.VoidType(), (PTR, I8, I64, ir.IntType(1))))
        self.b.call(clear, [to, ir.Constant(I8, 0), ir.Constant(I64, size), ir.Constant(ir.IntType(1), 0)])

    def _library(self, name: str, kind: ir.FunctionType) -> Node:
        return self.module.globals.get(name) or ir.Function(self.module, kind, name)

    def _stop(self, reason: Node | int) -> None:
        node = ir.Constant(I64, reason) if isinstance(reason, int) else self.b.zext(reason, I64)
        self.b.store(node, self.reason)
        self.b.branch(self.stop)

    # ---- groups whose threads run one after another

    def _run_threads(self) -> None:
        """Have the kernel's function run all threads; one that it leaves takes turns with the others of its group."""
        b = self.b
        again, left, done = (self.function.append_basic_block(n) for n in ("again", "left", "all_over"))
        number = self._cell()
        b.store(self.first, number)
        self._put(state.END, self.end)
        none = ir.Constant(PTR, None)
        b.branch(again)
        b.position_at_end(again)
        group = b.load(number, typ=I64)
        for place, value in zip(state.GROUP_IDS, self._ids(group), strict=True):
            self._put(place, value)
        self._put(state.GROUP, group)
        self._put(state.THREAD, 0)
        why = b.call(self.body, [none, none, none, self.launch])
        b.cbranch(b.icmp_signed("==", why, ir.Constant(I32, state.LEAVE)), done, left)
        b.position_at_end(left)
        group, thread, one = self._word(state.GROUP), self._word(state.THREAD), ir.Constant(I64, 1)
        over = b.icmp_signed("==", why, ir.Constant(I32, state.OVER))
        last = b.select(over, ir.Constant(I64, state.ENDED), ir.Constant(I64, state.READY))
        ids = self._ids(group)

        def ended(number: Node) -> None:
            block = self._of(state.BLOCKS, number, self.sizes.block)
            ran = b.icmp_signed("<", number, thread)
            self._put(state.STATUS, b.select(ran, ir.Constant(I64, state.ENDED), last), block)

        self._loop("before", ir.Constant(I64, 0), b.add(thread, one), ended)
        self._loop("behind", b.add(thread, one), self.threads, lambda number: self._start(number, ids))
        late, other = (self.function.append_basic_block(n) for n in ("its_slice_is_over", "left_otherwise"))
        b.cbranch(b.icmp_signed("==", why, ir.Constant(I32, state.SWITCH)), late, other)
        b.position_at_end(other)
        self._stop(why)
        b.position_at_end(late)
        turns = self.function.append_basic_block("turns")
        self._spent(self._of(state.BLOCKS, thread, self.sizes.block), turns)
        b.position_at_end(turns)
        self._rounds(b.add(thread, one))
        b.store(b.add(group, one), number)
        b.cbranch(b.icmp_signed("<", b.add(group, one), self.end), again, done)
        b.position_at_end(done)

    def _begin(self) -> None:
        """Write the function that gives a new thread the id of its group, and what another has left in its place."""
        function = self.module.globals[BEGIN]
        registers, first, *ids = function.args
        before, self.b = self.b, ir.IRBuilder(function.append_basic_block())
        for changed in self.sizes.changed:
            self._copy(self._place(registers, changed.start), self._place(first, changed.start), len(changed))
        for field in self.fields:
            rows = ((registers, not field.held), (first, field.held is not False))
            for row in (row for row, wanted in rows if wanted and field.read):
                self._put_field(row, field, ids[field.dimension])
        self.b.ret_void()
        self.b = before

    # ---- a group

    def _ids(self, number: Node) -> tuple[Node, Node, Node]:
        b = self.b
        across, down = self._word(state.GROUPS_X), self._word(state.GROUPS_Y)
        row = b.udiv(number, across)
        return b.urem(number, across), b.urem(row, down), b.udiv(row, down)

    def _group(self, number: Node) -> None:
        b = self.b
        self._put(state.GROUP, number)
        ids = self._ids(number)
        if self.sizes.shared:
            block = self._of(state.BLOCKS, ir.Constant(I64, 0), self.sizes.block)
            self._clear(b.inttoptr(self._word(state.SLM, block), PTR), self.sizes.shared)
        self._put(state.ARRIVED, 0)
        self._put(state.CURRENT, 0)
        for memory in _MEMORIES if self.sizes.watched else ():
            self._put(memory.group, self._word(memory.next))
            self._begin_round(memory)
        self._loop("start", ir.Constant(I64, 0), self.threads, lambda thread: self._start(thread, ids))
        self._rounds(ir.Constant(I64, 0))

    def _rounds(self, first: Node) -> None:
        """Give the threads turns, ``first`` and those behind it in the first round, until none is left."""
        b, none = self.b, ir.Constant(I64, 0)
        again, done = self.function.append_basic_block("round"), self.function.append_basic_block("group_over")
        turns = self.function.append_basic_block("take_turns")
        # Those before the first have had their turn.
        b.store(first, self.moved)
        b.store(first, self.left)
        b.store(first, self.begun)
        b.branch(turns)
        b.position_at_end(again)
        for cell in (self.moved, self.left, self.begun):
            b.store(none, cell)
        b.branch(turns)
        b.position_at_end(turns)
        self._loop("turn", b.load(self.begun, typ=I64), self.threads, self._turn)
        onward = self.function.append_basic_block("onward")
        b.cbranch(b.icmp_signed("==", b.load(self.left, typ=I64), ir.Constant(I64, 0)), done, onward)
        b.position_at_end(onward)
        stuck = self.function.append_basic_block("stuck")
        b.cbranch(b.icmp_signed("!=", b.load(self.moved, typ=I64), ir.Constant(I64, 0)), again, stuck)
        b.position_at_end(stuck)
        self._stop(state.SWITCH)  # all wait for what can never be: the machine says so
        b.position_at_end(done)

    def _begin_round(self, memory: _Memory) -> None:
        """Give the threads numbers that nobody had; one more stands for several of them."""
        first = self._word(memory.next)
        self._put(memory.round, first)
        self._put(memory.next, self.b.add(first, self.b.add(self.threads, ir.Constant(I64, 1))))
        self._put(memory.ordered, 1)

    def _order(self, block: Node) -> None:
        """Emit the arrival of a thread at the barrier: whether all fenced what it has to order."""
        b = self.b
        fenced = self._word(state.FENCED, block)
        self._put(state.FENCED, 0, block)
        for memory in _MEMORIES:
            ordered = b.icmp_signed("!=", b.and_(fenced, ir.Constant(I64, memory.fence)), ir.Constant(I64, 0))
            if memory.fence == SHARED:
                ordered = b.or_(ordered, b.icmp_signed("==", fenced, ir.Constant(I64, 0)))
                if self.sizes.barrier_orders:
                    ordered = ir.Constant(ir.IntType(1), 1)
            self._put(memory.ordered, b.and_(self._word(memory.ordered), b.zext(ordered, I64)))

    def _new_rounds(self) -> None:
        for memory in _MEMORIES:
            ordered = self.b.icmp_signed("!=", self._word(memory.ordered), ir.Constant(I64, 0))
            with self.b.if_then(ordered):
                self._begin_round(memory)
            self._put(memory.ordered, 1)

    def _cell(self) -> Node:
        with self.b.goto_entry_block():
            return self.b.alloca(I64)

    def _start(self, thread: Node, ids: tuple[Node, Node, Node]) -> None:
        sizes = self.sizes
        registers = self._of(state.REGISTERS, thread, sizes.registers)
        first = self._of(state.REGISTERS_FIRST, thread, sizes.registers)
        for given in sizes.given:
            self._copy(self._place(registers, given.start), self._place(first, given.start), len(given))
        for field in self.fields:
            self._put_field(registers, field, ids[field.dimension])
        self._copy(
            self._of(state.BLOCKS, thread, sizes.block), self._of(state.BLOCKS_FIRST, thread, sizes.block), sizes.block
        )
        if sizes.addresses:
            self._clear(self._of(state.ADDRESSES, thread, sizes.addresses), sizes.addresses)

    def _put_field(self, registers: Node, field: GroupField, value: Node) -> None:
        kind = I16 if field.size == 2 else I32
        self.b.store(self.b.trunc(value, kind), self._place(registers, field.offset), align=1)

    def _turn(self, thread: Node) -> None:
        b, sizes = self.b, self.sizes
        block = self._of(state.BLOCKS, thread, sizes.block)
        after = self.function.append_basic_block("after")
        status = self._word(state.STATUS, block)
        alive, may = (self.function.append_basic_block(n) for n in ("alive", "may"))
        b.cbranch(b.icmp_signed("==", status, ir.Constant(I64, state.ENDED)), after, alive)
        b.position_at_end(alive)
        self._one_more(self.left)
        waits = b.and_(
            b.icmp_signed("==", status, ir.Constant(I64, state.WAITING)),
            b.icmp_signed("==", self._word(state.ROUND, block), self._word(state.CURRENT)),
        )
        b.cbranch(waits, after, may)
        b.position_at_end(may)
        self._one_more(self.moved)
        self._put(state.STATUS, state.READY, block)
        self._put(state.THREAD, thread)
        self._put(state.STEPS, 0, block)
        run = self.function.append_basic_block("run")
        b.branch(run)
        b.position_at_end(run)
        registers = self._of(state.REGISTERS, thread, sizes.registers)
        addresses = self._of(state.ADDRESSES, thread, sizes.addresses)
        why = b.call(self.body, [registers, addresses, block, self.launch])
        ended, exits, late, other = (self.function.append_basic_block(n) for n in ("ended", "exits", "late", "other"))
        choice = b.switch(why, other)
        choice.add_case(ir.Constant(I32, state.LEAVE), ended)
        choice.add_case(ir.Constant(I32, state.EXIT), exits)
        choice.add_case(ir.Constant(I32, state.SWITCH), late)
        b.position_at_end(other)
        self._stop(why)
        b.position_at_end(late)
        self._spent(block, after)
        b.position_at_end(ended)
        self._put(state.STATUS, state.ENDED, block)
        self._spent(block, after)
        b.position_at_end(exits)
        self._exit(block, run, after, why)
        b.position_at_end(after)

    def _one_more(self, cell: Node) -> None:
        self.b.store(self.b.add(self.b.load(cell, typ=I64), ir.Constant(I64, 1)), cell)

    def _spent(self, block: Node, after: ir.Block) -> None:
        """Take a slice's steps from the budget."""
        b = self.b
        total = b.add(self._word(state.TOTAL), self._word(state.STEPS, block))
        self._put(state.TOTAL, total)
        over = self.function.append_basic_block("over")
        b.cbranch(b.icmp_signed(">", total, self._word(state.BUDGET)), over, after)
        b.position_at_end(over)
        self._stop(state.OVER)

    def _exit(self, block: Node, run: ir.Block, after: ir.Block, why: Node) -> None:
        """Emit an instruction that leaves the function: a barrier is done here, all else by the machine."""
        b = self.b
        pc = self._word(state.PC, block)
        here, other = self.function.append_basic_block("barrier"), self.function.append_basic_block("not_ours")
        choice = b.switch(pc, other)
        for place in sorted(self.barriers):
            choice.add_case(ir.Constant(I64, place), here)
        b.position_at_end(other)
        self._stop(why)
        b.position_at_end(here)
        counts = b.inttoptr(self._word(state.COUNTS), PTR)
        cell = b.gep(counts, [b.add(pc, ir.Constant(I64, self.sizes.instructions + 1))], source_etype=I64)
        b.store(b.add(b.load(cell, typ=I64), ir.Constant(I64, 1)), cell)
        self._put(state.STEPS, b.add(self._word(state.STEPS, block), ir.Constant(I64, 1)), block)
        self._put(state.PC, b.add(pc, ir.Constant(I64, 1)), block)
        self._put(state.BARRIERS, b.add(self._word(state.BARRIERS), ir.Constant(I64, 1)))
        if self.sizes.watched:
            self._order(block)
        arrived = b.add(self._word(state.ARRIVED), ir.Constant(I64, 1))
        self._put(state.ARRIVED, arrived)
        full, wait = self.function.append_basic_block("full"), self.function.append_basic_block("wait")
        b.cbranch(b.icmp_signed(">=", arrived, self.threads), full, wait)
        b.position_at_end(full)
        if self.sizes.watched:
            self._new_rounds()
        self._put(state.ARRIVED, 0)
        self._put(state.CURRENT, b.add(self._word(state.CURRENT), ir.Constant(I64, 1)))
        b.branch(run)
        b.position_at_end(wait)
        self._put(state.STATUS, state.WAITING, block)
        self._put(state.ROUND, self._word(state.CURRENT), block)
        self._spent(block, after)
