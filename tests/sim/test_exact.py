"""Results of f32 that are had at once in f64 are those that fractions give."""

from __future__ import annotations

import numpy as np
import pytest

from visa_lsp.sim.exact import evaluate, lane_by_lane
from visa_lsp.sim.values import Rounding

SPECIAL = np.float32(
    [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-45, -1e-45, 1.1754942e-38, 3.4028235e38, -3.4028235e38]
)


def lanes(random):
    """f32 values of any bits, some near to each other, some special."""
    found = random.integers(0, 1 << 32, 3000, np.uint32).view(np.float32)
    found[::3] = random.normal(size=1000)
    found[1::7] = random.choice(SPECIAL, found[1::7].size)
    return found


@pytest.mark.parametrize(("word", "count"), [("add", 2), ("mul", 2), ("mad", 3), ("div", 2), ("inv", 1), ("sqrt", 1)])
def test_all_lanes_at_once_are_what_each_is_alone(word, count):
    random = np.random.default_rng(7)
    sources = [lanes(random) for _ in range(count)]
    first = evaluate(word, sources, Rounding.ZERO, double=False)
    with np.errstate(all="ignore"):
        second = lane_by_lane(word, sources, Rounding.ZERO, double=False)
    wrong = first.view(np.int64) != second.view(np.int64)
    assert not wrong.any(), [[float(s[wrong][0]) for s in sources], first[wrong][0], second[wrong][0]]
