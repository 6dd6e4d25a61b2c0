"""The base of all compiled instructions: registers as vectors of lanes, masks, predicates, calls into the interpreter.

An ``Emitter`` writes the instructions of one body into one LLVM function. Lanes are ``<n x type>`` vectors, even a
single lane. Registers stay in memory, in the layout of the interpreter, so that either engine can continue at any
instruction; predicates and waiting lanes stay in the block. LLVM keeps the masks in registers; ``spill`` writes them to
the block for the interpreter.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from llvmlite import ir

from visa_lsp.program.model import Combine, Predicate, Value
from visa_lsp.sim.jit import state
from visa_lsp.sim.jit.writer import I1, I32, I64, PTR, Node, Writer, bytes_of, constants, integer, type_of_bytes, vector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from visa_lsp.sim.analyses.modes import Modes
    from visa_lsp.sim.jit.body import BodyPlan
    from visa_lsp.sim.operands import Site

MAX_INLINE_MESSAGES: Final = 32  # of a body under checkers
CALLBACK: Final = "visa_lsp_interpret"  # the symbol of the function that executes one instruction


class _Kept(NamedTuple):
    """A number that a function keeps in a cell while it runs, and its place in the block or in the launch."""

    cell: Node
    kind: Any
    place: Any
    new: bool
    looked_at: bool


class Uncompiled(Exception):  # noqa: N818 - no fault: the interpreter executes the instruction
    """An instruction without a compiled form."""


def _passed(kind: Any) -> Any:
    """Return the type in which a function takes or returns a value: vectors of bits are integers.

    Without optimisation LLVM 22 fails to pass vectors of bits on some processors.
    """
    return integer(kind.count) if isinstance(kind, ir.VectorType) and kind.element == I1 else kind


class Emitter(Writer):
    """The function of one body while it is written. ``builder`` appends the next operation."""

    def __init__(self, module: ir.Module, name: str, plan: BodyPlan) -> None:
        """Begin a function. One that runs threads one after another keeps the contents of the block in cells."""
        layout = plan.layout
        kind = ir.FunctionType(I32, (PTR, PTR, PTR, PTR))
        super().__init__(ir.Function(module, kind, name))
        self.layout = layout
        self.mode = plan.mode
        self._threads = plan.runs_threads
        self._registers, self.addresses, self._block, self.launch = self.function.args
        for argument in self.function.args:
            argument.add_attribute("noalias")
        # two exits: after an exception in a callback, and if a checker may have a finding
        self.failed, self.suspected = self.blocks("failed", "suspected")
        self.fresh: Node = None  # whether the function begins with new threads
        if self._threads:
            self.fresh = self.builder.icmp_unsigned("==", self._registers, ir.Constant(PTR, None))
            self._registers, self._block = self.variable(self._registers), self.variable(self._block)
        self._hoisted: dict[tuple[int, int], Node] = {}
        self._kept: list[_Kept] = []  # cells of the thread
        self._sums: list[tuple[Node, Node]] = []  # sums for the launch: cells and places
        self._who: list[tuple[Node, Node]] = []  # cells that identify the running thread
        self.emask = self._keep(state.EMASK, I32, own=True)
        self.call_mask = self._keep(state.CALL_MASK, I32, own=True)
        self.steps = self._keep(state.STEPS, own=True, new=True)
        self.waiting = [
            self._keep(layout.waiting_at + 8 * n, own=True, new=True) for n in range(-(-len(layout.joins) // 64))
        ]
        self.waits = [
            self._keep(layout.waits_at + 4 * n, I32, new=True, own=self._threads) for n in range(len(layout.joins))
        ]
        self.predicates = [
            self._keep(layout.predicates_at + 4 * n, I32, new=True, looked_at=True, own=self._threads)
            for n in range(layout.predicates)
        ]
        self.surfaces = [
            self._keep(layout.surfaces_at + 8 * n, looked_at=True, own=self._threads and n in plan.written_surfaces)
            for n in range(layout.surfaces)
        ]
        self.scratch = self._keep(state.SCRATCH, own=self._threads and plan.reaches_scratch, new=True, looked_at=True)
        # Whether messages are functions of the module, because they are many.
        self.outlines = plan.mode.watched and not plan.held.pieces and plan.messages > MAX_INLINE_MESSAGES
        self.reads, self.writes = (
            self._sum(self.address(self.launch, offset)) for offset in (state.READS, state.WRITES)
        )
        if self._threads:  # one of several threads that run one after another
            places = [self.address(self.launch, offset) for offset in (state.THREAD, state.GROUP, state.TOTAL)]
            self._who = [(self.variable(self.get(place, I64)), place) for place in places]
            self.thread, self.group, self.total = (cell for cell, _ in self._who)
        self._callback = ir.Function(module, ir.FunctionType(I32, (PTR, PTR, PTR, PTR, I64)), CALLBACK)
        self._callback.attributes.add("cold")
        self.modes: Modes
        self.bindings = plan.bindings  # surfaces are in the order of the table of the launch
        self.given_surfaces = plan.given_surfaces  # surface variables that hold a surface of the launch
        self.known_surfaces: dict[int, int] = {}  # values of surface variables that are known at this instruction
        self.reaches_shared = False  # an instruction may touch the memory of the group
        self.has_atomics, self.shared_unit = plan.has_atomics, plan.shared_unit
        self.uses = plan.uses
        self.outside: Node = None  # where an instruction goes that the interpreter has to do
        self.code, self.definedness = plan.code, plan.definedness
        self.from_caller = (
            0 if plan.code.kernel.is_kernel else plan.code.layout.predefined_end
        )  # bytes of a new activation
        self.pc = 0
        self.held = plan.held
        # Arrays for the held pieces, because LLVM promotes arrays to better values than vectors.
        self._held: list[Node] = []
        for piece in self.held.pieces:
            place = self.builder.alloca(ir.ArrayType(ir.IntType(8), piece.size))
            place.align = 64
            place.type = PTR  # a plain pointer, whatever is stored there
            self._held.append(place)

    def take_held(self, numbers: Sequence[int], registers: Node = None) -> None:
        """Load held pieces from the registers of the thread, or from others."""
        for (start, size), own in ((self.held.pieces[number], self._held[number]) for number in numbers):
            place = self.address(registers or self.registers, start)
            self.builder.store(self.builder.load(place, typ=type_of_bytes(size), align=1), own, align=1)

    def give_held(self, numbers: Sequence[int]) -> None:
        """Store held pieces in the registers, for the interpreter and later calls."""
        for (start, size), own in ((self.held.pieces[number], self._held[number]) for number in numbers):
            value = self.builder.load(own, typ=type_of_bytes(size), align=1)
            self.builder.store(value, self.address(self.registers, start), align=1)

    def _keep(
        self, offset: int, kind: Any = I64, *, own: bool | None, new: bool = False, looked_at: bool = False
    ) -> Node:
        """Return the cell of a number of the block: one of the function's ``own``, or its offset in the block.

        ``new``: it is 0 in a new thread; ``looked_at``: instructions in the interpreter may read and change it.
        """
        if not own:
            return offset
        self._kept.append(_Kept(self.builder.alloca(kind), kind, offset, new, looked_at))
        return self._kept[-1].cell

    def _sum(self, place: Node) -> Node:
        """Return the cell that accumulates a sum for a number of the launch."""
        if not self._threads:
            return place
        self._sums.append((self.variable(ir.Constant(I64, 0)), place))
        return self._sums[-1][0]

    def count(self, start: int, steps: int) -> None:
        """Count an execution of a stretch and its steps."""
        self.add_to(self.steps, steps)
        self.add_to(self.address(self.table(state.COUNTS), 8 * start), 1)

    @property
    def registers(self) -> Node:
        """The registers of the thread."""
        return self.get(self._registers, PTR) if self._threads else self._registers

    @property
    def block(self) -> Node:
        """The block of the thread."""
        return self.get(self._block, PTR) if self._threads else self._block

    def begin_thread(self, registers: Node, block: Node, initial: Node) -> None:
        """Continue with a new thread with these registers and this block; ``initial`` is the initial state of its block."""
        self.set(self._registers, registers)
        self.set(self._block, block)
        for kept in self._kept:
            begins = ir.Constant(kept.kind, 0) if kept.new else self.word(initial, kept.place, kept.kind)
            self.set(kept.cell, begins)
        for piece, cell in zip(self.held.pieces, self._held, strict=True):
            self.builder.store(ir.Constant(type_of_bytes(piece.size), ir.Undefined), cell)

    def constant(self, base: Node, offset: int, kind: Any = I64) -> Node:
        """Return a number that does not change while the function runs; it is loaded at the start of the function."""
        key = id(base), offset
        if key not in self._hoisted:
            with self.builder.goto_entry_block():
                self._hoisted[key] = self.word(base, offset, kind)
        return self._hoisted[key]

    def table(self, offset: int) -> Node:
        """Return the address of a table of the launch."""
        return self.constant(self.launch, offset, PTR)

    # ---- the blocks of numbers

    def place_of(self, cell: Node) -> Node:
        """Return the address of a cell of the function, or of an offset in the block."""
        return self.address(self.block, cell) if isinstance(cell, int) else cell

    def load_all(self) -> None:
        """Load the kept numbers of the function from the block."""
        block = self.block
        for kept in self._kept:
            self.set(kept.cell, self.word(block, kept.place, kept.kind))

    def _spill(self, pc: Node, *, whole: bool) -> None:
        """Store the place and kept numbers in the block: all with ``whole``, else those that the interpreter may read."""
        block = self.block
        self.put_word(block, state.PC, pc)
        for kept in self._kept:
            if whole or kept.looked_at or kept.place == state.EMASK:
                self.put_word(block, kept.place, self.get(kept.cell, kept.kind))

    def spill_sums(self) -> None:
        """Add the sums to the numbers of the launch, and store the running thread there."""
        for cell, place in self._sums:
            self.add_to(place, self.get(cell, I64))
            self.set(cell, ir.Constant(I64, 0))
        self._spill_who()

    def _spill_who(self) -> None:
        for cell, place in self._who:
            self.set(place, self.get(cell, I64))

    # ---- surface variables

    def surface(self, cell: int) -> Node:
        """Return the value of a surface variable's element."""
        return self.get(self.surfaces[cell], I64)

    def put_surface(self, cell: int, value: Node, number: int | None) -> None:
        """Set the value of a surface variable's element; ``number`` is the value if it is known now."""
        self.set(self.surfaces[cell], value)
        self.known_surfaces.pop(cell, None)
        if number is not None:
            self.known_surfaces[cell] = number

    # ---- functions of the module

    def outline(self, name: str, result: Any, arguments: Sequence[Node], body: Callable[..., Node]) -> Node:
        """Call a function of the module written by ``body``, for code that is long, frequent in a text, and seldom executed."""
        function, kinds = self.module.globals.get(name), [argument.type for argument in arguments]
        if function is None:
            kind = ir.FunctionType(_passed(result), [_passed(own) for own in kinds])
            function = ir.Function(self.module, kind, name)
            function.linkage, function.calling_convention = "internal", "fastcc"
            function.attributes.add("noinline")
            before = self.function, self.builder
            self.function, self.builder = function, ir.IRBuilder(function.append_basic_block("entry"))
            given = [self.builder.bitcast(node, own) for node, own in zip(function.args, kinds, strict=True)]
            self.builder.ret(self.builder.bitcast(body(*given), _passed(result)))
            self.function, self.builder = before
        passed = [self.builder.bitcast(node, _passed(node.type)) for node in arguments]
        return self.builder.bitcast(self.builder.call(function, passed, cconv="fastcc"), result)

    @contextmanager
    def in_function(self, registers: Node, block: Node) -> Iterator[None]:
        """Let the launch be that of another function, with these registers and this block."""
        before = self._registers, self._block, self._hoisted, self.reads, self.writes
        self._registers, self._block, self._hoisted = registers, block, {}
        self.reads, self.writes = (self.address(self.launch, offset) for offset in (state.READS, state.WRITES))
        yield
        self._registers, self._block, self._hoisted, self.reads, self.writes = before

    # ---- lanes in registers

    def at(self, offset: int, size: int) -> Node:
        """Return the address of bytes of the registers. Raises Uncompiled if they overlap held pieces only in part."""
        number = self.held.at(offset, offset + size)
        if number is None:
            raise Uncompiled
        if number < 0:
            return self.address(self.registers, offset)
        return self.address(self._held[number], offset - self.held.pieces[number].start)

    def load_lanes(self, start: int, elements: Sequence[int], kind: Any) -> Node:
        """Return elements of the register file as lanes; elements are offsets from byte ``start``."""
        size, count, builder = bytes_of(kind), len(elements), self.builder
        low, high = min(elements), max(elements)
        if low == high:
            lane = builder.load(self.at(start + low * size, size), typ=kind, align=1)
            return self.spread(lane, count)
        span = high - low + 1
        whole = builder.load(self.at(start + low * size, span * size), typ=vector(kind, span), align=1)
        order = [e - low for e in elements]
        if order == list(range(span)):
            return whole
        return builder.shuffle_vector(whole, ir.Constant(whole.type, ir.Undefined), constants(I32, order))

    def store_lanes(self, start: int, elements: Sequence[int], value: Node, enabled: Node | None) -> None:
        """Store lanes in elements of the register file, only those set in the vector ``enabled`` (None: all).

        Raises Uncompiled if there is no compiled form.
        """
        kind, size, count, builder = value.type.element, bytes_of(value.type.element), len(elements), self.builder
        low, high = min(elements), max(elements)
        span = high - low + 1
        where = self.at(start + low * size, span * size)
        if self.pc in self.held.whole:
            enabled = None
        order = [e - low for e in elements]
        if order == list(range(span)):
            if enabled is not None:
                value = builder.select(enabled, value, builder.load(where, typ=value.type, align=1))
            builder.store(value, where, align=1)
            return
        if span > 4 * 32 or len(set(order)) < count:
            raise Uncompiled
        old = builder.load(where, typ=vector(kind, span), align=1)
        if enabled is not None:  # here, because LLVM never ends with some masks of a whole span
            before = builder.shuffle_vector(old, ir.Constant(old.type, ir.Undefined), constants(I32, order))
            value = builder.select(enabled, value, before)
        # Lanes are inserted at their places in the whole span, whose other elements stay.
        places = {place: lane for lane, place in enumerate(order)}
        wide = builder.shuffle_vector(
            value, ir.Constant(value.type, ir.Undefined), constants(I32, [places.get(p, 0) for p in range(span)])
        )
        chosen = constants(I1, [int(p in places) for p in range(span)])
        builder.store(builder.select(chosen, wide, old), where, align=1)

    # ---- masks

    def mask_of(self, cell: Node, start: int, lanes: int) -> Node:
        """Return ``lanes`` bits of a mask of 32, from bit ``start`` on."""
        value = self.get(cell)
        if start:
            value = self.builder.lshr(value, ir.Constant(I32, start))
        return value if lanes == 32 else self.builder.trunc(value, integer(lanes))

    def predicate(self, pred: Predicate, offset: int, lanes: int) -> Node:
        """Return the predicate bits of an instruction's lanes, combined and inverted as written, as an integer."""
        builder = self.builder
        bits = self.mask_of(self.predicates[pred.var], offset, lanes)
        kind = integer(lanes)
        if pred.combine is Combine.NONE:
            return builder.not_(bits) if pred.inverse else bits
        if pred.combine is Combine.ANY:
            holds = builder.icmp_unsigned("!=", bits, ir.Constant(kind, 0))
        else:
            holds = builder.icmp_unsigned("==", bits, ir.Constant(kind, (1 << lanes) - 1))
        if pred.inverse:
            holds = builder.not_(holds)
        return holds if lanes == 1 else builder.sext(holds, kind)

    def enable(self, site: Site, *, predicate: bool = True) -> Node | None:
        """Return the channel enable bits as an integer; None if all lanes are on."""
        lanes, offset = site.lanes, site.control.mask_offset
        pred: Value = site.inst.get("pred") if predicate else None
        bits = self.predicate(pred, offset, lanes) if isinstance(pred, Predicate) else None
        if site.control.no_mask:
            return bits
        mask = self.mask_of(self.emask, offset, lanes)
        return mask if bits is None else self.builder.and_(mask, bits)

    def at_lane(self, bits: Node, offset: int) -> Node:
        """Return a mask of 32 lanes with the given bits, from lane ``offset`` on."""
        wide = bits if bits.type.width == 32 else self.builder.zext(bits, I32)
        return self.builder.shl(wide, ir.Constant(I32, offset)) if offset else wide

    def some(self, bits: Node | None, site: Site) -> Node:
        """Return the enable bits as an integer, even if all lanes are on."""
        return self.all_on(site.lanes) if bits is None else bits

    # ---- leaving

    def leave(self, status: int, pc: Node | int) -> None:
        """End the function; the thread's next instruction is at ``pc``."""
        self._spill(ir.Constant(I64, pc) if isinstance(pc, int) else pc, whole=True)
        self.spill_sums()
        self.builder.ret(ir.Constant(I32, status))

    def fail(self) -> None:
        """Write the exit blocks for an exception of the interpreter and for a suspicion."""
        self.builder.position_at_end(self.failed)
        self.leave(state.FAULT, self.word(self.block, state.PC))
        self.builder.position_at_end(self.suspected)
        self.builder.ret(ir.Constant(I32, state.SUSPECT))

    def call_out(self, *, timed: bool = False) -> None:
        """Call the interpreter for this instruction, which moves no lanes; ``timed``: it may read the time."""
        builder = self.builder
        self._spill(ir.Constant(I64, self.pc), whole=False)
        (self.spill_sums if timed else self._spill_who)()
        touched = self.held.touched.get(self.pc, {})
        self.give_held(list(touched))
        place = ir.Constant(I64, self.pc)
        failed = builder.call(self._callback, [self.registers, self.addresses, self.block, self.launch, place])
        wrong = builder.icmp_unsigned("!=", failed, ir.Constant(I32, 0))
        self.leave_if(wrong, self.failed, rarely=True)
        self.take_held([number for number, written in touched.items() if written])
        for kept in self._kept:
            if kept.looked_at:
                self.set(kept.cell, self.word(self.block, kept.place, kept.kind))
