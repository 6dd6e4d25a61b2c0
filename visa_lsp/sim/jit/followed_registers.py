"""Follows undefined registers in compiled code: a flag for each byte that may be undefined, and thread.

``Definedness`` says which bytes are followed, and which instructions may use one for an effect: a test there ends the
function with a suspicion. The rules are those of ``observers.definedness``, with lanes in place of single bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir

from visa_lsp.program.model import Indirect
from visa_lsp.sim.jit import check_instrumentation, state
from visa_lsp.sim.jit.numbers import indirect_places
from visa_lsp.sim.jit.writer import I1, I8, I32, I64, PTR, Node, constants, integer, lanes_of, splat, vector
from visa_lsp.sim.observers.definedness_plan import InstructionKind, RegisterOperand, Travel

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.sim.jit.emitter import Emitter
    from visa_lsp.sim.observers.definedness_plan import DefinednessPlan
    from visa_lsp.sim.operands import Site

Array = np.ndarray[Any, np.dtype[Any]]


def begin_following(e: Emitter) -> None:
    """Set the flags of a new thread: those of registers that the launch fills are clear."""
    assert e.definedness is not None
    places = np.flatnonzero(e.definedness.followed)
    for run in np.split(places, np.flatnonzero(np.diff(places) > 1) + 1):
        flags = constants(I8, (~e.definedness.given[run]).astype(int).tolist())
        e.builder.store(flags, _flags(e, int(run[0])), align=1)


def follow_instruction(e: Emitter, site: Site) -> Callable[[], None]:
    """Emit what follows registers before an instruction; return what emits the rest, behind it."""
    known, pc = e.definedness, site.pc
    plan = known.plans[pc] if known is not None else None
    if known is None or plan is None:
        return lambda: None
    written = [target for target in plan.targets if _is_followed(e, pc, target)]
    if pc not in known.tested and not written:
        return lambda: None
    enabled = _enabled(e, plan)
    undefined = _undefined(e, site, plan)
    if pc in known.tested:
        check_instrumentation.suspect(e, check_instrumentation.any_of(e, e.builder.and_(undefined, enabled)))
        undefined = splat(I1, 0, plan.lanes)
    places = [_indirect(e, site, enabled, target=True) if one.places is None else None for one in written]

    def follow() -> None:
        for target, at in zip(written, places, strict=True):
            if at is not None:
                _clear(e, at, enabled, target.touch.size)
            elif target.places is not None:
                _mark(e, target.places, plan.lanes, undefined, enabled)

    return follow


def _is_followed(e: Emitter, pc: int, operand: RegisterOperand) -> bool:
    """Return whether an operand may touch a followed register."""
    assert e.definedness is not None
    followed = e.definedness.followed
    if operand.places is not None:
        return bool(followed[operand.places].any())
    ranges = e.definedness.ranges.get(pc) or [range(followed.size)]
    return any(followed[touched.start : touched.stop].any() for touched in ranges)


def _flags(e: Emitter, at: int) -> Node:
    """Return the address of the running thread's flag of a byte."""
    return e.builder.inttoptr(e.builder.add(_first_flag(e), ir.Constant(I64, at)), PTR)


def _first_flag(e: Emitter) -> Node:
    b = e.builder
    row = b.mul(e.word(e.launch, state.THREAD), e.constant(e.launch, state.REGISTERS_STRIDE))
    return b.add(e.constant(e.launch, state.UNDEFINED_BYTES), row)


def _enabled(e: Emitter, plan: DefinednessPlan) -> Node:
    """Return the lanes that an instruction writes."""
    bits = e.all_on(plan.lanes)
    if not plan.no_mask and not (plan.kind is InstructionKind.BRANCH and plan.lanes == 1):
        bits = e.mask_of(e.emask, plan.at, plan.lanes)
    if plan.pred is not None and not plan.selects:
        bits = e.builder.and_(bits, e.predicate(plan.pred, plan.at, plan.lanes))
    return e.lanes(bits, plan.lanes)


def _undefined(e: Emitter, site: Site, plan: DefinednessPlan) -> Node:
    """Return the lanes for which an instruction reads an undefined register."""
    b, lanes = e.builder, plan.lanes
    assert e.definedness is not None
    found = splat(I1, int(site.pc in e.definedness.unknown), lanes)
    for source in plan.sources:
        if not _is_followed(e, site.pc, source):
            continue
        places = source.places
        if places is None:
            at = _indirect(e, site, splat(I1, 1, lanes), target=False)
            kind = vector(integer(8 * source.touch.size), lanes)
            flags = e.gather(kind, b.add(at, e.spread(_first_flag(e), lanes)), e.all_on(lanes), 1)
            found = b.or_(found, b.icmp_unsigned("!=", flags, splat(kind.element, 0, lanes)))
        elif len(places) % lanes == 0 and (lanes > 1 or len(places) == 1):
            for block in places.reshape(-1, lanes, places.shape[1]):
                flags = b.bitcast(_load(e, block.reshape(-1)), vector(integer(block.shape[1]), lanes))
                found = b.or_(found, b.icmp_unsigned("!=", flags, splat(flags.type.element, 0, lanes)))
        else:
            found = b.or_(found, e.spread(check_instrumentation.any_of(e, _load(e, places.reshape(-1))), lanes))
    if plan.travel in (Travel.FOUR, Travel.WHOLE):
        found = e.spread(check_instrumentation.any_of(e, found), lanes)
    return found


def _load(e: Emitter, places: Array) -> Node:
    """Return a bit for each byte: whether it is undefined."""
    low, span = int(places.min()), int(np.ptp(places)) + 1
    flags = e.builder.load(_flags(e, low), typ=vector(I8, span), align=1)
    chosen = e.builder.shuffle_vector(
        flags, ir.Constant(flags.type, ir.Undefined), constants(I32, (places - low).tolist())
    )
    return e.builder.icmp_unsigned("!=", chosen, splat(I8, 0, len(places)))


def _indirect(e: Emitter, site: Site, enabled: Node, *, target: bool) -> Node:
    """Return the byte numbers of the lanes of an indirect operand."""
    names = ("dst",) if target else ("src0", "src1", "src2", "src3")
    operand = next(value for name in names if isinstance(value := site.inst.get(name), Indirect))
    lanes = lanes_of(enabled)
    (outside,) = e.blocks("outside")
    with e.builder.goto_block(outside):
        e.builder.branch(e.suspected)
    before, e.outside = e.outside, outside
    at = indirect_places(e, site, operand, e.builder.bitcast(enabled, integer(lanes)))
    e.outside = before
    return at


def _clear(e: Emitter, at: Node, enabled: Node, size: int) -> None:
    """Clear the flags of the elements at byte numbers."""
    lanes = lanes_of(at)
    bits = e.builder.bitcast(enabled, integer(lanes))
    kept = e.keep_lanes(e.builder.add(at, e.spread(_first_flag(e), lanes)))
    with e.builder.if_then(e.builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))):
        e.each_lane(bits, lambda lane: e.store_at(e.lane_of(kept, lane, I64), ir.Constant(integer(8 * size), 0)))


def _mark(e: Emitter, places: Array, lanes: int, undefined: Node, enabled: Node) -> None:
    """Set or clear the flags of the followed bytes that the enabled lanes write."""
    assert e.definedness is not None
    b, flat = e.builder, places.reshape(-1)
    by_lane = len(places) % lanes == 0
    if not by_lane:
        undefined, enabled = (e.spread(check_instrumentation.any_of(e, one), lanes) for one in (undefined, enabled))
    lane = np.arange(len(places)).repeat(places.shape[1]) % lanes if by_lane else np.zeros(flat.size, int)
    low, span = int(flat.min()), int(np.ptp(flat)) + 1
    order = np.full(span, lanes)  # behind the lanes: no lane
    used = e.definedness.followed[flat]
    order[flat[used] - low] = lane[used]
    index, none = constants(I32, order.tolist()), ir.Constant(vector(I1, lanes), None)
    new, chosen = (b.shuffle_vector(one, none, index) for one in (undefined, enabled))
    old = b.load(_flags(e, low), typ=vector(I8, span), align=1)
    b.store(b.select(chosen, b.zext(new, old.type), old), _flags(e, low), align=1)
