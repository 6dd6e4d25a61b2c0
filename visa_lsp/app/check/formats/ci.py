"""Formats that build servers read: GitHub workflow commands, GitLab code quality, JUnit, reviewdog's rdjson."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any, Final
from xml.sax.saxutils import escape, quoteattr

from visa_lsp.app.check.formats.sarif import relative_path, unlink
from visa_lsp.app.errors import printable
from visa_lsp.diagnostics import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.app.check.formats.text import Look
    from visa_lsp.app.check.report import CheckReport, FileResult, TextRange

_GITHUB: Final = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "notice",
    Severity.HINT: "notice",
}
_GITLAB: Final = {
    Severity.ERROR: "major",
    Severity.WARNING: "minor",
    Severity.INFORMATION: "info",
    Severity.HINT: "info",
}
_RDJSON: Final = {
    Severity.ERROR: "ERROR",
    Severity.WARNING: "WARNING",
    Severity.INFORMATION: "INFO",
    Severity.HINT: "INFO",
}
_FAILING: Final = (Severity.ERROR, Severity.WARNING)
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def github(report: CheckReport, look: Look) -> Iterator[str]:
    """Yield workflow commands, which GitHub shows as annotations of a pull request."""
    for result in report.errors:
        yield f"::error title=visa-lsp::{_github_text(printable(result.error))}\n"
    for f in report.findings:
        place = f"line={f.place.line},endLine={f.place.end_line}"
        if f.place.line == f.place.end_line:
            place = (
                f"line={f.place.line},col={f.place.column},endLine={f.place.end_line},endColumn={f.place.end_column}"
            )
        path = _github_property(printable(relative_path(f.path, look.base)))
        title = _github_property(f"{f.code} {f.name}")
        yield f"::{_GITHUB[f.severity]} file={path},{place},title={title}::{_github_text(f.message)}\n"


def _github_text(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _github_property(text: str) -> str:
    return _github_text(text).replace(":", "%3A").replace(",", "%2C")


def gitlab(report: CheckReport, look: Look) -> Iterator[str]:
    """Yield a code quality report: one array."""
    issues = []
    for f in report.findings:
        path = printable(relative_path(f.path, look.base))
        issues.append(
            {
                "description": unlink(f"{f.code} {f.name}: {f.message}"),
                "check_name": f.name,
                "fingerprint": hashlib.sha256(f"{path}\0{f.unique_fingerprint}".encode()).hexdigest(),
                "severity": _GITLAB[f.severity],
                "location": {"path": path, "lines": {"begin": f.place.line, "end": f.place.end_line}},
            }
        )
    yield json.dumps(issues, indent=1) + "\n"


def junit(report: CheckReport, look: Look) -> Iterator[str]:
    """Yield a suite per file with a case per finding; remarks and hints pass, and a file without findings has one passing case."""
    failures = sum(_count_failing(r) for r in report.results)
    errors = len(report.errors)
    tests = sum(max(1, len(r.findings)) for r in report.results)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f'<testsuites name="visa-lsp" tests="{tests}" failures="{failures}" errors="{errors}">\n'
    for result in report.results:
        yield from _suite(result, _attribute(relative_path(result.path, look.base)))
    yield "</testsuites>\n"


def _suite(result: FileResult, path: str) -> Iterator[str]:
    tests, failures, errors = max(1, len(result.findings)), _count_failing(result), int(bool(result.error))
    yield (f'  <testsuite name={path} tests="{tests}" failures="{failures}" errors="{errors}">\n')
    if result.error:
        yield f'    <testcase name="read" classname={path}>\n'
        yield f"      <error message={_attribute(result.error)}/>\n    </testcase>\n"
    elif not result.findings:
        yield f'    <testcase name="check" classname={path}/>\n'
    for f in result.findings:
        name = _attribute(f"{f.code} {f.name} {f.place.line}:{f.place.column}")
        where = f"line {f.place.line}, column {f.place.column}: {f.severity.value} {f.code} {f.name}: {f.message}"
        yield f"    <testcase name={name} classname={path}>\n"
        text = escape(_xml(f"{where}\n{f.excerpt}"))
        if f.severity in _FAILING:
            kind = f"type={_attribute(f.severity.value)} message={_attribute(f.message)}"
            yield f"      <failure {kind}>{text}</failure>\n    </testcase>\n"
        else:
            yield f"      <system-out>{text}</system-out>\n    </testcase>\n"
    yield "  </testsuite>\n"


def _count_failing(result: FileResult) -> int:
    return sum(f.severity in _FAILING for f in result.findings)


def _xml(text: str) -> str:
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", printable(text))


def _attribute(text: str) -> str:
    return quoteattr(_xml(text))


def rdjson(report: CheckReport, look: Look) -> Iterator[str]:
    """Yield the diagnostic format of reviewdog; its columns count bytes of UTF-8."""
    diagnostics = []
    for f in report.findings:
        path = printable(relative_path(f.path, look.base))
        value: dict[str, Any] = {
            "message": unlink(f.message),
            "location": {"path": path, "range": _rd_range(f.place)},
            "severity": _RDJSON[f.severity],
            "code": {"value": f.code},
        }
        # Fixes with several edits are omitted because a suggestion of this format is one replacement.
        suggestions = [r.edits[0] for r in f.remedies if len(r.edits) == 1]
        if suggestions:
            value["suggestions"] = [{"range": _rd_range(e.place), "text": e.new_text} for e in suggestions]
        if f.notes:
            value["relatedLocations"] = [
                {
                    "message": unlink(n.message),
                    "location": {"path": printable(relative_path(n.path, look.base)), "range": _rd_range(n.place)},
                }
                for n in f.notes
            ]
        diagnostics.append(value)
    yield json.dumps({"source": {"name": "visa-lsp"}, "diagnostics": diagnostics}, indent=1) + "\n"


def _rd_range(place: TextRange) -> dict[str, dict[str, int]]:
    return {
        "start": {"line": place.line, "column": place.byte_column},
        "end": {"line": place.end_line, "column": place.byte_end_column},
    }
