"""The fixpoint loop: every analysis of this room is a set of equations over numbered nodes, solved here.

The loop ends for equations that are monotone over a lattice of finite height. The answer does not depend on ``order``;
only the number of evaluations does.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    N = TypeVar("N", bound="Hashable")
V = TypeVar("V")


def solve(
    values: list[V], order: Sequence[int], dependents: Sequence[Iterable[int]], evaluate: Callable[[int], V]
) -> list[V]:
    """Evaluate nodes until none changes; ``values`` is updated in place and returned.

    ``order`` lists the nodes to evaluate, best first: in the direction of the analysis.
    ``evaluate`` returns the value of a node from ``values``; ``dependents`` the nodes whose value depends on it.
    """
    rank = {node: place for place, node in enumerate(order)}
    waiting = list(range(len(order)))
    heapify(waiting)
    queued = set(waiting)
    while waiting:
        place = heappop(waiting)
        queued.discard(place)
        node = order[place]
        value = evaluate(node)
        if value == values[node]:
            continue
        values[node] = value
        for dependent in dependents[node]:
            behind = rank.get(dependent)
            if behind is not None and behind not in queued:
                queued.add(behind)
                heappush(waiting, behind)
    return values


def closure(starts: Iterable[N], ahead: Callable[[N], Iterable[N]]) -> set[N]:
    """Return the least set that contains ``starts`` and, for each member, the nodes ``ahead`` of it."""
    found = set(starts)
    waiting = list(found)
    while waiting:
        for node in ahead(waiting.pop()):
            if node not in found:
                found.add(node)
                waiting.append(node)
    return found
