"""Parses lines with parsimonious and the grammar file; drops unnamed nodes and blanks.

Loading the library and building the grammar takes some 50 ms, so that ``parse`` imports this module only for a line of
a new shape.
"""

from __future__ import annotations

import contextlib
import sys
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Final, TypeVar

from msgspec import Struct
from parsimonious.exceptions import ParseError
from parsimonious.grammar import Grammar

from visa_lsp.syntax.grammar import grammar_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from parsimonious.nodes import Node as FullNode

Result = TypeVar("Result")

BLANK: Final = "_"
# Parsimonious recurses some 60 levels for each parenthesis around an expression.
_RECURSION_LIMIT: Final = 5_000
_LIMIT: Final = Lock()  # because all threads share the limit


class Node(Struct, gc=False):
    """A match of a rule. ``parts`` are the nodes of rules directly below, without blanks."""

    name: str
    full_text: str
    start: int
    end: int
    parts: list[Node]

    @property
    def text(self) -> str:
        """The text that matched."""
        return self.full_text[self.start : self.end]


@cache
def grammar() -> Grammar:
    """Return the grammar file as a parsimonious grammar."""
    return Grammar(grammar_text())


def parse_node(text: str, by: Grammar | None = None) -> Node | None:
    """Return the node of a whole line; None if the grammar does not fit."""
    try:
        return _keep_named([(by or grammar()).parse(text)])[0]
    except ParseError:
        return None


def _keep_named(nodes: Iterable[FullNode]) -> list[Node]:
    kept: list[Node] = []
    for node in nodes:
        name = node.expr_name
        if not name:
            kept += _keep_named(node.children)
        elif name != BLANK:
            kept.append(Node(name, node.full_text, node.start, node.end, _keep_named(node.children)))
    return kept


def deeply(read: Callable[[], Result]) -> Result:
    """Call ``read`` with a recursion limit for the most deeply nested line that ``parse`` accepts; return its result.

    One thread at a time, because a thread deeper than Python's usual limit would end the process when another thread
    restores that limit.
    """
    with _LIMIT:
        with contextlib.suppress(RecursionError):
            return read()
        usual = sys.getrecursionlimit()
        sys.setrecursionlimit(usual + _RECURSION_LIMIT)
        try:
            return read()
        finally:
            sys.setrecursionlimit(usual)
