"""Parses one line to one statement.

The grammar defines the result; known shapes are filled without it. Never fails: a line that the grammar cannot read is
an ``Unknown`` statement with an error, whatever its bytes. Depth and length are bounded so that hostile input costs
time linear in its size.
"""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from visa_lsp.syntax import build, tree
from visa_lsp.syntax.braces import strip_braces
from visa_lsp.syntax.shapes import PLACEHOLDER, split, template
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.syntax.nodes import Node
    from visa_lsp.syntax.shapes import Builder

MAX_LINE: Final = 20_000
# A number of a text is in one line, so that the length of the line bounds the cost of its conversion.
if 0 < sys.get_int_max_str_digits() < MAX_LINE:
    sys.set_int_max_str_digits(MAX_LINE)
# A text of 16,000 lines has some 420 shapes.
MAX_SHAPES: Final = 2_048
_MAX_NESTING: Final = 60
_OPENING: Final = "([-~!+?"
# Lines without expressions in the grammar; the name of a declaration, which may contain signs; strings.
_FLAT: Final = re.compile(
    r"\s*\.(?:kernel|global_function|function|funcdecl|version)(?![A-Za-z0-9_])|[A-Za-z_$@?][A-Za-z0-9_$@?-]*+\s*:\s*\Z"
)
_NAMED: Final = re.compile(r"\s*\.decl[ \t]+[%A-Za-z_$@?][A-Za-z0-9_$@?-]*+")
_QUOTED: Final = re.compile(r'"(?:\\.|[^"\\])*+"')
# Declarations and inputs as in the bulk passes, with the name.
_OPENS: Final = re.compile(
    r'\s*(\.(?:kernel|global_function|function|funcdecl))(?![A-Za-z0-9_])\s*("[^"\s]*"?|[^"\s]*)'
)

# The line of a shape at which its builder is made, because making it takes as long as parsing some lines by the grammar.
_WORTH: Final = 2
_MAX_CACHED_CHARS: Final = 400


class Parser:
    """The parser with its builders of shapes. One per process is enough; tests create fresh ones."""

    def __init__(self) -> None:
        self._builders: dict[str, Builder | None] = {}
        self._times: dict[str, int] = {}  # lines per shape without a builder
        self.full_parses = 0

    def line(self, code: str) -> tree.Statement | None:
        """Return the statement of a line without comments and without its end; None for a blank line."""
        code = code.rstrip()
        if not code or code.isspace():
            return None
        if ("{" in code or "}" in code) and len(code) <= MAX_LINE:
            stripped = strip_braces(code)
            if stripped is not None:
                return self._in_scope(*stripped, self.line)
        if len(code) > MAX_LINE:
            return _refuse_line(code, f"this line has {len(code)} characters; at most {MAX_LINE} are read")
        if not code.isprintable() and PLACEHOLDER.search(code):
            return self.full(code)
        return self._of_shape(code)

    def _in_scope(self, code: str, braces: tree.Braces, read: Callable[[str], tree.Statement | None]) -> tree.Statement:
        """Return the statement of a line after its braces were removed."""
        statement = read(code)
        assert statement is not None
        outer = isinstance(statement, tree.BodyDirective) and not statement.opens_subroutine
        if not outer and not isinstance(statement, tree.Version):
            return replace(statement, braces=braces)
        # No tool allows a scope around these, and other modules search for them at the start of lines.
        span = (braces.opens or braces.closes)[0]
        problem = tree.SyntaxProblem(
            f"`{code.split(maxsplit=1)[0]}` cannot be inside of a scope or on a line with its braces", span
        )
        if braces.opens:
            return tree.Unknown(code.strip(), statement.span, (problem,))
        return replace(statement, errors=(*statement.errors, problem))

    def _of_shape(self, code: str) -> tree.Statement:
        shape, texts, ends = split(code)
        builder = self._builders.get(shape)
        if builder is not None:
            return builder(texts, ends)
        statement = self.full(code)
        if not statement.errors and shape not in self._builders:
            if len(self._times) + len(self._builders) >= MAX_SHAPES:
                self._builders.clear()
                self._times.clear()
            self._times[shape] = self._times.get(shape, 0) + 1
            if self._times[shape] >= _WORTH:
                del self._times[shape]
                self._builders[shape] = template(statement, texts, ends)
        return statement

    def full(self, code: str) -> tree.Statement:
        """Return the statement by the grammar alone, which the shape cache must equal."""
        if "{" in code or "}" in code:
            stripped = strip_braces(code)
            if stripped is not None:
                return self._in_scope(*stripped, self.full)
        if _measure_nesting(code) > _MAX_NESTING:
            return _refuse_line(
                code, f"this is nested deeper than {_MAX_NESTING}; parentheses and repeated signs count"
            )
        # Imported here, because most lines of a process are in the cache.
        from visa_lsp.syntax import nodes

        self.full_parses += 1
        statement = nodes.deeply(lambda: _of_node(nodes.parse_node(code)))
        return statement or _refuse_line(code, "this is neither a directive, a label nor an instruction")


def _of_node(node: Node | None) -> tree.Statement | None:
    return None if node is None else build.statement(node)


def _measure_nesting(code: str) -> int:
    """Return the depth of parentheses and of repeated unary operators, on which the grammar recurses; 0 if there are few."""
    if sum(map(code.count, _OPENING)) <= _MAX_NESTING or _FLAT.match(code) is not None:
        return 0
    named = _NAMED.match(code)
    deepest = depth = signs = 0
    outer: list[int] = []  # the depth before each open parenthesis, with the unary operators before it
    for ch in _QUOTED.sub("", code[named.end() :] if named is not None else code):
        if ch in "([":
            outer.append(depth - signs)
            depth, signs = depth + 1, 0
        elif ch in ")]":
            depth, signs = outer.pop() if outer else 0, 0
        elif ch in "-~!+":
            depth, signs = depth + 1, signs + 1
        elif ch == "?":
            depth += 1
        elif not ch.isspace():
            # The operand of these operators is complete.
            depth, signs = depth - signs, 0
        deepest = max(deepest, depth)
    return deepest


def _refuse_line(code: str, message: str) -> tree.Statement:
    """Return the statement of an unread line.

    It may still open a body, so that later lines do not belong to the body before.
    """
    start = len(code) - len(code.lstrip())
    span = Span(start, len(code))
    problems = (tree.SyntaxProblem(message, span),)
    opening = _OPENS.match(code)
    if opening is None:
        return tree.Unknown(code.strip(), span, problems)
    name = None
    if opening.end(2) > opening.start(2):
        name = tree.Word(opening.group(2).strip('"'), Span(*opening.span(2)), opening.group(2).startswith('"'))
    return tree.BodyDirective(tree.Word(opening.group(1), Span(*opening.span(1))), name, span, problems)


_PARSER: Final = Parser()


def parse_line(code: str) -> tree.Statement | None:
    """Return ``Parser.line`` of the process-wide parser."""
    return _PARSER.line(code)


def statement_of(code: str) -> tree.Statement | None:
    """Return ``parse_line`` of a line, cached for lines that are parsed often; statements do not contain their place."""
    return _parse_again(code) if len(code) <= _MAX_CACHED_CHARS else _PARSER.line(code)


_parse_again: Final = lru_cache(maxsize=1024)(parse_line)
