"""Float arithmetic on exact fractions: for rounding modes other than to nearest, and for fused f64.

Slow and obvious: each lane is computed as a ``Fraction`` and rounded once. Words that ``odd_formulas`` has are computed in
f64 for all lanes of f32 and hf at once (``tests/sim/test_exact.py`` compares). Lanes with infinities, NaN or an exact zero
keep the value that IEEE arithmetic gives. Results for f32 and hf are f64 rounded to odd, which ``values.narrow`` then
rounds in the right direction; results for f64 are final.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import floor, isfinite, isinf, nextafter
from typing import Any, Final

import numpy as np

from visa_lsp.sim.odd_formulas import ODD
from visa_lsp.sim.values import Rounding
from visa_lsp.sim.words import FLOAT, RULED_ARRAYS, multiply_add

Array = np.ndarray[Any, np.dtype[Any]]

INF: Final = float("inf")

_RATIONAL: Final[dict[str, Callable[..., Fraction]]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "mad": lambda a, b, c: a * b + c,
    "add3": lambda a, b, c: a + b + c,
    "div": lambda a, b: a / b,
    "divm": lambda a, b: a / b,
    "inv": lambda a: 1 / a,
    "invm": lambda a: 1 / a,
    "lrp": lambda a, b, c: a * b + (1 - a) * c,
    "frc": lambda a: a - floor(a),
}
WORDS: Final = frozenset({*_RATIONAL, "sqrt", "sqrtm"})


def evaluate(word: str, sources: list[Array], mode: Rounding, *, double: bool) -> Array:
    """Evaluate a word on f64 lanes that hold the exact source values; ``double``: the result is f64, rounded by ``mode``.

    Otherwise the sources are values of f32 or hf.
    """
    if not double and word in ODD:
        with np.errstate(all="ignore"):
            return np.asarray(ODD[word](RULED_ARRAYS, *(np.asarray(s, np.float64) for s in sources)))
    return lane_by_lane(word, sources, mode, double=double)


def lane_by_lane(word: str, sources: list[Array], mode: Rounding, *, double: bool) -> Array:
    """Evaluate a word by fractions, lane by lane."""
    lanes = np.broadcast_arrays(*(np.asarray(s, np.float64) for s in sources))
    out = [_lane(word, list(row), mode, double=double) for row in zip(*(s.tolist() for s in lanes), strict=True)]
    return np.array(out, np.float64)


def _lane(word: str, values: list[float], mode: Rounding, *, double: bool) -> float:
    if word in ("sqrt", "sqrtm"):
        return _root(values[0], mode, double=double)
    if not all(map(isfinite, values)):
        return _special(word, values)
    try:
        exact = _RATIONAL[word](*map(Fraction, values))
    except ZeroDivisionError:
        return _special(word, values)
    if exact == 0:
        return _special(word, values)
    return _round(exact, mode) if double else _odd(exact)


def _special(word: str, values: list[float]) -> float:
    lanes = [np.array([v]) for v in values]
    with np.errstate(all="ignore"):
        if word != "mad":
            return float(FLOAT[word](*lanes)[0])
        a, b, c = values
        if isinf(c) and isfinite(a) and isfinite(b):
            return c  # a product that is too large for f64 is finite nevertheless
        return float(multiply_add(*lanes)[0])


def round_fraction(exact: Fraction, *, double: bool) -> float:
    """Return a fraction as f64, rounded to nearest; for narrower types rounded to odd, so that another rounding is right."""
    return _nearest(exact) if double or exact == 0 else _odd(exact)


def _nearest(exact: Fraction) -> float:
    try:
        return exact.numerator / exact.denominator
    except OverflowError:
        return INF if exact > 0 else -INF


def _round(exact: Fraction, mode: Rounding) -> float:
    near = _nearest(exact)
    if mode is Rounding.EVEN:
        return near
    # An overflow to infinity is a rounding error in the direction of its sign.
    place = Fraction(near) if isfinite(near) else 2 * exact
    error = (place > exact) - (place < exact)
    if error == 0:
        return near
    if mode is Rounding.UP:
        return nextafter(near, INF) if error < 0 else near
    if mode is Rounding.DOWN:
        return nextafter(near, -INF) if error > 0 else near
    return nextafter(near, 0.0) if (error > 0) == (exact > 0) else near


def _odd(exact: Fraction) -> float:
    cut = _round(exact, Rounding.ZERO)
    if Fraction(cut) == exact:
        return cut
    bits = int(np.float64(cut).view(np.int64)) | 1
    return float(np.int64(bits).view(np.float64))


def _root(value: float, mode: Rounding, *, double: bool) -> float:
    near = float(np.sqrt(np.float64(value)))
    if not isfinite(near) or near == 0:
        return near
    square = Fraction(near) ** 2
    error = (square > Fraction(value)) - (square < Fraction(value))
    if error == 0 or (double and mode is Rounding.EVEN):
        return near
    cut = nextafter(near, 0.0) if error > 0 else near
    if not double:
        return float(np.int64(int(np.float64(cut).view(np.int64)) | 1).view(np.float64))
    return nextafter(cut, INF) if mode is Rounding.UP else cut
