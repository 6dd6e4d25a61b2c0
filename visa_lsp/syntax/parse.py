"""Parses one line to one statement.

The grammar defines the result; known shapes are filled without it. Never fails: a line that the grammar cannot read is
an ``Unknown`` statement with an error, whatever its bytes. Depth and length are bounded so that hostile input costs
time linear in its size.
"""

from __future__ import annotations

import contextlib
import re
import sys
from typing import TYPE_CHECKING, Final, Protocol

from msgspec.structs import replace

from visa_lsp.syntax import build, tree
from visa_lsp.syntax.braces import strip_braces
from visa_lsp.syntax.shapes import DECLARED, PLACEHOLDER, NotGeneral, is_general, split, template
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.syntax.nodes import Node
    from visa_lsp.syntax.shapes import Builder

MAX_LINE: Final = 20_000
# A number of a text is in one line, so that the length of the line bounds the cost of its conversion.
if 0 < sys.get_int_max_str_digits() < MAX_LINE:
    sys.set_int_max_str_digits(MAX_LINE)
# Shapes and declarations that are kept: a text of 16,000 lines has some 420 shapes.
MAX_SHAPES: Final = 2_048
# Lines of shapes without a builder; their statements take 2.6 KB each, and a dump has some 400.
_MAX_MET: Final = 640
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


_MAX_EXACT: Final = 256
_MAX_DECLARED: Final = 200  # characters of a cached declaration
# Characters of all cached lines with errors, enough for a short text, which is read again at every edit.
_MAX_WRONG: Final = 10_000
# The line of a shape at which its builder is made, because making it takes as long as parsing some lines by the grammar.
_WORTH: Final = 3
# The prefix of the key of a singly cached line; no shape begins with this character.
_EXACT: Final = "\x05"


class StatementStorage(Protocol):
    """Lines with their statements from earlier processes, by shape."""

    def get(self, key: str) -> tuple[str, tree.Statement] | None:
        """Return the line and the statement under this key."""

    def put(self, key: str, text: str, statement: tree.Statement) -> None:
        """Add a line and its statement under a key."""

    def flush(self) -> None:
        """Write what was added."""


class Parser:
    """The parser with its shape cache.

    One per process is enough; tests create fresh ones. ``cache``, on disk, is searched before the grammar is used, and
    stores the grammar's results. Most shapes occur once or twice, so that the builder of a shape is made at its third
    line, or at its first line if the shape is cached.
    """

    def __init__(self, cache: StatementStorage | None = None) -> None:
        self._builders: dict[str, Builder | None] = {}
        self._met: dict[str, tuple[str, tree.Statement]] = {}
        self._times: dict[str, int] = {}  # number of lines per shape, from the second line on
        self._exact: dict[str, tree.Statement] = {}
        self._wrong: dict[str, tree.Statement] = {}
        self._wrong_size = 0
        self._declared: dict[tuple[str, int, str], tree.Decl | tree.InputDecl] = {}
        self._fresh: dict[str, tuple[str, tree.Statement]] = {}  # not yet written to the cache
        self.cache = cache
        self.full_parses = 0

    def line(self, code: str) -> tree.Statement | None:
        """Return the statement of a line without comments and without its end; None for a blank line."""
        code = code.rstrip()
        if not code or code.isspace():
            return None
        if ("{" in code or "}" in code) and len(code) <= MAX_LINE:
            found = strip_braces(code)
            if found is not None:
                return self._in_scope(*found, self.line)
        if len(code) > MAX_LINE:
            return _refuse_line(code, f"this line has {len(code)} characters; at most {MAX_LINE} are read")
        if not code.isprintable() and PLACEHOLDER.search(code):
            return self.full(code)
        declared = DECLARED.match(code)
        return self._of_shape(code) if declared is None else self._declaration(code, *declared.span(1))

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

    def _declaration(self, code: str, start: int, end: int) -> tree.Statement:
        """Return the statement of a declaration or input; lines that differ only in a name of equal length are read once."""
        key = code[:start], end, code[end:]
        like = self._declared.get(key)
        if like is not None and like.name is not None:
            return replace(like, name=tree.Word(code[start:end], like.name.span))
        statement = self._of_shape(code)
        if isinstance(statement, (tree.Decl, tree.InputDecl)) and not statement.errors and len(code) <= _MAX_DECLARED:
            if len(self._declared) >= MAX_SHAPES:
                self._declared.clear()
            if statement.name == tree.Word(code[start:end], Span(start, end)):
                self._declared[key] = statement
        return statement

    def _of_shape(self, code: str) -> tree.Statement:
        shape, texts, ends = split(code)
        builder = self._builders.get(shape)
        if builder is not None:
            return builder(texts, ends)
        exact = self._exact.get(code) or self._wrong.get(code)
        if exact is not None:
            return exact
        met = self._met.get(shape)
        if met is not None and met[0] == code:
            return met[1]
        if self._recall(shape, code):
            return self._of_shape(code)
        statement = self.full(code)
        if not statement.errors:
            self._keep(shape, code, statement)
            return statement
        if self._wrong_size > _MAX_WRONG:
            self._wrong.clear()
            self._wrong_size = 0
        self._wrong[code] = statement
        self._wrong_size += len(code)
        return statement

    def _keep(self, shape: str, code: str, statement: tree.Statement) -> None:
        """Store the grammar's result for a line: for its shape if possible, else for the line only."""
        if shape in self._builders:
            self._keep_exact(code, statement)
            return
        if len(self._met) >= _MAX_MET:
            self._met.clear()
            self._times.clear()
        self._met[shape] = code, statement
        if self.cache is not None and len(self._fresh) < MAX_SHAPES:
            self._fresh[shape] = code, statement

    def flush(self) -> None:
        """Write the cache with the new shapes; decides here whether a line is cached for its shape or only for itself."""
        if self.cache is None:
            return
        for shape, (code, statement) in self._fresh.items():
            _, texts, ends = split(code)
            self.cache.put(shape if is_general(statement, texts, ends) else _EXACT + code, code, statement)
        self._fresh.clear()
        self.cache.flush()

    def _keep_exact(self, code: str, statement: tree.Statement) -> None:
        if len(self._exact) < _MAX_EXACT:
            self._exact[code] = statement
            if self.cache is not None:
                self.cache.put(_EXACT + code, code, statement)

    def _recall(self, shape: str, code: str) -> bool:
        """Use the cached result for a line, from here or from another process; return False if there is none."""
        if shape not in self._builders and shape in self._met:
            self._times[shape] = self._times.get(shape, 1) + 1
            if self._times[shape] < _WORTH:
                return False
            del self._times[shape]
            met = self._met.pop(shape)
            if not self._generalise(shape, *met):
                self._builders[shape] = None
                self._fresh.pop(shape, None)
                self._keep_exact(*met)
            return True
        if self.cache is None:
            return False
        if shape not in self._builders:
            found = self.cache.get(shape)
            if found is not None and self._generalise(shape, *found):
                return True
        found = self.cache.get(_EXACT + code)
        if found is None or found[0] != code or found[1].errors != () or len(self._exact) >= _MAX_EXACT:
            return False
        self._exact[code] = found[1]
        return True

    def _generalise(self, shape: str, code: str, statement: tree.Statement) -> bool:
        """Make the builder of a shape from one of its lines; return False if it does not apply to other lines."""
        known, texts, ends = split(code)
        if known != shape or statement.errors != ():
            return False
        if len(self._builders) >= MAX_SHAPES:
            self._builders.clear()
        # Checked because the contents of a file may be anything.
        with contextlib.suppress(NotGeneral, TypeError, AttributeError, ValueError):
            self._builders[shape] = template(statement, texts, ends)
            return True
        return False

    def full(self, code: str) -> tree.Statement:
        """Return the statement by the grammar alone, which the shape cache must equal."""
        if "{" in code or "}" in code:
            found = strip_braces(code)
            if found is not None:
                return self._in_scope(*found, self.full)
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


def use_statement_cache(cache: StatementStorage | None) -> None:
    """Set the cache of the process-wide parser; None for no cache."""
    _PARSER.cache = cache


def flush_statement_cache() -> None:
    """Write the new results of the process-wide parser to its cache."""
    _PARSER.flush()


def parse_line(code: str) -> tree.Statement | None:
    """Return ``Parser.line`` of the process-wide parser."""
    return _PARSER.line(code)
