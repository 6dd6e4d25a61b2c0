"""Findings that stay right while lines around them come and go: each says where it is by chunks and lines in them.

A chunk never changes, so a place in one holds for every snapshot that has the chunk. When a chunk is edited, the findings
that have places in it are made anew for the chunk that came (``moved``), or given up where a line of theirs changed.
"""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from visa_lsp.checks.support.context import insertion_after
from visa_lsp.diagnostics import Diagnostic, Edit, Fix, Related
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from visa_lsp.syntax.chunks import Chunk
    from visa_lsp.syntax.document import Document


class Anchor(NamedTuple):
    """A line of a chunk."""

    chunk: Chunk
    offset: int


class Spot(NamedTuple):
    """A span: the number of the anchor in whose line it begins, the column, how many lines below it ends, and the column."""

    anchor: int
    column: int
    down: int
    end_column: int


class Change(NamedTuple):
    """Chunks that went; where one came instead, which of its lines are lines of the old one, as in ``Origin``."""

    gone: frozenset[int]  # by ``id``
    chunk: Chunk | None
    head: int
    behind: int  # of the old chunk: the first line behind the changed ones
    shift: int


class Finding(Struct, frozen=True):
    """A finding with its places. ``judged`` has the offsets of the snapshot that it was found in."""

    judged: Diagnostic
    anchors: tuple[Anchor, ...]
    spots: tuple[Spot, ...]  # of the finding, of what is related, of the edits of its fixes

    @property
    def order(self) -> tuple[int, int, int, int, str]:
        """What findings of one chunk are put in order by."""
        spot = self.spots[0]
        return self.anchors[0].offset, spot.column, spot.down, spot.end_column, self.judged.code

    @staticmethod
    def of(judged: Diagnostic, document: Document) -> Finding:
        """The finding of a snapshot, with its places in the chunks of that."""
        numbers: dict[int, int] = {}
        spots: list[Spot] = []

        def note(span: Span) -> None:
            line, column = document.position(span.start)
            end_line, end_column = document.position(span.end)
            spots.append(Spot(numbers.setdefault(line, len(numbers)), column, end_line - line, end_column))

        note(judged.span)
        for related in judged.related:
            if related.path is None:
                note(related.span)
        for edit in _edits(judged):
            if edit.after:
                # It begins where the line ends that it belongs to, or at the end of a text whose last line has none.
                line, column = document.position(edit.span.start)
                spots.append(Spot(numbers.setdefault(line if column else line - 1, len(numbers)), 0, 0, 0))
            else:
                note(edit.span)
        anchors = []
        for line in numbers:
            index = document.chunk_at(line)
            anchors.append(Anchor(document.chunks[index], line - document.line_of(index)))
        return Finding(judged, tuple(anchors), tuple(spots))

    def moved(self, change: Change) -> Finding | None:
        """The finding behind a change of chunks; None where one of its lines is gone."""
        if not any(id(anchor.chunk) in change.gone for anchor in self.anchors):
            return self
        anchors = []
        for anchor in self.anchors:
            if id(anchor.chunk) not in change.gone:
                anchors.append(anchor)
            elif change.chunk is None or change.head <= anchor.offset < change.behind:
                return None
            else:
                anchors.append(
                    Anchor(change.chunk, anchor.offset + (change.shift if anchor.offset >= change.head else 0))
                )
        return Finding(self.judged, tuple(anchors), self.spots)

    def shown(self, document: Document, line_of: Callable[[Anchor], int]) -> Diagnostic:
        """The finding in a snapshot."""
        lines = [line_of(anchor) for anchor in self.anchors]
        spots = iter(self.spots)

        def span() -> Span:
            anchor, column, down, end_column = next(spots)
            start = document.line_start(lines[anchor])
            return Span(start + column, (document.line_start(lines[anchor] + down) if down else start) + end_column)

        def edit(judged: Edit) -> Edit:
            if judged.after:
                return insertion_after(document, lines[next(spots).anchor], judged.new_text.removeprefix("\n"))
            return Edit(span(), judged.new_text)

        whole = span()
        if whole == self.judged.span and not self.judged.related and not self.judged.fixes:
            return self.judged
        related = tuple([r if r.path is not None else Related(span(), r.message) for r in self.judged.related])
        fixes = tuple([Fix(f.title, tuple([edit(e) for e in f.edits]), f.safe) for f in self.judged.fixes])
        return Diagnostic(self.judged.rule, whole, self.judged.message, related, fixes, self.judged.severity_override)


def _edits(found: Diagnostic) -> Iterator[Edit]:
    return chain.from_iterable(fix.edits for fix in found.fixes)


class Findings:
    """All findings of one snapshot. ``parts`` are those of chunks, in order: the chunk, and its findings by line."""

    def __init__(
        self, document: Document, parts: Sequence[tuple[Chunk, tuple[Finding, ...]]], others: Sequence[Diagnostic]
    ) -> None:
        self.document = document
        self.parts = parts
        self.others = others  # of the text as a whole; few

    @cached_property
    def _chunk_lines(self) -> dict[int, int]:
        document = self.document
        return {id(chunk): document.line_of(index) for index, chunk in enumerate(document.chunks)}

    def line_of(self, anchor: Anchor) -> int:
        """The line of an anchor in the snapshot."""
        return self._chunk_lines[id(anchor.chunk)] + anchor.offset

    @cached_property
    def all(self) -> tuple[Diagnostic, ...]:
        """The findings as values, in text order."""
        found = [finding.shown(self.document, self.line_of) for _, some in self.parts for finding in some]
        return tuple(sorted([*found, *self.others], key=lambda d: (d.span, d.code)))

    def __len__(self) -> int:
        return sum(len(some) for _, some in self.parts) + len(self.others)
