"""Compiled moves between registers and memory: an element or more for each lane, or a block for the thread.

Whether all lanes lie side by side is asked first: they travel as one vector. Of others the range is looked at, what all read at one
place is read once, and the rest goes lane by lane. Where lanes leave their space, the interpreter does the whole message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from llvmlite import ir

from visa_lsp.sim.jit import numbers, spaces, watching
from visa_lsp.sim.jit.emitter import I8, I32, I64, PTR, Emitter, Node, constants, integer, lanes_of, splat, vector

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from visa_lsp.sim.operands import Site


_SIDE_BY_SIDE: Final = (20, 1)  # how often lanes lie so: what is spilt is spilt on the other way


class Moved(NamedTuple):
    """What one element of a lane is: bytes in memory and in registers, its place in both, and whether it fills the upper half."""

    memory: int
    register: int
    offset: int  # bytes behind the lane's address
    start: int  # byte of the register file for lane 0; below zero for %null
    high: bool = False


class _Lanes(NamedTuple):
    """Where the lanes of a message are: each, the lowest and the highest that is on, and which are on.

    Without ``bits`` all are, and lie side by side.
    """

    at: Node
    least: Node
    most: Node
    bits: Node | None

    def same(self, e: Emitter) -> Node:
        """Return whether all are at one place."""
        return e.builder.icmp_signed("==", self.least, self.most)


def transfer(
    e: Emitter, site: Site, found: spaces.Found, at: Node, enabled: Node | None, moved: Sequence[Moved], *, write: bool
) -> None:
    """Move elements between registers and memory: those of lanes whose bit is on. ``at`` has an address for each lane.

    All elements have the same size.
    """
    builder, lanes = e.builder, lanes_of(at)
    bits = e.some(enabled, site)
    some = builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))
    at = found.offsets(at)
    # Asked for before anything else: messages of the same addresses share the answer.
    side_by_side = _side_by_side(e, at, moved[0].memory, enabled)
    whole, outside, done = (e.function.append_basic_block(n) for n in ("whole", "outside", "moved"))
    apart = done if side_by_side is None else e.function.append_basic_block("apart")
    first, end = min(m.offset for m in moved), max(m.offset + m.memory for m in moved)
    size = sum(m.memory for m in moved)

    def within(low: Node, high: Node) -> spaces.SpacePlace:
        place = found.place(builder.add(low, ir.Constant(I64, first)), builder.add(high, ir.Constant(I64, end)))
        inside = e.function.append_basic_block("inside")
        builder.cbranch(place.inside, inside, outside).set_weights([99, 1])
        builder.position_at_end(inside)
        return place

    def finish(place: spaces.SpacePlace, count: Node) -> None:
        e.add_to(e.writes if write else e.reads, builder.mul(count, ir.Constant(I64, size)))
        if write:
            builder.store(ir.Constant(I64, 1), place.wrote)
        builder.branch(done)

    chosen = builder.cbranch(some if side_by_side is None else side_by_side, whole, apart)
    if side_by_side is not None:
        chosen.set_weights(_SIDE_BY_SIDE)
    builder.position_at_end(whole)
    low = _lane0(e, at)
    high = builder.add(low, ir.Constant(I64, moved[0].memory * (lanes - 1)))
    place = within(low, high)
    if e.watched:
        _watch(e, found, place, _Lanes(at, low, high, None), moved, write=write)
    for one in moved:
        base = builder.gep(place.base, [builder.add(low, ir.Constant(I64, one.offset))], source_etype=I8)
        if write:
            builder.store(_stored(e, one, lanes), base, align=1)
        elif one.start >= 0:
            _loaded(e, one, builder.load(base, typ=vector(integer(8 * one.memory), lanes), align=1), None)
    finish(place, ir.Constant(I64, lanes))
    if side_by_side is not None:
        ranged = e.function.append_basic_block("ranged")
        builder.position_at_end(apart)
        builder.cbranch(some, ranged, done)
        builder.position_at_end(ranged)
        most, least = range_of(e, at, bits)
        place = within(least, most)
        where = _Lanes(at, least, most, bits)
        if e.watched:
            _watch(e, found, place, where, moved, write=write)
        for one in moved:
            if write:
                _scatter(e, _places(e, place.base, at, one.offset), bits, _stored(e, one, lanes))
            elif one.start >= 0:
                value = _gathered(e, place.base, where, bits, one)
                _loaded(e, one, value, e.lanes(enabled, lanes))
        finish(place, builder.zext(e.intrinsic(f"llvm.ctpop.i{lanes}", bits.type, bits), I64))
    builder.position_at_end(outside)
    leave_space(e)
    builder.branch(done)
    builder.position_at_end(done)


def leave_space(e: Emitter) -> None:
    """Emit the exit for a message that leaves its space, which the interpreter does or a checker reports."""
    if e.watched:
        watching.suspect_always(e)
    else:
        e.call_out()


def _watch(
    e: Emitter, found: spaces.Found, place: spaces.SpacePlace, where: _Lanes, moved: Sequence[Moved], *, write: bool
) -> None:
    """Look at what checkers would look at before elements move."""
    watching.access(e, place, reads=not write, writes=write)
    if write and found.shared and moved[0].memory < 4:
        watching.suspect_always(e)  # marks are of dwords: they would say that all of it is written
    at, bits = wide(e, where.at), where.bits
    lanes, kind = lanes_of(at), watching.WRITTEN if write else watching.READ
    for one in moved:
        start = e.builder.add(at, splat(I64, one.offset, lanes)) if one.offset else at
        watching.alignment(e, start, e.lanes(bits, lanes), one.memory)
        first = e.builder.add(where.least, ir.Constant(I64, one.offset))
        if bits is None:
            if one.memory >= 4:
                mark(e, found, place, first, lanes * one.memory // 4, kind)
            else:
                mark_each(e, found, place, start, e.all_on(lanes), one.memory, kind)
            continue
        with e.builder.if_else(where.same(e)) as (same, apart):
            with same:
                mark(e, found, place, first, watching.dwords(one.memory), kind)
            with apart:
                mark_each(e, found, place, start, bits, one.memory, kind)


def mark(e: Emitter, found: spaces.Found, place: spaces.SpacePlace, first: Node, dwords: int, kind: int) -> None:
    """Suspect what is in no order with a use of dwords that lie side by side, and leave its own marks."""

    def body(marks: Node, stride: Node, first: Node) -> None:
        watching.Marks(e, marks, stride, first, dwords, shared=found.shared).use(kind)

    name = f"mark_{kind}_{'shared' if found.shared else 'global'}_{dwords}"
    watching.told(e, name, [place.marks, place.stride, first], body)


def mark_each(
    e: Emitter, found: spaces.Found, place: spaces.SpacePlace, at: Node, bits: Node, size: int, kind: int
) -> None:
    """Emit the same for elements of ``size`` bytes that lie anywhere, lane by lane."""

    def body(marks: Node, stride: Node, at: Node, bits: Node) -> None:
        kept, dwords = e.kept_lanes(at), watching.dwords(size)

        def lane_marked(lane: Node) -> None:
            first = e.lane_of(kept, lane, I64)
            watching.Marks(e, marks, stride, first, dwords, shared=found.shared).use(kind)

        each_lane(e, bits, lane_marked)

    name = f"mark_{kind}_{'shared' if found.shared else 'global'}_{lanes_of(at)}_of_{size}"
    watching.told(e, name, [place.marks, place.stride, at, bits], body)


def wide(e: Emitter, at: Node) -> Node:
    """Offsets in 64 bits; those in 32 are unsigned."""
    return numbers.resize(e, at, 64, signed=False)


def range_of(e: Emitter, at: Node, bits: Node) -> tuple[Node, Node]:
    """Return the highest and the lowest offset of the lanes that are on, in 64 bits."""
    lanes, kind = lanes_of(at), at.type.element
    if lanes == 1:
        one = _lane0(e, at)
        return one, one
    narrow = kind.width == 32
    sign, suffix = "u" if narrow else "s", f"v{lanes}i{kind.width}"

    def found(at: Node, bits: Node) -> Node:
        chosen = e.lanes(bits, lanes)
        high = e.builder.select(chosen, at, splat(kind, 0 if narrow else -(1 << 63), lanes))
        low = e.builder.select(chosen, at, splat(kind, (1 << (32 if narrow else 63)) - 1, lanes))
        both = ir.Constant(vector(I64, 2), ir.Undefined)
        for number, (name, some) in enumerate((("max", high), ("min", low))):
            end = e.intrinsic(f"llvm.vector.reduce.{sign}{name}.{suffix}", kind, some)
            both = e.builder.insert_element(both, e.builder.zext(end, I64) if narrow else end, ir.Constant(I32, number))
        return both

    both = e.outlined(f"range_{suffix}", vector(I64, 2), [at, bits], found)
    most, least = (e.builder.extract_element(both, ir.Constant(I32, number)) for number in range(2))
    return most, least


def _lane0(e: Emitter, at: Node) -> Node:
    one = e.builder.extract_element(at, ir.Constant(I32, 0))
    return e.builder.zext(one, I64) if at.type.element.width == 32 else one


def _side_by_side(e: Emitter, at: Node, size: int, enabled: Node | None) -> Node | None:
    """Return whether all lanes are on and lie one behind the other; None where there is one lane."""
    lanes, kind = lanes_of(at), at.type.element
    if lanes == 1:
        return None
    one = e.builder.extract_element(at, ir.Constant(I32, 0))
    expected = e.builder.add(e.spread(one, lanes), constants(kind, [size * lane for lane in range(lanes)]))
    same = e.builder.icmp_unsigned("==", at, expected)
    found = e.intrinsic(f"llvm.vector.reduce.and.v{lanes}i1", ir.IntType(1), same)
    if kind.width == 32:  # those that begin anew at 0 do not
        top = ir.Constant(kind, (1 << 32) - size * lanes)
        found = e.builder.and_(found, e.builder.icmp_unsigned("<=", one, top))
    if enabled is not None:
        found = e.builder.and_(found, e.builder.icmp_unsigned("==", enabled, e.all_on(lanes)))
    return found


def _places(e: Emitter, base: Node, at: Node, offset: int) -> Node:
    """Return the host's addresses of what lies some bytes behind the offset of each lane."""
    places = e.places(base, wide(e, at))
    return e.builder.add(places, splat(I64, offset, lanes_of(at))) if offset else places


def _gathered(e: Emitter, base: Node, where: _Lanes, bits: Node, one: Moved) -> Node:
    """Return what lanes find, each at its place; what all find at one place is read once."""
    lanes = lanes_of(where.at)
    kind, width = vector(integer(8 * one.memory), lanes), where.at.type.element.width

    def each(base: Node, at: Node, bits: Node) -> Node:
        return e.gather(kind, e.places(base, wide(e, at)), bits, 1)

    builder = e.builder
    base = builder.gep(base, [ir.Constant(I64, one.offset)], source_etype=I8)
    with builder.if_else(where.same(e)) as (same, apart):
        with same:
            place = builder.gep(base, [where.least], source_etype=I8)
            shared, from_same = e.spread(builder.load(place, typ=kind.element, align=1), lanes), builder.block
        with apart:
            name = f"gather_v{lanes}i{kind.element.width}_at_i{width}"
            gathered, from_apart = e.outlined(name, kind, [base, where.at, bits], each), builder.block
    found = builder.phi(kind)
    found.add_incoming(shared, from_same)
    found.add_incoming(gathered, from_apart)
    return found


def _loaded(e: Emitter, one: Moved, found: Node, chosen: Node | None) -> None:
    """Put what was found into the registers."""
    found = numbers.resize(e, found, 8 * one.register, signed=False)
    lanes = lanes_of(found)
    if one.high:
        found = e.builder.shl(found, splat(found.type.element, 16, lanes))
    e.store_lanes(one.start, range(lanes), found, chosen)


def _stored(e: Emitter, one: Moved, lanes: int) -> Node:
    """Return what the registers have for memory."""
    if one.start < 0:
        value = splat(integer(8 * one.register), 0, lanes)
    else:
        value = e.load_lanes(one.start, range(lanes), integer(8 * one.register))
    if one.high:
        value = e.builder.lshr(value, splat(value.type.element, 16, lanes))
    return numbers.resize(e, value, 8 * one.memory, signed=False)


def _scatter(e: Emitter, places: Node, bits: Node, value: Node) -> None:
    """Put lanes into memory one after another: a machine has seldom an instruction for it."""
    kept, values = e.kept_lanes(places), e.kept_lanes(value)
    kind = value.type.element

    def lane_at(lane: Node) -> tuple[Node, Node]:
        return e.builder.inttoptr(e.lane_of(kept, lane, I64), PTR), e.lane_of(values, lane, kind)

    def put(lane: Node) -> None:
        where, one = lane_at(lane)
        e.builder.store(one, where, align=1)

    def look(lane: Node) -> None:
        where, one = lane_at(lane)
        watching.suspect(e, e.builder.icmp_unsigned("!=", e.builder.load(where, typ=kind, align=1), one))

    each_lane(e, bits, put)
    if e.watched:  # lanes that store different values at one place race
        each_lane(e, bits, look)


def each_lane(e: Emitter, bits: Node, body: Callable[[Node], object]) -> None:
    """Run ``body`` for each bit that is on, lowest first: there is one at least."""
    builder, before = e.builder, e.builder.block
    kind = bits.type
    inner, done = (e.function.append_basic_block(n) for n in ("lane", "lanes_done"))
    builder.branch(inner)
    builder.position_at_end(inner)
    left = builder.phi(kind)
    left.add_incoming(bits, before)
    lane = e.intrinsic(f"llvm.cttz.i{kind.width}", kind, left, ir.Constant(ir.IntType(1), 1))
    body(builder.zext(lane, I64))
    rest = builder.and_(left, builder.sub(left, ir.Constant(kind, 1)))
    left.add_incoming(rest, builder.block)
    builder.cbranch(builder.icmp_unsigned("!=", rest, ir.Constant(kind, 0)), inner, done)
    builder.position_at_end(done)


def move_block(e: Emitter, found: spaces.Found, at: Node, start: int, size: int, *, write: bool) -> None:
    """Move ``size`` bytes that lie side by side, from the address ``at`` on."""
    builder = e.builder
    at = found.offsets(at)
    place = found.place(at, builder.add(at, ir.Constant(I64, size)))
    with builder.if_else(place.inside, likely=True) as (inside, outside):
        with inside:
            if e.watched:
                watching.access(e, place, reads=not write, writes=write)
                watching.alignment(e, at, None, 4)
                if size % 4:
                    watching.suspect_always(e)
                kind = watching.WRITTEN if write else watching.READ
                mark(e, found, place, at, watching.dwords(size), kind)
            memory = builder.gep(place.base, [at], source_etype=I8)
            kind = vector(I32, size // 4) if size % 4 == 0 else vector(I8, size)
            if write:
                value = (
                    splat(kind.element, 0, kind.count)
                    if start < 0
                    else builder.load(e.at(start, size), typ=kind, align=1)
                )
                builder.store(value, memory, align=1)
                builder.store(ir.Constant(I64, 1), place.wrote)
            elif start >= 0:
                builder.store(builder.load(memory, typ=kind, align=1), e.at(start, size), align=1)
            e.add_to(e.writes if write else e.reads, ir.Constant(I64, size))
        with outside:
            leave_space(e)
