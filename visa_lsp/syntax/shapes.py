"""Shapes: lines that differ only in names and numbers are parsed once.

The shape of a line has placeholders instead of its names and numbers (its *payload*). The first line of a shape is
parsed by the grammar. Its tree becomes a template: one compiled expression that builds the tree of any other line of
the shape from that line's payload. For this the payload patterns must agree with the grammar's lexical classes. A
template is kept only if every payload token is exactly one name or number leaf of the tree and the template rebuilds
the same tree; ``tests/syntax/test_shapes.py`` compares it with the full parse on real and damaged lines. Lines with
errors are never generalised.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.syntax import tree
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Callable

    Builder = Callable[[list[str], list[int]], tree.Statement]

# The head of an instruction: the predicate may vary, the mnemonic with its dotted words may not.
_HEAD: Final = re.compile(
    r"\s*(?:\(\s*!?\s*(%?[A-Za-z_][A-Za-z0-9_]*)[^()]*\)\s*)?[A-Za-z_.][A-Za-z0-9_.]*(?:<[^>]*>)*"
)
# Group 1: a type or shape after a colon, 2: an execution mask, 3: a name, 4: a float, 5: hex, 6: decimal, 7: a name
# with a percent sign, which labels do not have. Every other match is kept unchanged: strings, property words, address
# models and the ``r`` of an indirect operand. Characters that begin none of them are listed first, because most
# characters are signs and blanks.
_TOKEN: Final = re.compile(
    r'(?=["%:A-Za-z0-9_])(?:'
    r'"(?:\\.|[^"\\])*"?|:\s*(?:([A-Za-z][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*)|[A-Za-z0-9_.]+)|[A-Za-z_]+\s*=\s*(?:(?:2GRF|2_GRF|32word|64word)\b|[A-Za-z_%$@?][^\s,<>{}]*)?'
    r"|%sizeof(?![A-Za-z0-9_])|%Dispatch[A-Za-z]+|%Platform|((?:M[0-9]+(?:_NM)?|NoMask|NM)(?![A-Za-z0-9_]))"
    r"|(?:flat|bti|bss|ss|surf|arg|r)(?=\s*[\[(])|(?:abs|not)(?=\s*\))"
    r"|([A-Za-z_][A-Za-z0-9_]*)"
    r"|([0-9]+(?:\.[0-9]+(?:[eE][-+][0-9]+)?|[eE][-+][0-9]+)(?![A-Za-z0-9_.]))"
    r"|(0[xX][0-9a-fA-F]+)(?![A-Za-z0-9_])|([0-9]+)(?![A-Za-z0-9_])"
    r"|(%[A-Za-z_][A-Za-z0-9_]*))"
)
_PLACEHOLDER: Final = ("", "\x07", "\x06", "\x01", "\x02", "\x03", "\x04", "\x08")
# A line with one of these characters has no shape.
PLACEHOLDER: Final = re.compile("[\x01-\x08]")
# Deeper trees and longer lines have no template, because compiling it would cost more than parsing them.
_MAX_TREE_DEPTH: Final = 80
_MAX_CACHED_CHARS: Final = 200
_CLASSES: Final = {name: value for name, value in vars(tree).items() if not name.startswith("_")} | {"Span": Span}


def split(line: str) -> tuple[str, list[str], list[int]]:
    """Return (shape, payload texts, payload ends): ``ends[0]`` is 0, ``ends[i + 1]`` the end column of payload ``i``."""
    texts: list[str] = []
    ends = [0]
    pieces: list[str] = []
    end = 0
    head = _HEAD.match(line)
    if head is not None:
        if head.group(1) is not None:
            start, stop = head.span(1)
            pieces += (line[:start], "\x01")
            texts.append(head.group(1))
            ends.append(stop)
            end = stop
        scan = head.end()
        # A label is only a name, and the word of a directive ends at a blank, so that neither has a mnemonic to keep.
        if line[scan : scan + 1] == ":" or (line[scan : scan + 1] in "$@?-" and scan < len(line)):
            scan = end
    else:
        scan = 0
    for match in _TOKEN.finditer(line, scan):
        group = match.lastindex
        if group is not None:
            start, stop = match.span(group)
            pieces += (line[end:start], _PLACEHOLDER[group])
            texts.append(line[start:stop])
            ends.append(stop)
            end = stop
    pieces.append(line[end:])
    return "".join(pieces), texts, ends


class _NotGeneral(Exception):  # noqa: N818
    """The tree of this line is not a template for other lines of its shape."""


def template(statement: tree.Statement, texts: list[str], ends: list[int]) -> Builder | None:
    """Return a builder of statements of this shape; None if a payload token is not exactly one leaf, or if there are too many."""
    writer = _Writer(texts, ends)
    try:
        code = writer.node(statement)
    except _NotGeneral:
        return None
    if len(texts) > _MAX_CACHED_CHARS or sorted(writer.used) != list(range(len(texts))):
        return None
    build = _compile_builder(code, len(writer.constants))(*writer.constants)
    return build if build(texts, ends) == statement else None


@lru_cache(maxsize=4096)
def _compile_builder(code: str, constants: int) -> Callable[..., Builder]:
    """Return the function that makes a builder from its constants.

    Its code has only indices and distances, so that many shapes share it.
    """
    names = ", ".join(f"c{number}" for number in range(constants))
    namespace: dict[str, Callable[..., Builder]] = {}
    exec(f"def make({names}):\n return lambda t, e: {code}", _CLASSES, namespace)  # noqa: S102 - the code contains nothing from a text
    return namespace["make"]


class _Writer:
    """Writes the expression that builds a tree from payload texts ``t`` and payload ends ``e``."""

    def __init__(self, texts: list[str], ends: list[int]) -> None:
        self._ends = ends
        self._starts = [end - len(text) for text, end in zip(texts, ends[1:], strict=True)]
        self._places = {place: number for number, place in enumerate(zip(self._starts, ends[1:], strict=True))}
        self._depth = 0
        self.used: list[int] = []
        self.constants: list[object] = []

    def node(self, node: object) -> str:
        """Return the code for a tree, a tuple of trees or a plain value; a part without payload before it is a constant."""
        constants_before = len(self.constants)
        self._depth += 1
        if self._depth > _MAX_TREE_DEPTH:
            raise _NotGeneral
        code = self._write(node)
        self._depth -= 1
        if "[" in code or not isinstance(node, (Struct, tuple)):
            return code
        del self.constants[constants_before:]
        return self._constant(node)

    def _write(self, node: object) -> str:
        if isinstance(node, Span):
            return f"Span({self._column(node.start)}, {self._column(node.end)})"
        if isinstance(node, tuple):
            return "(" + "".join([self.node(member) + ", " for member in node]) + ")"
        if not isinstance(node, Struct):
            return str(node) if node is None or isinstance(node, bool) else self._constant(node)
        if isinstance(node, (tree.Word, tree.Number, tree.Float)):
            return self._leaf(node)
        parts = [self.node(getattr(node, name)) for name in node.__struct_fields__]
        return f"{type(node).__name__}({', '.join(parts)})"

    def _leaf(self, node: tree.Word | tree.Number | tree.Float) -> str:
        span = self.node(node.span)
        number = self._places.get((node.span.start, node.span.end))
        if number is not None:
            self.used.append(number)
        elif any(start < node.span.end and node.span.start < end for start, end in self._places):
            raise _NotGeneral
        if isinstance(node, tree.Word):
            if number is None or node.quoted:
                return f"Word({self._constant(node.text)}, {span}, {self._constant(node.quoted)})"
            return f"Word(t[{number}], {span})"
        kind = type(node).__name__
        if number is None:
            return f"{kind}({self._constant(node.value)}, {span}, {self._constant(node.text)})"
        if isinstance(node, tree.Float) and not node.text[:1].isdigit():
            raise _NotGeneral
        read = "float" if isinstance(node, tree.Float) else "integer"
        return f"{kind}({read}(t[{number}]), {span}, t[{number}])"

    def _constant(self, value: object) -> str:
        self.constants.append(value)
        return f"c{len(self.constants) - 1}"

    def _column(self, column: int) -> str:
        """Return a column as the end of a payload and the distance from it."""
        if type(column) is not int:  # checked because a tree from a file may be anything, and this code is executed
            raise _NotGeneral
        ends, starts = self._ends, self._starts
        base = bisect_right(ends, column) - 1
        if base < len(starts) and starts[base] < column:
            raise _NotGeneral
        if base == 0:
            return str(column)
        return f"e[{base}] + {column - ends[base]}" if column != ends[base] else f"e[{base}]"
