"""Functions of f32 lanes without an instruction on hosts, each as a formula of f64 operations for both engines.

A formula fixes the order of its roundings, so that the interpreter, which evaluates it in NumPy (``ARRAYS``), and
compiled code compute the same bits on any host. Sources are f32 values as f64 lanes; the relative error of results is
below 2^-44 before they are rounded to f32. Undefined results are one fixed NaN; a NaN source is returned unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import factorial, inf, ldexp, nan
from typing import Any, Final, Protocol

import numpy as np

Lanes = Any  # lanes of f64 or i64, or bits of a comparison, with the operators of Python


class Operations(Protocol):
    """The operations of formulas besides operators."""

    def choose(self, condition: Lanes, a: Lanes | float, b: Lanes | float) -> Lanes:
        """Return lanes of ``a`` if the condition holds, else of ``b``."""

    def is_nan(self, a: Lanes) -> Lanes:
        """Return the mask of NaN lanes."""

    def magnitude(self, a: Lanes) -> Lanes:
        """Return the lanes without their sign."""

    def nearest(self, a: Lanes) -> Lanes:
        """Return the nearest integers, ties to even; f64."""

    def whole(self, a: Lanes) -> Lanes:
        """Return integral f64 lanes as i64."""

    def real(self, a: Lanes) -> Lanes:
        """Return i64 lanes as f64."""

    def bits(self, a: Lanes) -> Lanes:
        """Return the bits of float lanes."""

    def of_bits(self, a: Lanes) -> Lanes:
        """Return the float lanes with these bits."""

    def floor(self, a: Lanes) -> Lanes:
        """Return the largest integers that are not larger; f64."""

    def modulo(self, a: Lanes, b: Lanes) -> Lanes:
        """Return the rest of a division of i64 lanes that has the sign of the divisor, a positive number; 0 by 0."""

    def blend(self, total: Lanes, channel: Lanes, weight: Lanes) -> Lanes:
        """Return a sum and a product, with NaNs by the rule of ``sim.words``; all in f64."""

    def single(self, a: Lanes) -> Lanes:
        """Return f64 lanes as f32."""

    def entries(self, rows: Lanes) -> Sequence[Lanes]:
        """Return the columns of ``QUARTERS`` in these rows."""


_LN2: Final = Fraction("0.69314718055994530941723212145817656807550013436026")
_HALF_PI: Final = Fraction("1.57079632679489661923132169163975144209858469968755")
# The bits of 2 / pi after the binary point.
_TWO_BY_PI: Final = 0xA2F9836E4E441529FC2757D1F534DDC0DB6295993C439041FE5163ABDEBBC561B7246E3A
_PLACES: Final = 288
_MANTISSA: Final = 52
_BIAS: Final = 1023
_ROOT: Final = 0x3FE6A09E667F3BCD  # the bits of the root of 1/2
_MAX_EXPONENT: Final = 200.0  # limit of exponents: beyond it, the power of two is zero or infinity as f32


def _series(terms: Sequence[Fraction]) -> tuple[float, ...]:
    """Return the coefficients of a polynomial, the highest first, given those of a series."""
    return tuple(map(float, reversed(terms)))


_EXP2: Final = _series([_LN2**k / factorial(k) for k in range(14)])
_LOG2: Final = _series([2 / _LN2 / (2 * k + 1) for k in range(12)])  # of f^2, times f, where f = (m - 1) / (m + 1)
_SIN: Final = _series([Fraction((-1) ** k, factorial(2 * k + 1)) for k in range(10)])  # of r^2, times r
_COS: Final = _series([Fraction((-1) ** k, factorial(2 * k)) for k in range(10)])
_TANH: Final = _series([Fraction(1), Fraction(-1, 3), Fraction(2, 15), Fraction(-17, 315), Fraction(62, 2835)])
_LOG2_E: Final = float(1 / _LN2)


def _quarters(power: int) -> list[float]:
    """Return ``2^power`` radians in quarter turns, without whole turns, as a sum whose first two terms have at most 29 bits."""
    left = (_TWO_BY_PI << power) % (4 << _PLACES)
    parts = []
    for places in (27, 56, _PLACES):
        part, left = divmod(left, 1 << _PLACES - places)
        parts.append(ldexp(part, -places))
    return parts


_LAST: Final = 104  # the largest f32 is below 2^24 times 2^104
QUARTERS: Final = np.array([_quarters(power) for power in range(_LAST + 1)])


def _polynomial(x: Lanes, coefficients: Sequence[float]) -> Lanes:
    total: Lanes = coefficients[0]
    for c in coefficients[1:]:
        total = total * x + c
    return total


def _near(o: Operations, x: Lanes) -> Lanes:
    return o.choose(x < _MAX_EXPONENT, o.choose(x > -_MAX_EXPONENT, x, -_MAX_EXPONENT), _MAX_EXPONENT)


def _power(o: Operations, x: Lanes) -> Lanes:
    """Return 2^x of lanes within the range of the exponent."""
    n = o.nearest(x)
    return _polynomial(x - n, _EXP2) * o.of_bits((o.whole(n) + _BIAS) << _MANTISSA)


def _logarithm(o: Operations, x: Lanes) -> Lanes:
    """Return the logarithm to base 2; infinity for infinity, unspecified for negative lanes."""
    regular = (x > 0.0) & (x < inf)
    bits = o.bits(o.choose(regular, x, 1.0))
    exponent = (bits - _ROOT) >> _MANTISSA
    m = o.of_bits(bits - (exponent << _MANTISSA))  # normalized to an interval around 1, from the root of 1/2 on
    f = (m - 1.0) / (m + 1.0)
    logarithm = o.real(exponent) + f * _polynomial(f * f, _LOG2)
    return o.choose(regular, logarithm, o.choose(x > 0.0, inf, -inf))


def exp2(o: Operations, x: Lanes) -> Lanes:
    """Return two to the power of x."""
    return o.choose(o.is_nan(x), x, _power(o, _near(o, x)))


def log2(o: Operations, x: Lanes) -> Lanes:
    """Return the logarithm of x to base 2; of zeros it is -infinity."""
    return o.choose(x >= 0.0, _logarithm(o, x), o.choose(o.is_nan(x), x, nan))


def power(o: Operations, x: Lanes, y: Lanes) -> Lanes:
    """Return |x| to the power of y; 1 where x is 1 or y is 0, also for NaN."""
    x = o.magnitude(x)
    powers = _power(o, _near(o, y * _logarithm(o, x)))
    powers = o.choose(o.is_nan(x), x, o.choose(o.is_nan(y), y, powers))
    return o.choose((o.magnitude(y) <= 0.0) | ((x >= 1.0) & (x <= 1.0)), 1.0, powers)


def _compute_sine(o: Operations, x: Lanes, ahead: int) -> Lanes:
    """Return the sine of x plus ``ahead`` quarter turns."""
    finite = o.magnitude(x) < inf
    regular = o.choose(finite, x, 0.0)
    # x is m times a power of two, which is 2^0 if x is less than 2^24.
    beyond = (o.bits(o.magnitude(regular)) >> _MANTISSA) - (_BIAS + 23)
    beyond = o.choose(beyond > 0, beyond, 0)
    m = regular * o.of_bits((_BIAS - beyond) << _MANTISSA)
    high, middle, low = o.entries(beyond)
    turns = m * high  # exact, like the next product
    n = o.nearest(turns)
    r = (((turns - n) + m * middle) + m * low) * float(_HALF_PI)
    square = r * r
    quarter = o.whole(n) + ahead
    sine = o.choose((quarter & 1) > 0, _polynomial(square, _COS), r * _polynomial(square, _SIN))
    sine = o.choose((quarter & 2) > 0, 0.0 - sine, sine)
    return o.choose(finite, sine, o.choose(o.is_nan(x), x, nan))


def sin(o: Operations, x: Lanes) -> Lanes:
    """Return the sine of x radians."""
    return o.choose(o.magnitude(x) <= 0.0, x, _compute_sine(o, x, 0))


def cos(o: Operations, x: Lanes) -> Lanes:
    """Return the cosine of x radians."""
    return _compute_sine(o, x, 1)


def tanh(o: Operations, x: Lanes) -> Lanes:
    """Return the hyperbolic tangent of x."""
    size = o.magnitude(x)
    far = 1.0 - 2.0 / (_power(o, _near(o, size * (2 * _LOG2_E))) + 1.0)
    far = o.choose(x < 0.0, 0.0 - far, far)
    tangent = o.choose(size < 1 / 32, x * _polynomial(x * x, _TANH), far)
    return o.choose(o.is_nan(x), x, tangent)


def sigm(o: Operations, x: Lanes) -> Lanes:
    """Return 1 / (1 + e^-x)."""
    return o.choose(o.is_nan(x), x, 1.0 / (_power(o, _near(o, x * -_LOG2_E)) + 1.0))


def bf_bits(o: Operations, x: Lanes) -> Lanes:
    """Return the upper halves of f32 lanes, rounded to nearest even; only the low 16 bits of the result count."""
    bits = o.bits(x)
    high = bits >> 16
    rounded = bits + (high & 1) + 0x7FFF >> 16
    return o.choose(o.is_nan(x), 0x7FC0, o.choose(o.magnitude(x) < inf, rounded, high))


FORMULAS: Final[dict[str, Callable[..., Lanes]]] = {
    "exp2": exp2, "log2": log2, "pow": power, "sin": sin, "cos": cos, "tanh": tanh, "sigm": sigm,
}  # fmt: skip


class Arrays:
    """The operations in NumPy."""

    @staticmethod
    def choose(condition: Lanes, a: Lanes | float, b: Lanes | float) -> Lanes:
        """Return lanes of ``a`` if the condition holds, else of ``b``."""
        return np.where(condition, a, b)

    is_nan = staticmethod(np.isnan)
    magnitude = staticmethod(np.abs)
    nearest = staticmethod(np.rint)

    whole = staticmethod(lambda a: a.astype(np.int64))
    real = staticmethod(np.float64)
    floor = staticmethod(np.floor)
    modulo = staticmethod(np.mod)
    blend = staticmethod(lambda total, channel, weight: total + channel.astype(np.float64) * weight)
    single = staticmethod(lambda a: a.astype(np.float32))
    bits = staticmethod(lambda a: a.view(f"i{a.itemsize}"))
    of_bits = staticmethod(lambda a: a.view(np.float64))

    @staticmethod
    def entries(rows: Lanes) -> Sequence[Lanes]:
        """Return the columns of ``QUARTERS`` in these rows."""
        high, middle, low = QUARTERS[rows].T
        return high, middle, low


ARRAYS: Final[Operations] = Arrays()
