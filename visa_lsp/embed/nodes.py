"""Finds nodes by type in a tree of tree-sitter, in time proportional to the text.

A query is fast, but for each unnamed child of a node it searches the remaining children. With ten thousand open
brackets, which become children of one node, that takes hours. Trees with such a node are walked instead.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from visa_lsp.embed.languages import Host, language

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from tree_sitter import Node, Query, TreeCursor

_MAX_CHILDREN: Final = 2000

# The types of nodes to find, each with the name of the list that collects it.
Kinds = tuple[tuple[str, str], ...]


def nodes_of(root: Node, host: Host, kinds: Kinds) -> dict[str, list[Node]]:
    """Return the nodes of the types in ``kinds``, by its names."""
    if is_hard(root):
        names = dict(kinds)
        nodes_by_name: dict[str, list[Node]] = {}
        for node in _all(root):
            if node.type in names:
                nodes_by_name.setdefault(names[node.type], []).append(node)
        return nodes_by_name
    from tree_sitter import QueryCursor

    return QueryCursor(_query(host, kinds)).captures(root)


def find_enclosing(root: Node, offsets: Iterable[int], types: Container[str]) -> Iterator[tuple[Node, ...]]:
    """Return, for each of the rising offsets, the enclosing nodes of these types, the outermost first.

    One walk through the tree, which descends only to the offsets and visits every node at most once.
    """
    cursor = root.walk()
    inside: list[Node] = []  # the nodes around the cursor
    is_at_end = False  # whether the cursor has passed all nodes
    for offset in offsets:
        enclosing: list[Node] | None = inside if is_at_end else None
        while enclosing is None:
            node = cursor.node
            if node is None or node.start_byte > offset:
                enclosing = inside
            elif node.end_byte <= offset:
                is_at_end = not _pass(cursor, inside)
                enclosing = inside if is_at_end else None
            elif cursor.goto_first_child():
                if node.type in types:
                    inside.append(node)
            else:
                enclosing = [*inside, node] if node.type in types else inside
        yield tuple(enclosing)


def _pass(cursor: TreeCursor, inside: list[Node]) -> bool:
    """Move to the next node in text order that is not inside this one; return False at the end."""
    while not cursor.goto_next_sibling():
        if not cursor.goto_parent():
            return False
        if inside and inside[-1] == cursor.node:
            inside.pop()
    return True


def is_hard(root: Node) -> bool:
    """Return whether a mistake has left a node with too many children for a query."""
    waiting = [root] if root.has_error else []
    while waiting:
        node = waiting.pop()
        if node.child_count > _MAX_CHILDREN and _longest_run(node) > _MAX_CHILDREN:
            return True
        waiting.extend(child for child in node.children if child.has_error)
    return False


def _longest_run(node: Node) -> int:
    """Return the length of the longest run of adjacent unnamed children."""
    longest = run = 0
    for child in node.children:
        run = 0 if child.is_named else run + 1
        longest = max(longest, run)
    return longest


def _all(root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        if node.named_child_count:
            waiting.extend(reversed(node.children))


@cache
def _query(host: Host, kinds: Kinds) -> Query:
    from tree_sitter import Query

    return Query(language(host), " ".join(f"({kind}) @{name}" for kind, name in kinds))
