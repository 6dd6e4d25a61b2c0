"""Compiled messages of elements, by their values, atomics among them, and fences. The rules are those of ``sim.effects``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from llvmlite import ir

from visa_lsp.isa.message_forms import MemoryUse
from visa_lsp.program.message import PREDECREMENT, ElementMessage, FenceMessage, understood_message_of
from visa_lsp.program.model import RawOperand
from visa_lsp.sim.group import GLOBAL, SHARED
from visa_lsp.sim.jit import check_instrumentation, numbers, spaces, state
from visa_lsp.sim.jit.emitter import Emitter, Uncompiled
from visa_lsp.sim.jit.followed_registers import find_stored_masks
from visa_lsp.sim.jit.memory_access import (
    begin_access,
    elements_of,
    end_access,
    may_leave,
    move_block,
    range_of,
    transfer,
    wide,
)
from visa_lsp.sim.jit.numbers import raw_lanes, raw_start, scalar
from visa_lsp.sim.jit.words import FLOAT, RING, Body, choose
from visa_lsp.sim.jit.writer import F32, F64, I1, I8, I32, I64, Node, integer, splat, vector

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.sim.operands import Site


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
    """Return the address of each lane, in 32 bits if it wraps and nothing is added afterwards, else in 64 bits."""
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
    if address.unit != 1:
        addresses = b.mul(wide(e, addresses), splat(I64, address.unit, lanes))
    if address.base is not None:
        addresses = _add(e, wide(e, addresses), scalar(e, site, address.base), lanes)
    return addresses


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
    address = e.builder.extract_element(wide(e, _addresses(e, site, message, 1)), ir.Constant(I32, 0))
    bits, undefined = e.some(e.enable(site), site), find_stored_masks(e, site.pc)
    with e.builder.if_then(bits if site.lanes == 1 else e.builder.trunc(bits, I1)):
        move_block(e, space, address, start, size, write=write, undefined=undefined)


def emit_fence(e: Emitter, site: Site) -> None:
    """Emit a fence: memory is always in order; with checkers, the thread records the memory of the fence."""
    message = understood_message_of(site.inst)
    if not e.mode.watched or not isinstance(message, FenceMessage):
        return
    fenced = e.word(e.block, state.FENCED)
    memory = SHARED if message.shared else GLOBAL
    e.put_word(e.block, state.FENCED, e.builder.or_(fenced, ir.Constant(I64, memory)))


# ---- atomics: lane by lane, in order, as in ``sim.messages.atomic``


def _in_ring(word: Body, e: Emitter, old: Node, a: Node, _b: Node) -> Node:
    return word(e, old, a)


_INTEGER_UPDATES: Final[dict[str, Callable[[Emitter, Node, Node, Node], Node]]] = {
    **{word: partial(_in_ring, RING[word]) for word in ("add", "sub", "and", "or", "xor")},
    "inc": lambda e, o, _a, _b: e.builder.add(o, ir.Constant(o.type, 1)),
    "dec": lambda e, o, _a, _b: e.builder.sub(o, ir.Constant(o.type, 1)),
    "min": lambda e, o, a, _b: choose(e, o, a, relation="<=", signed=False),
    "max": lambda e, o, a, _b: choose(e, o, a, relation=">=", signed=False),
    "minsint": lambda e, o, a, _b: choose(e, o, a, relation="<=", signed=True),
    "maxsint": lambda e, o, a, _b: choose(e, o, a, relation=">=", signed=True),
    "xchg": lambda _e, _o, a, _b: a,
    "load": lambda _e, o, _a, _b: o,
    "cmpxchg": lambda e, o, a, b: e.builder.select(e.builder.icmp_unsigned("==", o, b), a, o),
    "icas": lambda e, o, a, b: e.builder.select(e.builder.icmp_unsigned("==", o, a), b, o),
}


def _float_update(word: str, *, choice: bool = False) -> Callable[[Emitter, Node, Node, Node], Node]:
    def update(e: Emitter, old: Node, a: Node, _b: Node) -> Node:
        kind = vector(_FLOATS[old.type.width], 1)
        sources = [e.builder.bitcast(bits, kind) for bits in ((a, old) if choice else (old, a))]
        return e.builder.bitcast(FLOAT[word](e, *sources), old.type)

    return update


def _compare_floats(e: Emitter, old: Node, a: Node, b: Node) -> Node:
    kind = _FLOATS[old.type.width]
    same = e.builder.fcmp_ordered("==", *(e.builder.bitcast(bits, kind) for bits in (old, a)))
    return e.builder.select(same, b, old)


_FLOATS: Final = {32: F32, 64: F64}
_FLOAT_UPDATES: Final[dict[str, Callable[[Emitter, Node, Node, Node], Node]]] = {
    "fadd": _float_update("add"),
    "fsub": _float_update("sub"),
    "fmin": _float_update("min", choice=True),
    "fmax": _float_update("max", choice=True),
    "fcmpwr": _compare_floats,
}


def _emit_atomic(e: Emitter, site: Site, space: spaces.Found, addresses: Node, message: ElementMessage) -> None:
    """Update the place of each lane. Raises Uncompiled if the update, or an overlap of its operands, has no compiled form."""
    memory, cell, less_one = message.size, message.cell, message.update == PREDECREMENT
    updates = _INTEGER_UPDATES | (_FLOAT_UPDATES if memory > 2 else {})
    update = updates.get("dec" if less_one else message.update)
    if update is None or memory not in (2, 4, 8):
        raise Uncompiled
    builder, lanes = e.builder, site.lanes
    dst, a_start, b_start = (raw_start(site, site.raw(n), lanes * cell) for n in (message.data_field, *message.sources))
    if any(dst >= 0 <= start and start != dst and abs(start - dst) < lanes * cell for start in (a_start, b_start)):
        raise Uncompiled  # because the interpreter reads all sources before it writes
    bits, use = e.some(e.enable(site), site), check_instrumentation.ATOMIC
    with builder.if_then(builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))), may_leave(e) as outside:
        addresses = wide(e, space.offsets(addresses))
        most, least = range_of(e, addresses, bits)
        place = begin_access(e, space, least, builder.add(most, ir.Constant(I64, memory)), use, outside)
        if e.mode.watched:
            check_instrumentation.alignment(e, addresses, e.lanes(bits, lanes), memory)
            if memory < 4:
                check_instrumentation.suspect_always(e)
            check_instrumentation.mark_each(e, place, addresses, bits, memory)
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
                old, new = _exchange(e, where, kind, lambda old: update(e, old, *sources))
            else:
                old = builder.load(where, typ=kind, align=1)
                new = update(e, old, *sources)
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
