"""Converts findings to JSON values of the protocol, for all notifications and answers.

The values are dicts, because making the library's objects and converting them takes ten times as long as finding 1,000
faults again after a keystroke. All findings of a text are encoded each time: 1,000 take 2 ms.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from visa_lsp.lsp.convert import SEVERITY, SOURCE, raw_range
from visa_lsp.text import Encoding, Span, units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from visa_lsp.analysis.chunk_findings import Finding, Findings, Spot
    from visa_lsp.diagnostics import Diagnostic, Rule
    from visa_lsp.syntax.document import Document

    Value = dict[str, Any]

# No editor shows more, and sending all findings of a text full of mistakes would take longer than computing them.
MAX_FINDINGS: Final = 5000


class FindingView(NamedTuple):
    """The view of a client: the units of its columns, and the findings and fields that it shows."""

    uri: str
    encoding: Encoding
    related: bool
    shows: Callable[[Rule], bool]


def finding_value(
    document: Document,
    uri: str,
    finding: Diagnostic,
    encoding: Encoding,
    *,
    related: bool = True,
    other: Callable[[str], Document | None] = lambda _path: None,
) -> Value:
    """Return the client's diagnostic of a finding; ``related``: the client can show other places.

    ``other`` returns the text of a related place in another document.
    """
    places = []
    for place in finding.related if related else ():
        text = document if place.path is None else other(place.path)
        if text is not None:
            places.append(_place(place.path or uri, raw_range(text, place.span, encoding), place.message))
    return _value(finding, raw_range(document, finding.span, encoding), places)


def finding_values(all_findings: Findings, view: FindingView) -> list[Value]:
    """Return the diagnostics of all findings of a long text, whose anchors give the lines without a search."""
    values = [
        _encode_anchored(all_findings, finding, view)
        for _, findings in all_findings.parts
        for finding in findings
        if view.shows(finding.judged.rule)
    ]
    others = [
        finding_value(all_findings.document, view.uri, other, view.encoding, related=view.related)
        for other in all_findings.others
        if view.shows(other.rule)
    ]
    return sorted([*values, *others], key=lambda v: v["range"]["start"]["line"]) if others else values


def count_value(document: Document, left: int) -> Value:
    """Return the diagnostic, at the start of the text, that counts the findings that are not sent."""
    message = f"{left} more findings are hidden; `visa-lsp check` lists all"
    span = raw_range(document, Span(0, 0), "utf-32")
    return {"range": span, "message": message, "severity": 3, "source": SOURCE}


def encode_json(value: object) -> bytes:
    """Return a value as JSON text; lone surrogates, which UTF-8 cannot encode, become escapes."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(value).encode("ascii")


def _encode_anchored(all_findings: Findings, finding: Finding, view: FindingView) -> Value:
    judged, spots = finding.judged, iter(finding.spots)
    span = _range(all_findings, finding, next(spots), view.encoding)
    here: Iterator[Any] = (r for r in judged.related if r.path is None) if view.related else iter(())
    places = [_place(view.uri, _range(all_findings, finding, next(spots), view.encoding), r.message) for r in here]
    return _value(judged, span, places)


def _range(all_findings: Findings, finding: Finding, spot: Spot, encoding: Encoding) -> Value:
    anchor = finding.anchors[spot.anchor]
    first_line = all_findings.line_of(anchor)
    last_line, column, end = first_line + spot.down, spot.column, spot.end_column
    if encoding != "utf-32" and (spot.down or not anchor.chunk.text.isascii()):
        column = units(all_findings.document.line_text(first_line)[:column], encoding)
        end = units(all_findings.document.line_text(last_line)[:end], encoding)
    return {"start": {"line": first_line, "character": column}, "end": {"line": last_line, "character": end}}


def _place(uri: str, span: Value, message: str) -> Value:
    return {"location": {"uri": uri, "range": span}, "message": message}


def _value(finding: Diagnostic, span: Value, places: list[Value]) -> Value:
    value: Value = {
        "range": span,
        "message": finding.message,
        "severity": SEVERITY[finding.severity].value,
        "code": finding.code,
        "source": SOURCE,
        "data": {"name": finding.name},
    }
    if places:
        value["relatedInformation"] = places
    return value
