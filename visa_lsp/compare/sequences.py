"""The alignment of two sequences of numbers, in order.

Items that occur once in both are anchors; the longest ordered chain of them is used. Between anchors the shortest edit
is searched (Myers, "An O(ND) Difference Algorithm"). If it takes more than ``_MAX_EDITS`` edits, the stretch has pairs
only at its ends: time and memory are bounded, and the result is correct but not minimal.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    Pairs = list[tuple[int, int]]

_MAX_EDITS: Final = 400


def align_levels(levels: Sequence[tuple[Sequence[int], Sequence[int]]]) -> list[tuple[int, int, int]]:
    """Return pairs of equal items with their level. Gaps that remain after a level are aligned by the next one."""
    if not levels:
        return []
    gaps = [(0, len(levels[0][0]), 0, len(levels[0][1]))]
    matches: list[tuple[int, int, int]] = []
    for level, (a, b) in enumerate(levels):
        left = []
        for a_first, a_end, b_first, b_end in gaps:
            pairs = [(a_first + i, b_first + j) for i, j in common(a[a_first:a_end], b[b_first:b_end])]
            matches += [(i, j, level) for i, j in pairs]
            left += gaps_between(pairs, (a_first, a_end, b_first, b_end))
        gaps = left
    return sorted(matches)


def gaps_between(pairs: Pairs, whole: tuple[int, int, int, int]) -> list[tuple[int, int, int, int]]:
    """Return the stretches of ``whole`` that lie between pairs and have items on both sides."""
    a_next, a_end, b_next, b_end = whole
    out = []
    for i, j in [*pairs, (a_end, b_end)]:
        if i > a_next and j > b_next:
            out.append((a_next, i, b_next, j))
        a_next, b_next = i + 1, j + 1
    return out


def common(a: Sequence[int], b: Sequence[int]) -> Pairs:
    """Return pairs ``(i, j)`` with ``a[i] == b[j]``, both growing."""
    out: Pairs = []
    stretches = [(0, len(a), 0, len(b))]
    while stretches:
        a_first, a_end, b_first, b_end = stretches.pop()
        while a_first < a_end and b_first < b_end and a[a_first] == b[b_first]:
            out.append((a_first, b_first))
            a_first, b_first = a_first + 1, b_first + 1
        while a_first < a_end and b_first < b_end and a[a_end - 1] == b[b_end - 1]:
            a_end, b_end = a_end - 1, b_end - 1
            out.append((a_end, b_end))
        if a_first == a_end or b_first == b_end:
            continue
        anchors = _anchors(a, b, (a_first, a_end, b_first, b_end))
        if not anchors:
            pairs = _shortest(a[a_first:a_end], b[b_first:b_end])
            out += [(a_first + i, b_first + j) for i, j in pairs]
            continue
        a_next, b_next = a_first, b_first
        for i, j in [*anchors, (a_end, b_end)]:
            stretches.append((a_next, i, b_next, j))
            a_next, b_next = i + 1, j + 1
        out += anchors
    return sorted(out)


def _anchors(a: Sequence[int], b: Sequence[int], whole: tuple[int, int, int, int]) -> Pairs:
    """Return the longest chain of items that occur once in both stretches."""
    a_first, a_end, b_first, b_end = whole
    in_a = _once(a, a_first, a_end)
    in_b = _once(b, b_first, b_end)
    pairs = [(i, in_b[token]) for token, i in in_a.items() if in_b.get(token, -1) >= 0 and i >= 0]
    return _chain(pairs)


def _once(items: Sequence[int], start: int, end: int) -> dict[int, int]:
    """Return the place of each item; -1 for a repeated one."""
    places: dict[int, int] = {}
    for index in range(start, end):
        places[items[index]] = -1 if items[index] in places else index
    return places


def _chain(pairs: Pairs) -> Pairs:
    """Return the longest chain of pairs, given by growing ``i``, in which ``j`` grows too."""
    ends: list[int] = []  # the least last j of a chain of each length
    last: list[int] = []  # the last pair of that chain
    before: list[int] = []
    for index, (_, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [j]
        last[length : length + 1] = [index]
    chain = []
    index = last[-1] if last else -1
    while index >= 0:
        chain.append(pairs[index])
        index = before[index]
    return chain[::-1]


def _shortest(a: Sequence[int], b: Sequence[int]) -> Pairs:
    """Return the pairs of the shortest edit; empty if it is longer than ``_MAX_EDITS``."""
    shared = set(a) & set(b)
    if not shared:
        return []
    # Items that the other sequence lacks are always edits.
    kept_a = [i for i, token in enumerate(a) if token in shared]
    kept_b = [j for j, token in enumerate(b) if token in shared]
    ends = _furthest([a[i] for i in kept_a], [b[j] for j in kept_b])
    x, y = len(kept_a), len(kept_b)
    pairs: Pairs = []
    for edits in range(len(ends) - 1, 0, -1):
        furthest, k = ends[edits - 1], x - y
        down = k == -edits or (k != edits and furthest.get(k - 1, -1) < furthest.get(k + 1, -1))
        k = k + 1 if down else k - 1
        x_before = furthest[k]
        x_start = x_before if down else x_before + 1
        while x > x_start:
            x, y = x - 1, y - 1
            pairs.append((kept_a[x], kept_b[y]))
        x, y = x_before, x_before - k
    if ends:
        pairs += [(kept_a[x - 1 - n], kept_b[y - 1 - n]) for n in range(min(x, y))]
    return pairs[::-1]


def _furthest(a: Sequence[int], b: Sequence[int]) -> list[dict[int, int]]:
    """Return, for each number of edits, the furthest place on each diagonal; empty if more than ``_MAX_EDITS`` are needed."""
    n, m = len(a), len(b)
    furthest = {1: 0}
    history: list[dict[int, int]] = []
    for edits in range(min(n + m, _MAX_EDITS) + 1):
        now = {}
        for k in range(-edits, edits + 1, 2):
            down = k == -edits or (k != edits and furthest.get(k - 1, -1) < furthest.get(k + 1, -1))
            x = furthest[k + 1] if down else furthest[k - 1] + 1
            while x < n and x - k < m and a[x] == b[x - k]:
                x += 1
            now[k] = x
            if x >= n and x - k >= m:
                return [*history, now]
        history.append(now)
        furthest = now
    return []
