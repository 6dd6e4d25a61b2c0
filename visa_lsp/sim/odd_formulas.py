"""Results of f32 operations as f64 rounded to odd, as formulas for both engines: rounding them once more is right in any mode.

Products of two f32 are exact in f64; the missing part of a sum, a quotient or a root has the sign of its remainder.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from visa_lsp.sim.lane_formulas import Lanes, Operations

_LOW_HALF: Final = (1 << 27) - 1  # of the bits of a mantissa


class RuledOperations(Operations, Protocol):
    """The operations of formulas, and those of floats with the NaNs required by the rule of ``sim.words``."""

    def add(self, a: Lanes, b: Lanes) -> Lanes:
        """Return a + b."""

    def multiply(self, a: Lanes, b: Lanes) -> Lanes:
        """Return a * b."""

    def multiply_add(self, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
        """Return a * b + c of lanes whose product is exact."""

    def divide(self, a: Lanes, b: Lanes) -> Lanes:
        """Return a / b."""

    def root(self, a: Lanes) -> Lanes:
        """Return the square root of a."""


def to_odd(o: Operations, near: Lanes, error: Lanes) -> Lanes:
    """Round a result to odd, given the nearest one; ``error`` has the sign of the missing part, or is 0 or NaN."""
    bits = o.bits(near)
    # The size is too large if something of the other sign is missing.
    cut = o.choose((error < 0.0) ^ (bits < 0), bits - 1, bits)
    return o.choose((error < 0.0) | (error > 0.0), o.of_bits(cut | 1), near)


def find_error(near: Lanes, a: Lanes, b: Lanes) -> Lanes:
    """Return the missing part of a sum."""
    other = near - a
    return (a - (near - other)) + (b - other)


def _split(o: Operations, near: Lanes) -> tuple[Lanes, Lanes]:
    """Return a number as the sum of two whose products with an f32, and with each other, are exact."""
    high = o.of_bits(o.bits(near) & ~_LOW_HALF)
    return high, near - high


def _add(o: RuledOperations, a: Lanes, b: Lanes) -> Lanes:
    near = o.add(a, b)
    return to_odd(o, near, find_error(near, a, b))


def _multiply(o: RuledOperations, a: Lanes, b: Lanes) -> Lanes:
    return o.multiply(a, b)


def _multiply_add(o: RuledOperations, a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    near = o.multiply_add(a, b, c)
    return to_odd(o, near, find_error(near, a * b, c))


def _divide(o: RuledOperations, a: Lanes, b: Lanes) -> Lanes:
    near = o.divide(a, b)
    high, low = _split(o, near)
    rest = (a - high * b) - low * b
    return to_odd(o, near, o.choose(b < 0.0, -rest, rest))


def _invert(o: RuledOperations, a: Lanes) -> Lanes:
    ones = o.choose(a < 0.0, 1.0, 1.0)
    return _divide(o, ones, a)


def _root(o: RuledOperations, a: Lanes) -> Lanes:
    near = o.root(a)
    high, low = _split(o, near)
    return to_odd(o, near, ((a - high * high) - 2.0 * high * low) - low * low)


ODD: Final[dict[str, Callable[..., Lanes]]] = {
    "add": _add, "mul": _multiply, "mad": _multiply_add, "div": _divide, "divm": _divide,
    "inv": _invert, "invm": _invert, "sqrt": _root, "sqrtm": _root,
}  # fmt: skip
