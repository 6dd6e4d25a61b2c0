"""Compiled messages to memory: per lane, in blocks, atomics. The rules are those of ``sim.effects``.

The range of all active lanes is looked at first; where it leaves its space, the interpreter does the whole message. Lanes that
lie side by side travel as one vector, equal ones as one element.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from llvmlite import ir

from visa_lsp.isa import lsc_codes as codes
from visa_lsp.isa.lsc_codes import ATOMIC_OP_TEXT
from visa_lsp.isa.types import ExecControl
from visa_lsp.program.model import General, Immediate, RawOperand
from visa_lsp.sim import values
from visa_lsp.sim.group import GLOBAL, SHARED
from visa_lsp.sim.jit import numbers, spaces, state, watching
from visa_lsp.sim.jit.emitter import I8, I16, I32, I64, PTR, Uncompiled, constants, integer, lanes_of, splat, vector

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from visa_lsp.sim.jit.emitter import Emitter, Node
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
        most, least = _range(e, at, chosen if enabled is not None else None)
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
                        _load(e, place.base, at, chosen, side_by_side, one, enabled)
                size = sum(m.memory for m in moved)
                count = builder.zext(e.intrinsic(f"llvm.ctpop.i{lanes}", bits.type, bits), I64) if lanes < 64 else bits
                e.add_to(e.writes if write else e.reads, builder.mul(count, ir.Constant(I64, size)))
                if write:
                    builder.store(ir.Constant(I64, 1), place.wrote)
            with outside:
                _elsewhere(e)


def _elsewhere(e: Emitter) -> None:
    """A message that leaves its space: the interpreter does it, or a checker has something to say."""
    if e.watched:
        watching.suspect(e, ir.Constant(ir.IntType(1), 1))
    else:
        e.call_out()


def _watch(
    e: Emitter, found: spaces.Found, place: spaces.Place, at: Node, chosen: Node | None, side_by_side: Node | None,
    moved: Sequence[Moved], *, write: bool,
) -> None:  # fmt: skip
    """Look at what checkers would look at before elements move."""
    watching.access(e, place, reads=not write, writes=write)
    if write and found.shared and any(one.memory < 4 for one in moved):
        watching.suspect(
            e, ir.Constant(ir.IntType(1), 1)
        )  # marks are of dwords: they would say that all of it is written

    def marks(*, together: bool) -> None:
        for one in moved:
            start = e.builder.add(at, splat(I64, one.offset, lanes_of(at))) if one.offset else at
            for cells in watching.dwords(e, start, one.memory):
                _mark(e, found, place, cells, None if together else chosen, together=together, write=write)

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


def _mark(
    e: Emitter,
    found: spaces.Found,
    place: spaces.Place,
    cells: Node,
    chosen: Node | None,
    *,
    together: bool,
    write: bool,
) -> None:
    marks = watching.Marks(e, place, cells, chosen, shared=found.shared, side_by_side=together)
    if write:
        marks.check((watching.WRITTEN, watching.READ, watching.ATOMIC))
        marks.take()
        return
    marks.check((watching.WRITTEN, watching.ATOMIC))
    if found.shared:
        marks.written()
    marks.add(watching.READ)


def _range(e: Emitter, at: Node, chosen: Node | None) -> tuple[Node, Node]:
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


def _load(
    e: Emitter, base: Node, at: Node, chosen: Node, side_by_side: Node | None, one: Moved, enabled: Node | None
) -> None:
    if one.start < 0:
        return
    builder, lanes = e.builder, lanes_of(at)
    kind = vector(integer(8 * one.memory), lanes)

    def gathered() -> Node:
        pointers = _pointers(e, base, at, one.offset)
        name = f"llvm.masked.gather.v{lanes}i{8 * one.memory}.v{lanes}p0"
        return e.intrinsic(name, kind, pointers, ir.Constant(I32, 1), chosen, splat(kind.element, 0, lanes))

    if side_by_side is None:
        # One lane, which is on: the message has come this far.
        found = builder.load(_first(e, base, at, one.offset), typ=kind, align=1)
    else:
        with builder.if_else(side_by_side) as (whole, apart):
            with whole:
                together = builder.load(_first(e, base, at, one.offset), typ=kind, align=1)
                from_whole = builder.block
            with apart:
                by_lane = gathered()
                from_apart = builder.block
        found = builder.phi(kind)
        found.add_incoming(together, from_whole)
        found.add_incoming(by_lane, from_apart)
    found = numbers.resize(e, found, 8 * one.register, signed=False)
    if one.high:
        found = builder.shl(found, splat(found.type.element, 16, lanes))
    e.store_lanes(one.start, range(lanes), found, None if enabled is None else chosen)


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


# ---- messages with a surface, and stateless ones of the same form


def _raw(site: Site, operand: RawOperand, end: int) -> int:
    """The first byte of a raw operand in the registers, which have to reach ``end`` bytes behind it; -1 for %null."""
    if operand.var == 0:
        return -1
    start = site.code.layout.offset(operand.var) + operand.offset
    if start < 0:
        raise Uncompiled
    site.code.layout.need(start + end)
    return start


def scalar(e: Emitter, site: Site, name: str) -> Node | None:
    """The first element of an operand as 64 bits; None where it is zero. Raises Uncompiled for what is no integer."""
    operand = site.inst.get(name)
    if operand is None:
        return None
    if isinstance(operand, int):
        return ir.Constant(I64, operand) if operand else None
    if isinstance(operand, RawOperand):
        start = _raw(site, operand, 4)
        if start < 0:
            raise Uncompiled
        return e.builder.zext(e.builder.load(e.at(start), typ=I32, align=1), I64)
    if not isinstance(operand, General | Immediate) or not site.operand_type(operand).is_int:
        raise Uncompiled
    if isinstance(operand, General) and operand.modifier.value:
        raise Uncompiled
    found = numbers.resize(e, numbers.read(e, site, operand, 1), 64, signed=site.operand_type(operand).is_signed)
    if isinstance(operand, Immediate):
        number = values.immediate(operand, 1).item()
        return ir.Constant(I64, int(number)) if number else None
    return e.builder.extract_element(found, ir.Constant(I32, 0))


def _offsets(e: Emitter, site: Site, name: str, lanes: int, *, wide: bool = False) -> Node:
    """The per-lane offsets plus the global one."""
    operand, size = site.raw(name), 8 if wide else 4
    start = _raw(site, operand, lanes * size)
    base = scalar(e, site, "goff") if site.has("goff") else None
    if start < 0:
        found = splat(I64, 0, lanes)
        return found if base is None else e.builder.add(found, e.spread(base, lanes))
    kind = I64 if wide else I32
    found = numbers.resize(e, e.load_lanes(start, range(lanes), kind), 64, signed=False)
    if base is None:
        return found
    found = e.builder.add(found, e.spread(base, lanes))
    return found if wide else e.builder.and_(found, splat(I64, 0xFFFFFFFF, lanes))


def _space(e: Emitter, site: Site, *, wide: bool) -> spaces.Found:
    return spaces.flat(e) if wide else spaces.surface(e, site)


def _channels(data: str, offset: str, *, wide: bool, write: bool) -> Callable[[Emitter, Site], None]:
    def emit(e: Emitter, site: Site) -> None:
        lanes = site.lanes
        chosen = [c for c in range(4) if site.integer("chan") >> c & 1]
        row = max(lanes * 4, site.grf)
        start = _raw(site, site.raw(data), (len(chosen) - 1) * row + lanes * 4)
        moved = [Moved(4, 4, 4 * c, start + k * row if start >= 0 else -1) for k, c in enumerate(chosen)]
        at = _offsets(e, site, offset, lanes, wide=wide)
        transfer(e, site, _space(e, site, wide=wide), at, e.enable(site), moved, write=write)

    return emit


def _cells(
    e: Emitter, site: Site, at: Node, data: RawOperand, memory: int, cell: int, blocks: int, *, wide: bool, write: bool
) -> None:
    if memory not in (1, 2, 4, 8):
        raise Uncompiled
    lanes = site.lanes
    row = max(lanes * cell, site.grf if blocks > 1 else 1)
    start = _raw(site, data, (blocks - 1) * row + lanes * cell)
    moved = [Moved(memory, cell, memory * b, start + b * row if start >= 0 else -1) for b in range(blocks)]
    transfer(e, site, _space(e, site, wide=wide), at, e.enable(site), moved, write=write)


def _scaled(*, write: bool) -> Callable[[Emitter, Site], None]:
    def emit(e: Emitter, site: Site) -> None:
        if site.integer("n") > 2:
            raise Uncompiled
        at = _offsets(e, site, "off", site.lanes)
        data = site.raw("src" if write else "dst")
        _cells(e, site, at, data, 1 << site.integer("n"), 4, 1, wide=False, write=write)

    return emit


def _plain(*, write: bool) -> Callable[[Emitter, Site], None]:
    def emit(e: Emitter, site: Site) -> None:
        control = site.inst.get("n")
        if isinstance(control, ExecControl):
            site.control, site.lanes, site.full = control, control.exec_size, (1 << control.exec_size) - 1
        size = 1 << site.integer("eltsize")
        at = e.builder.mul(_offsets(e, site, "off", site.lanes), splat(I64, size, site.lanes))
        _cells(e, site, at, site.raw("src" if write else "dst"), size, 4, 1, wide=False, write=write)

    return emit


def _qwords(*, write: bool) -> Callable[[Emitter, Site], None]:
    def emit(e: Emitter, site: Site) -> None:
        at = _offsets(e, site, "off", site.lanes)
        data = site.raw("src" if write else "dst")
        _cells(e, site, at, data, 8, 8, 1 << site.integer("n"), wide=False, write=write)

    return emit


def _svm(*, write: bool) -> Callable[[Emitter, Site], None]:
    def emit(e: Emitter, site: Site) -> None:
        block, count = site.integer("block"), 1 << site.integer("n")
        size = {0: 1, 1: 4}.get(block, 8)
        memory, cell, blocks = (count, max(4, count), 1) if size == 1 else (size, size, count)
        at = _offsets(e, site, "address", site.lanes, wide=True)
        _cells(e, site, at, site.raw("data"), memory, cell, blocks, wide=True, write=write)

    return emit


# ---- blocks for the whole thread


def _block(e: Emitter, found: spaces.Found, at: Node, start: int, size: int, *, write: bool) -> None:
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
                    watching.suspect(e, ir.Constant(ir.IntType(1), 1))
                _mark(e, found, place, watching.block_offsets(e, at, size), None, together=True, write=write)
            memory = builder.gep(place.base, [at], source_etype=I8)
            kind = vector(I32, size // 4) if size % 4 == 0 else vector(I8, size)
            if write:
                value = (
                    splat(kind.element, 0, kind.count) if start < 0 else builder.load(e.at(start), typ=kind, align=1)
                )
                builder.store(value, memory, align=1)
                builder.store(ir.Constant(I64, 1), place.wrote)
            elif start >= 0:
                builder.store(builder.load(memory, typ=kind, align=1), e.at(start), align=1)
            e.add_to(e.writes if write else e.reads, ir.Constant(I64, size))
        with outside:
            _elsewhere(e)


def _owords(data: str, address: str, *, scale: int, write: bool, wide: bool = False) -> Callable[[Emitter, Site], None]:
    def emit(e: Emitter, site: Site) -> None:
        size = 16 << site.integer("n")
        start = _raw(site, site.raw(data), size)
        base = scalar(e, site, address)
        at = ir.Constant(I64, 0) if base is None else e.builder.mul(base, ir.Constant(I64, scale))
        _block(e, _space(e, site, wide=wide), at, start, size, write=write)

    return emit


# ---- the load/store controller

_ADDRESS_KIND: Final = {1: I16, 2: I32, 3: I64, 5: I32, 6: I32}


def _lsc_addresses(e: Emitter, site: Site, lanes: int) -> Node:
    size = codes.ADDRSIZE_BYTES.get(site.integer("addrsize"), 4)
    kind = _ADDRESS_KIND.get(site.integer("addrsize"), I32)
    start = _raw(site, site.raw("src0"), lanes * size)
    if start < 0:
        found = splat(I64, 0, lanes)
    else:
        found = numbers.resize(e, e.load_lanes(start, range(lanes), kind), 64, signed=site.integer("addrsize") == 6)
    scale = site.integer("immscale", 1) or 1
    if scale != 1:
        found = e.builder.mul(found, splat(I64, scale, lanes))
    offset = site.integer("immoffset")
    if offset:
        found = e.builder.add(found, splat(I64, offset, lanes))
    if size <= 4 and site.integer("addrtype") != codes.ADDRTYPE_FLAT:
        found = e.builder.and_(found, splat(I64, 0xFFFFFFFF, lanes))
    return found


def _lsc(*, write: bool, quad: bool = False) -> Callable[[Emitter, Site], None]:
    def emit(e: Emitter, site: Site) -> None:
        data = codes.DATASIZES.get(site.integer("datasize"))
        if data is None:
            raise Uncompiled
        memory, register = data.memory_bytes, data.register_bytes
        if quad:
            elements = [c for c in range(4) if site.integer("chmask") >> c & 1]
        else:
            elements = list(range(codes.ELEMS_VALUE.get(site.integer("elems"), 1)))
        lanes = site.lanes
        found, base = spaces.lsc(e, site)
        operand = site.raw("src1" if write else "dst")
        if site.integer("order") == codes.ORDER_TRANSPOSED:
            _lsc_block(e, site, found, base, operand, memory, register, len(elements), write=write)
            return
        if operand.var == 0 and not write:
            raise Uncompiled
        row = max(site.grf, -(-lanes * register // site.grf) * site.grf)
        start = _raw(site, operand, (len(elements) - 1) * row + lanes * register)
        moved = [
            Moved(memory, register, memory * element, start + k * row if start >= 0 else -1, data.high_half)
            for k, element in enumerate(elements)
        ]
        at = _lsc_addresses(e, site, lanes)
        if base is not None:
            at = e.builder.add(at, e.spread(base, lanes))
        transfer(e, site, found, at, e.enable(site), moved, write=write)

    return emit


def _lsc_block(
    e: Emitter, site: Site, found: spaces.Found, base: Node | None, operand: RawOperand, memory: int, register: int,
    count: int, *, write: bool,
) -> None:  # fmt: skip
    """A transposed message: the elements of one lane, side by side."""
    if memory != register or operand.var == 0:
        raise Uncompiled
    size = count * memory
    start = _raw(site, operand, size)
    at = e.builder.extract_element(_lsc_addresses(e, site, 1), ir.Constant(I32, 0))
    if base is not None:
        at = e.builder.add(at, base)
    bits = e.enable(site)
    if bits is None:
        _block(e, found, at, start, size, write=write)
        return
    first = bits if site.lanes == 1 else e.builder.trunc(bits, ir.IntType(1))
    with e.builder.if_then(first):
        _block(e, found, at, start, size, write=write)


# ---- atomics: lane by lane, in order

_INTEGER_UPDATES: Final[dict[str, Callable[[Emitter, Node, Node, Node], Node]]] = {
    "add": lambda e, o, a, _b: e.builder.add(o, a),
    "sub": lambda e, o, a, _b: e.builder.sub(o, a),
    "inc": lambda e, o, _a, _b: e.builder.add(o, ir.Constant(o.type, 1)),
    "dec": lambda e, o, _a, _b: e.builder.sub(o, ir.Constant(o.type, 1)),
    "predec": lambda e, o, _a, _b: e.builder.sub(o, ir.Constant(o.type, 1)),
    "min": lambda e, o, a, _b: e.builder.select(e.builder.icmp_unsigned("<=", o, a), o, a),
    "max": lambda e, o, a, _b: e.builder.select(e.builder.icmp_unsigned(">=", o, a), o, a),
    "minsint": lambda e, o, a, _b: e.builder.select(e.builder.icmp_signed("<=", o, a), o, a),
    "maxsint": lambda e, o, a, _b: e.builder.select(e.builder.icmp_signed(">=", o, a), o, a),
    "xchg": lambda _e, _o, a, _b: a,
    "load": lambda _e, o, _a, _b: o,
    "and": lambda e, o, a, _b: e.builder.and_(o, a),
    "or": lambda e, o, a, _b: e.builder.or_(o, a),
    "xor": lambda e, o, a, _b: e.builder.xor(o, a),
    "cmpxchg": lambda e, o, a, b: e.builder.select(e.builder.icmp_unsigned("==", o, b), a, o),
    "icas": lambda e, o, a, b: e.builder.select(e.builder.icmp_unsigned("==", o, a), b, o),
}


def _atomic(
    e: Emitter, site: Site, found: spaces.Found, at: Node, word: str, memory: int, cell: int, *, names: Sequence[str]
) -> None:
    update = _INTEGER_UPDATES.get(word)
    if update is None or memory not in (2, 4, 8):
        raise Uncompiled
    builder, lanes = e.builder, site.lanes
    dst, first, second = (_raw(site, site.raw(n), lanes * cell) for n in names)
    if any(dst >= 0 <= start and start != dst and abs(start - dst) < lanes * cell for start in (first, second)):
        raise Uncompiled  # the interpreter takes all sources before it writes
    bits = e.some(e.enable(site), site)
    with builder.if_then(builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))):
        at = found.offsets(at)
        chosen = e.lanes(bits, lanes)
        most, least = _range(e, at, chosen)
        place = found.place(least, builder.add(most, ir.Constant(I64, memory)))
        with builder.if_else(place.inside, likely=True) as (inside, outside):
            with inside:
                if e.watched:
                    _watch_atomic(e, found, place, at, chosen, memory)
                with builder.goto_entry_block():
                    offsets = builder.alloca(vector(I64, lanes))
                builder.store(at, offsets)
                wide = bits if lanes == 32 else builder.zext(bits, I32)
                _each_lane(e, wide, lambda lane: _update(e, place, offsets, lane, (dst, first, second), update, word, memory, cell))  # fmt: skip
                count = builder.zext(e.intrinsic("llvm.ctpop.i32", I32, wide), I64)
                moved = builder.mul(count, ir.Constant(I64, memory))
                e.add_to(e.reads, moved)
                e.add_to(e.writes, moved)
            with outside:
                _elsewhere(e)


def _watch_atomic(e: Emitter, found: spaces.Found, place: spaces.Place, at: Node, chosen: Node, memory: int) -> None:
    watching.access(e, place, reads=True, writes=True)
    watching.alignment(e, at, chosen, memory)
    if memory < 4:
        watching.suspect(e, ir.Constant(ir.IntType(1), 1))
    for cells in watching.dwords(e, at, memory):
        marks = watching.Marks(e, place, cells, chosen, shared=found.shared, side_by_side=False)
        marks.check((watching.WRITTEN, watching.READ))
        if found.shared:
            marks.written()
        marks.add(watching.ATOMIC)


def _each_lane(e: Emitter, bits: Node, body: Callable[[Node], None]) -> None:
    """Run ``body`` for each bit that is on, lowest first."""
    builder, before = e.builder, e.builder.block
    head, inner, done = (e.function.append_basic_block(n) for n in ("lanes", "lane", "lanes_done"))
    builder.branch(head)
    builder.position_at_end(head)
    left = builder.phi(I32)
    left.add_incoming(bits, before)
    builder.cbranch(builder.icmp_unsigned("!=", left, ir.Constant(I32, 0)), inner, done)
    builder.position_at_end(inner)
    body(builder.zext(e.intrinsic("llvm.cttz.i32", I32, left, ir.Constant(ir.IntType(1), 1)), I64))
    rest = builder.and_(left, builder.sub(left, ir.Constant(I32, 1)))
    left.add_incoming(rest, builder.block)
    builder.branch(head)
    builder.position_at_end(done)


def _update(
    e: Emitter, place: spaces.Place, offsets: Node, lane: Node, starts: tuple[int, int, int],
    update: Callable[[Emitter, Node, Node, Node], Node], word: str, memory: int, cell: int,
) -> None:  # fmt: skip
    builder, kind = e.builder, integer(8 * memory)
    offset = builder.load(builder.gep(offsets, [lane], source_etype=I64), typ=I64)
    where = builder.gep(place.base, [offset], source_etype=I8)
    at = builder.mul(lane, ir.Constant(I64, cell))

    def register(start: int) -> Node:
        return builder.gep(e.at(start), [at], source_etype=I8)

    dst, first, second = starts
    sources = [
        ir.Constant(kind, 0) if start < 0 else builder.load(register(start), typ=kind, align=1)
        for start in (first, second)
    ]
    old = builder.load(where, typ=kind, align=1)
    new = update(e, old, *sources)
    builder.store(new, where, align=1)
    changed = builder.zext(builder.icmp_unsigned("!=", new, old), I64)
    builder.store(builder.or_(builder.load(place.wrote, typ=I64), changed), place.wrote)
    if dst >= 0:
        if word == "predec":
            old = builder.sub(old, ir.Constant(kind, 1))
        builder.store(old if cell == memory else builder.zext(old, integer(8 * cell)), register(dst), align=1)


def _dword_atomic(offset: str, *, wide: bool) -> Callable[[Emitter, Site], None]:
    def emit(e: Emitter, site: Site) -> None:
        code = site.integer("op")
        size = 2 if code & 0x20 else 8 if code & 0x40 else 4
        word = "predec" if code & 31 == 13 else ATOMIC_OP_TEXT.get(code & 31, "")
        at = _offsets(e, site, offset, site.lanes, wide=wide)
        _atomic(e, site, _space(e, site, wide=wide), at, word, size, max(4, size), names=("dst", "src0", "src1"))

    return emit


def _lsc_atomic(e: Emitter, site: Site) -> None:
    data = codes.DATASIZES.get(site.integer("datasize"))
    if data is None:
        raise Uncompiled
    found, base = spaces.lsc(e, site)
    at = _lsc_addresses(e, site, site.lanes)
    if base is not None:
        at = e.builder.add(at, e.spread(base, site.lanes))
    memory, register = data.memory_bytes, data.register_bytes
    _atomic(e, site, found, at, site.inst.row.update, memory, register, names=("dst", "src1", "src2"))


def _fence(memory: int) -> Callable[[Emitter, Site], None]:
    """Memory is in order anyway; where checkers watch, the thread notes which memory is meant."""

    def emit(e: Emitter, site: Site) -> None:
        if not e.watched:
            return
        meant = memory or (SHARED if site.integer("sfid") == codes.SFID_SLM else GLOBAL)
        fenced = e.word(e.block, state.FENCED)
        e.put_word(e.block, state.FENCED, e.builder.or_(fenced, ir.Constant(I64, meant)))

    return emit


def _nothing(_e: Emitter, _site: Site) -> None:
    """The interpreter does nothing either."""


MESSAGES: Final[dict[str, Callable[[Emitter, Site], None]]] = {
    "gather4_scaled": _channels("dst", "off", wide=False, write=False),
    "scatter4_scaled": _channels("src", "off", wide=False, write=True),
    "svm_gather4scaled": _channels("data", "address", wide=True, write=False),
    "svm_scatter4scaled": _channels("data", "address", wide=True, write=True),
    "gather_scaled": _scaled(write=False),
    "scatter_scaled": _scaled(write=True),
    "gather": _plain(write=False),
    "scatter": _plain(write=True),
    "qw_gather": _qwords(write=False),
    "qw_scatter": _qwords(write=True),
    "svm_gather": _svm(write=False),
    "svm_scatter": _svm(write=True),
    "oword_ld": _owords("dst", "offset", scale=16, write=False),
    "oword_ld_unaligned": _owords("dst", "offset", scale=1, write=False),
    "oword_st": _owords("src", "offset", scale=16, write=True),
    "svm_block_ld": _owords("data", "address", scale=1, write=False, wide=True),
    "svm_block_st": _owords("data", "address", scale=1, write=True, wide=True),
    "lsc_load": _lsc(write=False),
    "lsc_store": _lsc(write=True),
    "lsc_load_quad": _lsc(write=False, quad=True),
    "lsc_store_quad": _lsc(write=True, quad=True),
    "dword_atomic": _dword_atomic("off", wide=False),
    "svm_atomic": _dword_atomic("address", wide=True),
    "lsc_atomic": _lsc_atomic,
    "fence": _fence(0),
    "fence_global": _fence(GLOBAL),
    "fence_shared": _fence(SHARED),
    "wait": _nothing,
}
