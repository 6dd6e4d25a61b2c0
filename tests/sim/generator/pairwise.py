"""A small set of combinations in which every pair of values of every two dimensions occurs, or every value.

Greedy and seeded: the same dimensions always give the same set.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import numpy as np

SEED = 20_240_607


@cache
def pairwise(sizes: tuple[int, ...], seed: int = SEED) -> tuple[tuple[int, ...], ...]:
    """Return combinations of indices, one per dimension; dimension i has ``sizes[i]`` values."""
    if len(sizes) == 1:
        return tuple((i,) for i in range(sizes[0]))
    rng = np.random.default_rng(seed)
    starts = np.concatenate(([0], np.cumsum(sizes)))
    owner = np.repeat(np.arange(len(sizes)), sizes)
    # Values of all dimensions in one row: which pairs of them are still missing.
    missing = owner[:, None] != owner[None, :]
    rows = []
    while missing.any():
        first = int(missing.sum(axis=1).argmax())
        others = np.flatnonzero(missing[first])
        chosen = {int(owner[v]): int(v) for v in (first, others[rng.integers(others.size)])}
        for i in rng.permutation(len(sizes)).tolist():
            if i not in chosen:
                gain = missing[list(chosen.values()), starts[i] : starts[i + 1]].sum(axis=0)
                best = np.flatnonzero(gain == gain.max())
                chosen[i] = int(starts[i] + best[rng.integers(best.size)])
        picked = np.array([chosen[i] for i in range(len(sizes))])
        missing[np.ix_(picked, picked)] = False
        rows.append(tuple((picked - starts[:-1]).tolist()))
    return tuple(rows)


def cases(dimensions: dict[str, list], seed: int = SEED) -> list[dict]:
    """Return the combinations as dictionaries, by the names of the dimensions."""
    names = list(dimensions)
    table = pairwise(tuple(len(dimensions[n]) for n in names), seed)
    return [{n: dimensions[n][i] for n, i in zip(names, row, strict=True)} for row in table]


def each_value(found: Iterable[dict]) -> list[dict]:
    """As many of the combinations as it takes for every value of every dimension to occur in one of them."""
    seen: set[tuple[str, str]] = set()
    kept = []
    for case in found:
        values = {(name, repr(value)) for name, value in case.items()}
        if not values <= seen:
            kept.append(case)
            seen.update(values)
    return kept
