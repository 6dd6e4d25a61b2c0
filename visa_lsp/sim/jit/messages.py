"""Compiled messages of elements, by their values, atomics among them, and fences. The rules are those of ``sim.effects``.

Moved are one or more elements for each lane, or a block for the thread. The code first tests whether all lanes are
contiguous, and then moves them as one vector. Otherwise it tests the range. An element that all lanes read is read once;
other elements are moved lane by lane. If lanes leave their space, the interpreter executes the whole message.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from llvmlite import ir

from visa_lsp.isa.message_forms import MemoryUse
from visa_lsp.program.message import PREDECREMENT, ElementMessage, FenceMessage, understood_message_of
from visa_lsp.program.model import RawOperand
from visa_lsp.sim.group import GLOBAL, SHARED
from visa_lsp.sim.integer_formulas import UPDATES
from visa_lsp.sim.jit import check_instrumentation, numbers, spaces, state
from visa_lsp.sim.jit.emitter import Emitter, Uncompiled
from visa_lsp.sim.jit.followed_registers import find_stored_masks
from visa_lsp.sim.jit.lane_formulas import LaneNumbers, LaneOperations
from visa_lsp.sim.jit.lanes import FLOAT
from visa_lsp.sim.jit.numbers import raw_lanes, raw_start, scalar
from visa_lsp.sim.jit.writer import F32, F64, I1, I8, I32, I64, Node, constants, integer, lanes_of, splat, vector
from visa_lsp.sim.messages import FLOAT_UPDATES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from visa_lsp.sim.operands import Site


class Moved(NamedTuple):
    """An element of a lane: its size in memory and in registers, its place in both, and whether it fills the upper half."""

    memory: int
    register: int
    offset: int  # bytes after the lane's address
    start: int  # byte of the register file for lane 0; below zero for %null
    high: bool = False


class _Lanes(NamedTuple):
    """The addresses of a message's lanes: each, the lowest and the highest active one, and the active lanes.

    Without ``bits`` all lanes are active and contiguous.
    """

    addresses: Node
    least: Node
    most: Node
    bits: Node | None

    def same(self, e: Emitter) -> Node:
        """Return whether all lanes have the same address."""
        return e.builder.icmp_signed("==", self.least, self.most)


def emit_elements(e: Emitter, site: Site) -> None:
    """Emit a message of elements. Raises Uncompiled if it has no compiled form."""
    message = understood_message_of(site.inst)
    if not isinstance(message, ElementMessage) or message.residency or message.address.strided:
        raise Uncompiled
    site.set_control(message.control)
    space = spaces.memory_of(e, site, message.memory)
    if message.fetches:
        return
    write, size, cell = message.use is MemoryUse.WRITE, message.size, message.cell
    if message.single:
        _emit_block(e, site, space, message)
        return
    addresses = _addresses(e, site, message, site.lanes)
    if message.use is MemoryUse.ATOMIC:
        _emit_atomic(e, site, space, addresses, message)
    elif message.elements:
        offsets = [element * size for element in message.elements]
        row, high = message.row(site.grf), bool(message.first)
        moved = elements_of(site, message.data, offsets, size, cell, row, high=high)
        # Of messages to pages, which require no alignment either, the type of the element does.
        any_address = message.alignment <= 1 and site.inst.row.family != "lsc"
        transfer(e, space, addresses, e.enable(site), moved, write=write, any_address=any_address)


def _addresses(e: Emitter, site: Site, message: ElementMessage, lanes: int) -> Node:
    """Return the address of each lane, in 64 bits."""
    address, b = message.address, e.builder
    width = 32 if address.wraps else 64
    operand = address.operand if isinstance(address.operand, RawOperand) else RawOperand(0, 0)
    addresses = raw_lanes(e, site, operand, integer(8 * address.type.size), lanes)
    addresses = numbers.resize(e, addresses, width, signed=address.type.is_signed)
    kind = integer(width)
    if address.scale != 1:
        addresses = b.mul(addresses, splat(kind, address.scale, lanes))
    if address.offset:
        addresses = b.add(addresses, splat(kind, address.offset, lanes))
    if address.operand is not operand:
        addresses = _add(e, addresses, scalar(e, site, address.operand), lanes)
    addresses = _add(e, addresses, scalar(e, site, address.common), lanes)
    addresses = numbers.resize(e, addresses, 64, signed=False)  # addresses that wrap are unsigned
    if address.unit != 1:
        addresses = b.mul(addresses, splat(I64, address.unit, lanes))
    return _add(e, addresses, scalar(e, site, address.base), lanes)


def _add(e: Emitter, addresses: Node, number: Node | None, lanes: int) -> Node:
    """Return addresses plus a number of 64 bits; None adds nothing."""
    if number is None:
        return addresses
    own = e.builder.trunc(number, I32) if addresses.type.element.width == 32 else number
    return e.builder.add(addresses, e.spread(own, lanes))


def _emit_block(e: Emitter, site: Site, space: spaces.Found, message: ElementMessage) -> None:
    """Emit a message with a single address: contiguous elements."""
    if message.size != message.cell:
        raise Uncompiled
    size = len(message.elements) * message.size
    start, write = raw_start(site, message.data, size), message.use is MemoryUse.WRITE
    bits, undefined = e.some(e.enable(site), site), find_stored_masks(e, site.pc)
    with e.builder.if_then(bits if site.lanes == 1 else e.builder.trunc(bits, I1)), may_leave(e) as outside:
        if e.mode.watched and size % 4:
            check_instrumentation.suspect_always(e)
        memory = 1 if size % 4 else 4
        address = _lane0(e, space.offsets(_addresses(e, site, message, 1)))
        lanes = _contiguous(e, address, size // memory, memory)
        _move(e, space, [Moved(memory, memory, 0, start)], outside, lanes, write=write, undefined=undefined)


def emit_fence(e: Emitter, site: Site) -> None:
    """Emit a fence: memory is always in order; with checkers, the thread records the memory of the fence."""
    message = understood_message_of(site.inst)
    if not e.mode.watched or not isinstance(message, FenceMessage):
        return
    fenced = e.word(e.block, state.FENCED)
    memory = SHARED if message.shared else GLOBAL
    e.put_word(e.block, state.FENCED, e.builder.or_(fenced, ir.Constant(I64, memory)))


# ---- moves between registers and memory


def elements_of(
    site: Site, data: RawOperand, offsets: Sequence[int], memory: int, cell: int, row: int, *, high: bool = False
) -> list[Moved]:
    """Return the elements of a message by their offsets from a lane's address; each fills a row of the data operand.

    Raises Uncompiled if there is no compiled form for this size in memory.
    """
    if memory not in (1, 2, 4, 8):
        raise Uncompiled
    start = raw_start(site, data, (len(offsets) - 1) * row + site.lanes * cell)
    starts = [start + k * row if start >= 0 else -1 for k in range(len(offsets))]
    return [Moved(memory, cell, offset, place, high) for offset, place in zip(offsets, starts, strict=True)]


@contextmanager
def may_leave(e: Emitter) -> Iterator[ir.Block]:
    """Emit a message that may leave its space; in that case the interpreter executes it, or a checker reports it."""
    outside, done = e.blocks("outside", "moved")
    yield outside
    e.builder.branch(done)
    e.builder.position_at_end(outside)
    if e.mode.watched:
        check_instrumentation.suspect_always(e)
    else:
        e.call_out()
    e.go_to(done)


def begin_access(
    e: Emitter, space: spaces.Found, low: Node, end: Node, use: int, outside: ir.Block
) -> spaces.SpacePlace:
    """Continue if all offsets from ``low`` to ``end`` may be accessed in this way; else branch to ``outside``."""
    place = space.place(low, end)._replace(use=use, shared=space.shared)
    e.uses.add((space.name, use))
    e.leave_if(e.builder.not_(place.inside), outside, rarely=True)
    if e.mode.watched:
        check_instrumentation.access(e, place)
    return place


def end_access(e: Emitter, place: spaces.SpacePlace, size: Node) -> None:
    """Count the bytes of an access; for an atomic, its lanes record whether memory changed."""
    for counter, other in ((e.reads, check_instrumentation.WRITTEN), (e.writes, check_instrumentation.READ)):
        if place.use != other:
            e.add_to(counter, size)
    if place.use == check_instrumentation.WRITTEN:
        e.builder.store(ir.Constant(I64, 1), place.wrote)


def transfer(
    e: Emitter, space: spaces.Found, addresses: Node, enabled: Node | None, moved: Sequence[Moved],
    *, write: bool, any_address: bool,
) -> None:  # fmt: skip
    """Move elements of the set lanes between registers and memory; ``addresses`` has one for each lane.

    All elements have the same size. ``any_address``: they need not be at multiples of it.
    """
    move = partial(_transfer, e, write=write, any_address=any_address)
    if not e.outlines:
        move(space, addresses, enabled, moved)
        return
    start, lanes, given = moved[0].start, lanes_of(addresses), [*space.given]
    near = [element._replace(start=element.start - start) if start >= 0 else element for element in moved]
    name = f"move_{space.name}_{len(given)}_{write}_{any_address}_{lanes}_{[tuple(element) for element in near]}"
    bits = e.all_on(lanes) if enabled is None else enabled

    def body(*own: Node) -> None:
        move(space.again(*own[:-2]), own[-2], own[-1], near)

    check_instrumentation.outline_message(e, name, max(start, 0), [*given, addresses, bits], body)


def _transfer(
    e: Emitter, space: spaces.Found, addresses: Node, enabled: Node | None, moved: Sequence[Moved],
    *, write: bool, any_address: bool,
) -> None:  # fmt: skip
    builder, lanes, size = e.builder, lanes_of(addresses), moved[0].memory
    bits = e.all_on(lanes) if enabled is None else enabled
    any_lane = builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))
    addresses = space.offsets(addresses)
    # As they are computed, in 32 or 64 bits: lanes in a row that wrap around 32 bits are outside of all memory.
    narrow = addresses.operands[0] if getattr(addresses, "opname", "") == "zext" else addresses
    # Evaluated first, because messages with the same addresses share the result.
    contiguous = _are_contiguous(e, narrow, size, enabled)
    first_address = builder.zext(_lane0(e, narrow), I64)
    with may_leave(e) as outside:
        move = partial(_move, e, space, moved, outside, write=write, any_address=any_address)
        if contiguous is None:
            with builder.if_then(any_lane):
                move(_contiguous(e, first_address, lanes, size))
            return
        with builder.if_else(contiguous, likely=True) as (together, apart):
            with together:
                move(_contiguous(e, first_address, lanes, size))
            with apart, builder.if_then(any_lane):
                addresses = numbers.resize(e, narrow, 64, signed=False)
                most, least = _range_of(e, addresses, bits)
                move(_Lanes(addresses, least, most, bits))


def _move(
    e: Emitter, space: spaces.Found, moved: Sequence[Moved], outside: ir.Block, where: _Lanes,
    *, write: bool, any_address: bool = False, undefined: Node | None = None,
) -> None:  # fmt: skip
    """Move elements of lanes; ``undefined`` has the undefined bits of each byte that contiguous lanes store."""
    use, size = check_instrumentation.WRITTEN if write else check_instrumentation.READ, moved[0].memory
    ends = min(m.offset for m in moved), max(m.offset for m in moved) + size
    low, high = (
        e.builder.add(edge, ir.Constant(I64, n)) for edge, n in zip((where.least, where.most), ends, strict=True)
    )
    access = _Access(e, begin_access(e, space, low, high, use, outside), where)
    if e.mode.watched:
        access.watch(moved, undefined, any_address=any_address)
    for element in moved:
        if write:
            access.store(element)
        elif element.start >= 0:
            access.load(element)
    if write and e.mode.watched and (len(moved) > 1 or where.bits is not None):
        for element in moved:  # lanes that store different values at one place race
            check_instrumentation.suspect(e, access.any_chosen(e.builder.not_(access.unchanged(element))))
    count = ir.Constant(I64, access.lanes) if where.bits is None else e.count_of(where.bits)
    end_access(e, access.place, e.builder.mul(count, ir.Constant(I64, size * len(moved))))


class _Access:
    """An access of lanes to a place in memory, while it is written."""

    def __init__(self, e: Emitter, place: spaces.SpacePlace, where: _Lanes) -> None:
        self.e, self.place, self._where, self.lanes = e, place, where, lanes_of(where.addresses)
        self._unit = check_instrumentation.unit_of(e, place)

    def any_chosen(self, flags: Node) -> Node:
        """Return whether the flag of any active lane is set."""
        bits = self._where.bits
        chosen = flags if bits is None else self.e.builder.and_(flags, self.e.lanes(bits, self.lanes))
        return check_instrumentation.any_of(self.e, chosen)

    def watch(self, moved: Sequence[Moved], undefined: Node | None, *, any_address: bool) -> None:
        """Emit the tests of checkers before elements move."""
        e, where, write = self.e, self._where, self.place.use == check_instrumentation.WRITTEN
        if write and self.place.shared and moved[0].memory < self._unit:
            check_instrumentation.suspect_always(
                e
            )  # because marks of dwords would claim that the whole dword is written
        chosen = e.lanes(where.bits, self.lanes)
        for element in moved:
            start = where.addresses
            if element.offset:
                start = e.builder.add(start, splat(I64, element.offset, self.lanes))
            # Contiguous elements are at multiples of their size if the first of them is.
            tested = start if where.bits is not None else e.spread(_lane0(e, start), 1)
            unchanged = self.unchanged(element) if write else None
            odd = check_instrumentation.is_misaligned(e, tested, chosen, element.memory)
            if not any_address:
                check_instrumentation.suspect(e, odd)
            if any_address and element.memory > 1 and self._unit > 1:
                with e.builder.if_else(odd, likely=False) as (across, whole):
                    with across:
                        self._mark_across(start, element.memory, unchanged)
                    with whole:
                        self._mark(element, start, unchanged, undefined)
            else:
                self._mark(element, start, unchanged, undefined)

    def _mark_across(self, start: Node, size: int, unchanged: Node | None) -> None:
        """Mark the dwords of an element of each lane at any address: those of its size, and that of its last byte."""
        e, place = self.e, self.place
        if place.use == check_instrumentation.WRITTEN:  # parts of dwords, while a mark would claim the whole dword
            if place.shared:
                check_instrumentation.suspect_always(e)
            check_instrumentation.suspect(e, check_instrumentation.has_flag(e, place.flags, state.UNDEFINED))
        last = e.builder.add(start, splat(I64, size - 1, self.lanes))
        self._mark_each(start, size, unchanged)
        self._mark_each(last, 1, unchanged)

    def _mark_each(self, start: Node, size: int, unchanged: Node | None) -> None:
        bits = self.e.all_on(self.lanes) if self._where.bits is None else self._where.bits
        check_instrumentation.mark(self.e, self.place, start, size, bits=bits, same=unchanged)

    def _mark(self, element: Moved, start: Node, unchanged: Node | None, undefined: Node | None) -> None:
        """Mark an element of each lane, which lies in as few dwords as possible, or has marks of bytes."""
        e, where, size = self.e, self._where, element.memory
        count = max(1, size // self._unit)
        lowest = e.builder.add(where.least, ir.Constant(I64, element.offset))
        if where.bits is None and size >= self._unit:
            each = unchanged and _repeat(e, unchanged, count)
            check_instrumentation.mark(e, self.place, lowest, self.lanes * size, same=each, undefined=undefined)
        elif where.bits is None:
            self._mark_each(start, size, unchanged)
        else:
            with e.builder.if_else(where.same(e)) as (same, apart):
                with same:
                    all_ = None
                    if unchanged is not None:
                        changed = self.any_chosen(e.builder.not_(unchanged))
                        all_ = e.spread(e.builder.not_(changed), count)
                    check_instrumentation.mark(e, self.place, lowest, size, same=all_)
                with apart:
                    self._mark_each(start, size, unchanged)

    def _base(self, element: Moved) -> Node:
        """Return the host's address of an element whose lane has the address 0."""
        return self.e.builder.gep(self.place.base, [ir.Constant(I64, element.offset)], source_etype=I8)

    def _lowest(self, element: Moved) -> Node:
        return self.e.builder.gep(self._base(element), [self._where.least], source_etype=I8)

    def _value(self, element: Moved) -> Node:
        """Return what the lanes store."""
        e, kind = self.e, integer(8 * element.register)
        if element.start < 0:
            value = splat(kind, 0, self.lanes)
        else:
            value = e.load_lanes(element.start, range(self.lanes), kind)
        if element.high:
            value = e.builder.lshr(value, splat(kind, 16, self.lanes))
        return numbers.resize(e, value, 8 * element.memory, signed=False)

    def unchanged(self, element: Moved) -> Node:
        """Return for each lane whether memory has the value already that it stores."""
        e, value, where = self.e, self._value(element), self._where
        if where.bits is None:
            old = e.builder.load(self._lowest(element), typ=value.type, align=1)
            return e.builder.icmp_unsigned("==", value, old)

        def compare(base: Node, addresses: Node, bits: Node, value: Node) -> Node:
            return e.builder.icmp_unsigned("==", value, e.gather(value.type, e.places(base, addresses), bits, 1))

        given = [self._base(element), where.addresses, where.bits, value]
        return e.outline(f"unchanged_{value.type}", vector(I1, self.lanes), given, compare)

    def load(self, element: Moved) -> None:
        """Load lanes into the registers; a common address is read once."""
        e, where, builder = self.e, self._where, self.e.builder
        kind, lowest = vector(integer(8 * element.memory), self.lanes), self._lowest(element)

        def each(base: Node, addresses: Node, bits: Node) -> Node:
            return e.gather(kind, e.places(base, addresses), bits, 1)

        if where.bits is None:
            loaded = builder.load(lowest, typ=kind, align=1)
        else:
            with builder.if_else(where.same(e)) as (same, apart):
                with same:
                    shared = e.spread(builder.load(lowest, typ=kind.element, align=1), self.lanes)
                    from_same = builder.block
                with apart:
                    given = [self._base(element), where.addresses, where.bits]
                    gathered = e.outline(f"gather_{kind}", kind, given, each)
                    from_apart = builder.block
            loaded = builder.phi(kind)
            loaded.add_incoming(shared, from_same)
            loaded.add_incoming(gathered, from_apart)
        loaded = numbers.resize(e, loaded, 8 * element.register, signed=False)
        if element.high:
            loaded = builder.shl(loaded, splat(loaded.type.element, 16, self.lanes))
        e.store_lanes(element.start, range(self.lanes), loaded, e.lanes(where.bits, self.lanes))

    def store(self, element: Moved) -> None:
        """Store lanes in memory."""
        e, value, where = self.e, self._value(element), self._where
        if where.bits is None:
            e.builder.store(value, self._lowest(element), align=1)
            return

        def scatter(base: Node, addresses: Node, bits: Node, value: Node) -> Node:
            e.store_each(value, e.places(base, addresses), bits)
            return ir.Constant(I1, 0)

        given = [self._base(element), where.addresses, where.bits, value]
        if e.mode.watched:
            e.outline(f"scatter_{value.type}", I1, given, scatter)
        else:
            scatter(*given)


def _repeat(e: Emitter, lanes: Node, times: int) -> Node:
    """Return each lane several times."""
    order = constants(I32, [n // times for n in range(times * lanes_of(lanes))])
    return e.builder.shuffle_vector(lanes, ir.Constant(lanes.type, ir.Undefined), order)


def _range_of(e: Emitter, offsets: Node, bits: Node) -> tuple[Node, Node]:
    """Return the highest and the lowest offset of the active lanes."""
    lanes = lanes_of(offsets)
    if lanes == 1:
        return _lane0(e, offsets), _lane0(e, offsets)

    def emit_range(offsets: Node, bits: Node) -> Node:
        both = ir.Constant(vector(I64, 2), ir.Undefined)
        for number, (name, neutral) in enumerate((("max", -(1 << 63)), ("min", (1 << 63) - 1))):
            candidates = e.builder.select(e.lanes(bits, lanes), offsets, splat(I64, neutral, lanes))
            end = e.intrinsic(f"llvm.vector.reduce.s{name}.v{lanes}i64", I64, candidates)
            both = e.builder.insert_element(both, end, ir.Constant(I32, number))
        return both

    both = e.outline(f"range_{lanes}", vector(I64, 2), [offsets, bits], emit_range)
    most, least = (e.builder.extract_element(both, ir.Constant(I32, number)) for number in range(2))
    return most, least


def _lane0(e: Emitter, offsets: Node) -> Node:
    return e.builder.extract_element(offsets, ir.Constant(I32, 0))


def _contiguous(e: Emitter, address: Node, lanes: int, size: int) -> _Lanes:
    """Return active lanes that are contiguous from an address on."""
    addresses = e.builder.add(e.spread(address, lanes), constants(I64, range(0, lanes * size, size)))
    return _Lanes(addresses, address, e.builder.add(address, ir.Constant(I64, size * (lanes - 1))), None)


def _are_contiguous(e: Emitter, offsets: Node, size: int, enabled: Node | None) -> Node | None:
    """Return whether all lanes are active and contiguous; None for a single lane."""
    lanes = lanes_of(offsets)
    if lanes == 1:
        return None
    steps = constants(offsets.type.element, range(0, lanes * size, size))
    same = e.builder.icmp_unsigned("==", offsets, e.builder.add(e.spread(_lane0(e, offsets), lanes), steps))
    contiguous = e.intrinsic(f"llvm.vector.reduce.and.v{lanes}i1", I1, same)
    if enabled is not None:
        contiguous = e.builder.and_(contiguous, e.builder.icmp_unsigned("==", enabled, e.all_on(lanes)))
    return contiguous


# ---- atomics: lane by lane, in order, as in ``sim.messages.atomic``


_FLOATS: Final = {32: F32, 64: F64}


def _update(e: Emitter, word: str, old: Node, a: Node, b: Node) -> Node:
    """Return the new value of a place, from the old one and the sources; all are scalars."""
    builder, bits = e.builder, old.type.width
    if word in UPDATES:
        # In more than twice the bits, as formulas compare numbers that are not negative, and LLVM fails at some of <1 x i128>.
        wide = [LaneNumbers(e, e.spread(builder.zext(number, integer(2 * bits + 1)), 1)) for number in (old, a, b)]
        new: LaneNumbers = UPDATES[word](LaneOperations(e, 1), wide[0], wide[1], wide[2], 1 << bits - 1)
        return builder.trunc(_lane0(e, new.node), old.type)
    if bits not in _FLOATS or word not in {*FLOAT_UPDATES, "fcmpwr"}:
        raise Uncompiled
    sources = [builder.bitcast(number, vector(_FLOATS[bits], 1)) for number in (old, a)]
    if word == "fcmpwr":
        return builder.select(_lane0(e, builder.fcmp_ordered("==", *sources)), b, old)
    name, is_choice = FLOAT_UPDATES[word]
    return builder.bitcast(FLOAT[name](e, *(reversed(sources) if is_choice else sources)), old.type)


def _emit_atomic(e: Emitter, site: Site, space: spaces.Found, addresses: Node, message: ElementMessage) -> None:
    """Update the place of each lane. Raises Uncompiled if the update, or an overlap of its operands, has no compiled form."""
    memory, cell, less_one = message.size, message.cell, message.update == PREDECREMENT
    if memory not in (2, 4, 8):
        raise Uncompiled
    builder, lanes = e.builder, site.lanes
    dst, a_start, b_start = (raw_start(site, site.raw(n), lanes * cell) for n in (message.data_field, *message.sources))
    if any(dst >= 0 <= start and start != dst and abs(start - dst) < lanes * cell for start in (a_start, b_start)):
        raise Uncompiled  # because the interpreter reads all sources before it writes
    bits, use = e.some(e.enable(site), site), check_instrumentation.ATOMIC
    with builder.if_then(builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))), may_leave(e) as outside:
        addresses = space.offsets(addresses)
        most, least = _range_of(e, addresses, bits)
        place = begin_access(e, space, least, builder.add(most, ir.Constant(I64, memory)), use, outside)
        if e.mode.watched:
            odd = check_instrumentation.is_misaligned(e, addresses, e.lanes(bits, lanes), memory)
            check_instrumentation.suspect(e, odd)
            if memory < 4:
                check_instrumentation.suspect_always(e)
            check_instrumentation.mark(e, place, addresses, memory, bits=bits)
        offsets, kind = e.keep_lanes(addresses), integer(8 * memory)

        def update_lane(lane: Node) -> None:
            where = builder.gep(place.base, [e.lane_of(offsets, lane, I64)], source_etype=I8)
            step = builder.mul(lane, ir.Constant(I64, cell))

            def register(start: int) -> Node:
                return builder.gep(e.at(start, lanes * cell), [step], source_etype=I8)

            def source(start: int) -> Node:
                return ir.Constant(kind, 0) if start < 0 else builder.load(register(start), typ=kind, align=1)

            sources = source(a_start), source(b_start)
            if e.mode.side_by_side and not space.shared:
                old, new = _exchange(e, where, kind, lambda old: _update(e, message.update, old, *sources))
            else:
                old = builder.load(where, typ=kind, align=1)
                new = _update(e, message.update, old, *sources)
                builder.store(new, where, align=1)
            changed = builder.zext(builder.icmp_unsigned("!=", new, old), I64)
            builder.store(builder.or_(builder.load(place.wrote, typ=I64), changed), place.wrote)
            if dst >= 0:
                if less_one:
                    old = builder.sub(old, ir.Constant(kind, 1))
                builder.store(old if cell == memory else builder.zext(old, integer(8 * cell)), register(dst), align=1)

        e.each_lane(bits, update_lane)
        end_access(e, place, builder.mul(e.count_of(bits), ir.Constant(I64, memory)))


def _exchange(e: Emitter, where: Node, kind: Node, update: Callable[[Node], Node]) -> tuple[Node, Node]:
    """Update a place that other groups may update at the same time, again until none came between; return the old and the new value."""
    builder, results = e.builder, list[tuple[Node, Node]]()

    def attempt(old: Node, done: ir.Block) -> Node:
        results.append((old, update(old)))
        exchange = builder.cmpxchg(where, *results[0], "acq_rel", "monotonic")
        e.leave_if(builder.extract_value(exchange, 1), done)
        return builder.extract_value(exchange, 0)

    e.repeat(builder.load_atomic(where, "monotonic", kind.width // 8, typ=kind), attempt)
    return results[0]
