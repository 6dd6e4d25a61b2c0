"""Writes changes of a block's text back into the existing strings of the host.

Quotes, escapes and the distribution of lines over strings stay; a new line gets its own string if the other lines have
one each. Invariant: the host then reads as the user's text; if that is impossible, nothing is written and
``BlockRefused`` says why.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from visa_lsp.diagnostics import Edit
from visa_lsp.embed.block_text import BlockRefused, BlockText, block_text, blocks_of, user_part
from visa_lsp.embed.literals import quote_text
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.embed.blocks import StringLiteral
    from visa_lsp.embed.host_text import HostText

_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_GAP: Final = re.compile(r"(?:\s|\\\r?\n)*")
# Lines: in longer blocks only the part between the first and the last difference is compared.
_MAX_COMPARED_LINES: Final = 400
_MAX_BLOCKS_MOVED: Final = 50  # blocks that may have been added or removed before a block since it was opened


def edits_of(host: HostText, number: int, called: str, before: str, text: str) -> tuple[Edit, ...]:
    """Return the edits of the host for a changed text of a block; ``before`` is the text at the start of the user's changes.

    Raises BlockRefused if the block has changed in the host meanwhile, or its strings cannot express a change.
    """
    block = _find_block(host, number, called, user_part(before))
    wanted = user_part(text)
    edits = tuple(_StringWriter(host, block).edits(wanted))
    if not edits:
        return ()
    document = host.document
    for edit in sorted(edits, key=lambda e: e.span, reverse=True):
        document = document.edit(edit.span.start, edit.span.end, edit.new_text)
    after = host.edit(document)
    if block.number >= len(blocks_of(after)) or block_text(after, block.number, called).lines != wanted:
        raise BlockRefused(f"this change cannot be expressed in the strings of {called}: make it there")
    return edits


def _find_block(host: HostText, number: int, called: str, lines: str) -> BlockText:
    """Return the block with these lines: the block of that number, else the only one near it."""
    numbers = range(max(0, number - _MAX_BLOCKS_MOVED + 1), min(len(blocks_of(host)), number + _MAX_BLOCKS_MOVED))
    alike = [block for other in numbers if (block := block_text(host, other, called)).lines == lines]
    of_number = [block for block in alike if block.number == number] or alike
    if len(of_number) == 1:
        return of_number[0]
    raise BlockRefused(f"the block has changed in {called}: open it again")


class _StringWriter:
    """Writes a changed block into the literals of its host."""

    def __init__(self, host: HostText, block: BlockText) -> None:
        self._text = host.document.text
        self._block = block
        self._unit = block.unit
        self._by = block.span.start - block.unit.base  # place of the unit's first block when it was read
        self._literals = block.block.literals
        spread = [self._between(literal, following) for literal, following in pairwise(self._literals)]
        self._in_lines = any("\n" in gap for gap in spread)
        self._join = " \\\n" if any("\\\n" in gap for gap in spread) else "\n"

    def _between(self, literal: StringLiteral, following: StringLiteral) -> str:
        shift = self._by
        return self._text[literal.span.end + shift : following.span.start + shift]

    def edits(self, wanted: str) -> Iterator[Edit]:
        """Yield the edits that turn the lines of the block into the wanted ones."""
        old, new = self._block.lines.split("\n")[:-1], wanted.split("\n")[:-1]
        head = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
        tail = 0
        while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
            tail += 1
        removed, added = old[head : len(old) - tail], new[head : len(new) - tail]
        # Text and unit differ in the number of lines above the block.
        starts = [self._first_line()]
        for line in old:
            starts.append(starts[-1] + len(line) + 1)
        short = max(len(removed), len(added)) <= _MAX_COMPARED_LINES
        codes = SequenceMatcher(None, removed, added, autojunk=False).get_opcodes() if short else None
        for tag, i1, i2, j1, j2 in codes or [("replace", 0, len(removed), 0, len(added))]:
            if tag != "equal":
                yield from self._lines(old, starts, (head + i1, head + i2), added[j1:j2])

    def _first_line(self) -> int:
        offset = 0
        for _ in range(self._block.head_lines):
            offset = self._unit.text.index("\n", offset) + 1
        return offset

    def _lines(self, old: list[str], starts: list[int], gone: tuple[int, int], new: list[str]) -> Iterator[Edit]:
        """Yield the edits that replace lines: pair by pair as long as both sides have lines, then the removed or added rest."""
        first_line, end = gone
        both = min(end - first_line, len(new))
        for n in range(both):
            line = "\n".join(new[n:]) if n == both - 1 else new[n]
            yield from self._change_line(starts[first_line + n], old[first_line + n], line)
        if first_line + both < end:
            yield from self._write_part(Span(starts[first_line + both], starts[end]), "")
        elif not both and first_line > 0:
            offset = starts[first_line] - 1
            yield from self._write_part(Span(offset, offset), "".join("\n" + line for line in new))
        elif not both:
            yield from self._write_part(Span(starts[0], starts[0]), "".join(line + "\n" for line in new))

    def _change_line(self, start: int, old: str, new: str) -> Iterator[Edit]:
        """Yield the edits that turn one line into another; a name of an operand is changed as a whole."""
        if old == new:
            return
        head = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
        tail = 0
        while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
            tail += 1
        while head and (_is_word(old[head - 1 : head + 1]) or _is_word(new[head - 1 : head + 1])):
            head -= 1
        while tail and (_is_word(_around(old, tail)) or _is_word(_around(new, tail))):
            tail -= 1
        yield from self._write_part(Span(start + head, start + len(old) - tail), new[head : len(new) - tail])

    def _write_part(self, span: Span, new: str) -> Iterator[Edit]:
        """Yield the edits that replace a part of the unit's text; a placeholder is replaced as a whole."""
        for segment in self._unit.map.segments:
            whole = segment.text
            if not segment.exact and whole.start < span.start < whole.end:
                new = self._unit.text[whole.start : span.start] + new
                span = Span(whole.start, max(span.end, span.start))
            if not segment.exact and whole.start < span.end < whole.end:
                new += self._unit.text[span.end : whole.end]
                span = Span(span.start, whole.end)
        parts = list(self._parts(span))
        if not parts:
            raise BlockRefused("this line cannot be changed here: change it in the host")
        for number, part in enumerate(parts):
            literal = self._literal_around(part)
            if literal is None:
                raise BlockRefused(
                    f"`{self._text[part.start : part.end]}` replaces a part of the line: change it in the host"
                )
            text = self._quote(literal, new if number == 0 else "")
            yield Edit(self._with_its_string(part) if not text else part, text)

    def _parts(self, span: Span) -> Iterator[Span]:
        """Yield the parts of the host for a part of the unit's text; for an empty part, the one at its place."""
        shift = self._by + self._unit.base
        position_map = self._unit.map
        if span.start >= span.end:
            here = position_map.to_host(span.start)
            offset = here if here is not None else position_map.end_in_host(span.start)
            if offset is not None:
                yield Span(offset + shift, offset + shift)
            return
        last: Span | None = None
        for segment in position_map.segments:
            start, end = max(span.start, segment.text.start), min(span.end, segment.text.end)
            if start >= end:
                continue
            part = segment.host
            if segment.exact:
                part = Span(start - segment.text.start, end - segment.text.start).shift(segment.host.start)
            part = part.shift(shift)
            if last is not None and last.end == part.start:
                last = Span(last.start, part.end)
                continue
            if last is not None:
                yield last
            last = part
        if last is not None:
            yield last

    def _literal_around(self, part: Span) -> StringLiteral | None:
        for literal in self._literals:
            whole = literal.span.shift(self._by)
            if whole.start < part.start and part.end < whole.end:
                return literal
        return None

    def _with_its_string(self, part: Span) -> Span:
        """Return the span to remove for a part; if its string becomes empty, the string with the separator before it."""
        for before, literal in pairwise(self._literals):
            whole = literal.span.shift(self._by)
            inside = self._text[whole.start : whole.end]
            if inside == f"{literal.quote}{self._text[part.start : part.end]}{literal.quote}" and part.start in whole:
                gap = self._between(before, literal)
                return Span(whole.start - len(gap), whole.end) if _GAP.fullmatch(gap) else part
        return part

    def _quote(self, literal: StringLiteral, text: str) -> str:
        """Return a part of the text escaped for its literal."""
        sign = self._block.block.signs[:1]
        if sign:
            text = text.replace(sign, sign * 2)
        text = self._unit.parts_as_written(text)
        text = _WORD.sub(lambda word: self._block.names.get(word[0], word[0]), text)
        # Reading the host again will show whether a raw string can express it.
        pieces = [quote_text(line, raw=False, quote=literal.quote) or "" for line in text.split("\n")]
        if literal.raw:
            return text
        if len(literal.quote) > 1:
            return "\n".join(pieces)
        if not self._in_lines:
            return "\\n".join(pieces)
        start = literal.span.start + self._by
        column = start - self._text.rfind("\n", 0, start) - 1
        return f"\\n{literal.quote}{self._join}{' ' * column}{literal.quote}".join(pieces)


def _is_word(signs: str) -> bool:
    """Return whether two adjacent characters belong to one word."""
    return len(signs) == 2 and all(sign.isalnum() or sign == "_" for sign in signs)


def _around(line: str, tail: int) -> str:
    """Return the two characters on both sides of the start of the last ``tail`` characters of a line."""
    offset = len(line) - tail
    return line[offset - 1 : offset + 1] if offset else ""
