"""Converts between the protocol's positions and offsets: lines and columns in the client's units, offsets in code points.

No other module converts positions of a client. Invariant: a position outside the text means the nearest place in it, as
the protocol requires.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types

from visa_lsp.diagnostics import Edit, Severity
from visa_lsp.text import Encoding, Span, code_points, units

if TYPE_CHECKING:
    from visa_lsp.syntax.document import Document


SOURCE: Final = "visa-lsp"
SEVERITY: Final = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFORMATION: types.DiagnosticSeverity.Information,
    Severity.HINT: types.DiagnosticSeverity.Hint,
}


def to_offset(document: Document, position: types.Position, encoding: Encoding) -> int:
    """Return the offset of a client's position."""
    line = document.line_text(position.line)
    return document.offset(position.line, code_points(line, position.character, encoding))


def to_span(document: Document, range_: types.Range, encoding: Encoding) -> Span:
    """Return the span of a client's range."""
    start, end = to_offset(document, range_.start, encoding), to_offset(document, range_.end, encoding)
    return Span(min(start, end), max(start, end))


def position(document: Document, offset: int, encoding: Encoding) -> types.Position:
    """Return the client's position of an offset."""
    line, column = document.position(offset)
    text = document.line_text(line)
    return types.Position(line, units(text[:column], encoding))


def range_of(document: Document, span: Span, encoding: Encoding) -> types.Range:
    """Return the client's range of a span."""
    return types.Range(position(document, span.start, encoding), position(document, span.end, encoding))


def raw_range(document: Document, span: Span, encoding: Encoding) -> dict[str, Any]:
    """Return the client's range of a span as a JSON value, because objects would be slow for long lists."""
    line, column = document.position(span.start)
    text = document.line_text(line)
    end = column + span.end - span.start
    if end > len(text):
        far = position(document, span.end, encoding)
        last = {"line": far.line, "character": far.character}
    else:
        last = {"line": line, "character": end if text.isascii() else units(text[:end], encoding)}
    if not text.isascii():
        column = units(text[:column], encoding)
    return {"start": {"line": line, "character": column}, "end": last}


def raw_edits(document: Document, edits: Iterable[Edit], encoding: Encoding) -> list[dict[str, Any]]:
    """Return the client's edits as JSON values."""
    return [{"range": raw_range(document, e.span, encoding), "newText": e.new_text} for e in edits]


def line_range(document: Document, line: int, span: Span, encoding: Encoding) -> types.Range:
    """Return the client's range of a span of one line, without a search for the line."""
    text = document.line_text(line)
    start, end = units(text[: span.start], encoding), units(text[: span.end], encoding)
    return types.Range(types.Position(line, start), types.Position(line, end))
