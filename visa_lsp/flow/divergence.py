"""Divergent blocks: a part of the thread's lanes runs them while others wait elsewhere.

Control always continues at the lowest place with active lanes, and lanes join in the order of the body: lanes that
branch forward are away up to the target, lanes that stay behind a backward branch are away as long as the loop runs.
Lanes that end the thread no longer count. Over-approximated: every predicate counts as different between lanes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from visa_lsp.flow.graph import Block, EdgeKind, Graph
from visa_lsp.flow.solve import closure
from visa_lsp.isa.model import FlowClass


def divergent_blocks(graph: Graph) -> frozenset[int]:
    """Return the blocks in which some lanes may be away."""
    bodies = _Bodies(graph)
    starts = {number for block in graph.blocks for number in bodies.split(block)}
    return frozenset(closure(starts, bodies.spread))


_TOGETHER: Final = frozenset({FlowClass.JUMP, FlowClass.SWITCH})


class _Bodies:
    """Finds the blocks that become divergent because a block splits the lanes, or is divergent itself."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        # Each block is yielded once. Links from a block to itself or a later block lead to the next block that is not
        # yielded yet.
        self._untold = list(range(len(graph.blocks) + 1))
        self._reported_bodies: set[int] = set()
        self._members: dict[int, frozenset[int]] = {}
        callees = {edge.target for edge in graph.edges if edge.kind is EdgeKind.CALL}
        self._called = {number for entry in callees for number in self.members(entry)}

    def members(self, entry: int) -> frozenset[int]:
        """Return the blocks of the subroutine that begins with a block."""
        found = self._members.get(entry)
        if found is None:
            ahead = self.graph.successors
            found = self._members[entry] = frozenset(closure([entry], lambda block: ahead[block]))
        return found

    def split(self, block: Block) -> Iterator[int]:
        """Yield the blocks in which lanes are away because ``block`` splits them."""
        for step in self.graph.code(block):
            # With one lane, and by a jump, all lanes branch or none.
            if step.condition and step.lanes > 1 and step.flow not in _TOGETHER:
                yield from self._away(block, step.flow)

    def spread(self, number: int) -> Iterator[int]:
        """Yield the blocks in which lanes are away if they are away in a block."""
        block = self.graph.blocks[number]
        for step in self.graph.code(block):
            yield from self._away(block, step.flow)

    def _away(self, block: Block, flow: FlowClass) -> Iterator[int]:
        here = block.number
        match flow:
            case FlowClass.CALL | FlowClass.KERNEL_CALL:
                for target in self._edges(here, EdgeKind.CALL):
                    yield from self._all_of(target)
            case FlowClass.JUMP | FlowClass.SWITCH:
                yield from self._past(here, self._edges(here, EdgeKind.BRANCH, EdgeKind.BACK))
            case FlowClass.GOTO | FlowClass.WHILE | FlowClass.CONTINUE:
                yield from self._between(here, self._edges(here, EdgeKind.BRANCH, EdgeKind.BACK))
            case FlowClass.IF | FlowClass.ELSE | FlowClass.BREAK:
                yield from self._between(here, self._edges(here, EdgeKind.BRANCH))
            case FlowClass.RETURN | FlowClass.FUNCTION_RETURN if here in self._called or flow is not FlowClass.RETURN:
                # Lanes that return to the caller become active there.
                if here + 1 < len(self.graph.blocks):
                    yield from self._all_of(here + 1)
            case _:
                pass

    def _edges(self, source: int, *kinds: EdgeKind) -> list[int]:
        return [e.target for e in self.graph.edges_from[source] if e.kind in kinds]

    def _past(self, here: int, targets: Iterable[int]) -> Iterator[int]:
        """Yield the blocks in which lanes are away after a jump of the thread; a jump forward may pass waiting lanes."""
        for target in targets:
            if target <= here:
                yield from self._range(target, here + 1)
            elif target > here + 1:
                yield from self._all_of(target)

    def _between(self, here: int, targets: Iterable[int]) -> Iterator[int]:
        for target in targets:
            yield from self._range(here + 1, target) if target > here else self._range(target, here + 1)

    def _all_of(self, entry: int) -> Iterator[int]:
        if entry not in self._reported_bodies:
            self._reported_bodies.add(entry)
            yield from self.members(entry)

    def _range(self, first: int, end: int) -> Iterator[int]:
        """Yield the blocks of a range that have not been yielded."""
        untold = self._untold
        number = first
        while True:
            while untold[number] != number:
                untold[number] = untold[untold[number]]
                number = untold[number]
            if number >= end:
                return
            untold[number] = number + 1
            yield number
