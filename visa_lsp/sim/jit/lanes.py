"""Compiles lane instructions from the expression in their row: sources, word, result, as in ``sim.lanes``.

The words of ``isa.lane`` have one function each for integer lanes and for float lanes. Each states the bits that it needs
to be exact, and the result of the interpreter at the limits (shift counts, division by zero). Words without a function
here are left to the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from llvmlite import ir

from visa_lsp.isa import types as ty
from visa_lsp.isa.lane import Expr
from visa_lsp.isa.operands import OperandModifier
from visa_lsp.program.model import PredicateOperand, Value
from visa_lsp.sim import exact, values, words
from visa_lsp.sim.jit import check_instrumentation, numbers
from visa_lsp.sim.jit.arithmetic import ODD, add, div, fma, in_double, mul, round_directed, sqrt, sub
from visa_lsp.sim.jit.emitter import Emitter, Uncompiled
from visa_lsp.sim.jit.lane_formulas import body_of
from visa_lsp.sim.jit.writer import F64, Node, integer, lanes_of, splat, vector
from visa_lsp.sim.lane_formulas import FORMULAS
from visa_lsp.sim.lanes import compose, modifier_of, saturates, source_count, words_of

if TYPE_CHECKING:
    from visa_lsp.sim.operands import Site

Body = Callable[..., "Node"]


def _like(value: Node, number: float) -> Node:
    """Return a constant for a value: equal lanes of its type."""
    return splat(value.type.element, number, lanes_of(value))


# ---- integers of any number of bits, if only the low bits of sources and result count

RING: Final[dict[str, Body]] = {
    "add": lambda e, a, b: e.builder.add(a, b),
    "sub": lambda e, a, b: e.builder.sub(a, b),
    "mul": lambda e, a, b: e.builder.mul(a, b),
    "mad": lambda e, a, b, c: e.builder.add(e.builder.mul(a, b), c),
    "add3": lambda e, a, b, c: e.builder.add(e.builder.add(a, b), c),
    "and": lambda e, a, b: e.builder.and_(a, b),
    "or": lambda e, a, b: e.builder.or_(a, b),
    "xor": lambda e, a, b: e.builder.xor(a, b),
    "not": lambda e, a: e.builder.not_(a),
}


# ---- integers of 32 bits: sources and results are the bits of dwords


def _count(e: Emitter, n: Node) -> Node:
    return e.builder.and_(n, _like(n, 31))


def _fbl(e: Emitter, a: Node) -> Node:
    trailing = e.each("llvm.cttz", a, ir.Constant(ir.IntType(1), 0))
    return e.builder.select(e.builder.icmp_unsigned("==", a, _like(a, 0)), _like(a, 0xFFFFFFFF), trailing)


def _lzd(e: Emitter, a: Node) -> Node:
    return e.each("llvm.ctlz", a, ir.Constant(ir.IntType(1), 0))


def _fbh(e: Emitter, a: Node) -> Node:
    return e.builder.select(e.builder.icmp_unsigned("==", a, _like(a, 0)), _like(a, 0xFFFFFFFF), _lzd(e, a))


def _fbh_signed(e: Emitter, a: Node) -> Node:
    negative = e.builder.icmp_signed("<", a, _like(a, 0))
    return _fbh(e, e.builder.select(negative, e.builder.not_(a), a))


def _high(e: Emitter, a: Node, b: Node, *, signed: bool) -> Node:
    wide = vector(integer(64), lanes_of(a))
    extend = e.builder.sext if signed else e.builder.zext
    product = e.builder.mul(extend(a, wide), extend(b, wide))
    return e.builder.trunc(e.builder.lshr(product, _like(product, 32)), a.type)


def _divide(e: Emitter, a: Node, b: Node, *, signed: bool, rest: bool) -> Node:
    """Divide in f64, in which the truncated quotient of two dwords is exact; division by zero gives all ones."""
    builder, lanes = e.builder, lanes_of(a)
    wide, long = vector(F64, lanes), vector(integer(64), lanes)
    to_float = builder.sitofp if signed else builder.uitofp
    nothing = builder.icmp_unsigned("==", b, _like(b, 0))
    divisor = builder.select(nothing, _like(b, 1), b)
    exact = builder.fdiv(to_float(a, wide), to_float(divisor, wide))
    quotient = builder.trunc(builder.fptosi(exact, long), a.type)
    outcome = builder.sub(a, builder.mul(quotient, divisor)) if rest else quotient
    return builder.select(nothing, _like(a, 0xFFFFFFFF), outcome)


def _bfe(e: Emitter, width: Node, offset: Node, value: Node, *, signed: bool) -> Node:
    builder = e.builder
    width, offset = _count(e, width), _count(e, offset)
    end = builder.add(width, offset)
    # An empty field is zero; a field up to the top bit is not truncated.
    left, down = (builder.and_(builder.sub(_like(n, 32), n), _like(n, 31)) for n in (end, width))
    shift = builder.ashr if signed else builder.lshr
    inside, beyond = shift(builder.shl(value, left), down), shift(value, offset)
    reaches = builder.icmp_unsigned(">=", end, _like(end, 32))
    empty = builder.icmp_unsigned("==", width, _like(width, 0))
    if signed:
        empty = builder.and_(empty, builder.not_(reaches))
    return builder.select(empty, _like(value, 0), builder.select(reaches, beyond, inside))


def _bfi(e: Emitter, width: Node, offset: Node, value: Node, base: Node) -> Node:
    builder = e.builder
    width, offset = _count(e, width), _count(e, offset)
    field = builder.shl(builder.sub(builder.shl(_like(width, 1), width), _like(width, 1)), offset)
    placed = builder.and_(builder.shl(value, offset), field)
    return builder.or_(placed, builder.and_(base, builder.not_(field)))


def _dword_body(word: str, *, signed: bool) -> Body:
    """Return the function of a word on the bits of dwords. Raises Uncompiled if there is none."""
    bodies = _of_bits(32, signed=signed) | {
        "bfrev": lambda e, a: e.each("llvm.bitreverse", a),
        "lzd": _lzd,
        "fbl": _fbl,
        "fbh": _fbh_signed if signed else _fbh,
        "mulh": partial(_high, signed=signed),
        "div": partial(_divide, signed=signed, rest=False),
        "mod": partial(_divide, signed=signed, rest=True),
        "bfe": partial(_bfe, signed=signed),
        "bfi": _bfi,
    }
    return _body(bodies, word)


def _body(bodies: Mapping[str, Body], word: str) -> Body:
    if word not in bodies:
        raise Uncompiled
    return bodies[word]


def _of_bits(count_bits: int, *, signed: bool) -> dict[str, Body]:
    """Return the words whose shift counts have the lowest bits of a number of ``count_bits`` values."""

    def count(e: Emitter, n: Node) -> Node:
        return e.builder.and_(n, _like(n, count_bits - 1))

    return {
        "shl": lambda e, a, n: e.builder.shl(a, count(e, n)),
        "shr": lambda e, a, n: e.builder.lshr(a, count(e, n)),
        "asr": lambda e, a, n: (e.builder.ashr if signed else e.builder.lshr)(a, count(e, n)),
        "rol": lambda e, a, n: e.each("llvm.fshl", a, a, n),
        "ror": lambda e, a, n: e.each("llvm.fshr", a, a, n),
        "cbit": lambda e, a: e.each("llvm.ctpop", a),
        "min": partial(choose, relation="<", signed=signed),
        "max": partial(choose, relation=">", signed=signed),
    }


def _dot_of_bytes(e: Emitter, signs: Sequence[bool], c: Node, a: Node, b: Node) -> Node:
    """Return the sum of c and the products of four bytes of a and b, exact in 64 bits; ``signs``: bytes of a and b are signed."""
    for place in range(4):
        product = [_byte(e, source, place, signed=signed) for source, signed in zip((a, b), signs, strict=True)]
        c = e.builder.add(c, e.builder.mul(*product))
    return c


def _byte(e: Emitter, value: Node, place: int, *, signed: bool) -> Node:
    top = e.builder.shl(value, _like(value, 56 - 8 * place))
    return (e.builder.ashr if signed else e.builder.lshr)(top, _like(value, 56))


def choose(e: Emitter, a: Node, b: Node, *, relation: str, signed: bool) -> Node:
    """Return ``a`` where the relation holds, else ``b``."""
    compare = e.builder.icmp_signed if signed else e.builder.icmp_unsigned
    return e.builder.select(compare(relation, a, b), a, b)


def _long_body(word: str, exec_type: ty.DataType, count_bits: int, *, wraps: bool) -> Body:
    """Return the function of a word on 64 bits with the exact values of narrower integers, or on plain qwords.

    ``wraps``: only the low bits of the result count. Raises Uncompiled if there is none.
    """
    signed, narrow = exec_type.is_signed, exec_type.size < 8
    bodies = _of_bits(count_bits, signed=narrow or signed)
    if not (wraps or count_bits == 32):
        del bodies["shl"]
    if narrow:
        low, shr = (1 << exec_type.bits) - 1, bodies["shr"]
        del bodies["rol"], bodies["ror"]
        bodies |= {
            "shr": lambda e, a, n: shr(e, e.builder.and_(a, _like(a, low)), n),
            "cbit": lambda e, a: e.each("llvm.ctpop", e.builder.and_(a, _like(a, low))),
            "avg": lambda e, a, b: e.builder.ashr(e.builder.add(e.builder.add(a, b), _like(a, 1)), _like(a, 1)),
        }
    return _body(bodies, word)


# ---- floats


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


def _compose(e: Emitter, expr: Expr, leaf: Callable[[str], Body], sources: list[Node], constant: Any) -> Node:
    lanes = lanes_of(sources[0])
    return compose(expr, lambda word: partial(leaf(word), e), lambda n: splat(constant, n, lanes))(sources)


def _float(e: Emitter, site: Site, expr: Expr, exec_type: ty.DataType, sources: list[Value], dst: Value) -> Node:
    def leaf(word: str) -> Body:
        if word not in FLOAT:
            raise Uncompiled
        return ODD[word] if word == "mad" and exec_type is ty.HF else FLOAT[word]

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
    if used <= words.RING and wraps:
        bits = 32 if max(target.size, exec_type.size) <= 4 else 64
        extended = values.extend_type(used, exec_type, target)
        lanes = [numbers.integers(e, site, s, extended, bits) for s in sources]
        value = _compose(e, expr, lambda w: RING[w], lanes, integer(bits))
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
        return numbers.from_integers(e, _dot_of_bytes(e, signs, *lanes), target, sat=sat)
    if expr.word == "lrp":
        raise Uncompiled
    # Shifts use the converted sources; other words use the values, which may exceed 32 bits after a modifier.
    shifts = expr.word in ("shl", "shr", "asr", "rol", "ror")
    dwords = exec_type.size == 4 or (
        exec_type.size < 4 and expr.word in ("fbl", "lzd")
    )  # extended, they have the same bits
    if flat and wraps and target.size <= 4 and dwords and (plain or shifts or expr.word == "cbit"):
        body = _dword_body(expr.word, signed=exec_type.is_signed)
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
    if expr.word in RING:
        body = RING[expr.word]
    else:
        count_bits = 64 if target.size == 8 or exec_type.size == 8 else 32
        body = _long_body(expr.word, exec_type, count_bits, wraps=wraps)
    return numbers.from_integers(e, body(e, *lanes), target, sat=sat)


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
