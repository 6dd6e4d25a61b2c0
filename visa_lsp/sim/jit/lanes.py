"""Compiles lane instructions from the expression in their row: sources, word, result, as in ``sim.lanes``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from visa_lsp.isa import types as ty
from visa_lsp.isa.lane import Expr
from visa_lsp.isa.operands import OperandModifier
from visa_lsp.program.model import PredicateOperand, Value
from visa_lsp.sim import exact, values
from visa_lsp.sim import words as meanings
from visa_lsp.sim.jit import check_instrumentation, numbers, words
from visa_lsp.sim.jit.arithmetic import ODD, round_directed
from visa_lsp.sim.jit.emitter import Emitter, Uncompiled
from visa_lsp.sim.jit.writer import Node, integer, lanes_of, splat
from visa_lsp.sim.lanes import compose, modifier_of, saturates, source_count, words_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.sim.operands import Site


def emit_lane(e: Emitter, site: Site, expr: Expr) -> None:
    """Write an instruction whose meaning is an expression. Raises Uncompiled if only the interpreter can execute it."""
    dst = site.inst.get("dst")
    sources = [site.inst.get(f"src{i}") for i in range(source_count(expr))]
    if isinstance(dst, PredicateOperand):
        _predicate_logic(e, site, expr, dst, sources)
        return
    exec_type = values.execution_type(site.operand_type(s) for s in sources)
    target = site.operand_type(dst)
    if expr.word in meanings.ON_BITS and (exec_type.is_float or target.is_float):
        raise Uncompiled
    if exec_type.is_float:
        result = _float(e, site, expr, exec_type, sources, dst)
    else:
        result = _integer(e, site, expr, exec_type, sources, dst)
    numbers.write(e, site, dst, result, e.enable(site))


def _compose(e: Emitter, expr: Expr, leaf: Callable[[str], words.Body], sources: list[Node], constant: Any) -> Node:
    lanes = lanes_of(sources[0])
    return compose(expr, lambda word: partial(leaf(word), e), lambda n: splat(constant, n, lanes))(sources)


def _float(e: Emitter, site: Site, expr: Expr, exec_type: ty.DataType, sources: list[Value], dst: Value) -> Node:
    def leaf(word: str) -> words.Body:
        if word not in words.FLOAT:
            raise Uncompiled
        return ODD[word] if word == "mad" and exec_type is ty.HF else words.FLOAT[word]

    lanes = [numbers.floats(e, site, s, exec_type) for s in sources]
    if e.modes.to_nearest or expr.word not in exact.WORDS:
        value = _compose(e, expr, leaf, lanes, lanes[0].type.element)
    elif exec_type is ty.F:
        value = round_directed(e, expr.word, lanes)
    else:
        raise Uncompiled
    return numbers.from_floats(e, value, exec_type, site, dst)


def _integer(e: Emitter, site: Site, expr: Expr, exec_type: ty.DataType, sources: list[Value], dst: Value) -> Node:
    used = words_of(expr)
    target, sat = site.operand_type(dst), saturates(dst)
    wraps = target.is_int and not sat
    if used <= meanings.RING and wraps:
        bits = 32 if max(target.size, exec_type.size) <= 4 else 64
        extended = values.extend_type(used, exec_type, target)
        lanes = [numbers.integers(e, site, s, extended, bits) for s in sources]
        value = _compose(e, expr, lambda w: words.RING[w], lanes, integer(bits))
        return numbers.resize(e, value, target.bits, signed=True)
    plain = all(modifier_of(s) is OperandModifier.NONE for s in sources)
    flat = all(isinstance(a, Expr) and a.word == "src" for a in expr.args)
    if expr.word == "src" and plain:  # a conversion, which depends only on the bits and their sign
        value = numbers.read(e, site, sources[0])
        return numbers.from_integers(
            e, value, target, sat=sat, signed=numbers.is_signed_source(site, sources[0], exec_type)
        )
    if expr.word == "dp4a":
        lanes = [numbers.integers(e, site, s, exec_type, 64) for s in sources]
        signs = [site.operand_type(s).is_signed for s in sources[1:]]
        return numbers.from_integers(e, words.dot_of_bytes(e, signs, *lanes), target, sat=sat)
    if expr.word == "lrp":
        raise Uncompiled
    # Shifts use the converted sources; other words use the values, which may exceed 32 bits after a modifier.
    shifts = expr.word in ("shl", "shr", "asr", "rol", "ror")
    dwords = exec_type.size == 4 or (
        exec_type.size < 4 and expr.word in ("fbl", "lzd")
    )  # extended, they have the same bits
    if flat and wraps and target.size <= 4 and dwords and (plain or shifts or expr.word == "cbit"):
        body = words.dword_body(expr.word, signed=exec_type.is_signed)
        lanes = [numbers.integers(e, site, s, exec_type, 32) for s in sources]
        if e.mode.watched and expr.word in ("div", "mod"):
            zero = e.builder.icmp_unsigned("==", lanes[1], splat(integer(32), 0, site.lanes))
            enabled = e.lanes(e.enable(site), site.lanes)
            check_instrumentation.suspect(
                e, check_instrumentation.any_of(e, zero if enabled is None else e.builder.and_(zero, enabled))
            )
        return numbers.resize(e, body(e, *lanes), target.bits, signed=True)
    if exec_type.size == 8 and not (plain and wraps):
        raise Uncompiled
    if not flat or (used & {"mul", "mad"} and not exec_type.is_signed and exec_type.size > 2):
        raise Uncompiled
    lanes = [numbers.integers(e, site, s, values.extend_type(used, exec_type, target), 64) for s in sources]
    if expr.word in words.RING:
        body = words.RING[expr.word]
    else:
        count_bits = 64 if target.size == 8 or exec_type.size == 8 else 32
        body = words.long_body(expr.word, exec_type, count_bits, wraps=wraps)
    return numbers.from_integers(e, body(e, *lanes), target, sat=sat)


def _predicate_logic(e: Emitter, site: Site, expr: Expr, dst: PredicateOperand, sources: list[Value]) -> None:
    """Write logic on whole predicates, from the mask offset on."""
    if expr.word not in meanings.LANE_BOOL_WORDS:
        raise Uncompiled
    offset, lanes = site.control.mask_offset, site.lanes
    bits = []
    for source in sources:
        if not isinstance(source, PredicateOperand):
            raise Uncompiled
        bits.append(e.mask_of(e.predicates[source.var], offset, lanes))
    builder = e.builder
    outcome = {"not": builder.not_, "and": builder.and_, "or": builder.or_, "xor": builder.xor}[expr.word](*bits)
    set_predicate(e, site, dst.var, e.enable(site), outcome)


def set_predicate(e: Emitter, site: Site, var: int, mask: Node | None, bits: Node) -> None:
    """Set the bits of a predicate where ``mask`` is on (None: everywhere); both count from the mask offset."""
    builder, offset = e.builder, site.control.mask_offset
    chosen, cell = e.some(mask, site), e.predicates[var]
    kept = builder.and_(e.get(cell), builder.not_(e.at_lane(chosen, offset)))
    e.set(cell, builder.or_(kept, e.at_lane(builder.and_(bits, chosen), offset)))
