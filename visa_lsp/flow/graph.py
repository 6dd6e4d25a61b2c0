"""The control-flow graph of a body: basic blocks, the edges between them, dominators and orders.

Lanes are not followed: an edge means that some lane may take it. A label, and the step after a branch, begins a block;
blocks are in the order of the body, and block 0 is its start. A call does not end a block unless ``calls_end_blocks``:
then control follows a CALL edge to the subroutine and a RETURN edge back, and the RESUME edge between the two blocks of
the caller is for analyses of one subroutine at a time. Targets that no step defines have no edge.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.flow.solve import closure, solve
from visa_lsp.flow.structured_words import structure_of
from visa_lsp.isa.model import FlowClass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from visa_lsp.flow.steps import LabelKey, Step


class EdgeKind(Enum):
    """The kind of an edge between blocks."""

    FALL = "falls through"
    BRANCH = "branches"
    BACK = "branches back"
    CALL = "calls"
    RETURN = "returns"
    RESUME = "resumes behind a call"


class Edge(Struct, frozen=True):
    """An edge from block ``source`` to block ``target``; ``condition`` is its predicate."""

    source: int
    target: int
    kind: EdgeKind
    condition: str = ""


class Block(Struct, frozen=True):
    """A basic block: the steps ``first`` to ``last``.

    ``labels`` are in it; ``ends``: its last step is a return, so that the thread may end; ``unresolved``: its last step
    is a jump to a label that no step defines.
    """

    number: int
    first: int
    last: int
    labels: tuple[LabelKey, ...]
    ends: bool = False
    unresolved: bool = False


_WITHIN: Final = frozenset({EdgeKind.FALL, EdgeKind.BRANCH, EdgeKind.BACK, EdgeKind.RESUME})
_OPENERS: Final = frozenset({FlowClass.LABEL, FlowClass.SUBROUTINE})
_HEADS: Final = _OPENERS | {FlowClass.DO, FlowClass.ENDIF, FlowClass.WHILE}  # `cont` leads to `while`
CALLS: Final = frozenset({FlowClass.CALL, FlowClass.KERNEL_CALL})
_TAILS: Final = frozenset(f for f in FlowClass if f.branches or f.returns) | {
    FlowClass.IF, FlowClass.ELSE, FlowClass.WHILE, FlowClass.BREAK, FlowClass.CONTINUE,
}  # fmt: skip
_LEAVES: Final = _TAILS - {FlowClass.IF, FlowClass.WHILE}


class Graph(Struct, frozen=True, dict=True):
    """The graph of a body."""

    name: str
    steps: tuple[Step, ...]
    blocks: tuple[Block, ...]
    edges: tuple[Edge, ...]

    def code(self, block: Block) -> tuple[Step, ...]:
        """Return the steps of a block."""
        return self.steps[block.first : block.last + 1]

    @cached_property
    def at_label(self) -> dict[LabelKey, int]:
        """The block of each label; the later one of a repeated label."""
        return {label: block.number for block in self.blocks for label in block.labels}

    @cached_property
    def block_of(self) -> list[int]:
        """The block of each step."""
        return [block.number for block in self.blocks for _ in range(block.first, block.last + 1)]

    @cached_property
    def edges_from(self) -> list[list[Edge]]:
        """The edges that leave each block."""
        found: list[list[Edge]] = [[] for _ in self.blocks]
        for edge in self.edges:
            found[edge.source].append(edge)
        return found

    @cached_property
    def successors(self) -> list[list[int]]:
        """The successors of each block within its subroutine; calls do not count."""
        return self._lists(_WITHIN)

    @cached_property
    def predecessors(self) -> list[list[int]]:
        """The predecessors of each block within its subroutine."""
        return self._lists(_WITHIN, back=True)

    @cached_property
    def flow_successors(self) -> list[list[int]]:
        """The successors of each block for values, into subroutines and back."""
        return self._lists(frozenset(EdgeKind) - {EdgeKind.RESUME})

    @cached_property
    def flow_predecessors(self) -> list[list[int]]:
        """The predecessors of each block for values."""
        return self._lists(frozenset(EdgeKind) - {EdgeKind.RESUME}, back=True)

    def _lists(self, kinds: frozenset[EdgeKind], *, back: bool = False) -> list[list[int]]:
        found: list[dict[int, None]] = [{} for _ in self.blocks]
        for edge in self.edges:
            if edge.kind in kinds:
                source, target = (edge.target, edge.source) if back else (edge.source, edge.target)
                found[source][target] = None
        return [list(targets) for targets in found]

    @cached_property
    def entries(self) -> tuple[int, ...]:
        """Block 0 and the blocks that subroutines begin with."""
        opened = [self.block_of[n] for n, step in enumerate(self.steps) if step.flow is FlowClass.SUBROUTINE]
        called = [edge.target for edge in self.edges if edge.kind is EdgeKind.CALL]
        return tuple(sorted({*opened, *called, *((0,) if self.blocks else ())}))

    def reachable(self) -> frozenset[int]:
        """Return the blocks that a path from the start, calls included, reaches."""
        ahead = self._lists(frozenset(EdgeKind) - {EdgeKind.RETURN})
        return frozenset(closure([0] if self.blocks else [], lambda block: ahead[block]))

    @cached_property
    def order(self) -> list[int]:
        """All blocks in reverse postorder from the entries; unreachable blocks are at the end."""
        above = len(self.blocks)
        found = _postorder(above, [*self.successors, list(reversed(self.entries))])[-2::-1]
        return [*found, *sorted(set(range(above)).difference(found))]

    @cached_property
    def dominators(self) -> list[int]:
        """The immediate dominator of each block within its subroutine.

        -1 for an entry, a block that several entries reach on separate paths, or an unreachable block.
        """
        return dominator_tree(len(self.blocks), self.entries, self.successors, self.predecessors)

    @cached_property
    def post_dominators(self) -> list[int]:
        """The immediate post-dominator of each block; -1 if only the end follows, or no path reaches an end."""
        exits = [b.number for b in self.blocks if b.ends or not self.successors[b.number]]
        return dominator_tree(len(self.blocks), exits, self.predecessors, self.successors)

    @cached_property
    def deciding_branches(self) -> list[tuple[int, ...]]:
        """The steps of the branches that decide whether each block is executed, in order: its control dependences."""
        above = self.post_dominators
        deciders: list[set[int]] = [set() for _ in self.blocks]
        for block in self.blocks:
            ahead = self.successors[block.number]
            if len(ahead) < 2 and not (block.ends and ahead):
                continue
            for start in ahead:
                runner = start
                while runner not in (-1, above[block.number]):
                    deciders[runner].add(block.last)
                    runner = above[runner]
        return [tuple(sorted(steps)) for steps in deciders]

    def has_way(self, start: int, end: int, stops: Sequence[int]) -> bool:
        """Return whether control may get from one step to another without a step of ``stops``, which are in order."""

        def is_free(first: int, last: int) -> bool:
            return bisect_left(stops, first) == bisect_right(stops, last)

        here, there = (self.blocks[self.block_of[number]] for number in (start, end))
        if here is there and start < end and is_free(start, end):
            return True
        if not is_free(start, here.last) or not is_free(there.first, end):
            return False
        free = [is_free(block.first, block.last) for block in self.blocks]
        ahead = self.successors
        return there.number in closure(ahead[here.number], lambda number: ahead[number] if free[number] else ())

    def dominates(self, one: int, other: int) -> bool:
        """Return whether every path from an entry to ``other`` passes ``one``; each block dominates itself."""
        first, last = self._spans[one]
        return first <= self._spans[other][0] <= last

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        """The number of each block in a walk over the tree of dominators, and the last number below it."""
        below: list[list[int]] = [[] for _ in self.blocks]
        for block, above in enumerate(self.dominators):
            if above != -1:
                below[above].append(block)
        spans = [(0, 0)] * len(below)
        order: list[int] = []
        waiting = [block for block, above in enumerate(self.dominators) if above == -1]
        while waiting:
            block = waiting.pop()
            spans[block] = (len(order), len(order))
            order.append(block)
            waiting.extend(below[block])
        for block in reversed(order):
            above = self.dominators[block]
            if above != -1:
                spans[above] = (spans[above][0], max(spans[above][1], spans[block][1]))
        return spans


def dominator_tree(
    count: int, roots: Sequence[int], ahead: Sequence[Sequence[int]], behind: Sequence[Sequence[int]]
) -> list[int]:
    """Return the immediate dominator of each node; -1 for a root, a node below several roots, or an unreachable node."""
    # A node ``count`` is above all roots.
    above = count
    ahead_ = [*ahead, list(roots)]
    order = _postorder(above, ahead_)
    place = {node: number for number, node in enumerate(order)}
    tops = set(roots)

    def sweep(_: int) -> list[int]:
        found = list(values[0])
        for node in reversed(order[:-1]):
            best = above if node in tops else -1
            for before in behind[node]:
                if found[before] != -1:
                    best = before if best == -1 else _meet(best, before, found, place)
            found[node] = best
        return found

    # All blocks are one equation, because the dominators of a block depend on those of all blocks above it.
    values = [[-1] * count + [above]]
    solve(values, [0], [[0]], sweep)
    return [-1 if value == above else value for value in values[0][:count]]


def _meet(one: int, other: int, values: Sequence[int], place: dict[int, int]) -> int:
    """Return the lowest common ancestor of two nodes in the tree found so far."""
    while one != other:
        while place[one] < place[other]:
            one = values[one]
        while place[other] < place[one]:
            other = values[other]
    return one


def _postorder(root: int, ahead: Sequence[Sequence[int]]) -> list[int]:
    done: list[int] = []
    seen = {root}
    path = [(root, iter(ahead[root]))]
    while path:
        node, rest = path[-1]
        following = next((n for n in rest if n not in seen), None)
        if following is None:
            done.append(node)
            path.pop()
        else:
            seen.add(following)
            path.append((following, iter(ahead[following])))
    return done


def graph_of(steps: Sequence[Step], name: str = "", *, calls_end_blocks: bool = False) -> Graph:
    """Return the graph of a body."""
    tails = _TAILS | CALLS if calls_end_blocks else _TAILS
    blocks = tuple(_blocks(steps, tails))
    at_label = {label: block.number for block in blocks for label in block.labels}
    by_nesting = structure_of(step.flow for step in steps)
    block_at = [block.number for block in blocks for _ in range(block.first, block.last + 1)]
    edges: dict[tuple[int, int, EdgeKind], Edge] = {}
    for block in blocks:
        last = steps[block.last]
        structured = [block_at[t] for t in by_nesting.targets(block.last, last.flow) if t < len(block_at)]
        for edge in _find_edges(block, steps, at_label, structured, len(blocks)):
            edges.setdefault((edge.source, edge.target, edge.kind), edge)
    if calls_end_blocks:
        _returns(blocks, steps, edges)
    blocks = tuple(_resolve_block(block, steps[block.last], at_label) for block in blocks)
    found = sorted(edges.values(), key=lambda e: (e.source, e.target, e.kind.value))
    return Graph(name, tuple(steps), blocks, tuple(found))


def _blocks(steps: Sequence[Step], tails: frozenset[FlowClass]) -> Iterator[Block]:
    number, first, only_labels = 0, 0, True
    for place, step in enumerate(steps):
        if step.flow in _HEADS and not only_labels and place > first:
            yield _block(number, first, place - 1, steps)
            number, first, only_labels = number + 1, place, True
        only_labels = only_labels and step.flow in _OPENERS
        if step.flow in tails:
            yield _block(number, first, place, steps)
            number, first, only_labels = number + 1, place + 1, True
    if first < len(steps):
        yield _block(number, first, len(steps) - 1, steps)


def _block(number: int, first: int, last: int, steps: Sequence[Step]) -> Block:
    labels = tuple(s.label for s in steps[first : last + 1] if s.label is not None)
    return Block(number, first, last, labels, steps[last].flow.returns)


def _resolve_block(block: Block, last: Step, at_label: dict[LabelKey, int]) -> Block:
    if not last.flow.branches or all(target in at_label for target in last.targets):
        return block
    return Block(block.number, block.first, block.last, block.labels, block.ends, unresolved=True)


def _find_edges(
    block: Block, steps: Sequence[Step], at_label: dict[LabelKey, int], structured: Iterable[int], count: int
) -> Iterator[Edge]:
    """Yield the edges out of a block, without returns from subroutines."""
    here, last = block.number, steps[block.last]
    for step in steps[block.first : block.last + 1]:
        if step.flow in CALLS:
            for target in step.targets:
                if target in at_label:
                    yield Edge(here, at_label[target], EdgeKind.CALL, step.condition)
    if last.flow.branches:
        for target in last.targets:
            if target in at_label:
                yield Edge(here, at_label[target], _kind(here, at_label[target]), last.condition)
    for number in structured:
        yield Edge(here, number, _kind(here, number), last.condition)
    if here + 1 >= count or (last.flow in _LEAVES and not last.condition):
        return
    negated = f"!({last.condition})" if last.condition and last.flow.branches else ""
    yield Edge(here, here + 1, EdgeKind.FALL, negated)


def _kind(source: int, target: int) -> EdgeKind:
    return EdgeKind.BACK if target <= source else EdgeKind.BRANCH


def _returns(blocks: Sequence[Block], steps: Sequence[Step], edges: dict[tuple[int, int, EdgeKind], Edge]) -> None:
    """Replace the fall-through edge of a call by edges through the subroutine and back."""
    ahead: list[list[int]] = [[] for _ in blocks]
    for edge in edges.values():
        if edge.kind is not EdgeKind.CALL:
            ahead[edge.source].append(edge.target)
    calls: dict[int, list[int]] = {}
    for edge in list(edges.values()):
        if edge.kind is EdgeKind.CALL and edge.source + 1 < len(blocks):
            calls.setdefault(edge.target, []).append(edge.source)
    for entry, callers in calls.items():
        body = closure([entry], lambda block: ahead[block])
        ends = [number for number in sorted(body) if steps[blocks[number].last].flow is FlowClass.RETURN]
        for caller in callers:
            back = caller + 1
            if not steps[blocks[caller].last].condition:
                edges.pop((caller, back, EdgeKind.FALL), None)
            edges[caller, back, EdgeKind.RESUME] = Edge(caller, back, EdgeKind.RESUME)
            edges.update({(n, back, EdgeKind.RETURN): Edge(n, back, EdgeKind.RETURN) for n in ends})


__all__ = ["Block", "Edge", "EdgeKind", "Graph", "graph_of"]
