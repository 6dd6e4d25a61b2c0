"""Compiled moves between registers and memory: one or more elements for each lane, or a block for the thread.

The code first tests whether all lanes are contiguous, and then moves them as one vector. Otherwise it tests the range.
An element that all lanes read is read once; other elements are moved lane by lane. If lanes leave their space, the
interpreter executes the whole message.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from llvmlite import ir

from visa_lsp.sim.jit import check_instrumentation, numbers, spaces, state
from visa_lsp.sim.jit.emitter import Emitter, Uncompiled
from visa_lsp.sim.jit.numbers import raw_start
from visa_lsp.sim.jit.writer import (
    I1,
    I8,
    I32,
    I64,
    Node,
    constants,
    integer,
    lanes_of,
    splat,
    type_of_bytes,
    vector,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.program.model import RawOperand
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
    e: Emitter,
    space: spaces.Found,
    addresses: Node,
    enabled: Node | None,
    moved: Sequence[Moved],
    *,
    write: bool,
    any_address: bool,
) -> None:
    """Move elements of the set lanes between registers and memory; ``addresses`` has one for each lane.

    All elements have the same size. ``any_address``: they need not be at multiples of it.
    """
    if not e.outlines:
        _transfer(e, space, addresses, enabled, moved, write=write, any_address=any_address)
        return
    start, lanes, given = moved[0].start, lanes_of(addresses), [*space.given]
    near = [element._replace(start=element.start - start) if start >= 0 else element for element in moved]
    name = (
        f"move_{space.name}_{len(given)}_{write}_{any_address}_{addresses.type}_{[tuple(element) for element in near]}"
    )
    bits = e.all_on(lanes) if enabled is None else enabled

    def body(*own: Node) -> None:
        again = space.again(*own[:-2])
        _transfer(e, again, own[-2], own[-1], near, write=write, any_address=any_address)

    check_instrumentation.outline_message(e, name, max(start, 0), [*given, addresses, bits], body)


def _transfer(
    e: Emitter,
    space: spaces.Found,
    addresses: Node,
    enabled: Node | None,
    moved: Sequence[Moved],
    *,
    write: bool,
    any_address: bool,
) -> None:
    builder, lanes, memory = e.builder, lanes_of(addresses), moved[0].memory
    use = check_instrumentation.WRITTEN if write else check_instrumentation.READ
    bits = e.all_on(lanes) if enabled is None else enabled
    any_lane = builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))
    addresses = space.offsets(addresses)
    # Evaluated first, because messages with the same addresses share the result.
    side_by_side = _side_by_side(e, addresses, memory, enabled)

    def move(where: _Lanes, outside: ir.Block) -> None:
        start, end = min(m.offset for m in moved), max(m.offset for m in moved) + memory
        low, high = (builder.add(edge, ir.Constant(I64, n)) for edge, n in ((where.least, start), (where.most, end)))
        place = begin_access(e, space, low, high, use, outside)
        if e.mode.watched:
            _watch(e, place, where, moved, any_address=any_address)
        for element in moved:
            if write:
                _store(e, place, where, element)
            elif element.start >= 0:
                _load(e, place, where, element, enabled)
        if write and e.mode.watched and (len(moved) > 1 or where.bits is not None):
            for element in moved:  # lanes that store different values at one place race
                lost = e.builder.not_(_unchanged(e, place, where, element))
                chosen = lost if where.bits is None else e.builder.and_(lost, e.lanes(where.bits, lanes))
                check_instrumentation.suspect(e, check_instrumentation.any_of(e, chosen))
        count = ir.Constant(I64, lanes) if where.bits is None else e.count_of(bits)
        end_access(e, place, builder.mul(count, ir.Constant(I64, memory * len(moved))))

    low = _lane0(e, addresses)
    whole = _Lanes(addresses, low, builder.add(low, ir.Constant(I64, memory * (lanes - 1))), None)
    with may_leave(e) as outside:
        if side_by_side is None:
            with builder.if_then(any_lane):
                move(whole, outside)
            return
        with builder.if_else(side_by_side, likely=True) as (together, apart):
            with together:
                move(whole, outside)
            with apart, builder.if_then(any_lane):
                most, least = range_of(e, addresses, bits)
                move(_Lanes(addresses, least, most, bits), outside)


def _watch(e: Emitter, place: spaces.SpacePlace, where: _Lanes, moved: Sequence[Moved], *, any_address: bool) -> None:
    """Emit the tests of checkers before elements move."""
    write = place.use == check_instrumentation.WRITTEN
    unit = check_instrumentation.unit_of(e, place)
    if write and place.shared and moved[0].memory < unit:
        check_instrumentation.suspect_always(e)  # because marks of dwords would claim that the whole dword is written
    addresses, lanes = wide(e, where.addresses), lanes_of(where.addresses)
    chosen = e.lanes(where.bits, lanes)
    for element in moved:
        start = e.builder.add(addresses, splat(I64, element.offset, lanes)) if element.offset else addresses
        unchanged = _unchanged(e, place, where, element) if write else None
        if any_address and element.memory > 1 and unit > 1:
            odd = check_instrumentation.is_misaligned(e, start, chosen, element.memory)
            with e.builder.if_else(odd, likely=False) as (across, whole):
                with across:
                    _mark_across(e, place, start, where.bits, element.memory, unchanged)
                with whole:
                    _mark(e, place, where, element, start, unchanged)
        else:
            check_instrumentation.alignment(e, start, chosen, 1 if any_address else element.memory)
            _mark(e, place, where, element, start, unchanged)


def _mark_across(
    e: Emitter, place: spaces.SpacePlace, start: Node, bits: Node | None, size: int, unchanged: Node | None
) -> None:
    """Mark the dwords of an element of each lane at any address: those of its size, and that of its last byte."""
    lanes = lanes_of(start)
    if place.use == check_instrumentation.WRITTEN:  # parts of dwords, while a mark would claim the whole dword
        if place.shared:
            check_instrumentation.suspect_always(e)
        check_instrumentation.suspect(e, check_instrumentation.has_flag(e, place.flags, state.UNDEFINED))
    bits = e.all_on(lanes) if bits is None else bits
    last = e.builder.add(start, splat(I64, size - 1, lanes))
    check_instrumentation.mark_each(e, place, start, bits, size, unchanged)
    check_instrumentation.mark_each(e, place, last, bits, 1, unchanged)


def _mark(
    e: Emitter, place: spaces.SpacePlace, where: _Lanes, element: Moved, start: Node, unchanged: Node | None
) -> None:
    """Mark an element of each lane, which lies in as few dwords as possible, or has marks of bytes."""
    lanes, bits, unit = lanes_of(start), where.bits, check_instrumentation.unit_of(e, place)
    count = max(1, element.memory // unit)
    lowest = e.builder.add(where.least, ir.Constant(I64, element.offset))
    if bits is None and element.memory >= unit:
        each = unchanged and _repeat(e, unchanged, count)
        check_instrumentation.mark(e, place, lowest, lanes * element.memory, each)
    elif bits is None:
        check_instrumentation.mark_each(e, place, start, e.all_on(lanes), element.memory, unchanged)
    else:
        with e.builder.if_else(where.same(e)) as (same, apart):
            with same:
                all_ = None
                if unchanged is not None:
                    changed = e.builder.and_(e.builder.not_(unchanged), e.lanes(bits, lanes))
                    all_ = e.spread(e.builder.not_(check_instrumentation.any_of(e, changed)), count)
                check_instrumentation.mark(e, place, lowest, element.memory, all_)
            with apart:
                check_instrumentation.mark_each(e, place, start, bits, element.memory, unchanged)


def _unchanged(e: Emitter, place: spaces.SpacePlace, where: _Lanes, element: Moved) -> Node:
    """Return for each lane whether memory has the value already that it stores."""
    value, base = _value(e, lanes_of(where.addresses), element), _base(e, place, element)
    if where.bits is None:
        old = e.builder.load(e.builder.gep(base, [where.least], source_etype=I8), typ=value.type, align=1)
        return e.builder.icmp_unsigned("==", value, old)

    def compare(base: Node, addresses: Node, bits: Node, value: Node) -> Node:
        old = e.gather(value.type, e.places(base, wide(e, addresses)), bits, 1)
        return e.builder.icmp_unsigned("==", value, old)

    kind, name = vector(I1, lanes_of(where.addresses)), f"unchanged_{value.type}_at_{where.addresses.type}"
    return e.outline(name, kind, [base, where.addresses, where.bits, value], compare)


def _base(e: Emitter, place: spaces.SpacePlace, element: Moved) -> Node:
    """Return the host's address of an element whose lane has the address 0."""
    return e.builder.gep(place.base, [ir.Constant(I64, element.offset)], source_etype=I8)


def _repeat(e: Emitter, lanes: Node, times: int) -> Node:
    """Return each lane several times."""
    order = constants(I32, [n // times for n in range(times * lanes_of(lanes))])
    return e.builder.shuffle_vector(lanes, ir.Constant(lanes.type, ir.Undefined), order)


def wide(e: Emitter, offsets: Node) -> Node:
    """Return offsets in 64 bits; offsets of 32 bits are unsigned."""
    return numbers.resize(e, offsets, 64, signed=False)


def range_of(e: Emitter, offsets: Node, bits: Node) -> tuple[Node, Node]:
    """Return the highest and the lowest offset of the active lanes, in 64 bits."""
    lanes, kind = lanes_of(offsets), offsets.type.element
    if lanes == 1:
        offset = _lane0(e, offsets)
        return offset, offset
    narrow = kind.width == 32
    sign, suffix = "u" if narrow else "s", f"v{lanes}i{kind.width}"

    def emit_range(offsets: Node, bits: Node) -> Node:
        chosen = e.lanes(bits, lanes)
        high = e.builder.select(chosen, offsets, splat(kind, 0 if narrow else -(1 << 63), lanes))
        low = e.builder.select(chosen, offsets, splat(kind, (1 << (32 if narrow else 63)) - 1, lanes))
        both = ir.Constant(vector(I64, 2), ir.Undefined)
        for number, (name, candidates) in enumerate((("max", high), ("min", low))):
            end = e.intrinsic(f"llvm.vector.reduce.{sign}{name}.{suffix}", kind, candidates)
            both = e.builder.insert_element(both, e.builder.zext(end, I64) if narrow else end, ir.Constant(I32, number))
        return both

    both = e.outline(f"range_{suffix}", vector(I64, 2), [offsets, bits], emit_range)
    most, least = (e.builder.extract_element(both, ir.Constant(I32, number)) for number in range(2))
    return most, least


def _lane0(e: Emitter, offsets: Node) -> Node:
    offset = e.builder.extract_element(offsets, ir.Constant(I32, 0))
    return e.builder.zext(offset, I64) if offsets.type.element.width == 32 else offset


def _side_by_side(e: Emitter, offsets: Node, size: int, enabled: Node | None) -> Node | None:
    """Return whether all lanes are active and contiguous; None for a single lane."""
    lanes, kind = lanes_of(offsets), offsets.type.element
    if lanes == 1:
        return None
    offset = e.builder.extract_element(offsets, ir.Constant(I32, 0))
    expected = e.builder.add(e.spread(offset, lanes), constants(kind, [size * lane for lane in range(lanes)]))
    same = e.builder.icmp_unsigned("==", offsets, expected)
    contiguous = e.intrinsic(f"llvm.vector.reduce.and.v{lanes}i1", ir.IntType(1), same)
    if kind.width == 32:  # offsets that wrap around are not contiguous
        top = ir.Constant(kind, (1 << 32) - size * lanes)
        contiguous = e.builder.and_(contiguous, e.builder.icmp_unsigned("<=", offset, top))
    if enabled is not None:
        contiguous = e.builder.and_(contiguous, e.builder.icmp_unsigned("==", enabled, e.all_on(lanes)))
    return contiguous


def _load(e: Emitter, place: spaces.SpacePlace, where: _Lanes, element: Moved, enabled: Node | None) -> None:
    """Load lanes into the registers; a common address is read once."""
    lanes, builder = lanes_of(where.addresses), e.builder
    kind, width = vector(integer(8 * element.memory), lanes), where.addresses.type.element.width
    base = builder.gep(place.base, [ir.Constant(I64, element.offset)], source_etype=I8)
    lowest = builder.gep(base, [where.least], source_etype=I8)

    def each(base: Node, addresses: Node, bits: Node) -> Node:
        return e.gather(kind, e.places(base, wide(e, addresses)), bits, 1)

    if where.bits is None:
        enabled, loaded = None, builder.load(lowest, typ=kind, align=1)
    else:
        with builder.if_else(where.same(e)) as (same, apart):
            with same:
                shared, from_same = e.spread(builder.load(lowest, typ=kind.element, align=1), lanes), builder.block
            with apart:
                name = f"gather_v{lanes}i{kind.element.width}_at_i{width}"
                gathered, from_apart = e.outline(name, kind, [base, where.addresses, where.bits], each), builder.block
        loaded = builder.phi(kind)
        loaded.add_incoming(shared, from_same)
        loaded.add_incoming(gathered, from_apart)
    loaded = numbers.resize(e, loaded, 8 * element.register, signed=False)
    if element.high:
        loaded = builder.shl(loaded, splat(loaded.type.element, 16, lanes))
    e.store_lanes(element.start, range(lanes), loaded, e.lanes(enabled, lanes))


def _store(e: Emitter, place: spaces.SpacePlace, where: _Lanes, element: Moved) -> None:
    """Store lanes in memory."""
    value, base = _value(e, lanes_of(where.addresses), element), _base(e, place, element)
    if where.bits is None:
        e.builder.store(value, e.builder.gep(base, [where.least], source_etype=I8), align=1)
        return

    def scatter(base: Node, addresses: Node, bits: Node, value: Node) -> Node:
        e.store_each(value, e.places(base, wide(e, addresses)), bits)
        return ir.Constant(I1, 0)

    given = [base, where.addresses, where.bits, value]
    if e.mode.watched:
        e.outline(f"scatter_{value.type}_at_{where.addresses.type}", I1, given, scatter)
    else:
        scatter(*given)


def _value(e: Emitter, lanes: int, element: Moved) -> Node:
    """Return what the lanes store."""
    kind = integer(8 * element.register)
    value = splat(kind, 0, lanes) if element.start < 0 else e.load_lanes(element.start, range(lanes), kind)
    if element.high:
        value = e.builder.lshr(value, splat(kind, 16, lanes))
    return numbers.resize(e, value, 8 * element.memory, signed=False)


def move_block(
    e: Emitter, space: spaces.Found, address: Node, start: int, size: int, *, write: bool, undefined: Node | None = None
) -> None:
    """Move ``size`` contiguous bytes, from ``address`` on; ``undefined`` has the undefined bits of each byte that is stored."""
    builder, use = e.builder, check_instrumentation.WRITTEN if write else check_instrumentation.READ
    address = space.offsets(address)
    with may_leave(e) as outside:
        place = begin_access(e, space, address, builder.add(address, ir.Constant(I64, size)), use, outside)
        if e.mode.watched:
            check_instrumentation.alignment(e, e.spread(address, 1), None, 4)
            if size % 4:
                check_instrumentation.suspect_always(e)
            same, words = None, vector(I32, max(1, size // 4))
            if write and start >= 0 and size % 4 == 0:
                own = builder.load(e.at(start, size), typ=words, align=1)
                old = builder.load(builder.gep(place.base, [address], source_etype=I8), typ=words, align=1)
                unit = check_instrumentation.unit_of(e, place)
                same = _repeat(e, builder.icmp_unsigned("==", own, old), check_instrumentation.DWORD // unit)
            check_instrumentation.mark(e, place, address, size, same, undefined if same is not None else None)
        memory, kind = builder.gep(place.base, [address], source_etype=I8), type_of_bytes(size)
        if start >= 0:
            source, to = (e.at(start, size), memory) if write else (memory, e.at(start, size))
            builder.store(builder.load(source, typ=kind, align=1), to, align=1)
        elif write:
            builder.store(splat(kind.element, 0, kind.count), memory, align=1)
        end_access(e, place, ir.Constant(I64, size))
