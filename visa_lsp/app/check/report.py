"""Findings of a report: resolved to lines and columns from 1, independent of the text.

Plain frozen values for other processes and all formats. Knows neither files nor formats.
Invariant: a fingerprint depends on the code of a finding and the words of its line, never on the line number.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from visa_lsp.app.errors import printable
from visa_lsp.diagnostics import Diagnostic, Rule, Severity
from visa_lsp.text import LineIndex, Span, encode_text


class TextRange(Struct, frozen=True, order=True):
    """A range of a text, from 1; the end column is exclusive. ``byte_`` columns count UTF-8."""

    line: int
    column: int
    end_line: int
    end_column: int
    byte_column: int
    byte_end_column: int


class Replacement(Struct, frozen=True):
    """An edit: replaces a range by ``new_text``."""

    place: TextRange
    new_text: str


class Remedy(Struct, frozen=True):
    """A fix: its title, whether it is safe, and its edits."""

    title: str
    safe: bool
    edits: tuple[Replacement, ...]


class RelatedExcerpt(Struct, frozen=True):
    """A related place of a finding; ``excerpt`` is its line."""

    path: str
    place: TextRange
    message: str
    excerpt: str


class ReportedFinding(Struct, frozen=True):
    """A finding about one file. ``number`` counts findings of equal fingerprint in a file, from 0."""

    path: str
    place: TextRange
    severity: Severity
    rule: Rule
    message: str
    excerpt: str
    fingerprint: str
    remedies: tuple[Remedy, ...] = ()
    notes: tuple[RelatedExcerpt, ...] = ()
    number: int = 0

    @property
    def code(self) -> str:
        """The rule's code."""
        return self.rule.code

    @property
    def name(self) -> str:
        """The rule's slug."""
        return self.rule.name

    @property
    def unique_fingerprint(self) -> str:
        """The fingerprint, made unique within the file."""
        return f"{self.fingerprint}:{self.number}"

    @property
    def concise(self) -> str:
        """The finding as a line: place, severity, code, slug and message."""
        where = f"{self.path}:{self.place.line}:{self.place.column}"
        return f"{where}: {self.severity.value} {self.code} {self.name}: {self.message}"


class FileResult(Struct, frozen=True):
    """The result of one file. ``error`` says why it could not be checked; ``fixed`` counts fixed findings."""

    path: str
    findings: tuple[ReportedFinding, ...] = ()
    error: str = ""
    fixed: int = 0
    before: str | None = None
    after: str | None = None
    internal: bool = False  # an internal error
    unread: tuple[int, int] = (
        0,
        0,
    )  # lines of vISA in another language that could not be checked, and their statements


class CheckReport(Struct, frozen=True):
    """All results in the order of the files named.

    ``hidden`` has the results that count but are not shown: the rest of a partly shown file, and whole files.
    """

    results: tuple[FileResult, ...]
    hidden: tuple[FileResult, ...] = ()

    @property
    def findings(self) -> tuple[ReportedFinding, ...]:
        """The findings to show, file by file."""
        return tuple(f for r in self.results for f in r.findings)

    @property
    def left(self) -> tuple[ReportedFinding, ...]:
        """The findings that are not shown."""
        return tuple(f for r in self.hidden for f in r.findings)

    @property
    def checked(self) -> int:
        """The number of checked files."""
        return len({r.path for r in (*self.results, *self.hidden)}) - len(self.errors)

    def up_to(self, errors: int) -> CheckReport:
        """Return a report that shows nothing after this many errors; its counts are the same."""
        if sum(f.severity is Severity.ERROR for f in self.findings) <= errors:
            return self
        results: list[FileResult] = []
        hidden: list[FileResult] = []
        for result in self.results:
            shown = 0
            while errors and shown < len(result.findings):
                errors -= result.findings[shown].severity is Severity.ERROR
                shown += 1
            if shown < len(result.findings):
                hidden.append(replace(result, findings=result.findings[shown:], fixed=0))
            if shown or not result.findings:
                results.append(replace(result, findings=result.findings[:shown]))
        return CheckReport(tuple(results), (*self.hidden, *hidden))

    @property
    def errors(self) -> tuple[FileResult, ...]:
        """The files that could not be checked."""
        return tuple(r for r in self.results if r.error)

    def count(self, *severities: Severity) -> int:
        """Return the number of findings with one of these severities."""
        return sum(f.severity in severities for f in (*self.findings, *self.left))

    def rules(self) -> tuple[Rule, ...]:
        """Return the rules with findings, by code."""
        return tuple(sorted({f.rule for r in self.results for f in r.findings}, key=lambda r: (r.code, r.name)))


def findings_of(path: str, text: str, diagnostics: Iterable[Diagnostic]) -> tuple[ReportedFinding, ...]:
    """Return the findings about one text, in text order."""
    diagnostics = tuple(diagnostics)
    if not diagnostics:
        return ()
    texts = _TextPlaces(text)
    findings = [_report_finding(path, texts, d) for d in diagnostics]
    findings.sort(key=lambda f: (f.place, f.code, f.message))
    return number_findings(findings)


def number_findings(findings: Sequence[ReportedFinding]) -> tuple[ReportedFinding, ...]:
    """Return the findings, those of equal fingerprints numbered."""
    seen: dict[str, int] = {}
    out = []
    for finding in findings:
        number = seen.get(finding.fingerprint, 0)
        seen[finding.fingerprint] = number + 1
        out.append(replace(finding, number=number) if number != finding.number else finding)
    return tuple(out)


class _TextPlaces:
    """Converts offsets of one text to places and excerpts."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.index = LineIndex(text)

    def line(self, line: int) -> str:
        return self.text[self.index.start(line) : self.index.start(line + 1)].rstrip("\r\n")

    def place(self, span: Span) -> TextRange:
        line, column = self.index.position(span.start)
        end_line, end_column = self.index.position(max(span.start, span.end))
        first_line, last_line = self.line(line), self.line(end_line)
        return TextRange(
            line + 1,
            column + 1,
            end_line + 1,
            end_column + 1,
            _bytes(first_line, column) + 1,
            _bytes(last_line, end_column) + 1,
        )


def _bytes(line: str, column: int) -> int:
    if line.isascii():
        return column
    return len(encode_text(line[:column]))


def _report_finding(path: str, texts: _TextPlaces, diagnostic: Diagnostic) -> ReportedFinding:
    place = texts.place(diagnostic.span)
    excerpt = texts.line(place.line - 1)
    token = texts.text[diagnostic.span.start : diagnostic.span.end]
    notes = []
    for related in diagnostic.related:
        if related.path is None:
            where = texts.place(related.span)
            notes.append(RelatedExcerpt(path, where, printable(related.message), printable(texts.line(where.line - 1))))
        else:
            # The place is the first line of the other file, because its text is not available here.
            notes.append(RelatedExcerpt(related.path, TextRange(1, 1, 1, 1, 1, 1), printable(related.message), ""))
    remedies = tuple(
        Remedy(f.title, f.safe, tuple(Replacement(texts.place(e.span), printable(e.new_text)) for e in f.edits))
        for f in diagnostic.fixes
    )
    words = "\0".join((diagnostic.code, " ".join(token.split()), " ".join(excerpt.split())))
    return ReportedFinding(
        path,
        place,
        diagnostic.severity,
        diagnostic.rule,
        printable(diagnostic.message),
        printable(excerpt),
        hashlib.sha256(encode_text(words)).hexdigest()[:24],
        remedies,
        tuple(notes),
    )
