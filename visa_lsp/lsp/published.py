"""Findings of a long text as JSON text, kept from one publication to the next: only what changed is encoded anew.

A finding is encoded once, with holes for the numbers of its lines; the findings of a chunk are one text for as long as they
and their lines stay. Invariant: the text is that of ``encode.diagnostic_text`` of each finding.
"""

from __future__ import annotations

from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, NamedTuple

from visa_lsp.lsp.encode import diagnostic_text, fixed_part
from visa_lsp.text import units

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.analysis.findings import Finding, Findings
    from visa_lsp.diagnostics import Diagnostic, Rule
    from visa_lsp.syntax.chunks import Chunk
    from visa_lsp.syntax.document import Document
    from visa_lsp.text import Encoding


class Template(NamedTuple):
    """A finding as text; ``holes`` are the lines that go into it: the number of an anchor, and how far below."""

    judged: Diagnostic
    text: str
    holes: tuple[tuple[int, int], ...]


class PublishedChunk:
    """The findings of one chunk as text. ``holes`` are the lines that go into ``form``: (number of a chunk, line in it)."""

    __slots__ = ("chunk", "chunks", "findings", "form", "holes", "lines", "text")

    def __init__(self, chunk: Chunk, findings: tuple[Finding, ...]) -> None:
        self.chunk = chunk
        self.findings = findings
        self.form = self.text = ""
        self.holes: list[tuple[int, int]] = []
        self.chunks: tuple[int, ...] = ()  # those that the findings have places in, by ``id``
        self.lines: tuple[int, ...] = ()  # where they begin in the text

    @property
    def first(self) -> int:
        """The line of the first finding."""
        chunk, offset = self.holes[0]
        return self.lines[chunk] + offset

    def fill(self, lines: tuple[int, ...]) -> None:
        """Put in the lines of another snapshot."""
        self.lines = lines
        self.text = self.form % tuple([lines[chunk] + offset for chunk, offset in self.holes])


class PublishOptions(NamedTuple):
    """What the text depends on besides the findings: how columns are counted, and what the client wants to see."""

    uri: str
    encoding: Encoding
    related: bool
    shows: Callable[[Rule], bool]


class Published:
    """What was published last of a text. A part of the text's session."""

    def __init__(self) -> None:
        self._setting: tuple[object, ...] = ()
        self._templates: dict[int, Template] = {}
        self._parts: dict[int, PublishedChunk] = {}  # by the ``id`` of the chunk

    def text(self, found: Findings, setting: PublishOptions) -> str:
        """All findings as the members of a JSON array."""
        same = setting.uri, setting.encoding, setting.related, setting.shows
        if same != self._setting:
            self._setting, self._templates, self._parts = same, {}, {}
        parts: dict[int, PublishedChunk] = {}
        line_of, known_of = found.chunk_lines.__getitem__, self._parts.get
        for chunk, some in found.parts:
            part = known_of(id(chunk))
            if part is None or part.findings is not some:
                part = self._part(found, chunk, some, setting)
            lines = tuple(map(line_of, part.chunks))
            if lines != part.lines:
                part.fill(lines)
            parts[id(chunk)] = part
        self._parts = parts
        if len(self._templates) > 2 * len(found) + 64:
            kept = [id(finding.judged) for _, some in found.parts for finding in some]
            self._templates = {key: self._templates[key] for key in kept if key in self._templates}
        if not found.others:
            return ",".join([part.text for part in parts.values() if part.form])
        pieces = [(part.first, part.text) for part in parts.values() if part.form]
        for other in found.others:
            if setting.shows(other.rule):
                text = diagnostic_text(found.document, setting.uri, other, setting.encoding, related=setting.related)
                pieces.append((found.document.position(other.span.start)[0], text))
        pieces.sort(key=lambda piece: piece[0])
        return ",".join([text for _, text in pieces])

    def _part(
        self, found: Findings, chunk: Chunk, some: tuple[Finding, ...], setting: PublishOptions
    ) -> PublishedChunk:
        part = PublishedChunk(chunk, some)
        forms = []
        chunks: dict[int, int] = {}
        for finding in some:
            if not setting.shows(finding.judged.rule):
                continue
            # A finding that has moved along with its lines is the same but for its anchors.
            template = self._templates.get(id(finding.judged))
            if template is None or template.judged is not finding.judged:
                template = self._templates[id(finding.judged)] = _template(finding, found, setting)
            forms.append(template.text)
            places = [(chunks.setdefault(id(a.chunk), len(chunks)), a.offset) for a in finding.anchors]
            part.holes += [(places[anchor][0], places[anchor][1] + down) for anchor, down in template.holes]
        part.form, part.chunks = ",".join(forms), tuple(chunks)
        return part


def _template(finding: Finding, found: Findings, setting: PublishOptions) -> Template:
    document, holes = found.document, list[tuple[int, int]]()
    spots = iter(finding.spots)

    def place(anchor: int, down: int, column: int) -> str:
        line = found.line_of(finding.anchors[anchor]) + down
        holes.append((anchor, down))
        return f'{{"line":%d,"character":{_units(document, line, column, setting.encoding)}}}'

    def span() -> str:
        spot = next(spots)
        start = place(spot.anchor, 0, spot.column)
        return f'{{"start":{start},"end":{place(spot.anchor, spot.down, spot.end_column)}}}'

    judged = finding.judged
    head = f'{{"range":{span()},"message":{_quoted(judged.message)},'
    uri = _quoted(setting.uri)
    places = [
        f'{{"location":{{"uri":{uri},"range":{span()}}},"message":{_quoted(related.message)}}}'
        for related in (judged.related if setting.related else ())
    ]
    more = f',"relatedInformation":[{",".join(places)}]' if places else ""
    fixed = fixed_part(judged.rule, judged.severity).replace("%", "%%")
    return Template(judged, f"{head}{fixed}{more}}}", tuple(holes))


def _quoted(text: str) -> str:
    return encode_basestring_ascii(text).replace("%", "%%")


def _units(document: Document, line: int, column: int, encoding: Encoding) -> int:
    if encoding == "utf-32":
        return column
    text = document.line_text(line)
    return column if text.isascii() else units(text[:column], encoding)
