"""What all compiled instructions share: registers as vectors of lanes, masks, predicates, calls into the interpreter.

An ``Emitter`` writes the instructions of one body into one LLVM function. Lanes are ``<n x type>`` vectors, also one lane.
Registers stay in memory, as the interpreter has them, so that either engine can go on at any instruction; predicates and
waiting lanes stay in the block. The masks are numbers that LLVM keeps in registers; ``spill`` puts them where the interpreter looks.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from llvmlite import ir

from visa_lsp.isa import types as ty
from visa_lsp.program.model import Combine, Predicate
from visa_lsp.sim.jit import state
from visa_lsp.sim.jit.held import Held

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from visa_lsp.program.model import Value
    from visa_lsp.sim.jit.modes import Modes
    from visa_lsp.sim.jit.state import StateLayout
    from visa_lsp.sim.operands import Site

Node = Any  # a value of llvmlite, which has no types

I1: Final = ir.IntType(1)
I8: Final = ir.IntType(8)
I16: Final = ir.IntType(16)
I32: Final = ir.IntType(32)
I64: Final = ir.IntType(64)
F16: Final = ir.HalfType()
F32: Final = ir.FloatType()
F64: Final = ir.DoubleType()
PTR: Final = ir.PointerType()

# How a data type stands in registers; bf is the upper half of a float, which LLVM's operations do not know.
STORAGE: Final = {
    ty.UD: I32, ty.D: I32, ty.UW: I16, ty.W: I16, ty.UB: I8, ty.B: I8, ty.BOOL: I8, ty.UQ: I64, ty.Q: I64,
    ty.F: F32, ty.DF: F64, ty.HF: F16, ty.BF: I16,
}  # fmt: skip


CALLBACK: Final = "visa_lsp_interpret"  # the symbol of the function that executes one instruction


class Local(NamedTuple):
    """The predicates and surface variables that a function keeps: those that it writes."""

    predicates: frozenset[int]
    surfaces: frozenset[int]


class _Kept(NamedTuple):
    """A number that a function keeps while it runs: its cell, and its place in the block or in the launch."""

    cell: Node
    kind: Any
    place: Any
    new: bool
    looked_at: bool


class Uncompiled(Exception):  # noqa: N818 - no fault: the interpreter executes the instruction
    """There is no compiled form of an instruction."""


def integer(bits: int) -> Any:
    """Return the integer type of so many bits."""
    return ir.IntType(bits)


def lanes_of(value: Node) -> int:
    """Return how many lanes a vector has."""
    count: int = value.type.count
    return count


def vector(element: Any, lanes: int) -> Any:
    """Return a vector type."""
    return ir.VectorType(element, lanes)


def constants(element: Any, values: Sequence[float]) -> Node:
    """Return a constant vector."""
    if isinstance(element, ir.IntType):
        return _integers(element.width, tuple(values))
    return ir.Constant(vector(element, len(values)), [ir.Constant(element, v) for v in values])


@lru_cache(4096)
def _integers(bits: int, values: tuple[float, ...]) -> Node:
    """Return a constant vector of integers: kernels have few different ones, and writing one takes as long as ten operations."""
    kind = integer(bits)
    return ir.Constant(vector(kind, len(values)), [ir.Constant(kind, v) for v in values])


def splat(element: Any, value: float, lanes: int) -> Node:
    """Return a constant vector of equal lanes."""
    return constants(element, [value] * lanes)


class Emitter:
    """The function of one body while it is written. ``builder`` stands where the next operation goes."""

    def __init__(
        self, module: ir.Module, name: str, layout: StateLayout, counted: Sequence[int] = (), local: Local | None = None
    ) -> None:
        """Begin a function.

        One that runs threads one after another keeps what the block holds in values of its own: of predicates and surface
        variables those that are ``local``, and how often each of the stretches ``counted`` is executed.
        """
        self.module = module
        self.layout = layout
        self._threads = local is not None
        kind = ir.FunctionType(I32, (PTR, PTR, PTR, PTR))
        self.function = ir.Function(module, kind, name)
        self._registers, self.addresses, self._block, self.launch = self.function.args
        for argument in self.function.args:
            argument.add_attribute("noalias")
        self.builder = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.failed = self.function.append_basic_block("failed")  # a callback has raised; it stands where it was called
        self.suspected = self.function.append_basic_block("suspected")  # a checker might have something to say
        self.watched = False
        self.side_by_side = False  # groups run at the same time: what is atomic has to be
        self.fresh: Node = None  # whether the function begins with new threads
        if self._threads:
            self.fresh = self.builder.icmp_unsigned("==", self._registers, ir.Constant(PTR, None))
            self._registers, self._block = self.variable(self._registers), self.variable(self._block)
        self._hoisted: dict[tuple[int, int], Node] = {}
        self._kept: list[_Kept] = []  # of the thread
        self._sums: list[tuple[Node, Node]] = []  # what is added up for the launch: cells and places
        self._who: list[tuple[Node, Node]] = []  # which thread runs
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
            self._keep(layout.predicates_at + 4 * n, I32, new=True, looked_at=True, own=local and n in local.predicates)
            for n in range(layout.predicates)
        ]
        self.surfaces = [
            self._keep(layout.surfaces_at + 8 * n, looked_at=True, own=local and n in local.surfaces)
            for n in range(layout.surfaces)
        ]
        self.reads, self.writes = (self._sum(self.address(self.launch, at)) for at in (state.READS, state.WRITES))
        self._counts = {start: self._sum(self._count_place(start)) for start in counted}
        if self._threads:  # of a thread among those that run one after another
            places = [self.address(self.launch, at) for at in (state.THREAD, state.GROUP, state.TOTAL)]
            self._who = [(self.variable(self.get(place, I64)), place) for place in places]
            self.thread, self.group, self.total = (cell for cell, _ in self._who)
        self._intrinsics: dict[str, Node] = {}
        self._callback = ir.Function(module, ir.FunctionType(I32, (PTR, PTR, PTR, PTR, I64)), CALLBACK)
        self._callback.attributes.add("cold")
        self.modes: Modes
        # What surface variables may stand for, in the order of the launch's table.
        self.surface_values: tuple[int, ...] = ()
        self.given_surfaces: frozenset[int] = frozenset()  # surface variables that hold a surface of the launch
        self.known_surfaces: dict[int, int] = {}  # values of surface variables that are known at this instruction
        self.reaches_shared = False  # an instruction may touch the memory of the group
        self.pc = 0
        self.held = Held()
        self._held: list[Node] = []  # where the held pieces lie while the function runs

    def hold(self, held: Held) -> None:
        """Give the pieces that the function holds a place of their own, which LLVM makes into values."""
        self.held = held
        for piece in held.pieces:
            place = self.builder.alloca(ir.ArrayType(I8, piece.size))
            place.align = 64
            place.type = PTR  # whatever is stored there
            self._held.append(place)

    def take_held(self, numbers: Sequence[int], registers: Node = None) -> None:
        """Take held pieces from the registers, those of the thread or others."""
        for number in numbers:
            self._move_held(number, registers or self.registers, taken=True)

    def give_held(self, numbers: Sequence[int]) -> None:
        """Put held pieces into the registers, where the interpreter and a later call look for them."""
        for number in numbers:
            self._move_held(number, self.registers, taken=False)

    def _move_held(self, number: int, registers: Node, *, taken: bool) -> None:
        start, size = self.held.pieces[number]
        own, registers = self._held[number], self.address(registers, start)
        kind = _bytes_of(size)
        value = self.builder.load(registers if taken else own, typ=kind, align=1)
        self.builder.store(value, own if taken else registers, align=1)

    def _cell(self, kind: Any) -> Node:
        return self.builder.alloca(kind)

    def variable(self, value: Node) -> Node:
        """Return a cell of the function's own, which begins with a value."""
        cell = self._cell(value.type)
        self.set(cell, value)
        return cell

    def _keep(
        self, offset: int, kind: Any = I64, *, own: bool | None, new: bool = False, looked_at: bool = False
    ) -> Node:
        """Return the cell of a number of the block: one of the function's ``own``, or the block's.

        A ``new`` thread begins with 0 there; the interpreter's instructions may have ``looked_at`` it, and change it.
        """
        if not own:
            return offset
        self._kept.append(_Kept(self._cell(kind), kind, offset, new, looked_at))
        return self._kept[-1].cell

    def _sum(self, place: Node) -> Node:
        """Return the cell of what is added to a number of the launch."""
        if not self._threads:
            return place
        self._sums.append((self.variable(ir.Constant(I64, 0)), place))
        return self._sums[-1][0]

    def _count_place(self, start: int) -> Node:
        return self.address(self.table(state.COUNTS), 8 * start)

    def count(self, start: int) -> None:
        """Count a stretch."""
        self.add_to(self._counts.get(start) or self._count_place(start), ir.Constant(I64, 1))

    @property
    def registers(self) -> Node:
        """The registers of the thread."""
        return self.get(self._registers, PTR) if self._threads else self._registers

    @property
    def block(self) -> Node:
        """The block of the thread."""
        return self.get(self._block, PTR) if self._threads else self._block

    def begin_thread(self, registers: Node, block: Node, first: Node) -> None:
        """Go on with a new thread, which has these registers and this block; ``first`` is how its block begins."""
        self.set(self._registers, registers)
        self.set(self._block, block)
        for kept in self._kept:
            begins = ir.Constant(kept.kind, 0) if kept.new else self.word(first, kept.place, kept.kind)
            self.set(kept.cell, begins)
        for piece, cell in zip(self.held.pieces, self._held, strict=True):
            self.builder.store(ir.Constant(_bytes_of(piece.size), ir.Undefined), cell)

    def constant(self, base: Node, offset: int, kind: Any = I64) -> Node:
        """Return a number that stays the same while the function runs: it is loaded where the function begins."""
        key = id(base), offset
        if key not in self._hoisted:
            with self.builder.goto_entry_block():
                self._hoisted[key] = self.word(base, offset, kind)
        return self._hoisted[key]

    def table(self, offset: int) -> Node:
        """Return the address of a table of the launch."""
        return self.constant(self.launch, offset, PTR)

    # ---- the blocks of numbers

    def address(self, base: Node, offset: int) -> Node:
        """Return the address of a number of a block."""
        return self.builder.gep(base, [ir.Constant(I64, offset)], source_etype=I8)

    def word(self, base: Node, offset: int, kind: Any = I64) -> Node:
        """Return a number of a block."""
        return self.builder.load(self.address(base, offset), typ=kind)

    def put_word(self, base: Node, offset: int, value: Node) -> None:
        """Write a number of a block."""
        self.builder.store(value, self.address(base, offset))

    def _cell_of(self, cell: Node) -> Node:
        return self.address(self.block, cell) if isinstance(cell, int) else cell

    def get(self, cell: Node, kind: Any = I32) -> Node:
        """Return the value of a cell: one of the function's own, or one of the block, by its offset."""
        return self.builder.load(self._cell_of(cell), typ=kind)

    def set(self, cell: Node, value: Node) -> None:
        """Write a cell."""
        self.builder.store(value, self._cell_of(cell))

    def add_to(self, cell: Node, value: Node) -> None:
        """Add to a cell of 64 bits."""
        self.set(cell, self.builder.add(self.get(cell, I64), value))

    def load_all(self) -> None:
        """Take what is kept in the function from the block."""
        block = self.block
        for kept in self._kept:
            self.set(kept.cell, self.word(block, kept.place, kept.kind))

    def spill(self, pc: Node) -> None:
        """Put the place, the mask and what the interpreter's instructions look at where they do."""
        block = self.block
        self.put_word(block, state.PC, pc)
        self.put_word(block, state.EMASK, self.get(self.emask))
        for kept in self._kept:
            if kept.looked_at:
                self.put_word(block, kept.place, self.get(kept.cell, kept.kind))

    def spill_all(self, pc: Node) -> None:
        """Put all that is kept in the function into the block."""
        block = self.block
        self.put_word(block, state.PC, pc)
        for kept in self._kept:
            self.put_word(block, kept.place, self.get(kept.cell, kept.kind))
        self.spill_sums()

    def spill_sums(self) -> None:
        """Put what is counted, and who runs, into the numbers of the launch."""
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

    def put_surface(self, cell: int, value: Node, known: int | None) -> None:
        """Set it, to a number that is ``known`` now or not."""
        self.set(self.surfaces[cell], value)
        self.known_surfaces.pop(cell, None)
        if known is not None:
            self.known_surfaces[cell] = known

    # ---- operations that LLVM has as functions

    def intrinsic(self, name: str, result: Any, *arguments: Node) -> Node:
        """Call an LLVM intrinsic by its full name."""
        known = self._intrinsics.get(name)
        if known is None:
            kind = ir.FunctionType(result, [a.type for a in arguments])
            known = self._intrinsics[name] = ir.Function(self.module, kind, name)
        return self.builder.call(known, arguments)

    def each(self, name: str, first: Node, *others: Node) -> Node:
        """Call an intrinsic that works lane by lane: its name lacks the type."""
        return self.intrinsic(f"{name}.{_suffix(first.type)}", first.type, first, *others)

    def outlined(self, name: str, result: Any, arguments: Sequence[Node], body: Callable[..., Node]) -> Node:
        """Call a function of the module that does what ``body`` writes: for what is long, frequent in a text, and seldom run."""
        known = self.module.globals.get(name)
        if known is None:
            known = ir.Function(self.module, ir.FunctionType(result, [a.type for a in arguments]), name)
            known.linkage, known.calling_convention = "internal", "fastcc"
            known.attributes.add("noinline")
            before = self.function, self.builder
            self.function, self.builder = known, ir.IRBuilder(known.append_basic_block("entry"))
            self.builder.ret(body(*known.args))
            self.function, self.builder = before
        return self.builder.call(known, arguments, cconv="fastcc")

    # ---- lanes in registers

    def at(self, offset: int, size: int) -> Node:
        """Return the address of some bytes of the registers. Raises Uncompiled where they belong together nowhere."""
        number = self.held.at(offset, offset + size)
        if number is None:
            raise Uncompiled
        if number < 0:
            return self.address(self.registers, offset)
        return self.address(self._held[number], offset - self.held.pieces[number].start)

    def load_lanes(self, start: int, elements: Sequence[int], kind: Any) -> Node:
        """Elements of the register file as lanes; they are counted from byte ``start``."""
        size, count = bytes_of(kind), len(elements)
        builder = self.builder
        low, high = min(elements), max(elements)
        if low == high:
            one = builder.load(self.at(start + low * size, size), typ=kind, align=1)
            return self.spread(one, count)
        span = high - low + 1
        whole = builder.load(self.at(start + low * size, span * size), typ=vector(kind, span), align=1)
        order = [e - low for e in elements]
        if order == list(range(span)):
            return whole
        return builder.shuffle_vector(whole, ir.Constant(whole.type, ir.Undefined), constants(I32, order))

    def spread(self, one: Node, lanes: int) -> Node:
        """Return a vector whose lanes are all the same value."""
        kind = vector(one.type, lanes)
        first = self.builder.insert_element(ir.Constant(kind, ir.Undefined), one, ir.Constant(I32, 0))
        if lanes == 1:
            return first
        return self.builder.shuffle_vector(first, ir.Constant(kind, ir.Undefined), splat(I32, 0, lanes))

    def store_lanes(self, start: int, elements: Sequence[int], value: Node, enabled: Node | None) -> None:
        """Put lanes into elements of the register file, those that ``enabled``, a vector of bits, has on (None: all).

        Raises Uncompiled where there is no compiled form.
        """
        kind, size, count = value.type.element, bytes_of(value.type.element), len(elements)
        builder = self.builder
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
        # Lanes go to their places in the whole span, whose other elements stay.
        places = {place: lane for lane, place in enumerate(order)}
        wide = builder.shuffle_vector(
            value, ir.Constant(value.type, ir.Undefined), constants(I32, [places.get(p, 0) for p in range(span)])
        )
        chosen = constants(I1, [int(p in places) for p in range(span)])
        if enabled is not None:
            none = splat(I1, 0, count)
            chosen = builder.shuffle_vector(enabled, none, constants(I32, [places.get(p, count) for p in range(span)]))
        old = builder.load(where, typ=vector(kind, span), align=1)
        builder.store(builder.select(chosen, wide, old), where, align=1)

    def kept_lanes(self, value: Node) -> Node:
        """Return a place in memory for lanes, from which they can be taken by number."""
        with self.builder.goto_entry_block():
            place = self.builder.alloca(value.type)
        self.builder.store(value, place)
        return place

    def lane_of(self, place: Node, lane: Node, kind: Any) -> Node:
        """Return one of them."""
        return self.builder.load(self.builder.gep(place, [lane], source_etype=kind), typ=kind)

    # ---- lanes in memory

    def places(self, base: Node, offsets: Node) -> Node:
        """Return the host's addresses of what lies so many bytes, 64 bits for each lane, behind one."""
        return self.builder.add(offsets, self.spread(self.builder.ptrtoint(base, I64), lanes_of(offsets)))

    def gather(self, kind: Any, places: Node, bits: Node, align: int) -> Node:
        """Return what lies at the addresses of lanes that ``bits``, an integer, has on; zeros elsewhere."""
        lanes = kind.count
        pointers = self.builder.inttoptr(places, vector(PTR, lanes))
        name, none = f"llvm.masked.gather.{_suffix(kind)}.v{lanes}p0", splat(kind.element, 0, lanes)
        return self.intrinsic(name, kind, pointers, ir.Constant(I32, align), self.lanes(bits, lanes), none)

    # ---- masks

    def mask_of(self, cell: Node, at: int, lanes: int) -> Node:
        """``lanes`` bits of a mask of 32, from bit ``at`` on."""
        value = self.get(cell)
        if at:
            value = self.builder.lshr(value, ir.Constant(I32, at))
        return value if lanes == 32 else self.builder.trunc(value, integer(lanes))

    def predicate(self, pred: Predicate, at: int, lanes: int) -> Node:
        """Return the predicate bits of an instruction's lanes, combined, then inverted: an integer of so many bits."""
        builder = self.builder
        bits = self.mask_of(self.predicates[pred.var], at, lanes)
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
        """Return the channel enable bits as an integer; None where all lanes are on."""
        lanes, at = site.lanes, site.control.mask_offset
        pred: Value = site.inst.get("pred") if predicate else None
        bits = self.predicate(pred, at, lanes) if isinstance(pred, Predicate) else None
        if site.control.no_mask:
            return bits
        mask = self.mask_of(self.emask, at, lanes)
        return mask if bits is None else self.builder.and_(mask, bits)

    def lanes(self, bits: Node | None, lanes: int) -> Node | None:
        """Bits of an integer as a vector of bits."""
        return None if bits is None else self.builder.bitcast(bits, vector(I1, lanes))

    def all_on(self, lanes: int) -> Node:
        """As many bits, all on."""
        return ir.Constant(integer(lanes), (1 << lanes) - 1)

    def some(self, bits: Node | None, site: Site) -> Node:
        """Return the enable bits as an integer, also where all lanes are on."""
        return self.all_on(site.lanes) if bits is None else bits

    # ---- leaving

    def leave(self, status: int, pc: Node | int) -> None:
        """End the function; the thread stands at ``pc``."""
        self.spill_all(ir.Constant(I64, pc) if isinstance(pc, int) else pc)
        self.builder.ret(ir.Constant(I32, status))

    def fail(self) -> None:
        """Write the blocks that are gone to when the interpreter has raised, and when something is suspected."""
        self.builder.position_at_end(self.failed)
        self.leave(state.FAULT, self.word(self.block, state.PC))
        self.builder.position_at_end(self.suspected)
        self.builder.ret(ir.Constant(I32, state.SUSPECT))

    def call_out(self, *, timed: bool = False) -> None:
        """Have the interpreter execute this instruction, which moves no lanes; one that is ``timed`` may look at the time."""
        builder = self.builder
        self.spill(ir.Constant(I64, self.pc))
        (self.spill_sums if timed else self._spill_who)()
        touched = self.held.touched.get(self.pc, ())
        self.give_held([piece.number for piece in touched])
        place = ir.Constant(I64, self.pc)
        failed = builder.call(self._callback, [self.registers, self.addresses, self.block, self.launch, place])
        wrong = builder.icmp_unsigned("!=", failed, ir.Constant(I32, 0))
        on = self.function.append_basic_block("on")
        builder.cbranch(wrong, self.failed, on).set_weights([1, 99])
        builder.position_at_end(on)
        self.take_held([piece.number for piece in touched if piece.written])
        for kept in self._kept:
            if kept.looked_at:
                self.set(kept.cell, self.word(self.block, kept.place, kept.kind))


def bytes_of(kind: Any) -> int:
    """Return bytes of an element type."""
    if isinstance(kind, ir.IntType):
        return int(kind.width) // 8
    return {"half": 2, "float": 4, "double": 8}[str(kind)]


def _bytes_of(size: int) -> Any:
    """Return the type of so many bytes."""
    return vector(I32, size // 4) if size % 4 == 0 else vector(I8, size)


def _suffix(kind: Any) -> str:
    element = kind.element
    name = f"i{element.width}" if isinstance(element, ir.IntType) else f"f{8 * bytes_of(element)}"
    return f"v{kind.count}{name}"
