"""An immutable text with its statements, in chunks of lines, so that the cost of an edit depends on its size.

A chunk has no absolute positions: only lines, statements, and the state of block comments at its start. The start of a
chunk is a prefix sum. ``edit`` returns a new document that shares every unchanged chunk with the old one; the result
equals a fresh parse of the new text (tests/syntax/test_document.py replays random edits).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cached_property
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from visa_lsp.syntax.bulk import bodies_of, nth_line
from visa_lsp.syntax.chunks import Chunk, codes_in, first_line_of, line_in, single_code, split_lines
from visa_lsp.syntax.comments import join_lines, may_cross_lines
from visa_lsp.syntax.memo import Memo
from visa_lsp.syntax.parse import parse_line, statement_of
from visa_lsp.text import Span, with_newlines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.syntax.tree import Statement

CHUNK_LINES: Final = 256
BYTE_ORDER_MARK: Final = "\ufeff"
_SINGLE_LINES: Final = 8


def _cut(text: str, in_block: bool, *, is_last: bool) -> list[tuple[str, int]]:
    """Return a text in pieces of (text, number of lines), with no statement in two pieces."""
    pieces: list[tuple[str, int]] = []
    ends = join_lines(text, in_block).ends if may_cross_lines(text, in_block) else {}
    starts = list(ends)

    def leave_statement(offset: int) -> int:
        """Return the end of the statement of several lines around the start of a line, or that start."""
        before = bisect_left(starts, offset) - 1
        return max(offset, min(ends[starts[before]], len(text))) if before >= 0 else offset

    bodies = [offset for offset in bodies_of(text) if leave_statement(offset) == offset] if ends else bodies_of(text)
    for start, end in pairwise([0, *bodies, len(text)]):
        size = text.count("\n", start, end) + (is_last and end == len(text))
        many = max(1, round(size / CHUNK_LINES))
        offset, line = start, 0
        for border in [size * i // many for i in range(1, many + 1)]:
            if line < border:
                stop = end if border == size else leave_statement(nth_line(text, border - line, offset))
                next_line = size if stop == end else line + text.count("\n", offset, stop)
                pieces.append((text[offset:stop], next_line - line))
                offset, line = stop, next_line
    return pieces


def _chunks(text: str, in_block: bool, *, is_first: bool, is_last: bool) -> list[Chunk]:
    chunks = []
    plain, offset = with_newlines(text), 0
    if is_first and plain.startswith(BYTE_ORDER_MARK):
        plain = " " + plain[1:]  # read as a blank, so that offsets do not change
    for piece, count in _cut(plain, in_block, is_last=is_last):
        source = None if plain is text else text[offset : offset + len(piece)]
        chunk = Chunk(piece, count, in_block, source=source)
        offset += len(piece)
        in_block = chunk.closes_in_block
        chunks.append(chunk)
    return chunks


def _statement_start(chunks: Sequence[Chunk], index: int) -> int:
    """Return the chunk in which the statement at the start of a chunk begins: an earlier one only during an edit."""
    chunk, before = chunks[index], index - 1
    if not (chunk.begins_within_line if chunk.opens_in_block else chunk.text):
        return index
    while chunk.opens_in_block and before >= 0 and chunks[before].is_comment:
        before -= 1
    return before if before >= 0 and chunks[before].is_pending else index


class Document:
    """A snapshot of a text. Offsets are code points; lines count from 0.

    ``session`` is shared by all snapshots of a text, and has the state kept from one to the next.
    """

    def __init__(self, chunks: Sequence[Chunk], session: Memo | None = None) -> None:
        self.chunks = chunks
        self.session = Memo() if session is None else session

    @staticmethod
    def parse(text: str) -> Document:
        """Return a document from a whole text."""
        return Document(_chunks(text, False, is_first=True, is_last=True))

    @cached_property
    def _first_lines(self) -> list[int]:
        return [0, *accumulate(map(attrgetter("count"), self.chunks))]

    @cached_property
    def _first_offsets(self) -> list[int]:
        return [0, *accumulate(map(attrgetter("length"), self.chunks))]

    @cached_property
    def marked(self) -> int:
        """The number of chunks that may have a suppression in them."""
        return sum(chunk.marked for chunk in self.chunks)

    @property
    def text(self) -> str:
        """The whole original text; created at each call."""
        return "".join([c.source for c in self.chunks])

    def __len__(self) -> int:
        return self._first_offsets[-1]

    @property
    def line_count(self) -> int:
        """The number of lines; a text that ends with a newline has an empty last line."""
        return self._first_lines[-1]

    def _locate(self, line: int) -> tuple[int, int]:
        index = bisect_right(self._first_lines, line) - 1
        index = min(max(index, 0), len(self.chunks) - 1)
        return index, line - self._first_lines[index]

    def line_of(self, chunk: int) -> int:
        """Return the first line of a chunk by its number; after the last chunk, the number of lines."""
        return self._first_lines[chunk]

    def chunk_at(self, line: int) -> int:
        """Return the number of the chunk with a line."""
        return self._locate(line)[0]

    def code(self, line: int) -> str:
        """Return a line without comment and end; empty for a line outside the text."""
        if not 0 <= line < self.line_count:
            return ""
        index, inside = self._locate(line)
        chunk = self.chunks[index]
        # Looked up singly, because only one or two lines of most chunks are ever requested.
        return codes_in(chunk)[inside] if chunk.starred or chunk.opens_in_block else single_code(chunk, inside)

    def codes_at(self, lines: Sequence[int]) -> dict[int, str]:
        """Return ``code`` of lines of the text, which must be in order."""
        codes_by_line: dict[int, str] = {}
        position = 0
        while position < len(lines):
            number = self.chunk_at(lines[position])
            first_line = self._first_lines[number]
            end = bisect_left(lines, self._first_lines[number + 1], position + 1)
            chunk_lines = lines[position:end]
            codes = codes_in(self.chunks[number]) if len(chunk_lines) > _SINGLE_LINES else None
            codes_by_line.update(
                [(line, self.code(line) if codes is None else codes[line - first_line]) for line in chunk_lines]
            )
            position = end
        return codes_by_line

    def line_text(self, line: int) -> str:
        """Return a line without its end; empty for a line outside the text."""
        if not 0 <= line < self.line_count:
            return ""
        index, inside = self._locate(line)
        text = line_in(self.chunks[index], inside)[1]
        if line == 0 and self.chunks[0].source.startswith(BYTE_ORDER_MARK):
            return BYTE_ORDER_MARK + text[1:]
        return text

    def statement(self, line: int) -> Statement | None:
        """Return the statement of a line; None for a blank line or outside of the text."""
        if not 0 <= line < self.line_count:
            return None
        return statement_of(self.code(line))

    def statements(self) -> Iterator[tuple[int, Statement]]:
        """Yield every statement with its line."""
        for line, code in self.codes():
            statement = parse_line(code)
            if statement is not None:
                yield line, statement

    def codes(self) -> Iterator[tuple[int, str]]:
        """Yield the number and the text of every line, without comment, line end and trailing blanks."""
        line = 0
        for chunk in self.chunks:
            yield from enumerate(chunk.codes(), line)
            line += chunk.count

    def line_start(self, line: int) -> int:
        """Return the offset of a line's first character; for a line past the last, the end of the text."""
        if line <= 0:
            return 0
        if line >= self.line_count:
            return len(self)
        index, inside = self._locate(line)
        return self._first_offsets[index] + line_in(self.chunks[index], inside)[0]

    def position(self, offset: int) -> tuple[int, int]:
        """Return (line, column) of an offset, clamped to the text."""
        offset = max(0, min(offset, len(self)))
        chunk = min(max(bisect_right(self._first_offsets, offset) - 1, 0), len(self.chunks) - 1)
        rest = offset - self._first_offsets[chunk]
        text = self.chunks[chunk].text
        inside = text.count("\n", 0, rest)
        if inside >= self.chunks[chunk].count:
            inside -= 1
        return self._first_lines[chunk] + inside, rest - (text.rfind("\n", 0, rest) + 1)

    def line_at(self, offset: int) -> int:
        """Return the line of an offset; for a statement of several lines, its first."""
        return self.first_line_of(self.position(offset)[0])

    def first_line_of(self, line: int) -> int:
        """Return the line in which the statement of a line begins."""
        chunk, inside = self._locate(line)
        return line - inside + first_line_of(self.chunks[chunk], inside)

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a position; a column past the line's end is that end."""
        if line >= self.line_count:
            return len(self)
        return self.line_start(line) + max(0, min(column, len(self.line_text(line))))

    def span(self, line: int, span: Span) -> Span:
        """Convert a span of a statement of ``line`` to offsets of the whole text."""
        return span.shift(self.line_start(line))

    def slice(self, span: Span) -> str:
        """Return the text of a span."""
        first_chunk = min(max(bisect_right(self._first_offsets, span.start) - 1, 0), len(self.chunks) - 1)
        last_chunk = min(max(bisect_right(self._first_offsets, span.end) - 1, first_chunk), len(self.chunks) - 1)
        base = self._first_offsets[first_chunk]
        text = "".join([chunk.source for chunk in self.chunks[first_chunk : last_chunk + 1]])
        return text[span.start - base : span.end - base]

    def edit(self, start: int, end: int, new_text: str) -> Document:
        """Return the document with the text of ``[start, end)`` replaced; offsets are clamped to the text."""
        start = max(0, min(start, len(self)))
        end = max(start, min(end, len(self)))
        first_chunk = min(max(bisect_right(self._first_offsets, start) - 1, 0), len(self.chunks) - 1)
        last = min(max(bisect_right(self._first_offsets, end) - 1, first_chunk), len(self.chunks) - 1)
        chunks = self.chunks
        if first_chunk and start == self._first_offsets[first_chunk] and chunks[first_chunk - 1].source.endswith("\r"):
            first_chunk -= 1  # because a newline inserted here belongs to the carriage return before it
        fresh = self._replace(first_chunk, last, start, end, new_text)
        while True:
            in_block = fresh[-1].closes_in_block if fresh else chunks[first_chunk].opens_in_block
            same = last + 1  # the first unchanged chunk after the replaced part
            moved: list[Chunk] = []
            while same < len(chunks) and chunks[same].opens_in_block != in_block:
                moved.append(chunks[same].enter(in_block))
                in_block = moved[-1].closes_in_block
                same += 1
            # A copy and a splice, because every other method visits all chunks more than once.
            spliced = list(chunks)
            spliced[first_chunk:same] = [*fresh, *moved]
            end_of_new = first_chunk + len(fresh)
            joined = _joined_chunks(spliced, first_chunk, end_of_new + len(moved))
            if joined is None:
                break
            # The chunks of a statement are cut again as one text, because a statement is in one chunk.
            first_chunk, last = min(first_chunk, joined[0]), max(last, joined[1] - end_of_new + last + 1)
            fresh = self._replace(first_chunk, last, start, end, new_text)
        return Document(spliced, self.session)

    def _replace(self, first_chunk: int, last_chunk: int, start: int, end: int, new_text: str) -> list[Chunk]:
        """Return new chunks for those from ``first_chunk`` to ``last_chunk``, with the text of ``[start, end)`` replaced."""
        base, old = (
            self._first_offsets[first_chunk],
            "".join([c.source for c in self.chunks[first_chunk : last_chunk + 1]]),
        )
        # The chunk with `end` keeps its newline, so that the replaced part ends at the end of a chunk.
        text = old[: start - base] + new_text + old[end - base :]
        return _chunks(
            text,
            self.chunks[first_chunk].opens_in_block,
            is_first=not first_chunk,
            is_last=last_chunk + 1 == len(self.chunks),
        )


def _joined_chunks(chunks: Sequence[Chunk], first_chunk: int, end: int) -> tuple[int, int] | None:
    """Return the first and the last chunk of a statement that crosses a border at, or after, new chunks; None without one.

    The new chunks are those in ``[first_chunk, end)``.
    """
    last = min(end, len(chunks) - 1)
    while last < len(chunks) - 1 and chunks[last].is_comment:
        last += 1
    borders = [border for border in (*range(first_chunk, min(end, last) + 1), last) if border]
    starts = [(start, border) for border in borders if (start := _statement_start(chunks, border)) < border]
    return (min(starts)[0], starts[-1][1]) if starts else None


def same_head(old: Sequence[object], new: Sequence[object]) -> int:
    """Return the number of equal members at the head of two lists."""
    most = step = min(len(old), len(new))
    head = 0
    while step:
        # Slices, because Python compares their members without executing bytecode in between.
        if old[head : head + step] == new[head : head + step]:
            head += step
            step = min(step, most - head)
        else:
            step //= 2
    return head


def same_tail(old: Sequence[object], new: Sequence[object], most: int) -> int:
    """Return the number of equal members at the tail of two lists, at most ``most``."""
    tail, step = 0, most
    while step:
        if old[len(old) - tail - step : len(old) - tail] == new[len(new) - tail - step : len(new) - tail]:
            tail += step
            step = min(step, most - tail)
        else:
            step //= 2
    return tail


def common(old: Sequence[object], new: Sequence[object]) -> tuple[int, int]:
    """Return the numbers of equal members at the head and at the tail of two lists."""
    head = same_head(old, new)
    return head, same_tail(old, new, min(len(old), len(new)) - head)


__all__ = ["CHUNK_LINES", "Chunk", "Document", "split_lines"]
