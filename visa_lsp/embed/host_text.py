"""A snapshot of a host text: its blocks, the vISA text made of them, the analysis of that, and the mapping between both.

All bodies are in one vISA text, so that an edit of the host becomes an edit of that text for the usual engine. A
snapshot never changes; ``edit`` creates the next one: the parser reads the host again as far as its tree has changed,
and functions with unchanged text keep their bodies. Invariant: the snapshot after an edit equals a fresh one of the same
text, unless the host has a mistake from which the parser recovers differently when it reads a part of the text.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.diagnostics import Edit
from visa_lsp.embed.host_change import change_between, same_ends
from visa_lsp.embed.languages import Host
from visa_lsp.embed.literals import quote_text
from visa_lsp.embed.scan import Before, Scan, scan
from visa_lsp.embed.surroundings import Surroundings
from visa_lsp.syntax.document import Document

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.embed.units import Unit
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.text import Span

HEADER: Final = ".version 4.2\n"


class HostText:
    """A snapshot of a host text. ``document`` is the host's own."""

    def __init__(
        self,
        host: Host,
        document: Document,
        platform: Platform | None,
        ready_scan: Scan | None = None,
        analysis: Analysis | None = None,
    ) -> None:
        self.document = document
        self.host = host
        self.platform = platform
        self._scan = ready_scan if ready_scan is not None else scan(document.text, host)
        self.placed = self._scan.placed
        self.comments = self._scan.comments
        self.units = tuple(p.unit for p in self.placed)
        self._starts = [*accumulate((len(u.text) for u in self.units), initial=len(HEADER))]
        self._bases = [p.base for p in self.placed]
        # The furthest end of the units up to each one, because an inner function begins before the outer one ends.
        self._reach = [*accumulate((p.base + p.unit.length for p in self.placed), max)]
        self.analysis = analysis if analysis is not None else Analysis(Document.parse(self.visa_text), platform)

    @staticmethod
    def of(text: str, host: Host, platform: Platform | None = None) -> HostText:
        """Return a snapshot of a whole text.

        Raises MissingGrammarError if there may be vISA in it and it cannot be parsed.
        """
        return HostText(host, Document.parse(text), platform)

    @property
    def visa_text(self) -> str:
        """The vISA text of all blocks."""
        return HEADER + "".join(u.text for u in self.units)

    def on(self, platform: Platform | None) -> HostText:
        """Return the snapshot of the same text on a platform."""
        return HostText(self.host, self.document, platform, self._scan)

    # ---- edits ----

    def edit(self, document: Document) -> HostText:
        """Return the snapshot of the next state of the host's document."""
        change = change_between(self.document, document)
        before = self._scan
        if before.tree is not None:
            before = replace(before, tree=before.tree.edit(change, self.document, document))
        next_scan = scan(document.text, self.host, Before(self.document.text, before))
        return HostText(self.host, document, self.platform, next_scan, self._next_analysis(next_scan))

    def _next_analysis(self, next_scan: Scan) -> Analysis:
        """Return the analysis of the new vISA text, by an edit of the present one."""
        units = tuple(p.unit for p in next_scan.placed)
        head, tail = _same_units(self.units, units)
        if head == len(units) == len(self.units):
            return self.analysis
        old = "".join(u.text for u in self.units[head : len(self.units) - tail])
        new = "".join(u.text for u in units[head : len(units) - tail])
        equal_head, equal_tail = same_ends(old, new)
        start = self._starts[head]
        visa = self.analysis.document.edit(
            start + equal_head, start + len(old) - equal_tail, new[equal_head : len(new) - equal_tail]
        )
        return Analysis(visa, self.platform)

    # ---- places ----

    def unit_at(self, offset: int) -> int:
        """Return the number of the unit at an offset of the vISA text; -1 before the first."""
        return min(bisect_right(self._starts, offset) - 1, len(self.units) - 1)

    def base_of(self, number: int) -> int:
        """Return the offset of a unit in the host."""
        return self._bases[number]

    def distance_of(self, unit: Unit) -> int:
        """Return the distance that a unit has moved in the host since its blocks were read."""
        return next(p.base - p.unit.base for p in self.placed if p.unit is unit)

    def start_of(self, number: int) -> int:
        """Return the offset of a unit in the vISA text."""
        return self._starts[number]

    def host_span(self, span: Span) -> Span | None:
        """Return the part of the host for a span of the vISA text; None for a span outside of strings."""
        number = self.unit_at(span.start)
        if number < 0:
            return None
        relative_span = self.units[number].map.host_span(span.shift(-self._starts[number]))
        return relative_span.shift(self._bases[number]) if relative_span is not None else None

    def visa_offset(self, offset: int) -> int | None:
        """Return the offset in the vISA text for a cursor in the host; None outside of vISA."""
        number = bisect_right(self._bases, offset) - 1
        while number >= 0 and self._reach[number] >= offset:
            local_offset = self.units[number].map.to_text(offset - self._bases[number])
            if local_offset is not None:
                return self._starts[number] + local_offset
            number -= 1
        return None

    def edits(self, edits: Iterable[Edit]) -> tuple[Edit, ...] | None:
        """Convert edits of the vISA text to edits of the host; None if the strings there cannot express one of them."""
        out = []
        for edit in edits:
            host_edit = self._edit(edit)
            if host_edit is None:
                return None
            out.append(host_edit)
        return tuple(out)

    def _edit(self, edit: Edit) -> Edit | None:
        number = self.unit_at(edit.span.start)
        if number < 0:
            return None
        unit = self.units[number]
        local = edit.span.shift(-self.start_of(number))
        span = unit.map.host_span(local)
        if span is None or not unit.map.unbroken(local):
            return None
        inside = unit.literal_around(span)
        if inside is None:
            return None
        block, literal = inside
        text = edit.new_text
        if block.signs:
            sign = block.signs[0]
            text = text.replace(sign, sign * 2)
        written = quote_text(unit.as_written(text), raw=literal.raw, quote=literal.quote)
        return Edit(span.shift(self.base_of(number)), written) if written is not None else None

    def is_unbroken(self, span: Span) -> bool:
        """Return whether the part of the host for a span is exactly the text of the span."""
        number = self.unit_at(span.start)
        return number >= 0 and self.units[number].map.unbroken(span.shift(-self._starts[number]))

    def declaration(self, unit: Unit, name: str, offset: int) -> Span | None:
        """Return the declaration of a C variable that is visible at an offset of a unit, or None."""
        around = self._around
        if around is None:
            return None
        host_offset = offset + self.distance_of(unit)
        declared = around.declaration(name, around.function_at(host_offset), host_offset)
        return declared.span if declared is not None else None

    @cached_property
    def _around(self) -> Surroundings | None:
        tree = self._scan.tree
        if tree is None or self.host is Host.PYTHON:
            return None
        text = self.document.text
        return Surroundings(text, self.host, tree.parse(text).tree)


def _same_units(old: tuple[Unit, ...], new: tuple[Unit, ...]) -> tuple[int, int]:
    """Return the numbers of equal units at the head and at the tail, without overlap."""
    most = min(len(old), len(new))
    head = tail = 0
    while head < most and (old[head] is new[head] or old[head].text == new[head].text):
        head += 1
    while tail < most - head and (old[-1 - tail] is new[-1 - tail] or old[-1 - tail].text == new[-1 - tail].text):
        tail += 1
    return head, tail
