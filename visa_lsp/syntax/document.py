"""An immutable text with its statements: chunks of lines, so that an edit costs what it touches.

A chunk holds nothing absolute: lines, statements, the block-comment state it was entered with. Where a chunk starts
comes from a prefix sum. ``edit`` gives a new document that shares every untouched chunk with the old one; the result
equals a fresh parse of the new text (tests/syntax/test_document.py replays random edits).
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from visa_lsp.syntax.comments import strip
from visa_lsp.syntax.parse import parse_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.syntax.tree import Statement
    from visa_lsp.text import Span

CHUNK_LINES: Final = 256


def split_lines(text: str) -> list[str]:
    """The lines of a text with their ends kept; only a newline ends a line, and the last one may be empty."""
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + [lines[-1]]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some consecutive lines. ``lines`` keep their ends; ``statements`` has one entry per line."""

    lines: tuple[str, ...]
    statements: tuple[Statement | None, ...]
    opens_in_block: bool
    closes_in_block: bool
    length: int

    @staticmethod
    def parse(lines: Sequence[str], in_block: bool) -> Chunk:
        """Parse lines that are entered with a block comment open or not."""
        opens = in_block
        statements = []
        for line in lines:
            code, in_block = strip(line.rstrip("\r\n"), in_block)
            statements.append(parse_line(code))
        return Chunk(tuple(lines), tuple(statements), opens, in_block, sum(map(len, lines)))


class Document:
    """A snapshot of a text. Offsets are code points; lines count from 0."""

    def __init__(self, chunks: tuple[Chunk, ...]) -> None:
        self.chunks = chunks

    @staticmethod
    def parse(text: str) -> Document:
        """A document from a whole text."""
        lines = split_lines(text)
        chunks, in_block = [], False
        for at in range(0, len(lines), CHUNK_LINES):
            chunk = Chunk.parse(lines[at : at + CHUNK_LINES], in_block)
            in_block = chunk.closes_in_block
            chunks.append(chunk)
        return Document(tuple(chunks))

    @cached_property
    def _first_lines(self) -> list[int]:
        return [0, *accumulate(len(c.lines) for c in self.chunks)]

    @cached_property
    def _first_offsets(self) -> list[int]:
        return [0, *accumulate(c.length for c in self.chunks)]

    @property
    def text(self) -> str:
        """The whole text; made anew at each call."""
        return "".join("".join(c.lines) for c in self.chunks)

    def __len__(self) -> int:
        return self._first_offsets[-1]

    @property
    def line_count(self) -> int:
        """Number of lines; a text ending in a newline has an empty last line."""
        return self._first_lines[-1]

    def _locate(self, line: int) -> tuple[int, int]:
        at = bisect_right(self._first_lines, line) - 1
        at = min(max(at, 0), len(self.chunks) - 1)
        return at, line - self._first_lines[at]

    def line_text(self, line: int) -> str:
        """A line without its end; empty for a line outside the text."""
        if not 0 <= line < self.line_count:
            return ""
        chunk, inside = self._locate(line)
        return self.chunks[chunk].lines[inside].rstrip("\r\n")

    def statement(self, line: int) -> Statement | None:
        """The statement of a line; None where the line is blank or outside the text."""
        if not 0 <= line < self.line_count:
            return None
        chunk, inside = self._locate(line)
        return self.chunks[chunk].statements[inside]

    def statements(self) -> Iterator[tuple[int, Statement]]:
        """Every statement with its line."""
        line = 0
        for chunk in self.chunks:
            for offset, statement in enumerate(chunk.statements):
                if statement is not None:
                    yield line + offset, statement
            line += len(chunk.lines)

    def line_start(self, line: int) -> int:
        """Offset of a line's first character; a line past the last is the end of the text."""
        if line <= 0:
            return 0
        if line >= self.line_count:
            return len(self)
        chunk, inside = self._locate(line)
        return self._first_offsets[chunk] + sum(map(len, self.chunks[chunk].lines[:inside]))

    def position(self, offset: int) -> tuple[int, int]:
        """(line, column) of an offset, clamped to the text."""
        offset = max(0, min(offset, len(self)))
        chunk = min(max(bisect_right(self._first_offsets, offset) - 1, 0), len(self.chunks) - 1)
        rest = offset - self._first_offsets[chunk]
        line = self._first_lines[chunk]
        lines = self.chunks[chunk].lines
        for index, text in enumerate(lines):
            if rest < len(text) or index == len(lines) - 1:
                return line + index, rest
            rest -= len(text)
        return line, rest

    def offset(self, line: int, column: int) -> int:
        """Offset of a position; a column past the line's end is that end."""
        if line >= self.line_count:
            return len(self)
        return self.line_start(line) + max(0, min(column, len(self.line_text(line))))

    def span(self, line: int, span: Span) -> Span:
        """A span of a statement of ``line`` in offsets of the whole text."""
        return span.shifted(self.line_start(line))

    def slice(self, span: Span) -> str:
        """The text of a span."""
        first, _ = self.position(span.start)
        last, _ = self.position(span.end)
        start = self.line_start(first)
        text = "".join(self._raw_line(line) for line in range(first, last + 1))
        return text[span.start - start : span.end - start]

    def _raw_line(self, line: int) -> str:
        chunk, inside = self._locate(line)
        return self.chunks[chunk].lines[inside]

    def edit(self, start: int, end: int, new_text: str) -> Document:
        """The document with the text of ``[start, end)`` replaced; offsets are clamped to the text."""
        start = max(0, min(start, len(self)))
        end = max(start, min(end, len(self)))
        first = min(max(bisect_right(self._first_offsets, start) - 1, 0), len(self.chunks) - 1)
        last = min(max(bisect_right(self._first_offsets, end) - 1, first), len(self.chunks) - 1)
        base = self._first_offsets[first]
        touched = self.chunks[first : last + 1]
        if touched[-1].lines and first + len(touched) < len(self.chunks) and self._first_offsets[last + 1] == end:
            # The edit may join the chunk's last line with the next chunk's first.
            last += 1
            touched = self.chunks[first : last + 1]
        old = "".join("".join(c.lines) for c in touched)
        lines = split_lines(old[: start - base] + new_text + old[end - base :])
        if last + 1 < len(self.chunks) and lines[-1] == "":
            # The text of inner chunks ends with a newline: what split_lines leaves behind it is the next chunk's.
            lines.pop()
        in_block = touched[0].opens_in_block
        fresh: list[Chunk] = []
        for at in range(0, len(lines), CHUNK_LINES):
            chunk = Chunk.parse(lines[at : at + CHUNK_LINES], in_block)
            in_block = chunk.closes_in_block
            fresh.append(chunk)
        rest = list(self.chunks[last + 1 :])
        for index, chunk in enumerate(rest):
            if chunk.opens_in_block == in_block:
                break
            rest[index] = Chunk.parse(chunk.lines, in_block)
            in_block = rest[index].closes_in_block
        chunks = (*self.chunks[:first], *fresh, *rest)
        return Document(chunks or (Chunk.parse([""], False),))
