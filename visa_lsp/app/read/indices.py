"""Indices of elements as expressions in the number of the lane."""

from __future__ import annotations

from itertools import pairwise


def index_text(elements: list[int], offset: int) -> str:
    """Return the index, as an expression in ``lane``, of these elements for the lanes from ``offset`` on."""
    start, lanes = elements[0], len(elements)
    steps = {b - a for a, b in pairwise(elements)}
    if steps <= {0}:
        return str(start)
    if len(steps) == 1:
        step = steps.pop()
        return _sum("lane" if step == 1 else f"{step} * lane", start - step * offset)
    width = next(i for i in range(1, lanes) if elements[i] - elements[i - 1] != elements[1] - elements[0])
    vert, horz = elements[width] - start, elements[1] - start
    own = "lane" if not offset else f"(lane - {offset})"
    parts = [f"{vert} * ({own} / {width})" if vert != 1 else f"{own} / {width}"] if vert else []
    parts += [f"{own} % {width}" if horz == 1 else f"{horz} * ({own} % {width})"] if horz else []
    return _sum(" + ".join(parts), start)


def _sum(text: str, number: int) -> str:
    return text if not number else f"{text} {'+' if number > 0 else '-'} {abs(number)}"
