"""The state of one kernel or function, kept from one snapshot to the next.

``text_findings`` calls ``apply_edit``, which applies the chunks of an edit, then ``classify``, which sorts lines by the
verdicts on their classes, then ``judge``, which binds and checks the lines that may have findings. README.md explains
the model and its words.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field

from visa_lsp.analysis.declared_names import Names
from visa_lsp.analysis.directives import Directives, Place
from visa_lsp.analysis.outline import Outline
from visa_lsp.analysis.rule_sets import rule_sets
from visa_lsp.analysis.verdicts import Verdicts
from visa_lsp.checks.support.limits import REPORTED_LINES
from visa_lsp.syntax.chunk_facts import facts_in
from visa_lsp.syntax.document import common

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from visa_lsp.analysis.chunk_findings import ChunkLines, Finding
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.syntax.bulk import Facts
    from visa_lsp.syntax.chunks import Chunk
    from visa_lsp.syntax.document import Document


class Setup(Struct):
    """The facts of a text that all of its bodies share during one update."""

    document: Document
    platform: Platform | None
    versions: tuple[str, ...]
    version_lines: set[int]
    dialect: object


class Splice(NamedTuple):
    """The pending splice: index of the first replaced chunk, the old chunks, and the number of new chunks."""

    head: int = 0
    gone: Sequence[Chunk] = ()
    added: int = 0


class Body(Struct, eq=False):
    """The state of one body.

    ``first_chunk`` is the index of its first chunk in the text; ``facts`` and ``lines`` have an item per chunk.
    """

    first_chunk: int = 0
    chunks: list[Chunk] = field(default_factory=list)
    facts: list[Facts] = field(default_factory=list)
    lines: list[ChunkLines] = field(default_factory=list)
    names: Names = field(default_factory=Names)
    outline: Outline = field(default_factory=Outline)
    key: object = None  # the kind of body: platform, dialect, directive, attributes
    verdicts: Verdicts = field(default_factory=Verdicts)  # on the classes of bodies of this kind
    cut: Place | None = None  # the first unchecked line, if more lines than the limit have findings
    splice: Splice | None = None

    @property
    def directives(self) -> Directives:
        """The directives of the body that are not declarations."""
        return self.outline.directives

    def take_chunks(self, first_chunk: int, chunks: Sequence[Chunk]) -> None:
        """Replace the chunks by those of the next snapshot."""
        head, tail = common(self.chunks, chunks)
        if len(chunks) != len(self.chunks) or head < len(chunks):
            self.replace_chunks(head, len(self.chunks) - tail, chunks[head : len(chunks) - tail])
        self.first_chunk = first_chunk

    def replace_chunks(self, head: int, end: int, new: Sequence[Chunk]) -> None:
        """Replace the chunks ``[head, behind)``; called at most once per snapshot."""
        assert self.splice is None
        old, fresh = self.facts[head:end], [facts_in(chunk) for chunk in new]
        moved = len(new) != end - head and any(index >= head for index, _, _ in self.directives.places)
        self.splice = Splice(head, self.chunks[head:end], len(new))
        # In place, because copying all chunks at each keystroke would cost more than the rest of this function.
        self.chunks[head:end] = new
        self.facts[head:end] = fresh
        if moved or any(f.specials for f in (*fresh, *old)):
            self.outline.directives = Directives(self.facts)

    def line(self, document: Document, place: Place) -> int:
        """Return the line number, in the text, of a place in the body."""
        return document.line_of(self.first_chunk + place[0]) + place[1]

    def lines_at(self, document: Document, places: Iterable[Place]) -> set[int]:
        """Return the line numbers, in the text, of places in the body."""
        return {self.line(document, place) for place in places}

    def start(self, document: Document) -> int | None:
        """Return the line of the directive that opens the body, else of the first statement that is allowed only in a body."""
        return self.line(document, self.outline.start) if self.outline.start is not None else None

    def find_cut(self) -> Place | None:
        """Return the first line with findings beyond the limit; None if all are within it."""
        if sum([len(lines.mistaken) for lines in self.lines if lines.kept]) <= REPORTED_LINES:
            return None
        count = 0
        for index, lines in enumerate(self.lines):
            if count + len(lines.mistaken) > REPORTED_LINES:
                return index, lines.mistaken[REPORTED_LINES - count]
            count += len(lines.mistaken)
        return None

    def findings(self) -> Iterator[tuple[Chunk, tuple[Finding, ...]]]:
        """Yield the findings by chunk, in order of the text."""
        of_outline: dict[int, list[Finding]] = {}
        for number, finding in self.outline.findings or ():
            index, offset = self.outline.places[number]
            # The findings of a directive that is judged alone are kept with its line.
            if finding.judged.name in rule_sets().outline or offset not in self.lines[index].alone:
                of_outline.setdefault(index, []).append(finding)
        for index, (chunk, lines) in enumerate(zip(self.chunks, self.lines, strict=True)):
            if not lines.kept and index not in of_outline:
                continue
            findings = lines.shown
            if self.cut is not None and index >= self.cut[0]:
                findings = tuple([f for f in findings if (index, f.anchors[0].offset) < self.cut])
            if index in of_outline:
                findings = tuple(sorted(chain(findings, of_outline[index]), key=lambda f: f.order))
            if findings:
                yield chunk, findings
