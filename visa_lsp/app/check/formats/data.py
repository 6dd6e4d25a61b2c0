"""The formats ``json`` (one array) and ``jsonl`` (one object per line), with the keys of the contract."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from visa_lsp.app.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.app.check.formats.text import Look
    from visa_lsp.app.check.report import CheckReport, ReportedFinding, TextRange


def range_of(place: TextRange) -> dict[str, int]:
    """Return a range with the keys of the contract."""
    return {
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
    }


def finding_object(finding: ReportedFinding) -> dict[str, Any]:
    """Return a finding as the contract describes it."""
    return {
        "path": printable(finding.path),
        **range_of(finding.place),
        "severity": finding.severity.value,
        "code": finding.code,
        "name": finding.name,
        "message": finding.message,
        "fixes": [
            {
                "title": r.title,
                "safe": r.safe,
                "edits": [{**range_of(e.place), "new_text": e.new_text} for e in r.edits],
            }
            for r in finding.remedies
        ],
        "related": [{"path": n.path, **range_of(n.place), "message": n.message} for n in finding.notes],
    }


def as_json(report: CheckReport, look: Look) -> Iterator[str]:  # noqa: ARG001 - all formats are called alike
    """Yield one array."""
    is_first = True
    for value in _values(report):
        yield "[\n  " if is_first else ",\n  "
        yield json.dumps(value)
        is_first = False
    yield "[]\n" if is_first else "\n]\n"


def as_jsonl(report: CheckReport, look: Look) -> Iterator[str]:  # noqa: ARG001
    """Yield one object per line."""
    for value in _values(report):
        yield json.dumps(value) + "\n"


def _values(report: CheckReport) -> Iterator[dict[str, Any]]:
    """Yield the findings, then the files that could not be checked, each with the reason."""
    yield from map(finding_object, report.findings)
    for result in report.errors:
        yield {"path": printable(result.path), "error": printable(result.error)}
