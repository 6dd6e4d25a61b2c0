"""The control-flow graph of a body: basic blocks and the edges between them.

Lanes are not followed: an edge says that some lane may go there. A label, and what stands behind a branch, begins a
block; blocks are in text order. Invariant: every instruction of the body is in exactly one block.
"""

from __future__ import annotations

from enum import Enum
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.isa.model import FlowClass
from visa_lsp.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.sema.model import Body, Bound


class EdgeKind(Enum):
    """Why control goes from one block to another."""

    FALL = "falls through"
    BRANCH = "branches"
    BACK = "branches back"
    CALL = "calls"


class Edge(Struct, frozen=True):
    """From block ``source`` to block ``target``; ``condition`` is the predicate that it depends on."""

    source: int
    target: int
    kind: EdgeKind
    condition: str = ""


class Block(Struct, frozen=True):
    """Instructions that run one after the other; ``labels`` stand at its head, ``ends`` where the thread may end in it."""

    number: int
    labels: tuple[str, ...]
    code: tuple[Bound, ...]
    first_line: int
    last_line: int
    ends: bool = False


class Flow(Struct, frozen=True):
    """The graph of a body; block 0 is where it starts."""

    name: str
    blocks: tuple[Block, ...]
    edges: tuple[Edge, ...]

    def successors(self, block: int) -> tuple[int, ...]:
        """The blocks that control may go to next; calls come back and do not count."""
        return tuple(e.target for e in self.edges if e.source == block and e.kind is not EdgeKind.CALL)

    def reachable(self) -> frozenset[int]:
        """The blocks that some path from the start, calls included, leads to."""
        ahead: dict[int, list[int]] = {}
        for edge in self.edges:
            ahead.setdefault(edge.source, []).append(edge.target)
        found, waiting = set[int](), [0] if self.blocks else []
        while waiting:
            block = waiting.pop()
            if block not in found:
                found.add(block)
                waiting.extend(ahead.get(block, ()))
        return frozenset(found)


_ENDS_BLOCK: Final = frozenset({FlowClass.IF, FlowClass.ELSE, FlowClass.WHILE, FlowClass.BREAK, FlowClass.CONTINUE})
_NEVER_FALLS: Final = frozenset({FlowClass.ELSE, FlowClass.BREAK, FlowClass.CONTINUE})


def flow_of(body: Body) -> Flow:
    """The graph of a body."""
    pieces = list(_pieces(body))
    blocks = [_block(number, piece) for number, piece in enumerate(pieces)]
    at_label = {label: block.number for block in blocks for label in block.labels}
    at_line = {bound.line: block.number for block in blocks for bound in block.code}
    edges: dict[tuple[int, int, EdgeKind], Edge] = {}
    partners = _structure(body.code)
    for block in blocks:
        for target, kind, condition in _leaving(block, len(blocks), at_label, at_line, partners):
            edges.setdefault((block.number, target, kind), Edge(block.number, target, kind, condition))
    return Flow(
        body.name, tuple(blocks), tuple(sorted(edges.values(), key=lambda e: (e.source, e.target, e.kind.value)))
    )


def _class(bound: Bound) -> FlowClass:
    return bound.row.flow if bound.row is not None else FlowClass.NEXT


def _pieces(body: Body) -> Iterator[list[Bound]]:
    piece: list[Bound] = []
    only_labels = True
    for bound in body.code:
        opens = bound.row is not None and bound.row.opens_label
        if piece and (
            (opens and not only_labels) or (_class(bound) in (FlowClass.DO, FlowClass.ENDIF) and not only_labels)
        ):
            yield piece
            piece = []
            only_labels = True
        piece.append(bound)
        only_labels = only_labels and opens
        if _class(bound).returns or _class(bound).branches or _class(bound) in _ENDS_BLOCK:
            yield piece
            piece = []
            only_labels = True
    if piece:
        yield piece


def _block(number: int, piece: Sequence[Bound]) -> Block:
    labels = []
    for bound in piece:
        statement = bound.statement
        if isinstance(statement, (tree.Label, tree.BodyDirective)) and statement.name is not None:
            labels.append(statement.name.text)
    ends = _class(piece[-1]).returns
    return Block(number, tuple(labels), tuple(piece), piece[0].line, piece[-1].line, ends)


def _condition(bound: Bound) -> str:
    statement = bound.statement
    if not isinstance(statement, tree.Instruction) or statement.predicate is None:
        return ""
    predicate = statement.predicate
    combine = f".{predicate.combine.text}" if predicate.combine else ""
    return f"{'!' if predicate.inverse else ''}{predicate.name.text}{combine}"


def _targets(bound: Bound) -> Iterator[str]:
    """The labels that an instruction names."""
    statement = bound.statement
    for operand in statement.operands if isinstance(statement, tree.Instruction) else ():
        if isinstance(operand, tree.Ref):
            yield operand.name.text
        elif isinstance(operand, tree.Group):
            yield from (item.name.text for item in operand.items if isinstance(item, tree.Ref))


def _leaving(
    block: Block, count: int, at_label: dict[str, int], at_line: dict[int, int], partners: dict[int, tuple[int, ...]]
) -> Iterator[tuple[int, EdgeKind, str]]:
    """(target, kind, condition) of the edges out of a block."""
    for bound in block.code:
        if _class(bound) in (FlowClass.CALL, FlowClass.KERNEL_CALL):
            yield from ((at_label[t], EdgeKind.CALL, _condition(bound)) for t in _targets(bound) if t in at_label)
    last = block.code[-1]
    flow, condition = _class(last), _condition(last)
    following = block.number + 1
    if flow.branches:
        for target in _targets(last):
            if target in at_label:
                yield at_label[target], _kind(block.number, at_label[target]), condition
    for line in partners.get(last.line, ()):
        target_block = at_line.get(line)
        if target_block is not None:
            yield target_block, _kind(block.number, target_block), condition
    falls = not (flow.returns or flow.branches or flow in _NEVER_FALLS) or bool(condition)
    if falls and following < count:
        yield following, EdgeKind.FALL, f"!({condition})" if condition and flow.branches else ""


def _kind(source: int, target: int) -> EdgeKind:
    return EdgeKind.BACK if target <= source else EdgeKind.BRANCH


def _structure(code: Sequence[Bound]) -> dict[int, tuple[int, ...]]:
    """Of the appendix's structured words: the line of each to the lines that it may go to."""
    found: dict[int, list[int]] = {}
    stack: list[Bound] = []
    loops: list[tuple[int, list[int], list[int]]] = []
    behind = {a.line: b.line for a, b in pairwise(code)}
    for bound in code:
        match _class(bound):
            case FlowClass.IF:
                stack.append(bound)
            case FlowClass.ELSE if stack:
                found.setdefault(stack.pop().line, []).append(behind.get(bound.line, bound.line))
                stack.append(bound)
            case FlowClass.ENDIF if stack:
                found.setdefault(stack.pop().line, []).append(bound.line)
            case FlowClass.DO:
                loops.append((bound.line, [], []))
            case FlowClass.BREAK if loops:
                loops[-1][1].append(bound.line)
            case FlowClass.CONTINUE if loops:
                loops[-1][2].append(bound.line)
            case FlowClass.WHILE if loops:
                head, breaks, conts = loops.pop()
                found.setdefault(bound.line, []).append(head)
                for line in breaks:
                    found.setdefault(line, []).append(behind.get(bound.line, bound.line))
                for line in conts:
                    found.setdefault(line, []).append(bound.line)
            case _:
                pass
    return {line: tuple(lines) for line, lines in found.items()}
