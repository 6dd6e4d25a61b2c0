"""Findings that stay valid while lines around them change, and the state of the lines of a chunk.

A finding is located by chunks and lines in them. A chunk never changes, so such a place holds for every snapshot with
the chunk. When a chunk is edited, its findings are recreated for the new chunk (``move``), or dropped if one of their
lines changed. ``ChunkLines`` lists lines that are judged alone, lines whose only mistake is a missing name, and lines
whose class has no verdict yet. The findings of a line are kept until one of their dependencies changes.
"""

from __future__ import annotations

from functools import cached_property
from itertools import accumulate, chain
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field

from visa_lsp.checks.support.context import insertion_after
from visa_lsp.diagnostics import Diagnostic, Edit, Fix, Related
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from visa_lsp.analysis.dependencies import Dependency, Subject
    from visa_lsp.syntax.chunks import Chunk
    from visa_lsp.syntax.document import Document


class Anchor(NamedTuple):
    """A line of a chunk."""

    chunk: Chunk
    offset: int


class Spot(NamedTuple):
    """A span: the number of its anchor, the column there, the number of lines down to its end, and the end column."""

    anchor: int
    column: int
    down: int
    end_column: int


class Change(NamedTuple):
    """Removed chunks. If a ``chunk`` replaces one, the other fields map lines of the old one to it."""

    gone: frozenset[int]  # by ``id``
    chunk: Chunk | None = None
    head: int = 0
    end: int = 0  # the first line of the old chunk after the changed ones
    shift: int = 0

    def map_offset(self, offset: int) -> int | None:
        """Return the offset in the new chunk of a line of the old one; None for a removed line."""
        if self.chunk is None or self.head <= offset < self.end:
            return None
        return offset + self.shift if offset >= self.head else offset


class Finding(Struct, frozen=True):
    """A finding with its places. ``judged`` has the offsets of the snapshot in which it was found."""

    judged: Diagnostic
    anchors: tuple[Anchor, ...]
    spots: tuple[Spot, ...]  # of the finding, of related places, of the edits of its fixes

    @property
    def order(self) -> tuple[int, int, int, int, str]:
        """The sort key of findings within a chunk."""
        spot = self.spots[0]
        return self.anchors[0].offset, spot.column, spot.down, spot.end_column, self.judged.code

    @staticmethod
    def of(judged: Diagnostic, document: Document) -> Finding:
        """Return the finding with its places in the chunks of its snapshot."""
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
                # The span begins after the end of its line, or at the end of a text without a final line end.
                line, column = document.position(edit.span.start)
                spots.append(Spot(numbers.setdefault(line if column else line - 1, len(numbers)), 0, 0, 0))
            else:
                note(edit.span)
        anchors = []
        for line in numbers:
            index = document.chunk_at(line)
            anchors.append(Anchor(document.chunks[index], line - document.line_of(index)))
        return Finding(judged, tuple(anchors), tuple(spots))

    def move(self, change: Change) -> Finding | None:
        """Return the finding after a change of chunks; None if one of its lines is removed."""
        if not any(id(anchor.chunk) in change.gone for anchor in self.anchors):
            return self
        anchors = []
        for anchor in self.anchors:
            if id(anchor.chunk) in change.gone:
                offset = change.map_offset(anchor.offset)
                if offset is None or change.chunk is None:
                    return None
                anchor = Anchor(change.chunk, offset)  # noqa: PLW2901 - the same line
            anchors.append(anchor)
        return Finding(self.judged, tuple(anchors), self.spots)

    def to_diagnostic(self, document: Document, line_of: Callable[[Anchor], int]) -> Diagnostic:
        """Return the finding in a snapshot."""
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


def _edits(diagnostic: Diagnostic) -> Iterator[Edit]:
    return chain.from_iterable(fix.edits for fix in diagnostic.fixes)


def names_in(missing: Iterable[str]) -> list[str]:
    """Return missing names without the colon that marks labels."""
    return [name.removesuffix(":") for name in missing]


class Kept(Struct, frozen=True):
    """The findings of a line, and their dependencies beyond the line and the declarations of its names.

    ``subjects`` are shared by lines: when one such line changes, the findings of all of them are stale. ``needs`` are
    facts of the body: the spelling of names, where a line would be added, the braces. ``missing`` are the undeclared
    names of the line, reported here or at an earlier line.
    """

    findings: tuple[Finding, ...]
    subjects: frozenset[Subject]
    needs: frozenset[Dependency]
    missing: frozenset[str]

    def depends_on(self, stale: set[Dependency]) -> bool:
        """Return whether the findings depend on one of the stale things."""
        return not (stale.isdisjoint(self.subjects) and stale.isdisjoint(self.needs))


class ChunkLines(Struct):
    """The lines of one chunk that may have findings. No line is ``waiting`` after an update.

    ``is_deferred``: nothing is known of the chunk, because it is beyond the limit of findings.
    """

    alone: set[int] = field(default_factory=set)
    missing: dict[int, tuple[str, ...]] = field(default_factory=dict)  # labels end with a colon
    waiting: dict[int, str] = field(default_factory=dict)  # with their classes
    kept: dict[int, Kept] = field(default_factory=dict)
    is_deferred: bool = False

    @property
    def subjects(self) -> frozenset[Subject]:
        """The subjects on which the findings of these lines depend, and the names missing in them."""
        if not self.kept and not self.missing:
            return frozenset()
        return frozenset().union(*[k.subjects for k in self.kept.values()], *map(names_in, self.missing.values()))

    @property
    def needs(self) -> frozenset[Dependency]:
        """The needs of all findings."""
        return frozenset().union(*[kept.needs for kept in self.kept.values()])

    @property
    def chunks(self) -> frozenset[int]:
        """The chunks, by ``id``, that findings have places in."""
        return frozenset(id(anchor.chunk) for kept in self.kept.values() for f in kept.findings for anchor in f.anchors)

    @property
    def shown(self) -> tuple[Finding, ...]:
        """All findings, in order."""
        every = [finding for kept in self.kept.values() for finding in kept.findings]
        return tuple(sorted(every, key=lambda f: f.order))

    @property
    def mistaken(self) -> list[int]:
        """The lines with findings, in order."""
        return sorted([offset for offset, kept in self.kept.items() if kept.findings])

    def subjects_of(self, offset: int) -> frozenset[Subject]:
        """Return the subjects of a line."""
        kept = self.kept.get(offset)
        return frozenset(names_in(self.missing.get(offset, ()))).union(kept.subjects if kept is not None else ())

    def forget(self, offset: int) -> frozenset[Subject]:
        """Drop a line; return its subjects."""
        subjects = self.subjects_of(offset)
        self.alone.discard(offset)
        self.missing.pop(offset, None)
        self.kept.pop(offset, None)
        return subjects

    def edit(self, change: Change) -> ChunkLines:
        """Return the lines for the new chunk, without the changed ones."""

        def places(offsets: Iterable[int]) -> Iterator[tuple[int, int]]:
            return ((offset, new) for offset in offsets if (new := change.map_offset(offset)) is not None)

        return ChunkLines(
            {new for _, new in places(self.alone)},
            {new: self.missing[offset] for offset, new in places(self.missing)},
            kept={new: self.kept[offset] for offset, new in places(self.kept)},
            is_deferred=self.is_deferred,
        )

    def follow(self, change: Change) -> Iterator[frozenset[Subject]]:
        """Move findings along with chunks; yield the subjects of each line whose findings are lost."""
        for offset, kept in list(self.kept.items()):
            findings = [finding.move(change) for finding in kept.findings]
            if None in findings:
                del self.kept[offset]
                yield kept.subjects.union(names_in(self.missing.get(offset, ())))
            else:
                self.kept[offset] = Kept(
                    tuple([f for f in findings if f is not None]), kept.subjects, kept.needs, kept.missing
                )


class Findings:
    """All findings of one snapshot. ``parts`` are those of chunks, in order: the chunk, and its findings by line."""

    def __init__(
        self, document: Document, parts: Sequence[tuple[Chunk, tuple[Finding, ...]]], others: Sequence[Diagnostic]
    ) -> None:
        self.document = document
        self.parts = parts
        self.others = others  # of the text as a whole; few

    @cached_property
    def chunk_lines(self) -> dict[int, int]:
        """The first line of each chunk, by ``id``."""
        chunks = self.document.chunks
        return dict(zip(map(id, chunks), accumulate([chunk.count for chunk in chunks], initial=0), strict=False))

    def line_of(self, anchor: Anchor) -> int:
        """Return the line of an anchor in the snapshot."""
        return self.chunk_lines[id(anchor.chunk)] + anchor.offset

    @cached_property
    def all(self) -> tuple[Diagnostic, ...]:
        """The findings as values, in text order."""
        diagnostics = [
            finding.to_diagnostic(self.document, self.line_of) for _, findings in self.parts for finding in findings
        ]
        return tuple(sorted([*diagnostics, *self.others], key=lambda d: (d.span, d.code)))

    def __len__(self) -> int:
        return sum(len(findings) for _, findings in self.parts) + len(self.others)
