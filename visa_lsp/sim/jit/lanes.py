"""Compiles lane instructions from the expression in their row: sources, word, result, as in ``sim.lanes``.

Integer words are the formulas of ``sim.integer_formulas``, in so many bits that they are exact. Words of floats have one
function each. Those without one are left to the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from visa_lsp.isa import types as ty
from visa_lsp.isa.operands import OperandModifier
from visa_lsp.program.model import PredicateOperand, Value
from visa_lsp.sim import exact, values, words
from visa_lsp.sim.integer_formulas import Words, dp4a
from visa_lsp.sim.jit import check_instrumentation, numbers
from visa_lsp.sim.jit.arithmetic import add, div, fma, in_double, mul, sqrt, sub
from visa_lsp.sim.jit.emitter import Emitter, Uncompiled
from visa_lsp.sim.jit.lane_formulas import LaneNumbers, LaneOperations, body_of, round_directed, round_to_odd
from visa_lsp.sim.jit.writer import Node, integer, lanes_of, splat
from visa_lsp.sim.lane_formulas import FORMULAS
from visa_lsp.sim.lanes import compose, modifier_of, saturates, source_count, words_of

if TYPE_CHECKING:
    from visa_lsp.isa.lane import Expr
    from visa_lsp.sim.operands import Site

Body = Callable[..., "Node"]


# ---- floats


def _like(value: Node, number: float) -> Node:
    """Return a constant for a value: equal lanes of its type."""
    return splat(value.type.element, number, lanes_of(value))


def _choose_float(e: Emitter, a: Node, b: Node, *, relation: str) -> Node:
    nan = e.builder.fcmp_unordered("uno", b, b)
    return e.builder.select(e.builder.or_(nan, e.builder.fcmp_ordered(relation, a, b)), a, b)


def _lrp(e: Emitter, a: Node, b: Node, c: Node) -> Node:
    return add(e, mul(e, a, b), mul(e, sub(e, _like(a, 1.0), a), c))


FLOAT: Final[dict[str, Body]] = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "mad": fma,
    "add3": lambda e, a, b, c: add(e, add(e, a, b), c),
    "div": div,
    "divm": div,
    "min": partial(_choose_float, relation="<"),
    "max": partial(_choose_float, relation=">"),
    "frc": lambda e, a: sub(e, a, e.each("llvm.floor", a)),
    "rndd": lambda e, a: e.each("llvm.floor", a),
    "rndu": lambda e, a: e.each("llvm.ceil", a),
    "rnde": lambda e, a: e.each("llvm.nearbyint", a),
    "rndz": lambda e, a: e.each("llvm.trunc", a),
    "inv": lambda e, a: div(e, _like(a, 1.0), a),
    "invm": lambda e, a: div(e, _like(a, 1.0), a),
    "sqrt": sqrt,
    "sqrtm": sqrt,
    "rsqrt": in_double(lambda e, a: div(e, _like(a, 1.0), sqrt(e, a))),
    "rsqrtm": in_double(lambda e, a: div(e, _like(a, 1.0), sqrt(e, a))),
    "lrp": in_double(_lrp),
    **{word: body_of(word) for word in FORMULAS},
}


# ---- instructions


def emit_lane(e: Emitter, site: Site, expr: Expr) -> None:
    """Write an instruction whose meaning is an expression. Raises Uncompiled if only the interpreter can execute it."""
    dst = site.inst.get("dst")
    sources = [site.inst.get(f"src{i}") for i in range(source_count(expr))]
    if isinstance(dst, PredicateOperand):
        _predicate_logic(e, site, expr, dst, sources)
        return
    exec_type = values.execution_type(site.operand_type(s) for s in sources)
    target = site.operand_type(dst)
    if expr.word in words.ON_BITS and (exec_type.is_float or target.is_float):
        raise Uncompiled
    if exec_type.is_float:
        result = _float(e, site, expr, exec_type, sources, dst)
    else:
        result = _integer(e, site, expr, exec_type, sources, dst)
    numbers.write(e, site, dst, result, e.enable(site))


def _float(e: Emitter, site: Site, expr: Expr, exec_type: ty.DataType, sources: list[Value], dst: Value) -> Node:
    def leaf(word: str) -> Body:
        if word not in FLOAT:
            raise Uncompiled
        return partial(round_to_odd, e, word) if word == "mad" and exec_type is ty.HF else partial(FLOAT[word], e)

    lanes = [numbers.floats(e, site, s, exec_type) for s in sources]
    if e.modes.to_nearest or expr.word not in exact.WORDS:
        value = compose(expr, leaf, lambda n: _like(lanes[0], n))(lanes)
    elif exec_type is ty.F:
        value = round_directed(e, expr.word, lanes)
    else:
        raise Uncompiled
    return numbers.from_floats(e, value, exec_type, site, dst)


def _exact_bits(used: set[str], exec_type: ty.DataType, target: ty.DataType, *, wraps: bool) -> int:
    """Return the bits of lanes in which words are exact; ``wraps``: only the low bits of the result count.

    Modifiers may give a source one more bit than its type.
    """
    if wraps:
        grows = {"mulh"} if target.size == 8 else set()
    else:
        grows = {"lrp", "mul", "mad", "mulh"} | ({"shl"} if target.size == 8 else set())
    if exec_type.is_signed or exec_type.size == 2:
        grows -= {"mul", "mad", "mulh"}  # because their products have less than 64 bits
    return 128 if exec_type.size == 8 or used & grows else 64


def _integer(e: Emitter, site: Site, expr: Expr, exec_type: ty.DataType, sources: list[Value], dst: Value) -> Node:
    used = words_of(expr)
    target, sat = site.operand_type(dst), saturates(dst)
    wraps = target.is_int and not sat
    if used <= words.RING and wraps:
        bits = 32 if max(target.size, exec_type.size) <= 4 else 64
    elif expr.word == "src" and modifier_of(sources[0]) is OperandModifier.NONE:
        # A conversion, which depends only on the bits and their sign.
        signed = values.is_read_signed(site.operand_type(sources[0]), exec_type)
        return numbers.from_integers(e, numbers.read(e, site, sources[0]), target, sat=sat, signed=signed)
    else:
        bits = _exact_bits(used, exec_type, target, wraps=wraps)
        bits += bits == 128 and site.lanes == 1  # because LLVM ends the process at some shifts of <1 x i128>
    count_bits = 64 if target.size == 8 or exec_type.size == 8 else 32
    formulas = Words(LaneOperations(e, site.lanes), exec_type.bits, exec_type.is_signed, count_bits)

    def leaf(word: str) -> Body:
        signs = tuple(site.operand_type(s).is_signed for s in sources[1:])
        formula = partial(dp4a, signs=signs) if word == "dp4a" else formulas.formula(word)
        if formula is None:
            raise Uncompiled
        return formula

    extended = values.extend_type(used, exec_type, target)
    lanes = [LaneNumbers(e, numbers.integers(e, site, s, extended, bits)) for s in sources]
    if e.mode.watched and expr.word in ("div", "mod"):
        zero, enabled = (lanes[1] < 1) & (lanes[1] > -1), e.lanes(e.enable(site), site.lanes)
        wrong = zero.node if enabled is None else e.builder.and_(zero.node, enabled)
        check_instrumentation.suspect(e, check_instrumentation.any_of(e, wrong))
    result = compose(expr, leaf, lambda n: LaneNumbers(e, splat(integer(bits), n, site.lanes)))(lanes)
    return numbers.from_integers(e, result.node, target, sat=sat)


def _predicate_logic(e: Emitter, site: Site, expr: Expr, dst: PredicateOperand, sources: list[Value]) -> None:
    """Write logic on whole predicates, from the mask offset on."""
    if expr.word not in words.LANE_BOOL_WORDS:
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
