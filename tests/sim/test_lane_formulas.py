"""Formulas against mpmath: how far off they are before they are rounded to f32, and what they give at the edges."""

from __future__ import annotations

from math import inf, isnan, nan

import mpmath
import numpy as np
import pytest

from visa_lsp.sim.lane_formulas import ARRAYS, FORMULAS, QUARTERS

EXACT = {
    "exp2": lambda x: mpmath.power(2, x),
    "log2": lambda x: mpmath.log(x, 2),
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tanh": mpmath.tanh,
    "sigm": lambda x: 1 / (1 + mpmath.exp(-x)),
    "pow": mpmath.power,
}
RANGES = {"exp2": (-149, 128), "sigm": (-87, 87)}
POSITIVE = ("log2", "pow")
OFF = 2.0**-44  # of the result; the last bit of an f32 is 2^-24 of it


def sources(word, count=1500):
    """F32 numbers: near ones, and for what takes them those with any bits."""
    random = np.random.default_rng(11)
    low, high = RANGES.get(word, (-40, 40))
    found = [random.uniform(low, high, count)]
    if word not in RANGES:
        bits = random.integers(0, 1 << 32, count, np.uint32).view(np.float32)
        found += [
            bits[np.isfinite(bits)],
            1 + random.uniform(-1e-3, 1e-3, count // 4),
            random.uniform(-1e-3, 1e-3, count // 4),
        ]
    lanes = np.concatenate(found).astype(np.float32).astype(np.float64)
    lanes = np.abs(lanes) if word in POSITIVE else lanes
    return lanes[lanes != 0]


@pytest.mark.parametrize("word", FORMULAS)
def test_results_are_near(word):
    lanes = [sources(word)]
    if word == "pow":
        lanes.append(np.random.default_rng(12).uniform(-3, 3, lanes[0].size).astype(np.float32).astype(np.float64))
    with np.errstate(all="ignore"):
        found = FORMULAS[word](ARRAYS, *lanes)
    compared = 0
    with mpmath.workprec(300):  # the largest angle has 128 bits before its point
        for *given, one in zip(*(a.tolist() for a in lanes), found.tolist(), strict=True):
            exact = EXACT[word](*map(mpmath.mpf, given))
            if exact == 0 or not 2.0**-150 < abs(exact) < 2.0**128:
                continue
            compared += 1
            assert abs(one - exact) <= OFF * abs(exact), given
    assert compared > 1000


def test_angles_are_turned_by_the_bits_of_pi():
    with mpmath.workprec(500):
        for power, parts in enumerate(QUARTERS.tolist()):
            exact = mpmath.ldexp(2 / mpmath.pi, power) % 4
            assert abs(sum(map(mpmath.mpf, parts)) - exact) < mpmath.ldexp(1, -100)


EDGES = {
    "exp2": [(inf, inf), (-inf, 0.0), (0.0, 1.0), (128.0, inf), (127.0, 2.0**127), (-149.0, 2.0**-149), (-151.0, 0.0)],
    "log2": [(inf, inf), (0.0, -inf), (-0.0, -inf), (1.0, 0.0), (8.0, 3.0), (-1.0, nan), (-inf, nan), (2.0**-149, -149.0)],
    "sin": [(inf, nan), (-inf, nan), (0.0, 0.0), (-0.0, -0.0)],
    "cos": [(inf, nan), (-inf, nan), (0.0, 1.0), (-0.0, 1.0)],
    "tanh": [(inf, 1.0), (-inf, -1.0), (0.0, 0.0), (-0.0, -0.0), (50.0, 1.0)],
    "sigm": [(inf, 1.0), (-inf, 0.0), (0.0, 0.5), (90.0, 1.0)],
}  # fmt: skip
POWERS = {
    (2.0, 0.0): 1.0, (nan, 0.0): 1.0, (1.0, nan): 1.0, (1.0, inf): 1.0, (nan, 2.0): nan, (2.0, nan): nan, (0.0, 2.0): 0.0,
    (0.0, -2.0): inf, (inf, 2.0): inf, (inf, -1.0): 0.0, (0.5, inf): 0.0, (0.5, -inf): inf, (2.0, inf): inf, (-3.0, 3.0): 27.0,
    (-1.0, inf): 1.0, (0.0, 0.0): 1.0, (inf, 0.0): 1.0,
}  # fmt: skip
CASES = [(word, (x,), y) for word, some in EDGES.items() for x, y in some]
CASES += [(word, (nan,), nan) for word in EDGES] + [("pow", pair, y) for pair, y in POWERS.items()]


@pytest.mark.parametrize(("word", "given", "expected"), CASES)
def test_edges_are_exact(word, given, expected):
    with np.errstate(all="ignore"):
        (found,) = FORMULAS[word](ARRAYS, *(np.array([x]) for x in given)).astype(np.float32).tolist()
    assert (isnan(found) and isnan(expected)) or (found, str(found)[0]) == (expected, str(expected)[0])
