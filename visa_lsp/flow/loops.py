"""Natural loops: a head that dominates the sources of its back edges, and all blocks on paths from it to these sources.

Loops with the same head are one loop. A cycle with more than one entry is not a natural loop, and does not count for the
depth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from visa_lsp.flow.solve import closure

if TYPE_CHECKING:
    from visa_lsp.flow.graph import Graph


class Loop(Struct, frozen=True):
    """A loop: its head, its blocks including the head, the head of the loop around it (or -1)."""

    head: int
    blocks: frozenset[int]
    parent: int
    depth: int  # 1: no loop around it


class Loops(Struct, frozen=True):
    """The loops of a body by head, and the loop depth of each block."""

    by_head: dict[int, Loop]
    depths: tuple[int, ...]


def loops_of(graph: Graph) -> Loops:
    """Find the loops within each subroutine of a body."""
    latches: dict[int, list[int]] = {}
    for source, targets in enumerate(graph.successors):
        for target in targets:
            if graph.dominates(target, source):
                latches.setdefault(target, []).append(source)
    bodies = {head: _body(graph, head, sources) for head, sources in latches.items()}
    # Of two natural loops with different heads, one contains the other or they share no block. In order from large to
    # small, the last loop that contains a head is the loop around it.
    innermost: dict[int, int] = {}
    by_head: dict[int, Loop] = {}
    for head in sorted(bodies, key=lambda h: (-len(bodies[h]), h)):
        parent = innermost.get(head, -1)
        depth = by_head[parent].depth + 1 if parent != -1 else 1
        by_head[head] = Loop(head, bodies[head], parent, depth)
        innermost.update(dict.fromkeys(bodies[head], head))
    depths = tuple(by_head[innermost[n]].depth if n in innermost else 0 for n in range(len(graph.blocks)))
    return Loops(by_head, depths)


def _body(graph: Graph, head: int, latches: list[int]) -> frozenset[int]:
    def behind(block: int) -> list[int]:
        # Unreachable code that enters a loop is not part of it.
        return [] if block == head else [b for b in graph.predecessors[block] if graph.dominates(head, b)]

    return frozenset(closure([head, *latches], behind))
