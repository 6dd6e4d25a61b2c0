"""Pairs the files of two folders by name."""

from __future__ import annotations

import os
from collections.abc import Iterable


def by_name(a: Iterable[str], b: Iterable[str]) -> dict[str, str]:
    """Pair files with the same path inside their folders, then files with the same stem if it is unique in both."""
    ours, theirs = list(a), dict.fromkeys(b)
    pairs = {name: name for name in ours if name in theirs}
    taken = set(pairs.values())
    left = _stems(name for name in ours if name not in pairs)
    others = _stems(name for name in theirs if name not in taken)
    for stem, names in left.items():
        matches = others.get(stem, [])
        if len(names) == len(matches) == 1:
            pairs[names[0]] = matches[0]
    return pairs


def _stems(names: Iterable[str]) -> dict[str, list[str]]:
    out: dict[str, list[str]] = {}
    for name in names:
        out.setdefault(os.path.basename(name).rpartition(".")[0], []).append(name)  # noqa: PTH119 - text, unchanged
    return out
