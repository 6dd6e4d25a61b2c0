"""Compiled float results in the rounding modes other than to nearest: toward zero, up and down.

An f32 result is computed in f64 and rounded to odd, so that any further rounding to fewer bits is correct, as in
``sim.exact`` with fractions. Products of two f32 are exact in f64; the error of a sum, a quotient or a root has the
sign of its remainder. NaNs of remainders are ignored; those of results follow ``arithmetic``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from visa_lsp.sim.jit import arithmetic
from visa_lsp.sim.jit.emitter import Emitter, Uncompiled
from visa_lsp.sim.jit.writer import F32, F64, Node, bytes_of, integer, lanes_of, splat, vector
from visa_lsp.sim.values import Rounding

OddWord = Callable[..., "Node"]


def _odd(e: Emitter, near: Node, error: Node) -> Node:
    """Round a result to odd, given the nearest one; ``error`` has the sign of the missing part, or is 0 or NaN."""
    builder, lanes = e.builder, lanes_of(near)
    kind = integer(8 * bytes_of(near.type.element))
    zero = splat(near.type.element, 0.0, lanes)
    bits = builder.bitcast(near, vector(kind, lanes))
    beyond = builder.xor(
        builder.fcmp_ordered("<", error, zero), builder.icmp_signed("<", bits, splat(kind, 0, lanes))
    )  # it lacks something of the other sign: the size is too large
    ulp = splat(kind, 1, lanes)
    cut = builder.select(beyond, builder.sub(bits, ulp), bits)
    odd = builder.bitcast(builder.or_(cut, ulp), near.type)
    return builder.select(builder.fcmp_ordered("!=", error, zero), odd, near)


def _sum(e: Emitter, near: Node, a: Node, b: Node) -> Node:
    """Return a + b rounded to odd; ``near`` is the sum rounded to nearest."""
    builder = e.builder
    other = builder.fsub(near, a)
    error = builder.fadd(builder.fsub(a, builder.fsub(near, other)), builder.fsub(b, other))
    return _odd(e, near, error)


def _quotient(e: Emitter, a: Node, b: Node) -> Node:
    builder = e.builder
    near = arithmetic.div(e, a, b)
    rest = e.each("llvm.fma", builder.fneg(near), b, a)
    return _odd(e, near, builder.fmul(rest, e.each("llvm.copysign", splat(F64, 1.0, lanes_of(b)), b)))


def _inverse(e: Emitter, a: Node) -> Node:
    return _quotient(e, splat(F64, 1.0, lanes_of(a)), a)


def _root(e: Emitter, a: Node) -> Node:
    near = arithmetic.sqrt(e, a)
    return _odd(e, near, e.each("llvm.fma", e.builder.fneg(near), near, a))


# The sources are f32 lanes in f64; for ``mad`` also lanes of hf in f32.
ODD: Final[dict[str, OddWord]] = {
    "add": lambda e, a, b: _sum(e, arithmetic.add(e, a, b), a, b),
    "sub": lambda e, a, b: _sum(e, arithmetic.sub(e, a, b), a, e.builder.fneg(b)),
    "mul": arithmetic.mul,
    "mad": lambda e, a, b, c: _sum(e, arithmetic.fma(e, a, b, c), e.builder.fmul(a, b), c),
    "div": _quotient,
    "divm": _quotient,
    "inv": _inverse,
    "invm": _inverse,
    "sqrt": _root,
    "sqrtm": _root,
}


def round_directed(e: Emitter, word: str, sources: list[Node]) -> Node:
    """Return a word on f32 lanes, rounded by the modes. Raises Uncompiled if there is no compiled form."""
    if word not in ODD or any(s.type.element is not F32 for s in sources):
        raise Uncompiled
    wide = [e.builder.fpext(s, vector(F64, lanes_of(s))) for s in sources]
    return cut(e, ODD[word](e, *wide), F32)


def cut(e: Emitter, value: Node, kind: Node) -> Node:
    """Convert float lanes to a smaller float type, rounded by modes other than to nearest."""
    builder, lanes = e.builder, lanes_of(value)
    near = builder.fptrunc(value, vector(kind, lanes))
    back = builder.fpext(near, value.type)
    whole = vector(integer(8 * bytes_of(kind)), lanes)
    bits, ulp = builder.bitcast(near, whole), splat(whole.element, 1, lanes)
    negative = builder.icmp_signed("<", bits, splat(whole.element, 0, lanes))
    smaller, larger = builder.sub(bits, ulp), builder.add(bits, ulp)
    match e.modes.rounding:
        case Rounding.UP:
            wrong, moved = builder.fcmp_ordered("<", back, value), builder.select(negative, smaller, larger)
        case Rounding.DOWN:
            wrong, moved = builder.fcmp_ordered(">", back, value), builder.select(negative, larger, smaller)
        case _:
            wrong = builder.fcmp_ordered(">", e.each("llvm.fabs", back), e.each("llvm.fabs", value))
            moved = smaller
    return builder.select(wrong, builder.bitcast(moved, near.type), near)
