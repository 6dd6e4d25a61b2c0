"""Compiled float operations, with the NaNs required by the rule of ``sim.words``.

LLVM does not guarantee the bits of a NaN: it swaps operands of sums, moves negations into products, and folds constants
with another sign. The machine's own instructions follow the rule. So each operation is an inlined function of assembly
instructions, which LLVM does not change. A host without these instructions selects the NaN lane by lane.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
from llvmlite import ir

from visa_lsp.sim.jit import native
from visa_lsp.sim.jit.writer import F32, F64, I32, Node, bytes_of, constants, integer, lanes_of, splat, vector
from visa_lsp.sim.values import Rounding

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.sim.jit.emitter import Emitter

# Attributes of a function that neither touches memory nor unwinds: LLVM may delete dead stores before it.
_PURE: Final = ("nounwind", "readnone")
_REGISTER: Final = 16  # bytes of the smallest vector register, which also holds smaller vectors


def in_double(function: Callable[..., Node]) -> Callable[..., Node]:
    """Return the function of a word that computes in f64 and rounds once to the type of its sources."""

    def body(e: Emitter, *sources: Node) -> Node:
        own = sources[0].type
        wide = vector(F64, own.count)
        if own.element is not F64:
            sources = tuple(e.builder.fpext(s, wide) for s in sources)
        exact = function(e, *sources)
        return exact if own.element is F64 else e.builder.fptrunc(exact, vector(F32, own.count))

    return body


def quiet(e: Emitter, value: Node) -> Node:
    """Return lanes with quiet NaNs, as after a conversion to another type and back, which LLVM would delete."""
    return mul(e, value, splat(value.type.element, 1.0, lanes_of(value)))


def _operation(e: Emitter, *sources: Node, word: str) -> Node:
    """Return a float operation on lanes; ``fma`` is a * b + c, rounded once."""
    most = native.vector_bytes()
    if not most:
        return _choose(e, word, sources)
    kind = sources[0].type
    name = f"{word}.{8 * bytes_of(kind.element)}x{kind.count}"
    function = e.module.globals.get(name)
    if function is None:
        function = ir.Function(e.module, ir.FunctionType(kind, [kind] * len(sources)), name)
        function.linkage = "internal"
        for attribute in ("alwaysinline", *_PURE):
            function.attributes.add(attribute)
        builder = ir.IRBuilder(function.append_basic_block())
        builder.ret(_instructions(builder, word, function.args, most))
    return e.builder.call(function, sources)


add, sub, mul, div, fma, sqrt = (partial(_operation, word=word) for word in ("add", "sub", "mul", "div", "fma", "sqrt"))


def _instructions(builder: ir.IRBuilder, word: str, sources: list[Node], most: int) -> Node:
    """Return the machine's instructions for lanes, in as few registers of at most ``most`` bytes as possible."""
    kind = sources[0].type
    lanes, size = kind.count, bytes_of(kind.element)
    nothing = ir.Constant(kind, None)
    width = max(_REGISTER, min(most, lanes * size)) // size
    parts = []
    for start in range(0, max(lanes, width), width):
        # Lanes of a register that is not full are zeros.
        own = constants(I32, [min(lane, 2 * lanes - 1) for lane in range(start, start + width)])
        taken = [s if width == lanes else builder.shuffle_vector(s, nothing, own) for s in sources]
        parts.append(_instruction(builder, word, taken))
    while len(parts) > 1:
        width *= 2
        both = constants(I32, range(width))
        parts = [builder.shuffle_vector(a, b, both) for a, b in zip(parts[::2], parts[1::2], strict=True)]
    if width == lanes:
        return parts[0]
    return builder.shuffle_vector(parts[0], ir.Constant(parts[0].type, None), constants(I32, range(lanes)))


def _instruction(builder: ir.IRBuilder, word: str, sources: list[Node]) -> Node:
    kind = sources[0].type
    form = "ps" if kind.element is F32 else "pd"
    # Registers of the AVX encoding, unless only that of AVX-512 fits.
    constraint = "v" if kind.count * bytes_of(kind.element) == 64 else "x"
    if word == "fma":
        # The one of three orders that names the addend last, because NaNs are then selected in the order a, b, c.
        text, where = f"vfmadd231{form} $2, $1, $0", f"={constraint},{constraint},{constraint},0"
    elif word == "sqrt":
        text, where = f"vsqrt{form} $1, $0", f"={constraint},{constraint}"
    else:
        # With a prefix, because the assembler otherwise swaps operands of sums and products to save a byte.
        prefix = "{vex3} " if constraint == "x" and word in ("add", "mul") else ""
        text, where = f"{prefix}v{word}{form} $2, $1, $0", f"={constraint},{constraint},{constraint}"
    code = ir.InlineAsm(ir.FunctionType(kind, [kind] * len(sources)), text, where)
    return builder.call(code, sources, attrs=_PURE)


def _choose(e: Emitter, word: str, sources: tuple[Node, ...]) -> Node:
    """Return the operation for any host: that of LLVM, with NaNs selected explicitly."""
    builder, kind = e.builder, sources[0].type
    size = bytes_of(kind.element)
    match word, sources:
        case "fma", (a, b, c):
            outcome = e.each("llvm.fma", a, b, c)
        case "sqrt", (a,):
            outcome = e.each("llvm.sqrt", a)
        case _, (a, b):
            outcome = getattr(builder, f"f{word}")(a, b)
    whole, lanes = integer(8 * size), kind.count
    invalid = builder.bitcast(splat(whole, _invalid(size), lanes), kind)
    outcome = builder.select(builder.fcmp_unordered("uno", outcome, outcome), invalid, outcome)
    top = splat(whole, 1 << (22 if size == 4 else 51), lanes)
    for source in reversed(sources):
        quieted = builder.bitcast(builder.or_(builder.bitcast(source, top.type), top), kind)
        outcome = builder.select(builder.fcmp_unordered("uno", source, source), quieted, outcome)
    return outcome


def _invalid(size: int) -> int:
    """Return the bits of the NaN that this host computes for zero by zero."""
    zero = np.zeros(1, f"<f{size}")
    with np.errstate(all="ignore"):
        return int((zero / zero).view(f"<u{size}")[0])


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
