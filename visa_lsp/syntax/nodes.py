"""Parse lines with parsimonious by the grammar file; leave out nodes without a name, and blanks.

Loads the library, some 50 ms with the grammar built by it, so that ``parse`` imports this only for a line of a new shape.
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
# Parsimonious calls itself some 60 deep for each parenthesis around an expression.
_RECURSION_LIMIT: Final = 5_000
_LIMIT: Final = Lock()  # all threads have the same one


class Node(Struct, gc=False):
    """A match of a rule. ``parts`` are the nodes of rules directly below, blanks left out."""

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
    """Return the grammar file as parsimonious builds it."""
    return Grammar(grammar_text())


def parse_node(text: str, by: Grammar | None = None) -> Node | None:
    """Return the node of a whole line; None where the grammar does not fit."""
    try:
        return _keep_named([(by or grammar()).parse(text)])[0]
    except ParseError:
        return None


def _keep_named(nodes: Iterable[FullNode]) -> list[Node]:
    found: list[Node] = []
    for node in nodes:
        name = node.expr_name
        if not name:
            found += _keep_named(node.children)
        elif name != BLANK:
            found.append(Node(name, node.full_text, node.start, node.end, _keep_named(node.children)))
    return found


def deeply(read: Callable[[], Result]) -> Result:
    """Call ``read``, which may call itself as deep as the most nested line that ``parse`` admits makes it; return its result.

    One thread at a time, and its first try too: a thread that has gone beyond Python's usual limit while another had it
    raised would end the process when the limit is back.
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
