"""Seeded elements of each type for ``test_every_row``: the corners of the type, small values and random ones."""

from __future__ import annotations

import lane_model as model
import numpy as np

ELEMENTS = 64


def inputs(kind: str, seed: int) -> bytes:
    """Elements with the corners of a type first."""
    rng = np.random.default_rng(seed)
    if kind not in model.FLOATS:
        low, high = model.limits(kind)
        corners = [low, high, 0, 1, low + 1, high - 1, 2, 7, 31, 32, 33]
        raw = rng.bytes(ELEMENTS * model.SIZES[kind])
        values = [model.decode(raw[i : i + model.SIZES[kind]], kind) for i in range(0, len(raw), model.SIZES[kind])]
        small = [v >> 8 * model.SIZES[kind] - 6 for v in values]
        mixed = [*corners, *small[:20], *values][:ELEMENTS]
        rng.shuffle(mixed)
        return b"".join(model.encode(v, kind, kind) for v in mixed)
    top = 2.0 ** min(model.FLOATS[kind][2], 1000)
    corners = [
        np.nan,
        np.inf,
        -np.inf,
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        2.5,
        -3.5,
        top,
        -top,
        2.0 ** model.FLOATS[kind][1] / 4,
        1 / 3,
    ]
    values = [*corners, *rng.uniform(-8, 8, 30), *rng.uniform(0, 1, ELEMENTS)][:ELEMENTS]
    rng.shuffle(values)
    return b"".join(model.encode(model.from_float(float(v)), kind, kind) for v in values)
