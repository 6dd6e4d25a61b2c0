"""The two formats for people: ``full`` with the underlined source line, ``concise`` with one line per finding."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.app.errors import one_line
from visa_lsp.app.visible_text import paint
from visa_lsp.diagnostics import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.app.check.report import CheckReport, ReportedFinding, TextRange

_TAB: Final = 4
_MAX_EXCERPT_COLUMNS: Final = 140
_BEFORE: Final = 40
_COLOURS: Final = {
    Severity.ERROR: "1;31",
    Severity.WARNING: "1;33",
    Severity.INFORMATION: "1;36",
    Severity.HINT: "1;32",
}
_FRAME: Final = "1;34"


class Look(Struct, frozen=True):
    """Options of a report: colours, and the folder ``base`` of relative paths."""

    colour: bool = False
    base: str = "."

    def paint(self, text: str, style: str) -> str:
        """Return the text in a style if colours are on."""
        return paint(text, style) if self.colour else text


def concise(report: CheckReport, look: Look) -> Iterator[str]:
    """Yield ``path:line:col: severity CODE slug: message`` for each finding."""
    for f in report.findings:
        severity = look.paint(f.severity.value, _COLOURS[f.severity])
        where = f"{one_line(f.path)}:{f.place.line}:{f.place.column}"
        yield f"{look.paint(where, '1')}: {severity} {f.code} {f.name}: {_one_line(f.message)}\n"


def full(report: CheckReport, look: Look) -> Iterator[str]:
    """Yield each finding with its source line, related places and fixes, and a count at the end."""
    for finding in report.findings:
        yield from _full(finding, look)
    yield summary(report) + "\n"


def summary(report: CheckReport) -> str:
    """Return the numbers of findings and files."""
    files = f"{report.checked} file{'s' * (report.checked != 1)}"
    words = {
        Severity.ERROR: ("error", "errors"),
        Severity.WARNING: ("warning", "warnings"),
        Severity.INFORMATION: ("remark", "remarks"),
        Severity.HINT: ("hint", "hints"),
    }
    counts = [f"{n} {names[n != 1]}" for severity, names in words.items() if (n := report.count(severity))]
    fixed = sum(r.fixed for r in report.results)
    mended = f"{fixed} fixed, " if fixed else ""
    if not counts:
        return f"{mended}nothing {'left' if fixed else 'found'} in {files}"
    fixable = sum(any(r.safe for r in f.remedies) for f in (*report.findings, *report.left))
    tail = f" ({fixable} can be fixed by --fix)" if fixable else ""
    return f"{mended}{', '.join(counts)} in {files}{tail}"


def _full(finding: ReportedFinding, look: Look) -> Iterator[str]:
    style = _COLOURS[finding.severity]
    head = look.paint(f"{finding.severity.value}[{finding.code}]", style)
    yield f"{head} {finding.name}: {look.paint(finding.message, '1')}\n"
    width = len(str(max([finding.place.line, *(n.place.line for n in finding.notes)])))
    yield from _excerpt(finding.path, finding.place, finding.excerpt, look, width, style, "^")
    for note in finding.notes:
        yield f"{' ' * width} {look.paint('=', _FRAME)} note: {note.message}\n"
        yield from _excerpt(note.path, note.place, note.excerpt, look, width, _FRAME, "-")
    for remedy in finding.remedies:
        kind = "fix" if remedy.safe else "possible fix"
        yield f"{' ' * width} {look.paint('=', _FRAME)} {kind}: {remedy.title}\n"
    yield "\n"


def _excerpt(path: str, place: TextRange, line: str, look: Look, width: int, style: str, mark: str) -> Iterator[str]:
    edge = look.paint("|", _FRAME)
    yield f"{' ' * width}{look.paint('-->', _FRAME)} {one_line(path)}:{place.line}:{place.column}\n"
    if not line:
        return
    end = place.end_column if place.end_line == place.line else len(line) + 1
    shown, start, length = _window(line, place.column - 1, max(end - 1, place.column - 1))
    yield f"{look.paint(str(place.line).rjust(width), _FRAME)} {edge} {shown}\n"
    yield f"{' ' * width} {edge} {' ' * start}{look.paint(mark * length, style)}\n"


def _window(line: str, start: int, end: int) -> tuple[str, int, int]:
    """Return the part of a line to show, and the start and length of the underline in columns of that part."""
    cells = [_cell(ch) for ch in line]
    first_cell = 0
    if sum(_width(c) for c in cells) > _MAX_EXCERPT_COLUMNS and start > _BEFORE:
        first_cell = start - _BEFORE
    shown, width, last = [], 0, first_cell
    for last in range(first_cell, len(cells)):
        if width + _width(cells[last]) > _MAX_EXCERPT_COLUMNS:
            break
        shown.append(cells[last])
        width += _width(cells[last])
    before = sum(_width(c) for c in cells[first_cell:start])
    marked = sum(_width(c) for c in cells[start : min(end, first_cell + len(shown))])
    lead, tail = "..." if first_cell else "", "..." if first_cell + len(shown) < len(cells) else ""
    return lead + "".join(shown) + tail, len(lead) + before, max(marked, 1)


def _cell(character: str) -> str:
    if character == "\t":
        return " " * _TAB
    return character if character.isprintable() else "\N{REPLACEMENT CHARACTER}"


def _width(cell: str) -> int:
    if cell.isascii():
        return len(cell)
    if unicodedata.combining(cell):
        return 0
    return 2 if unicodedata.east_asian_width(cell) in "WF" else 1


def _one_line(message: str) -> str:
    return " ".join(message.split())
