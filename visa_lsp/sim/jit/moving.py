"""Compiled moves between registers and memory: an element or more for each lane, or a block for the thread.

The range of all active lanes is looked at first; where it leaves its space, the interpreter does the whole message. Lanes that
lie side by side travel as one vector, and what all read at one place is read once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from llvmlite import ir

from visa_lsp.sim.jit import numbers, spaces, watching
from visa_lsp.sim.jit.emitter import I8, I32, I64, PTR, Emitter, Node, constants, integer, lanes_of, splat, vector

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from visa_lsp.sim.operands import Site


class Moved(NamedTuple):
    """What one element of a lane is: bytes in memory and in registers, its place in both, and whether it fills the upper half."""

    memory: int
    register: int
    offset: int  # bytes behind the lane's address
    start: int  # byte of the register file for lane 0; below zero for %null
    high: bool = False


def transfer(
    e: Emitter, site: Site, found: spaces.Found, at: Node, enabled: Node | None, moved: Sequence[Moved], *, write: bool
) -> None:
    """Move elements between registers and memory: those of lanes whose bit is on. ``at`` has an address for each lane."""
    builder, lanes = e.builder, lanes_of(at)
    bits = e.some(enabled, site)
    with builder.if_then(builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))):
        at = found.offsets(at)
        chosen = e.lanes(bits, lanes)
        most, least = range_of(e, at, chosen if enabled is not None else None)
        low = builder.add(least, ir.Constant(I64, min(m.offset for m in moved)))
        end = builder.add(most, ir.Constant(I64, max(m.offset + m.memory for m in moved)))
        place = found.place(low, end)
        with builder.if_else(place.inside, likely=True) as (inside, outside):
            with inside:
                side_by_side = _side_by_side(e, at, moved[0].memory, enabled)
                if e.watched:
                    _watch(e, found, place, at, None if enabled is None else chosen, side_by_side, moved, write=write)
                for one in moved:
                    if write:
                        _store(e, place.base, at, chosen, side_by_side, one)
                    else:
                        _load(e, place.base, _Lanes(at, least, most, chosen, side_by_side), one, enabled)
                size = sum(m.memory for m in moved)
                count = builder.zext(e.intrinsic(f"llvm.ctpop.i{lanes}", bits.type, bits), I64)
                e.add_to(e.writes if write else e.reads, builder.mul(count, ir.Constant(I64, size)))
                if write:
                    builder.store(ir.Constant(I64, 1), place.wrote)
            with outside:
                leave_space(e)


def leave_space(e: Emitter) -> None:
    """A message that leaves its space: the interpreter does it, or a checker has something to say."""
    if e.watched:
        watching.suspect_always(e)
    else:
        e.call_out()


def _watch(
    e: Emitter, found: spaces.Found, place: spaces.SpacePlace, at: Node, chosen: Node | None, side_by_side: Node | None,
    moved: Sequence[Moved], *, write: bool,
) -> None:  # fmt: skip
    """Look at what checkers would look at before elements move."""
    watching.access(e, place, reads=not write, writes=write)
    if write and found.shared and any(one.memory < 4 for one in moved):
        watching.suspect_always(e)  # marks are of dwords: they would say that all of it is written

    def marks(*, together: bool) -> None:
        for one in moved:
            start = e.builder.add(at, splat(I64, one.offset, lanes_of(at))) if one.offset else at
            for cells in watching.dwords(e, start, one.memory):
                mark(e, found, place, cells, None if together else chosen, together=together, write=write)

    for one in moved:
        start = e.builder.add(at, splat(I64, one.offset, lanes_of(at))) if one.offset else at
        watching.alignment(e, start, chosen, one.memory)
    if side_by_side is None or any(one.memory != 4 for one in moved):
        marks(together=False)
        return
    with e.builder.if_else(side_by_side) as (whole, apart):
        with whole:
            marks(together=True)
        with apart:
            marks(together=False)


def mark(
    e: Emitter,
    found: spaces.Found,
    place: spaces.SpacePlace,
    cells: Node,
    chosen: Node | None,
    *,
    together: bool,
    write: bool,
) -> None:
    """Suspect what is in no order with this access to some dwords, and leave its own marks."""
    marks = watching.Marks(e, place, cells, chosen, shared=found.shared, side_by_side=together)
    if write:
        marks.check((watching.WRITTEN, watching.READ, watching.ATOMIC))
        marks.take()
        return
    marks.check((watching.WRITTEN, watching.ATOMIC))
    if found.shared:
        marks.written()
    marks.add(watching.READ)


def range_of(e: Emitter, at: Node, chosen: Node | None) -> tuple[Node, Node]:
    """The highest and the lowest offset of the chosen lanes."""
    lanes = lanes_of(at)
    if lanes == 1:
        one = e.builder.extract_element(at, ir.Constant(I32, 0))
        return one, one
    high = low = at
    if chosen is not None:
        high = e.builder.select(chosen, at, splat(I64, -(1 << 63), lanes))
        low = e.builder.select(chosen, at, splat(I64, (1 << 63) - 1, lanes))
    suffix = f"v{lanes}i64"
    return (
        e.intrinsic(f"llvm.vector.reduce.smax.{suffix}", I64, high),
        e.intrinsic(f"llvm.vector.reduce.smin.{suffix}", I64, low),
    )


def _side_by_side(e: Emitter, at: Node, size: int, enabled: Node | None) -> Node | None:
    """Whether all lanes are on and lie one behind the other."""
    lanes = lanes_of(at)
    if lanes == 1:
        return None
    first = e.spread(e.builder.extract_element(at, ir.Constant(I32, 0)), lanes)
    expected = e.builder.add(first, constants(I64, [size * lane for lane in range(lanes)]))
    same = e.builder.icmp_unsigned("==", at, expected)
    found = e.intrinsic(f"llvm.vector.reduce.and.v{lanes}i1", ir.IntType(1), same)
    if enabled is not None:
        full = ir.Constant(enabled.type, (1 << lanes) - 1)
        found = e.builder.and_(found, e.builder.icmp_unsigned("==", enabled, full))
    return found


def _first(e: Emitter, base: Node, at: Node, offset: int) -> Node:
    one = e.builder.extract_element(at, ir.Constant(I32, 0))
    return e.builder.gep(base, [e.builder.add(one, ir.Constant(I64, offset))], source_etype=I8)


def _pointers(e: Emitter, base: Node, at: Node, offset: int) -> Node:
    lanes = lanes_of(at)
    numbers_ = e.builder.add(at, e.spread(e.builder.ptrtoint(base, I64), lanes))
    if offset:
        numbers_ = e.builder.add(numbers_, splat(I64, offset, lanes))
    return e.builder.inttoptr(numbers_, vector(PTR, lanes))


class _Lanes(NamedTuple):
    """Where the lanes of a message are: each, the lowest and the highest that is on, which are on, whether side by side."""

    at: Node
    least: Node
    most: Node
    chosen: Node
    side_by_side: Node | None  # None: there is one lane


def _load(e: Emitter, base: Node, where: _Lanes, one: Moved, enabled: Node | None) -> None:
    if one.start < 0:
        return
    builder, lanes, chosen = e.builder, lanes_of(where.at), where.chosen
    kind = vector(integer(8 * one.memory), lanes)

    def together() -> Node:
        return builder.load(_first(e, base, where.at, one.offset), typ=kind, align=1)

    def gathered() -> Node:
        pointers = _pointers(e, base, where.at, one.offset)
        name = f"llvm.masked.gather.v{lanes}i{8 * one.memory}.v{lanes}p0"
        return e.intrinsic(name, kind, pointers, ir.Constant(I32, 1), chosen, splat(kind.element, 0, lanes))

    def shared() -> Node:
        place = builder.gep(base, [builder.add(where.least, ir.Constant(I64, one.offset))], source_etype=I8)
        return e.spread(builder.load(place, typ=kind.element, align=1), lanes)

    def apart() -> Node:
        return _either(e, builder.icmp_signed("==", where.least, where.most), shared, gathered)

    # Of one lane it is known that it is on: the message has come this far.
    found = together() if where.side_by_side is None else _either(e, where.side_by_side, together, apart)
    found = numbers.resize(e, found, 8 * one.register, signed=False)
    if one.high:
        found = builder.shl(found, splat(found.type.element, 16, lanes))
    e.store_lanes(one.start, range(lanes), found, None if enabled is None else chosen)


def _either(e: Emitter, which: Node, first: Callable[[], Node], second: Callable[[], Node]) -> Node:
    """The value of one of two ways to get it."""
    builder = e.builder
    with builder.if_else(which) as (yes, no):
        with yes:
            one, from_one = first(), builder.block
        with no:
            other, from_other = second(), builder.block
    value = builder.phi(one.type)
    value.add_incoming(one, from_one)
    value.add_incoming(other, from_other)
    return value


def _store(e: Emitter, base: Node, at: Node, chosen: Node, side_by_side: Node | None, one: Moved) -> None:
    builder, lanes = e.builder, lanes_of(at)
    if one.start < 0:
        value = splat(integer(8 * one.register), 0, lanes)
    else:
        value = e.load_lanes(one.start, range(lanes), integer(8 * one.register))
    if one.high:
        value = builder.lshr(value, splat(value.type.element, 16, lanes))
    value = numbers.resize(e, value, 8 * one.memory, signed=False)

    def scattered() -> None:
        pointers = _pointers(e, base, at, one.offset)
        name = f"llvm.masked.scatter.v{lanes}i{8 * one.memory}.v{lanes}p0"
        e.intrinsic(name, ir.VoidType(), value, pointers, ir.Constant(I32, 1), chosen)
        if e.watched:  # lanes that store different values at one place race
            name = f"llvm.masked.gather.v{lanes}i{8 * one.memory}.v{lanes}p0"
            again = e.intrinsic(name, value.type, pointers, ir.Constant(I32, 1), chosen, value)
            watching.suspect(e, watching.any_of(e, builder.icmp_unsigned("!=", again, value)))

    if side_by_side is None:
        builder.store(value, _first(e, base, at, one.offset), align=1)
        return
    with builder.if_else(side_by_side) as (whole, apart):
        with whole:
            builder.store(value, _first(e, base, at, one.offset), align=1)
        with apart:
            scattered()


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
                mark(e, found, place, watching.block_offsets(e, at, size), None, together=True, write=write)
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
