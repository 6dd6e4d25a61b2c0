"""Places in a text: offsets, spans, lines, and the column units that editors count in.

Everything below the protocol rim speaks of code-point offsets from the start of the text.
This module knows nothing of vISA and nothing of any protocol.
Invariant: only a newline ends a line; a carriage return before it belongs to the line's end, not to its text.
"""

from __future__ import annotations

from bisect import bisect_right
from io import StringIO
from itertools import accumulate
from typing import Literal

from msgspec import Struct

Encoding = Literal["utf-8", "utf-16", "utf-32"]


class Span(Struct, frozen=True, order=True):
    """A half-open range of code-point offsets ``[start, end)``."""

    start: int
    end: int

    def shifted(self, by: int) -> Span:
        """The same range, ``by`` code points further on."""
        return Span(self.start + by, self.end + by)

    def __contains__(self, offset: int) -> bool:
        return self.start <= offset < self.end

    def touches(self, offset: int) -> bool:
        """Whether a cursor at ``offset`` is in the range or just behind its last character."""
        return self.start <= offset <= self.end


def units(text: str, encoding: Encoding) -> int:
    """Length of ``text`` in the units of ``encoding`` (bytes, 16-bit words, code points)."""
    if encoding == "utf-32" or text.isascii():
        return len(text)
    if encoding == "utf-16":
        return len(text) + sum(ch > "\uffff" for ch in text)
    return len(text.encode("utf-8", "surrogatepass"))


def code_points(line: str, column: int, encoding: Encoding) -> int:
    """Code points of ``line`` that lie before the client's ``column``; a column past the end is the end."""
    if encoding == "utf-32" or line.isascii():
        return max(0, min(column, len(line)))
    seen = 0
    for index, ch in enumerate(line):
        if seen >= column:
            return index
        seen += (1 + (ch > "\uffff")) if encoding == "utf-16" else len(ch.encode("utf-8", "surrogatepass"))
    return len(line)


class LineIndex:
    """Where the lines of one text start: offsets to (line, column) and back, both from 0."""

    __slots__ = ("_length", "_starts")

    def __init__(self, text: str) -> None:
        starts = [0, *accumulate(map(len, StringIO(text, newline="\n")))]
        if len(starts) > 1 and not text.endswith("\n"):
            starts.pop()
        self._starts = starts
        self._length = len(text)

    def __len__(self) -> int:
        return len(self._starts)

    def position(self, offset: int) -> tuple[int, int]:
        """(line, column) of an offset; an offset past the end is the end of the text."""
        offset = max(0, min(offset, self._length))
        line = bisect_right(self._starts, offset) - 1
        return line, offset - self._starts[line]

    def start(self, line: int) -> int:
        """Offset of the first character of ``line``; a line past the last is the end of the text."""
        if line >= len(self._starts):
            return self._length
        return self._starts[max(0, line)]
