"""Finds the divisor of a multiplication by a reciprocal, as compilers write divisions by constants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from visa_lsp.app.read.tree import Tree, filled, form, leaf, number_of

if TYPE_CHECKING:
    from collections.abc import Callable


class HighHalf(Struct, frozen=True):
    """The upper half of the product of a variable and a number; ``plus``: and the variable is added to it."""

    value: Tree
    factor: int
    is_unsigned: bool
    plus: bool


def high_half(tree: Tree) -> HighHalf | None:
    """Return a value as the upper half of a product; None for another value."""
    plus = form("mul_hi(V, N) + V", tree)
    hit = plus or form("mul_hi(V, N)", tree)
    factor = number_of(hit["N"]) if hit is not None else None
    if hit is None or factor is None or hit["V"].args:
        return None
    return HighHalf(hit["V"], factor, hit["N"].op.endswith("u"), plus is not None)


def find_divisor(half: HighHalf, shift: int, *, signed: bool) -> int:
    """Return the number that every value is divided by, toward zero; 0 if there is none.

    The upper half of a product with ``factor`` is shifted; for signed values, 1 is added to a negative result.
    """
    factor, whole = half.factor, 1 << 32 + shift
    if signed and factor < 0 and half.plus:
        factor += 1 << 32
    elif half.plus or factor <= 0:
        return 0
    divisor = -(-whole // factor)
    error = factor * divisor - whole
    return divisor if divisor > 1 and 0 < error <= (2 if signed else 1) << shift else 0


def as_quotient(tree: Tree, type_of: Callable[[str], str]) -> Tree | None:
    """Write a multiplication of an unsigned value as a quotient, and what a division leaves as a remainder."""
    hit = form("X >> K", tree)
    half, shift = (high_half(hit["X"]), number_of(hit["K"])) if hit is not None else (None, None)
    if half is not None and shift is not None:
        divisor, own = find_divisor(half, shift, signed=False), type_of(half.value.op)
        if divisor and (own == "uint" or (own == "int" and half.is_unsigned)):
            return Tree("/", (half.value if own == "uint" else Tree("(uint)", (half.value,)), leaf(divisor)))
    for pattern, value in (
        ("-D * (V / D) + V", "V % D"),
        ("V / D * -D + V", "V % D"),
        ("-D * (uint)(V / D) + V", "(uint)(V % D)"),
        ("-D * ((uint)V / D) + V", "(uint)V % D"),
    ):
        hit = form(pattern, tree)
        if hit is not None and number_of(hit["D"]) is not None and not hit["V"].args:
            return filled(value, hit)
    return None
