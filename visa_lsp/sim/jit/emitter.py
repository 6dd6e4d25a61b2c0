"""What all compiled instructions share: registers as vectors of lanes, masks, predicates, calls into the interpreter.

An ``Emitter`` writes the instructions of one body into one LLVM function. Lanes are ``<n x type>`` vectors, also one lane.
Registers stay in memory, as the interpreter has them, so that either engine can go on at any instruction; predicates and
waiting lanes stay in the block. The masks are numbers that LLVM keeps in registers; ``spill`` puts them where the interpreter looks.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

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


class Uncompiled(Exception):  # noqa: N818 - no fault: the interpreter executes the instruction
    """There is no compiled form of an instruction."""


def integer(bits: int) -> Any:
    """The integer type of so many bits."""
    return ir.IntType(bits)


def lanes_of(value: Node) -> int:
    """How many lanes a vector has."""
    count: int = value.type.count
    return count


def vector(element: Any, lanes: int) -> Any:
    """A vector type."""
    return ir.VectorType(element, lanes)


def constants(element: Any, values: Sequence[float]) -> Node:
    """A constant vector."""
    if isinstance(element, ir.IntType):
        return _integers(element.width, tuple(values))
    return ir.Constant(vector(element, len(values)), [ir.Constant(element, v) for v in values])


@lru_cache(4096)
def _integers(bits: int, values: tuple[float, ...]) -> Node:
    """A constant vector of integers: kernels have few different ones, and writing one takes as long as ten operations."""
    kind = integer(bits)
    return ir.Constant(vector(kind, len(values)), [ir.Constant(kind, v) for v in values])


def splat(element: Any, value: float, lanes: int) -> Node:
    """A constant vector of equal lanes."""
    return constants(element, [value] * lanes)


class Emitter:
    """The function of one body while it is written. ``builder`` stands where the next operation goes."""

    def __init__(self, module: ir.Module, name: str, layout: StateLayout) -> None:
        self.module = module
        self.layout = layout
        kind = ir.FunctionType(I32, (PTR, PTR, PTR, PTR))
        self.function = ir.Function(module, kind, name)
        self.registers, self.addresses, self.block, self.launch = self.function.args
        for argument in self.function.args:
            argument.add_attribute("noalias")
        self.builder = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.failed = self.function.append_basic_block("failed")  # a callback has raised; it stands where it was called
        self.suspected = self.function.append_basic_block("suspected")  # a checker might have something to say
        self.watched = False
        self.side_by_side = False  # groups run at the same time: what is atomic has to be
        self.emask = self._cell(I32)
        self.call_mask = self._cell(I32)
        self.steps = self._cell(I64)
        self.predicates = [self.address(self.block, layout.predicates_at + 4 * n) for n in range(layout.predicates)]
        self.waits = [self.address(self.block, layout.waits_at + 4 * n) for n in range(len(layout.joins))]
        self.reads, self.writes = (self.address(self.launch, at) for at in (state.READS, state.WRITES))
        self.waiting = [self._cell(I64) for _ in range(-(-len(layout.joins) // 64))]
        self._intrinsics: dict[str, Node] = {}
        self._callback = ir.Function(module, ir.FunctionType(I32, (PTR, PTR, PTR, PTR, I64)), CALLBACK)
        self.modes: Modes
        # What surface variables may stand for, in the order of the launch's table.
        self.surface_values: tuple[int, ...] = ()
        self.known_surfaces: dict[int, int] = {}  # values of surface variables that are known at this instruction
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

    def take_held(self, numbers: Sequence[int]) -> None:
        """Take held pieces from the registers."""
        for number in numbers:
            self._move_held(number, taken=True)

    def give_held(self, numbers: Sequence[int]) -> None:
        """Put held pieces into the registers, where the interpreter and a later call look for them."""
        for number in numbers:
            self._move_held(number, taken=False)

    def _move_held(self, number: int, *, taken: bool) -> None:
        start, size = self.held.pieces[number]
        own, registers = self._held[number], self.address(self.registers, start)
        kind = vector(I32, size // 4) if size % 4 == 0 else vector(I8, size)
        value = self.builder.load(registers if taken else own, typ=kind, align=1)
        self.builder.store(value, own if taken else registers, align=1)

    def _cell(self, kind: Any) -> Node:
        return self.builder.alloca(kind)

    # ---- the blocks of numbers

    def address(self, base: Node, offset: int) -> Node:
        """The address of a number of a block."""
        return self.builder.gep(base, [ir.Constant(I64, offset)], source_etype=I8)

    def word(self, base: Node, offset: int, kind: Any = I64) -> Node:
        """A number of a block."""
        return self.builder.load(self.address(base, offset), typ=kind)

    def put_word(self, base: Node, offset: int, value: Node) -> None:
        """Write a number of a block."""
        self.builder.store(value, self.address(base, offset))

    def get(self, cell: Node, kind: Any = I32) -> Node:
        """The value of a cell."""
        return self.builder.load(cell, typ=kind)

    def set(self, cell: Node, value: Node) -> None:
        """Write a cell."""
        self.builder.store(value, cell)

    def add_to(self, cell: Node, value: Node) -> None:
        """Add to a cell of 64 bits."""
        self.set(cell, self.builder.add(self.get(cell, I64), value))

    def load_all(self) -> None:
        """Take what is kept in the function from the block."""
        self.set(self.emask, self.word(self.block, state.EMASK, I32))
        self.set(self.call_mask, self.word(self.block, state.CALL_MASK, I32))
        self.set(self.steps, self.word(self.block, state.STEPS))
        for number, cell in enumerate(self.waiting):
            self.set(cell, self.word(self.block, self.layout.waiting_at + 8 * number))

    def spill(self, pc: Node) -> None:
        """Put the place and the mask where the interpreter looks."""
        self.put_word(self.block, state.PC, pc)
        self.put_word(self.block, state.EMASK, self.builder.zext(self.get(self.emask), I64))

    def spill_all(self, pc: Node) -> None:
        """Put all that is kept in the function into the block."""
        self.spill(pc)
        self.put_word(self.block, state.CALL_MASK, self.builder.zext(self.get(self.call_mask), I64))
        self.put_word(self.block, state.STEPS, self.get(self.steps, I64))
        for number, cell in enumerate(self.waiting):
            self.put_word(self.block, self.layout.waiting_at + 8 * number, self.get(cell, I64))

    # ---- surface variables, which stay in the block

    def surface(self, cell: int) -> Node:
        """The value of a surface variable's element."""
        return self.word(self.block, self.layout.surfaces_at + 8 * cell)

    def put_surface(self, cell: int, value: Node, known: int | None) -> None:
        """Set it, to a number that is ``known`` now or not."""
        self.put_word(self.block, self.layout.surfaces_at + 8 * cell, value)
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
        """The address of some bytes of the registers. Raises Uncompiled where they belong together nowhere."""
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
        """A vector whose lanes are all the same value."""
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
        """A place in memory for lanes, from which they can be taken by number."""
        with self.builder.goto_entry_block():
            place = self.builder.alloca(value.type)
        self.builder.store(value, place)
        return place

    def lane_of(self, place: Node, lane: Node, kind: Any) -> Node:
        """One of them."""
        return self.builder.load(self.builder.gep(place, [lane], source_etype=kind), typ=kind)

    # ---- lanes in memory

    def places(self, base: Node, offsets: Node) -> Node:
        """The host's addresses of what lies so many bytes, 64 bits for each lane, behind one."""
        return self.builder.add(offsets, self.spread(self.builder.ptrtoint(base, I64), lanes_of(offsets)))

    def gather(self, kind: Any, places: Node, bits: Node, align: int) -> Node:
        """What lies at the addresses of lanes that ``bits``, an integer, has on; zeros elsewhere."""
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
        """The predicate bits of an instruction's lanes, combined, then inverted: an integer of so many bits."""
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
        """The channel enable bits as an integer; None where all lanes are on."""
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
        """The enable bits as an integer, also where all lanes are on."""
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

    def call_out(self) -> None:
        """Have the interpreter execute this instruction, which moves no lanes."""
        builder = self.builder
        self.spill(ir.Constant(I64, self.pc))
        touched = self.held.touched.get(self.pc, ())
        self.give_held([piece.number for piece in touched])
        failed = builder.call(
            self._callback, [self.registers, self.addresses, self.block, self.launch, ir.Constant(I64, self.pc)]
        )
        wrong = builder.icmp_unsigned("!=", failed, ir.Constant(I32, 0))
        on = self.function.append_basic_block("on")
        builder.cbranch(wrong, self.failed, on).set_weights([1, 99])
        builder.position_at_end(on)
        self.take_held([piece.number for piece in touched if piece.written])


def bytes_of(kind: Any) -> int:
    """Bytes of an element type."""
    if isinstance(kind, ir.IntType):
        return int(kind.width) // 8
    return {"half": 2, "float": 4, "double": 8}[str(kind)]


def _suffix(kind: Any) -> str:
    element = kind.element
    name = f"i{element.width}" if isinstance(element, ir.IntType) else f"f{8 * bytes_of(element)}"
    return f"v{kind.count}{name}"
