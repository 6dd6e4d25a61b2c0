"""The tiers of the tests: default, full and editors, distinguished by the markers `full` and `editors`.

The tests marked `corpus` have more cases where a larger corpus lies beside the repository; `--beside` runs those cases alone.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Hashable, Iterable

import pytest


def chosen(items: list[pytest.Item], config: pytest.Config) -> list[pytest.Item]:
    """Return the items of the tiers that the options name; without an option, those of the default tier.

    With `--beside` only those marked `corpus` are left of them, and those of the default tier are among them. A slice follows
    from a digest of the item's name, so that a new test moves no other test to another slice.
    """
    beside, editors, part = (config.getoption(name) for name in ("--beside", "--editors", "--slice"))
    if beside:
        items = [item for item in items if item.get_closest_marker("corpus")]
    if config.getoption("--full"):
        return items
    number, count = (int(word) for word in (part or "1/1").split("/"))

    def is_chosen(item: pytest.Item) -> bool:
        if item.get_closest_marker("editors"):
            return bool(editors)
        if item.get_closest_marker("full"):
            return bool(part) and zlib.crc32(item.nodeid.encode()) % count == number - 1
        return bool(beside) or not (editors or part)

    return [item for item in items if is_chosen(item)]


def one_of_each(cases: Iterable[object], kind: Callable[[object], Hashable]) -> list[object]:
    """Return the cases as parameters, with only the first of each kind in the default tier."""
    seen = set()
    parameters = []
    for case in cases:
        key = kind(case)
        parameters.append(pytest.param(case, marks=pytest.mark.full) if key in seen else case)
        seen.add(key)
    return parameters


def that_cover(cases: Iterable[object], features: Callable[[object], set[Hashable]]) -> list[object]:
    """Return the cases as parameters, with only those in the default tier that have a feature that no earlier case has."""
    seen: set[Hashable] = set()
    parameters = []
    for case in cases:
        new = features(case) - seen
        parameters.append(case if new else pytest.param(case, marks=pytest.mark.full))
        seen |= new
    return parameters


def in_turns(
    cases: Iterable[object], kind: Callable[[object], Hashable], way: Callable[[object], Hashable]
) -> list[object]:
    """Return the cases in another order, for `one_of_each`: kinds take turns in the way that their first case has."""
    cases = list(cases)
    kinds, ways = (list(dict.fromkeys(map(of, cases))) for of in (kind, way))
    return sorted(cases, key=lambda case: (ways.index(way(case)) - kinds.index(kind(case))) % len(ways))


def first(count: int, cases: Iterable[object]) -> list[object]:
    """Return the cases as parameters, with only the first `count` in the default tier."""
    return [case if i < count else pytest.param(case, marks=pytest.mark.full) for i, case in enumerate(cases)]
