"""The chunks of a document: several lines as one text, without absolute positions.

A chunk never changes, except for cached facts. Invariant: every chunk of a document except
the last ends with a newline; a line that opens a body is the first of its chunk; a statement of several lines is in one
chunk. A lone carriage return at a line end
is a newline in ``text``, so that no other module needs to know about it. ``source`` has the original text, because an
edit next to the carriage return may make it part of another line end.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Final

from visa_lsp.syntax.bulk import Facts, code_of
from visa_lsp.syntax.comments import code_after_comment, is_continued, join_lines, may_cross_lines, strip

# A part of every comment for this program.
_MARK: Final = "visa:"


def split_lines(text: str) -> list[str]:
    """Return the lines of a chunk's text with their ends kept; only a newline ends one, and the last one may be empty."""
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + [lines[-1]]


class Chunk:
    """Consecutive lines as one text.

    ``marked`` chunks may contain a suppression. ``starred`` ones may have comments or statements of several lines.
    ``goes_on``: there is a statement of several lines. ``is_pending``: the last statement may continue in the next chunk.
    ``facts`` is a cache of the module that computes them.
    """

    __slots__ = (
        "_line_starts", "closes_in_block", "count", "facts", "goes_on", "is_pending", "length", "marked", "opens_in_block",
        "source", "starred", "text",
    )  # fmt: skip

    def __init__(self, text: str, count: int, opens_in_block: bool, source: str | None = None) -> None:
        """Make a chunk; ``source`` is the original text, if different."""
        self.text = text
        self.source = text if source is None or source == text else source
        self.count = count
        self.length = len(text)
        self.marked = _MARK in text
        self.starred = "*" in text or is_continued(text)
        self.opens_in_block = self.closes_in_block = opens_in_block
        self.goes_on = self.is_pending = False
        if self.starred and not self.is_comment and may_cross_lines(text, opens_in_block):
            lines = join_lines(text, opens_in_block)
            self.closes_in_block = lines.in_block
            self.goes_on, self.is_pending = bool(lines.ends), lines.is_pending
        self.facts: Facts | None = None
        self._line_starts: Sequence[int] | None = None

    @property
    def line_starts(self) -> Sequence[int]:
        """The start of each line in the text; kept, because every standing finding needs one after each edit."""
        if self._line_starts is None:
            self._line_starts = [0, *accumulate([len(line) + 1 for line in self.text.split("\n")])]
        return self._line_starts

    @property
    def lines(self) -> list[str]:
        """The lines with their ends."""
        return split_lines(self.text)[: self.count]

    @property
    def swallowed(self) -> bool:
        """True if the chunk is entirely inside one comment, and has no character of a comment's sign."""
        return self.opens_in_block and not self.starred

    @property
    def is_comment(self) -> bool:
        """True if the chunk is entirely inside one comment."""
        return self.opens_in_block and (not self.starred or code_after_comment(self.text) is None)

    @property
    def begins_within_line(self) -> bool:
        """True if code follows the comment that is open at the start, in the line where it ends."""
        return self.opens_in_block and self.starred and bool(code_after_comment(self.text))

    def codes(self) -> list[str]:
        """Return the lines without comments, ends and blanks before the ends."""
        return [line.rstrip() for line in code_in(self).split("\n")[1 : self.count + 1]]

    def enter(self, in_block: bool) -> Chunk:
        """Return the chunk after another state of comments."""
        return Chunk(self.text, self.count, in_block, self.source)


# A few chunks are read repeatedly: those at the ends of a body, and those being edited. The size suffices to read a
# text of some 30,000 lines once for all modules that need the whole text.
@lru_cache(maxsize=128)
def code_in(chunk: Chunk) -> str:
    """Return the code of a chunk: each line without comment and end, with a newline before it."""
    return code_of(chunk.text, chunk.opens_in_block)


@lru_cache(maxsize=64)
def codes_in(chunk: Chunk) -> Sequence[str]:
    """Return ``Chunk.codes``, cached for chunks that are requested often."""
    return chunk.codes()


# Cached because the lines of a frame are requested with every edit.
@lru_cache(maxsize=512)
def line_in(chunk: Chunk, number: int) -> tuple[int, str]:
    """Return the start of a line in the text of its chunk, and the line without its end."""
    start = chunk.line_starts[number]
    end = chunk.text.find("\n", start)
    return start, chunk.text[start : end if end >= 0 else None].rstrip("\r")


@lru_cache(maxsize=512)
def single_code(chunk: Chunk, number: int) -> str:
    """Return one line of ``Chunk.codes``, for a chunk without comments across lines."""
    return strip(line_in(chunk, number)[1], False)[0].rstrip()


def first_line_of(chunk: Chunk, number: int) -> int:
    """Return the line in which the statement of a line begins, an earlier one for a continued statement."""
    if not chunk.goes_on:
        return number
    codes, start = codes_in(chunk), number
    while start > 0 and not codes[start]:
        start -= 1
    return start if len(codes[start]) > len(line_in(chunk, start)[1]) else number
