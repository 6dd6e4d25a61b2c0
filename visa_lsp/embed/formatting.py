"""Formatting of blocks: words of a line are one blank apart, inside of the strings.

Only blanks between words change. Quotes, escapes, line ends, indentation and the places of comments belong to the
layout of the host and stay. Blanks at the border of two strings, or around a line splice, stay too. Invariant: the text
of the blocks has the same meaning before and after, and formatting twice changes nothing more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.diagnostics import Edit
from visa_lsp.ide.features.formatting import tidy_line
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.embed.host_text import HostText

_BLANK: Final = " \t"
_WITHOUT: Final = str.maketrans("", "", _BLANK)


def format_blocks(host: HostText, within: Span) -> tuple[Edit, ...]:
    """Return the edits of the host that format the vISA lines within a span of it, in text order."""
    visa = host.analysis.document
    edits: list[Edit] = []
    for number, unit in enumerate(host.units):
        reach = Span(host.base_of(number), host.base_of(number) + unit.length)
        if reach.end < within.start or within.end < reach.start:
            continue
        start = host.start_of(number)
        for line in range(visa.position(start)[0], visa.position(start + len(unit.text) - 1)[0]):
            old = visa.line_text(line)
            offset = visa.line_start(line)
            new = tidy_line(old, visa.statement(line))
            if old.translate(_WITHOUT) != new.translate(_WITHOUT):
                continue  # because not every reader treats such a character as a blank
            for edit in _blanks(offset, old, new):
                if (
                    edit.span.end == offset + len(old)
                    and host.host_span(Span(edit.span.end, edit.span.end + 1)) is None
                ):
                    continue  # after the last line there are only blanks before a closing quote
                placed = host.edits((edit,))
                if placed is not None and within.start <= placed[0].span.start and placed[0].span.end <= within.end:
                    edits += placed
    return tuple(sorted(edits, key=lambda e: e.span))


def _blanks(start: int, old: str, new: str) -> Iterator[Edit]:
    """Yield the edits that turn a line into another one that differs only in blanks; ``start`` is the offset of the line."""
    old_offset = new_offset = 0
    while old_offset < len(old) or new_offset < len(new):
        old_start, new_start = old_offset, new_offset
        while old_offset < len(old) and old[old_offset] in _BLANK:
            old_offset += 1
        while new_offset < len(new) and new[new_offset] in _BLANK:
            new_offset += 1
        if old[old_start:old_offset] != new[new_start:new_offset]:
            yield Edit(Span(start + old_start, start + old_offset), new[new_start:new_offset])
        old_offset, new_offset = old_offset + 1, new_offset + 1


def block_around(host: HostText, span: Span) -> Span | None:
    """Return the asm statement or marked string that contains a span of the host completely, or None."""
    for number, unit in enumerate(host.units):
        for block in unit.source.blocks:
            whole = block.span.shift(host.base_of(number) - unit.base)
            if whole.start <= span.start and span.end <= whole.end:
                return whole
    return None
