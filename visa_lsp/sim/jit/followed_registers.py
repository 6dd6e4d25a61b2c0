"""Follows undefined registers and predicates in compiled code, by a mask of the undefined bits of each byte.

``Definedness`` says which bytes are followed, and which instructions may use one for an effect: a test there ends the
function with a suspicion. The rules are those of ``observers.definedness``, with lanes in place of single bytes, but for
copies and bitwise operations.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from llvmlite import ir

from visa_lsp.isa.message_forms import MemoryUse
from visa_lsp.program.message import ElementMessage, understood_message_of
from visa_lsp.program.model import Combine, Indirect
from visa_lsp.sim.effects.wide import high_half
from visa_lsp.sim.jit import check_instrumentation, state
from visa_lsp.sim.jit.lane_formulas import LaneNumbers
from visa_lsp.sim.jit.numbers import indirect_places
from visa_lsp.sim.jit.writer import I1, I8, I32, I64, PTR, Node, constants, integer, lanes_of, splat, vector
from visa_lsp.sim.observers.definedness_plan import InstructionKind, RegisterOperand, Travel, find_undefined_bits

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.sim.analyses.definedness_proof import Definedness
    from visa_lsp.sim.jit.emitter import Emitter
    from visa_lsp.sim.observers.definedness_plan import DefinednessPlan
    from visa_lsp.sim.operands import Site

Array = np.ndarray[Any, np.dtype[Any]]


class _Lanes(NamedTuple):
    """The lanes of an instruction, as vectors of bits."""

    written: Node  # that it writes, or may write
    unsure: Node  # for which its predicate is undefined
    undefined: Node  # for which it uses an undefined value


def begin_following(e: Emitter) -> None:
    """Set the masks of a new activation: those of registers that the launch fills are clear, or come from the caller."""
    definedness = _definedness(e)
    followed = definedness.followed.copy()
    followed[: e.from_caller] = False
    places = np.flatnonzero(followed)
    for run in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1) if places.size else ():
        masks = constants(I8, np.where(definedness.given[run], 0, 255).tolist())
        e.builder.store(masks, _masks(e, int(run[0])), align=1)


def follow_instruction(e: Emitter, site: Site) -> Callable[[], None]:
    """Emit what follows registers before an instruction; return what emits the rest, behind it."""
    definedness, pc = e.definedness, site.pc
    plan = definedness.plans[pc] if definedness is not None else None
    if definedness is None or plan is None:
        return lambda: None
    written = [target for target in plan.targets if _is_followed(e, pc, target)]
    predicates = [var for var in plan.preds_written if definedness.followed[definedness.place_of_predicate(var)]]
    if pc not in definedness.tested and not written and not predicates:
        return lambda: None
    lanes = _find_lanes(e, site, plan)
    masks = None
    if pc in definedness.tested:
        check_instrumentation.suspect(e, check_instrumentation.any_of(e, lanes.undefined))
        lanes = lanes._replace(undefined=splat(I1, 0, plan.lanes))
    elif written:
        masks = _find_masks(e, site, plan, lanes)
    places = [_indirect(e, site, target, lanes.written) if target.places is None else None for target in written]

    def follow() -> None:
        for target, byte_numbers in zip(written, places, strict=True):
            if byte_numbers is not None:
                _clear(e, byte_numbers, lanes.written, target.touch.size)
            elif target.places is not None:
                _mark(e, target.places, plan.lanes, lanes, masks)
        for var in predicates:
            _mark_predicate(e, var, plan, lanes)

    return follow


def find_stored_masks(e: Emitter, pc: int) -> Node | None:
    """Return the undefined bits of each byte that a store of a block carries; None if all are defined."""
    data = _find_stored(e, pc)
    return _load(e, data.reshape(-1)) if data is not None else None


def _find_stored(e: Emitter, pc: int) -> Array | None:
    """Return the places of the bytes that a store of a block carries, if they are followed; private memory keeps their masks."""
    definedness = e.definedness
    plan = definedness.plans[pc] if definedness is not None and pc in definedness.tested else None
    message = understood_message_of(e.code.kernel.instructions[pc]) if plan is not None else None
    if plan is None or not (isinstance(message, ElementMessage) and message.single and message.use is MemoryUse.WRITE):
        return None
    data = [source.places for source in plan.sources if not source.address]
    size = len(message.elements) * message.size
    return data[0] if len(data) == 1 and data[0] is not None and data[0].size == size and size % 4 == 0 else None


def _definedness(e: Emitter) -> Definedness:
    assert e.definedness is not None
    return e.definedness


def _is_followed(e: Emitter, pc: int, operand: RegisterOperand) -> bool:
    """Return whether an operand may touch a followed register."""
    definedness = _definedness(e)
    if operand.places is not None:
        return bool(definedness.followed[operand.places].any())
    ranges = definedness.ranges.get(pc) or [range(definedness.registers)]
    return any(definedness.followed[touched.start : touched.stop].any() for touched in ranges)


def _masks(e: Emitter, byte: int) -> Node:
    """Return the address of the running activation's mask of a byte."""
    return e.builder.inttoptr(e.builder.add(_first_mask(e), ir.Constant(I64, byte)), PTR)


def _first_mask(e: Emitter) -> Node:
    return e.constant(e.block, state.UNDEFINED_BITS)


def _find_lanes(e: Emitter, site: Site, plan: DefinednessPlan) -> _Lanes:
    b = e.builder
    mask = e.all_on(plan.lanes)
    if not plan.no_mask and not (plan.kind is InstructionKind.BRANCH and plan.lanes == 1):
        mask = e.mask_of(e.emask, plan.mask_offset, plan.lanes)
    written, unsure = mask, ir.Constant(mask.type, 0)
    if plan.pred is not None:
        if not plan.selects:
            written = b.and_(mask, e.predicate(plan.pred, plan.mask_offset, plan.lanes))
        if _definedness(e).followed[_definedness(e).place_of_predicate(plan.pred.var)]:
            unsure = b.and_(mask, _unsure(e, plan))
            written = b.or_(written, unsure)
    undefined = b.and_(b.bitcast(_find_undefined(e, site, plan), mask.type), written)
    both = (e.lanes(bits, plan.lanes) for bits in (written, unsure, b.or_(undefined, unsure)))
    return _Lanes(*both)


def _unsure(e: Emitter, plan: DefinednessPlan) -> Node:
    """Return the lanes that depend on an undefined bit of the predicate, as an integer."""
    b, pred = e.builder, plan.pred
    assert pred is not None
    undefined = _part(e, _undefined_bits(e, pred.var), plan)
    if pred.combine is Combine.NONE:
        return undefined
    value = e.mask_of(e.predicates[pred.var], plan.mask_offset, plan.lanes)
    deciding = b.and_(value if pred.combine is Combine.ANY else b.not_(value), b.not_(undefined))
    none = ir.Constant(undefined.type, 0)
    is_unsure = b.and_(b.icmp_unsigned("!=", undefined, none), b.icmp_unsigned("==", deciding, none))
    return b.select(is_unsure, e.all_on(plan.lanes), none)


def _undefined_bits(e: Emitter, var: int) -> Node:
    """Return the undefined bits of a predicate variable, of 32."""
    definedness = _definedness(e)
    if not definedness.followed[definedness.place_of_predicate(var)]:
        return ir.Constant(I32, 0)
    return e.builder.load(_masks(e, definedness.place_of_predicate(var)), typ=I32, align=1)


def _part(e: Emitter, bits: Node, plan: DefinednessPlan) -> Node:
    """Return the bits of an instruction's lanes, of 32."""
    moved = e.builder.lshr(bits, ir.Constant(I32, plan.mask_offset)) if plan.mask_offset else bits
    return moved if plan.lanes == 32 else e.builder.trunc(moved, integer(plan.lanes))


def _find_undefined(e: Emitter, site: Site, plan: DefinednessPlan) -> Node:
    """Return the lanes for which an instruction reads an undefined register or predicate."""
    b, lanes = e.builder, plan.lanes
    undefined = splat(I1, int(site.pc in _definedness(e).unknown), lanes)
    is_kept = _find_stored(e, site.pc) is not None
    for source in plan.sources:
        if not _is_followed(e, site.pc, source) or (is_kept and not source.address):
            continue
        places = source.places
        if places is None:
            byte_numbers = _indirect(e, site, source, splat(I1, 1, lanes))
            kind = vector(integer(8 * source.touch.size), lanes)
            masks = e.gather(kind, b.add(byte_numbers, e.spread(_first_mask(e), lanes)), e.all_on(lanes), 1)
            undefined = b.or_(undefined, b.icmp_unsigned("!=", masks, splat(kind.element, 0, lanes)))
        elif len(places) % lanes == 0 and (lanes > 1 or len(places) == 1):
            for block in places.reshape(-1, lanes, places.shape[1]):
                masks = b.bitcast(_load(e, block.reshape(-1)), vector(integer(8 * block.shape[1]), lanes))
                undefined = b.or_(undefined, b.icmp_unsigned("!=", masks, splat(masks.type.element, 0, lanes)))
        else:
            masks = _load(e, places.reshape(-1))
            any_undefined = check_instrumentation.any_of(e, b.icmp_unsigned("!=", masks, splat(I8, 0, places.size)))
            undefined = b.or_(undefined, e.spread(any_undefined, lanes))
    if plan.travel in (Travel.FOUR, Travel.WHOLE):
        undefined = e.spread(check_instrumentation.any_of(e, undefined), lanes)
    if plan.preds_read:
        undefined = b.or_(undefined, _find_undefined_predicates(e, site, plan))
    return undefined


def _find_undefined_predicates(e: Emitter, site: Site, plan: DefinednessPlan) -> Node:
    """Return the lanes for which an instruction computes with an undefined bit of a predicate."""
    b = e.builder
    bits = ir.Constant(I32, 0)
    for var in plan.preds_read:
        bits = b.or_(bits, _undefined_bits(e, var))
    for var in plan.preds_read if plan.logic else ():  # a defined 0 determines an and, a defined 1 an or
        value = e.get(e.predicates[var])
        deciding = b.and_(value if plan.logic == "or" else b.not_(value), b.not_(_undefined_bits(e, var)))
        bits = b.and_(bits, b.not_(deciding))
    if plan.preds_written:
        return e.lanes(_part(e, bits, plan), plan.lanes)
    bits = b.and_(bits, ir.Constant(I32, _declared(site, plan.preds_read[0])))
    return e.spread(b.icmp_unsigned("!=", bits, ir.Constant(I32, 0)), plan.lanes)


def _declared(site: Site, var: int) -> int:
    """Return the bits that a predicate variable has, of 32."""
    count: int = site.code.kernel.predicates[var - 1].num_elements
    return (1 << count) - 1


def _find_masks(e: Emitter, site: Site, plan: DefinednessPlan, lanes: _Lanes) -> Node | None:
    """Return the undefined bits of each byte of the result; None if they follow from the lanes.

    A defined 0 alone determines an ``and``, a defined 1 an ``or``; the bits of a predicate are those of a number.
    """
    b, size = e.builder, plan.targets[0].touch.size if plan.targets else 0
    if plan.preds_read and plan.lanes == 1 and not plan.preds_written:
        var = plan.preds_read[0]
        bits = b.and_(_undefined_bits(e, var), ir.Constant(I32, _declared(site, var)))
        return (
            b.bitcast(b.trunc(bits, integer(8 * size)), vector(I8, size))
            if size < 4
            else b.bitcast(bits, vector(I8, 4))
        )
    sources = plan.sources
    if plan.travel is not Travel.BYTE or plan.preds_read or plan.selects or plan.targets[0].places is None:
        return None
    if any(s.places is None or len(s.places) != plan.lanes for s in (*sources, *plan.targets)) or not sources:
        return None
    parts = [s.places[:, :size].reshape(-1) for s in sources if s.places is not None]
    masks = [LaneNumbers(e, _load(e, part)) for part in parts]
    values = [LaneNumbers(e, e.load_lanes(0, part.tolist(), I8)) for part in parts]
    values = [~v if s.inverted else v for v, s in zip(values, sources, strict=True)]
    if plan.constant is not None:
        values.append(LaneNumbers(e, constants(I8, np.tile(plan.constant[:size], plan.lanes).tolist())))
    result: LaneNumbers = find_undefined_bits(masks, values, plan.decisive)
    order = constants(I32, np.arange(plan.lanes).repeat(size).tolist())
    unsure = b.shuffle_vector(lanes.unsure, ir.Constant(lanes.unsure.type, ir.Undefined), order)
    return b.or_(result.node, b.sext(unsure, result.node.type))


def _load(e: Emitter, places: Array) -> Node:
    """Return the mask of each byte."""
    low, span = int(places.min()), int(np.ptp(places)) + 1
    masks = e.builder.load(_masks(e, low), typ=vector(I8, span), align=1)
    order = constants(I32, (places - low).tolist())
    return e.builder.shuffle_vector(masks, ir.Constant(masks.type, ir.Undefined), order)


def _indirect(e: Emitter, site: Site, register: RegisterOperand, enabled: Node) -> Node:
    """Return the byte numbers of the lanes of an indirect operand."""
    operand, lanes = site.inst.get(register.touch.field or "dst"), lanes_of(enabled)
    assert isinstance(operand, Indirect)
    operand = operand if register.touch.field else high_half(site, operand)
    before, e.outside = e.outside, e.suspected
    byte_numbers = indirect_places(e, site, operand, e.builder.bitcast(enabled, integer(lanes)))
    e.outside = before
    return byte_numbers


def _clear(e: Emitter, byte_numbers: Node, enabled: Node, size: int) -> None:
    """Clear the masks of the elements at byte numbers."""
    lanes = lanes_of(byte_numbers)
    places = e.builder.add(byte_numbers, e.spread(_first_mask(e), lanes))
    e.store_each(splat(integer(8 * size), 0, lanes), places, e.builder.bitcast(enabled, integer(lanes)))


def _mark(e: Emitter, places: Array, lanes: int, which: _Lanes, masks: Node | None) -> None:
    """Set the masks of the followed bytes that an instruction writes: to ``masks``, or by lane."""
    b, flat = e.builder, places.reshape(-1)
    by_lane = len(places) % lanes == 0
    undefined, enabled = which.undefined, which.written
    if not by_lane:
        undefined, enabled = (e.spread(check_instrumentation.any_of(e, flag), lanes) for flag in (undefined, enabled))
    lane = np.arange(len(places)).repeat(places.shape[1]) % lanes if by_lane else np.zeros(flat.size, int)
    low, span = int(flat.min()), int(np.ptp(flat)) + 1
    used = _definedness(e).followed[flat]

    def spread_out(values: Node, number: Array, rest: Node) -> Node:
        """Return for each byte of the span the value with its number, or 0 if the byte is not written."""
        order = np.full(span, lanes_of(values))
        order[flat[used] - low] = number[used]
        return b.shuffle_vector(values, rest, constants(I32, order.tolist()))

    chosen = spread_out(enabled, lane, ir.Constant(enabled.type, None))
    old = b.load(_masks(e, low), typ=vector(I8, span), align=1)
    if masks is not None and lanes_of(masks) == flat.size:
        new = spread_out(masks, np.arange(flat.size), ir.Constant(masks.type, None))
    else:
        new = b.sext(spread_out(undefined, lane, ir.Constant(undefined.type, None)), old.type)
    b.store(b.select(chosen, new, old), _masks(e, low), align=1)


def _mark_predicate(e: Emitter, var: int, plan: DefinednessPlan, lanes: _Lanes) -> None:
    """Set the mask of a predicate variable that an instruction writes."""
    b, kind = e.builder, integer(plan.lanes)
    written, undefined = (e.at_lane(b.bitcast(bit, kind), plan.mask_offset) for bit in (lanes.written, lanes.undefined))
    kept = b.and_(_undefined_bits(e, var), b.not_(written))
    b.store(b.or_(kept, undefined), _masks(e, _definedness(e).place_of_predicate(var)), align=1)
