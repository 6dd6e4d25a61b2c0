"""The values of string literals of C, C++ and Python, in pieces with their places in the host.

Knows escapes, prefixes, raw strings and line splices, but not the contents of strings. Invariant: pieces are in the
order of the host without overlaps; an exact piece equals its spelling in the host.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from visa_lsp.text import Span


class StringPiece(Struct, frozen=True):
    """A part of a string's value; ``exact`` if it equals its spelling in the host."""

    text: str
    host: Span
    exact: bool = True


# A placeholder for text that is known only at run time or from another file.
HOLE: Final = "\ufffc"


C_RAW: Final = r'(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s"]{0,16})\((?:[\s\S]*?\)(?P=delimiter)"|[\s\S]*)'
C_STRING: Final = r'(?:u8|[uUL])?"(?:[^"\\\n]|\\\r\n|\\[\s\S])*"?'
_SIMPLE: Final = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b"}
_ESCAPE: Final = re.compile(
    r"\\(?:(?P<splice>\r?\n|\r)|(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9a-fA-F]{1,8})"
    r"|(?:u(?P<short>[0-9a-fA-F]{4})|U(?P<long>[0-9a-fA-F]{8}))|N\{(?P<name>[^}\n]*)\}|(?P<one>[\s\S]))"
)
_BRACES: Final = re.compile(r"\{\{|\}\}")
_LAST: Final = 0x10FFFF


def c_pieces(text: str, span: Span) -> Iterator[StringPiece]:
    """Yield the pieces of a string literal of C or C++ with prefix and quotes; an open literal ends with its span."""
    literal = text[span.start : span.end]
    quote = literal.find('"')
    if literal[:quote].endswith("R"):
        opener = literal.find("(", quote)
        close = ")" + literal[quote + 1 : opener] + '"'
        end = len(literal) - len(close) if literal.endswith(close) else len(literal)
        if 0 < opener + 1 < end:
            yield StringPiece(literal[opener + 1 : end], Span(span.start + opener + 1, span.start + end))
        return
    end = len(literal) - (len(literal) > quote + 1 and literal.endswith('"'))
    yield from _read_escapes(text, Span(span.start + quote + 1, span.start + end))


def python_pieces(
    text: str, body: Span, *, raw: bool, formatted: bool, values: tuple[Span, ...] = ()
) -> Iterator[StringPiece]:
    """Yield the pieces of the inside of a Python string; ``values`` are the replacement fields of an f-string."""
    start = body.start
    for hole in (*values, Span(body.end, body.end)):
        part = Span(start, hole.start)
        for piece in _exact(text, part) if raw else _read_escapes(text, part):
            yield from _read_braces(piece) if formatted else (piece,)
        if hole.start < hole.end:
            yield StringPiece(HOLE, hole, exact=False)
        start = hole.end


def _exact(text: str, span: Span) -> Iterator[StringPiece]:
    if span.start < span.end:
        yield StringPiece(text[span.start : span.end], span)


def _read_escapes(text: str, span: Span) -> Iterator[StringPiece]:
    start = span.start
    for escape in _ESCAPE.finditer(text, span.start, span.end):
        yield from _exact(text, Span(start, escape.start()))
        value = _value(escape)
        if value:
            yield StringPiece(value, Span(escape.start(), escape.end()), exact=False)
        start = escape.end()
    yield from _exact(text, Span(start, span.end))


def _value(escape: re.Match[str]) -> str:
    """Return the value of an escape; empty for a line splice."""
    kind, digits = escape.lastgroup, escape.group(escape.lastgroup or 0)
    if kind == "splice":
        return ""
    if kind == "one":
        return _SIMPLE.get(digits, digits)
    if kind == "name":
        return "?"  # a letter of another script, which has no meaning in vISA
    number = int(digits, 8 if kind == "octal" else 16)
    return chr(number) if number <= _LAST else "?"


def _read_braces(piece: StringPiece) -> Iterator[StringPiece]:
    """Yield the pieces of a part of an f-string; doubled braces become single ones."""
    if not piece.exact or ("{{" not in piece.text and "}}" not in piece.text):
        yield piece
        return
    start = 0
    for brace in _BRACES.finditer(piece.text):
        yield from _part(piece, start, brace.start())
        yield StringPiece(brace[0][0], Span(brace.start(), brace.end()).shift(piece.host.start), exact=False)
        start = brace.end()
    yield from _part(piece, start, len(piece.text))


def _part(piece: StringPiece, start: int, end: int) -> Iterator[StringPiece]:
    if start < end:
        yield StringPiece(piece.text[start:end], Span(start, end).shift(piece.host.start))


def quote_text(text: str, *, raw: bool, quote: str) -> str | None:
    """Return a text escaped for a literal with these quotes; None if a raw literal cannot express it."""
    if raw:
        return None if quote[0] in text else text
    plain = text.replace("\\", "\\\\").replace(quote[0], "\\" + quote[0])
    return plain.replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
