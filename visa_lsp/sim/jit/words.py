"""The compiled words of ``isa.lane``: one function each for integer lanes and for float lanes.

Each function states the bits that it needs to be exact, and the result of the interpreter at the limits (shift counts,
division by zero). Words without a function here are left to the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from llvmlite import ir

from visa_lsp.sim.jit.arithmetic import add, div, fma, in_double, mul, sqrt, sub
from visa_lsp.sim.jit.emitter import Emitter, Uncompiled
from visa_lsp.sim.jit.lane_formulas import body_of
from visa_lsp.sim.jit.writer import F64, Node, integer, lanes_of, splat, vector
from visa_lsp.sim.lane_formulas import FORMULAS

if TYPE_CHECKING:
    from visa_lsp.isa import types as ty

Body = Callable[..., "Node"]


def like(value: Node, number: float) -> Node:
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
    return e.builder.and_(n, like(n, 31))


def _fbl(e: Emitter, a: Node) -> Node:
    trailing = e.each("llvm.cttz", a, ir.Constant(ir.IntType(1), 0))
    return e.builder.select(e.builder.icmp_unsigned("==", a, like(a, 0)), like(a, 0xFFFFFFFF), trailing)


def _lzd(e: Emitter, a: Node) -> Node:
    return e.each("llvm.ctlz", a, ir.Constant(ir.IntType(1), 0))


def _fbh(e: Emitter, a: Node) -> Node:
    return e.builder.select(e.builder.icmp_unsigned("==", a, like(a, 0)), like(a, 0xFFFFFFFF), _lzd(e, a))


def _fbh_signed(e: Emitter, a: Node) -> Node:
    negative = e.builder.icmp_signed("<", a, like(a, 0))
    return _fbh(e, e.builder.select(negative, e.builder.not_(a), a))


def _high(e: Emitter, a: Node, b: Node, *, signed: bool) -> Node:
    wide = vector(integer(64), lanes_of(a))
    extend = e.builder.sext if signed else e.builder.zext
    product = e.builder.mul(extend(a, wide), extend(b, wide))
    return e.builder.trunc(e.builder.lshr(product, like(product, 32)), a.type)


def _divide(e: Emitter, a: Node, b: Node, *, signed: bool, rest: bool) -> Node:
    """Divide in f64, in which the truncated quotient of two dwords is exact; division by zero gives all ones."""
    builder, lanes = e.builder, lanes_of(a)
    wide, long = vector(F64, lanes), vector(integer(64), lanes)
    to_float = builder.sitofp if signed else builder.uitofp
    nothing = builder.icmp_unsigned("==", b, like(b, 0))
    divisor = builder.select(nothing, like(b, 1), b)
    exact = builder.fdiv(to_float(a, wide), to_float(divisor, wide))
    quotient = builder.trunc(builder.fptosi(exact, long), a.type)
    outcome = builder.sub(a, builder.mul(quotient, divisor)) if rest else quotient
    return builder.select(nothing, like(a, 0xFFFFFFFF), outcome)


def _bfe(e: Emitter, width: Node, offset: Node, value: Node, *, signed: bool) -> Node:
    builder = e.builder
    width, offset = _count(e, width), _count(e, offset)
    end = builder.add(width, offset)
    # An empty field is zero; a field up to the top bit is not truncated.
    left, down = (builder.and_(builder.sub(like(n, 32), n), like(n, 31)) for n in (end, width))
    shift = builder.ashr if signed else builder.lshr
    inside, beyond = shift(builder.shl(value, left), down), shift(value, offset)
    reaches = builder.icmp_unsigned(">=", end, like(end, 32))
    empty = builder.icmp_unsigned("==", width, like(width, 0))
    if signed:
        empty = builder.and_(empty, builder.not_(reaches))
    return builder.select(empty, like(value, 0), builder.select(reaches, beyond, inside))


def _bfi(e: Emitter, width: Node, offset: Node, value: Node, base: Node) -> Node:
    builder = e.builder
    width, offset = _count(e, width), _count(e, offset)
    field = builder.shl(builder.sub(builder.shl(like(width, 1), width), like(width, 1)), offset)
    placed = builder.and_(builder.shl(value, offset), field)
    return builder.or_(placed, builder.and_(base, builder.not_(field)))


def dword_body(word: str, *, signed: bool) -> Body:
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
        return e.builder.and_(n, like(n, count_bits - 1))

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


def dot_of_bytes(e: Emitter, signs: Sequence[bool], c: Node, a: Node, b: Node) -> Node:
    """Return the sum of c and the products of four bytes of a and b, exact in 64 bits; ``signs``: bytes of a and b are signed."""
    for place in range(4):
        product = [_byte(e, source, place, signed=signed) for source, signed in zip((a, b), signs, strict=True)]
        c = e.builder.add(c, e.builder.mul(*product))
    return c


def _byte(e: Emitter, value: Node, place: int, *, signed: bool) -> Node:
    top = e.builder.shl(value, like(value, 56 - 8 * place))
    return (e.builder.ashr if signed else e.builder.lshr)(top, like(value, 56))


def choose(e: Emitter, a: Node, b: Node, *, relation: str, signed: bool) -> Node:
    """Return ``a`` where the relation holds, else ``b``."""
    compare = e.builder.icmp_signed if signed else e.builder.icmp_unsigned
    return e.builder.select(compare(relation, a, b), a, b)


def long_body(word: str, exec_type: ty.DataType, count_bits: int, *, wraps: bool) -> Body:
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
            "shr": lambda e, a, n: shr(e, e.builder.and_(a, like(a, low)), n),
            "cbit": lambda e, a: e.each("llvm.ctpop", e.builder.and_(a, like(a, low))),
            "avg": lambda e, a, b: e.builder.ashr(e.builder.add(e.builder.add(a, b), like(a, 1)), like(a, 1)),
        }
    return _body(bodies, word)


# ---- floats


def _lesser(e: Emitter, a: Node, b: Node) -> Node:
    nan = e.builder.fcmp_unordered("uno", b, b)
    return e.builder.select(e.builder.or_(nan, e.builder.fcmp_ordered("<", a, b)), a, b)


def _greater(e: Emitter, a: Node, b: Node) -> Node:
    nan = e.builder.fcmp_unordered("uno", b, b)
    return e.builder.select(e.builder.or_(nan, e.builder.fcmp_ordered(">", a, b)), a, b)


def _lrp(e: Emitter, a: Node, b: Node, c: Node) -> Node:
    return add(e, mul(e, a, b), mul(e, sub(e, like(a, 1.0), a), c))


FLOAT: Final[dict[str, Body]] = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "mad": fma,
    "add3": lambda e, a, b, c: add(e, add(e, a, b), c),
    "div": div,
    "divm": div,
    "min": _lesser,
    "max": _greater,
    "frc": lambda e, a: sub(e, a, e.each("llvm.floor", a)),
    "rndd": lambda e, a: e.each("llvm.floor", a),
    "rndu": lambda e, a: e.each("llvm.ceil", a),
    "rnde": lambda e, a: e.each("llvm.nearbyint", a),
    "rndz": lambda e, a: e.each("llvm.trunc", a),
    "inv": lambda e, a: div(e, like(a, 1.0), a),
    "invm": lambda e, a: div(e, like(a, 1.0), a),
    "sqrt": sqrt,
    "sqrtm": sqrt,
    "rsqrt": in_double(lambda e, a: div(e, like(a, 1.0), sqrt(e, a))),
    "rsqrtm": in_double(lambda e, a: div(e, like(a, 1.0), sqrt(e, a))),
    "lrp": in_double(_lrp),
    **{word: body_of(word) for word in FORMULAS},
}
