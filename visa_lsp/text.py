"""Places in a text: offsets, spans, lines, and the column units of editors.

Everything below the protocol rim uses code-point offsets from the start of the text.
Knows neither vISA nor any protocol. Invariant: as in editors, a line ends with a newline, a carriage return and a
newline, or a carriage return alone; other line separators of Unicode do not end a line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from io import StringIO
from itertools import accumulate
from typing import Final, Literal

from msgspec import Struct

Encoding = Literal["utf-8", "utf-16", "utf-32"]
_LONE_RETURN: Final = re.compile(r"\r(?!\n)")


def encode_text(text: str) -> bytes:
    """Return a text as bytes; invalid UTF-8 that was read with ``surrogateescape`` becomes the original bytes."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def decode_text(data: bytes) -> str:
    """Return stored bytes as a text without byte-order mark; bytes that are not UTF-8 are preserved, as in ``encode_text``."""
    return data.decode("utf-8-sig", "surrogateescape")


def display_text(text: str) -> str:
    """Return a text for display and JSON, with the replacement character for invalid UTF-8."""
    return text if text.isascii() else encode_text(text).decode("utf-8", "replace")


class Span(Struct, frozen=True, order=True):
    """A half-open range of code-point offsets ``[start, end)``."""

    start: int
    end: int

    def shift(self, by: int) -> Span:
        """Return the range moved by ``by`` code points."""
        return Span(self.start + by, self.end + by)

    def __contains__(self, offset: int) -> bool:
        return self.start <= offset < self.end

    def touches(self, offset: int) -> bool:
        """Return whether a cursor at ``offset`` is in the range or just after its last character."""
        return self.start <= offset <= self.end


def with_newlines(text: str) -> str:
    """Replace each lone carriage return at a line end by a newline; offsets and lines do not change.

    In the result only a newline ends a line, with or without a carriage return before it.
    """
    if "\r" not in text or text.count("\r") == text.count("\r\n"):
        return text
    return _LONE_RETURN.sub("\n", text)


def lines_of(text: str) -> list[str]:
    """Return the lines of a text without their ends; one that ends with a line end has an empty last line."""
    lines = with_newlines(text).split("\n")
    return [line.removesuffix("\r") for line in lines] if "\r" in text else lines


def units(text: str, encoding: Encoding) -> int:
    """Return the length of ``text`` in the units of ``encoding`` (bytes, 16-bit words, code points)."""
    if encoding == "utf-32" or text.isascii():
        return len(text)
    if encoding == "utf-16":
        return len(text) + sum(ch > "\uffff" for ch in text)
    return len(text.encode("utf-8", "surrogatepass"))


def code_points(line: str, column: int, encoding: Encoding) -> int:
    """Return the code points of ``line`` before the client's ``column``; a column past the end is the end."""
    if encoding == "utf-32" or line.isascii():
        return max(0, min(column, len(line)))
    seen = 0
    for index, ch in enumerate(line):
        if seen >= column:
            return index
        seen += (1 + (ch > "\uffff")) if encoding == "utf-16" else len(ch.encode("utf-8", "surrogatepass"))
    return len(line)


class LineIndex:
    """The starts of the lines of one text: offsets to (line, column) and back, both from 0."""

    __slots__ = ("_length", "_starts")

    def __init__(self, text: str) -> None:
        text = with_newlines(text)
        starts = [0, *accumulate(map(len, StringIO(text, newline="\n")))]
        if len(starts) > 1 and not text.endswith("\n"):
            starts.pop()
        self._starts = starts
        self._length = len(text)

    def __len__(self) -> int:
        return len(self._starts)

    def position(self, offset: int) -> tuple[int, int]:
        """Return (line, column) of an offset; an offset past the end is the end of the text."""
        offset = max(0, min(offset, self._length))
        line = bisect_right(self._starts, offset) - 1
        return line, offset - self._starts[line]

    def start(self, line: int) -> int:
        """Return the offset of the first character of ``line``; a line past the last is the end of the text."""
        if line >= len(self._starts):
            return self._length
        return self._starts[max(0, line)]
