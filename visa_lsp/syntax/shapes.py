"""Shapes: lines that differ only in names and numbers are parsed once.

Design: the names and numbers of a line (its *payload*) are replaced by placeholders; what is left is the shape. The
first line of a shape goes through the grammar; its tree becomes a template of closures that builds the tree of any
further line from that line's payload. Price: the payload patterns must agree with the grammar's lexical classes.
Confidence: a template is kept only if every payload token is exactly one name or number leaf of the tree and the
template rebuilds that very tree; ``tests/syntax/test_shapes.py`` compares with the full parse on real and damaged
lines. Lines with errors are never generalised.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.syntax import tree
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Callable

# The head of an instruction: the predicate may vary, the mnemonic with its dotted words may not.
_HEAD: Final = re.compile(
    r"\s*(?:\(\s*!?\s*(%?[A-Za-z_][A-Za-z0-9_]*)[^()]*\)\s*)?[A-Za-z_.][A-Za-z0-9_.]*(?:<[^>]*>)*"
)
# Group 1: a name, 2: a float, 3: hex, 4: decimal. Everything else that matches is kept as it stands: strings, types
# and shapes behind a colon, property words, execution masks, address models and the ``r`` of an indirect operand.
_TOKEN: Final = re.compile(
    r'"(?:\\.|[^"\\])*"?|:\s*[A-Za-z0-9_.]+|[A-Za-z_]+\s*=\s*(?:(?:2GRF|2_GRF|32word|64word)\b|[A-Za-z_%$@?][^\s,<>{}]*)?'
    r"|%sizeof(?![A-Za-z0-9_])|%Dispatch[A-Za-z]+|%Platform|(?:M[0-9]+(?:_NM)?|NoMask|NM)(?![A-Za-z0-9_])"
    r"|(?:flat|bti|bss|ss|surf|arg|r)(?=\s*[\[(])|(?:abs|not)(?=\s*\))"
    r"|(%?[A-Za-z_][A-Za-z0-9_]*)"
    r"|([0-9]+(?:\.[0-9]+(?:[eE][-+][0-9]+)?|[eE][-+][0-9]+)(?![A-Za-z0-9_.]))"
    r"|(0[xX][0-9a-fA-F]+)(?![A-Za-z0-9_])|([0-9]+)(?![A-Za-z0-9_])"
)
_PLACEHOLDER: Final = ("", "\x01", "\x02", "\x03", "\x04")

Builder = "Callable[[list[str], list[int]], object]"


def split(line: str) -> tuple[str, list[str], list[int]]:
    """(shape, payload texts, payload ends): ``ends[0]`` is 0, ``ends[i + 1]`` the end column of payload ``i``."""
    texts: list[str] = []
    ends = [0]
    pieces: list[str] = []
    at = 0
    head = _HEAD.match(line)
    if head is not None:
        if head.group(1) is not None:
            start, stop = head.span(1)
            pieces += (line[:start], "\x01")
            texts.append(head.group(1))
            ends.append(stop)
            at = stop
        scan = head.end()
        # A label is a name alone, and directives end their word at a blank: neither has a mnemonic to keep.
        if line[scan : scan + 1] == ":" or (line[scan : scan + 1] in "$@?-" and scan < len(line)):
            scan = at
    else:
        scan = 0
    for match in _TOKEN.finditer(line, scan):
        group = match.lastindex
        if group is None:
            continue
        start, stop = match.span(group)
        pieces += (line[at:start], _PLACEHOLDER[group])
        texts.append(match.group(group))
        ends.append(stop)
        at = stop
    pieces.append(line[at:])
    return "".join(pieces), texts, ends


class NotGeneral(Exception):  # noqa: N818
    """The tree of this line cannot serve other lines of its shape."""


def template(statement: tree.Statement, texts: list[str], ends: list[int]) -> Callable[[list[str], list[int]], object]:
    """A builder of statements of this shape; NotGeneral where a payload token is not exactly one leaf."""
    starts = [end - len(text) for text, end in zip(texts, ends[1:], strict=True)]
    places = {(start, end): i for i, (start, end) in enumerate(zip(starts, ends[1:], strict=True))}
    used: list[int] = []

    def offset(column: int, *, is_end: bool) -> tuple[int, int]:
        """The column as (payload number, distance behind that payload's end)."""
        base = 0
        for number, end in enumerate(ends):
            if end <= column:
                base = number
        inside = base < len(starts) and starts[base] < column
        if inside and not (is_end and ends[base + 1] == column):
            raise NotGeneral
        return base, column - ends[base]

    def span_of(span: Span) -> Callable[[list[int]], Span]:
        i, di = offset(span.start, is_end=False)
        j, dj = offset(span.end, is_end=True)
        return lambda e: Span(e[i] + di, e[j] + dj)

    def leaf(span: Span) -> int | None:
        number = places.get((span.start, span.end))
        if number is not None:
            used.append(number)
        elif any(s < span.end and span.start < e for s, e in places):
            raise NotGeneral
        return number

    def compile_(node: object) -> Callable[[list[str], list[int]], object]:
        if isinstance(node, Span):
            make = span_of(node)
            return lambda _t, e: make(e)
        if isinstance(node, tuple):
            members = [compile_(member) for member in node]
            if not members:
                return lambda _t, _e: ()
            return lambda t, e: tuple([member(t, e) for member in members])
        if not isinstance(node, Struct):
            return lambda _t, _e: node
        if isinstance(node, (tree.Word, tree.Number, tree.Float)):
            return _leaf(node, leaf(node.span), span_of(node.span))
        cls: Callable[..., object] = type(node)
        parts = [compile_(getattr(node, name)) for name in node.__struct_fields__]
        return lambda t, e: cls(*[part(t, e) for part in parts])

    build = compile_(statement)
    if sorted(used) != list(range(len(texts))) or build(texts, ends) != statement:
        raise NotGeneral
    return build


def _leaf(
    node: tree.Word | tree.Number | tree.Float, number: int | None, make: Callable[[list[int]], Span]
) -> Callable[[list[str], list[int]], object]:
    if isinstance(node, tree.Word):
        if number is None or node.quoted:
            text, quoted = node.text, node.quoted
            return lambda _t, e: tree.Word(text, make(e), quoted)
        return lambda t, e: tree.Word(t[number], make(e))
    if number is None:
        value, text = node.value, node.text
        cls = type(node)
        return lambda _t, e: cls(value, make(e), text)  # type: ignore[arg-type]
    if isinstance(node, tree.Float):
        if not node.text[:1].isdigit():
            raise NotGeneral
        return lambda t, e: tree.Float(float(t[number]), make(e), t[number])
    return lambda t, e: tree.Number(tree.integer(t[number]), make(e), t[number])
