"""One line to one statement. The grammar decides; shapes that it has seen are filled without asking it again.

Never fails: a line that the grammar cannot read is an ``Unknown`` statement with an error, whatever its bytes. Depth
and length are bounded so that hostile input costs time linear in its size.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from parsimonious.exceptions import ParseError

from visa_lsp.syntax import build, tree
from visa_lsp.syntax.grammar import grammar
from visa_lsp.syntax.shapes import NotGeneral, split, template
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_LINE: Final = 20_000
# Every number of a text stands in one line: its length, and with it the cost of a conversion, is bounded by the line's.
if 0 < sys.get_int_max_str_digits() < MAX_LINE:
    sys.set_int_max_str_digits(MAX_LINE)
MAX_SHAPES: Final = 20_000
_MAX_NESTING: Final = 60


class Parser:
    """The parser with its shape cache. One per process is enough; tests make fresh ones."""

    def __init__(self) -> None:
        self._builders: dict[str, Callable[[list[str], list[int]], object] | None] = {}
        self.full_parses = 0

    def line(self, code: str) -> tree.Statement | None:
        """The statement of a line without comments and without its end; None for a blank line."""
        code = code.rstrip()
        if not code or code.isspace():
            return None
        if len(code) > MAX_LINE:
            return _refused(code, f"this line has {len(code)} characters; at most {MAX_LINE} are read")
        shape, texts, ends = split(code)
        builder = self._builders.get(shape)
        if builder is not None:
            return builder(texts, ends)  # type: ignore[return-value]
        statement = self.full(code)
        if shape not in self._builders and not statement.errors:
            if len(self._builders) >= MAX_SHAPES:
                self._builders.clear()
            try:
                self._builders[shape] = template(statement, texts, ends)
            except NotGeneral:
                self._builders[shape] = None
        return statement

    def full(self, code: str) -> tree.Statement:
        """The statement by the grammar alone: the authority that the shape cache must equal."""
        if _nesting(code) > _MAX_NESTING:
            return _refused(code, f"parentheses are nested deeper than {_MAX_NESTING}")
        self.full_parses += 1
        try:
            return build.statement(grammar().parse(code))
        except ParseError:
            return _refused(code, "this is neither a directive, a label nor an instruction")
        except RecursionError:
            return _refused(code, "this expression is nested too deeply")


def _nesting(code: str) -> int:
    """Depth of parentheses and of stacked unary operators: what the grammar recurses on."""
    depth = deepest = 0
    for ch in code:
        if ch in "([-~!+?":
            depth += 1
            deepest = max(deepest, depth)
        elif ch in ")]":
            depth = max(0, depth - 1)
        elif ch.isalnum():
            continue
    return deepest


def _refused(code: str, message: str) -> tree.Unknown:
    start = len(code) - len(code.lstrip())
    span = Span(start, len(code))
    return tree.Unknown(code.strip(), span, (tree.SyntaxProblem(message, span),))


_PARSER: Final = Parser()


def parse_line(code: str) -> tree.Statement | None:
    """``Parser.line`` of the process-wide parser."""
    return _PARSER.line(code)
