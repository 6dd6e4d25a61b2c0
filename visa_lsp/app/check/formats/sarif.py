"""SARIF 2.1.0: one run with the rules that have findings, relative paths, and fingerprints that survive line moves."""

from __future__ import annotations

import json
import os
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from visa_lsp import __version__
from visa_lsp.app.errors import printable
from visa_lsp.diagnostics import Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.app.check.formats.text import Look
    from visa_lsp.app.check.report import CheckReport, FileResult, Remedy, ReportedFinding, TextRange

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_FINGERPRINT: Final = "visaLspFinding/v1"
_LEVELS: Final = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "note",
    Severity.HINT: "note",
}


def unlink(text: str) -> str:
    """Return a message in which no text looks like a Markdown link ``[words](target)``."""
    return text.replace("](", "] (")


def relative_path(path: str, base: str) -> str:
    """Return a path relative to a folder, separated by ``/``; unchanged if the folder is on another drive."""
    if path.startswith("<"):
        return path
    try:
        return Path(os.path.relpath(path, base)).as_posix()
    except ValueError:  # another drive
        return Path(path).as_posix()


def sarif(report: CheckReport, look: Look) -> Iterator[str]:
    """Yield the whole log."""
    rules = report.rules()
    indices = {rule: index for index, rule in enumerate(rules)}
    failures = [_notification(r, look.base) for r in report.errors]
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "visa-lsp",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [_rule(rule) for rule in rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"%SRCROOT%": {"description": {"text": "the folder that visa-lsp was started in"}}},
        "invocations": [{"executionSuccessful": not failures, "toolExecutionNotifications": failures}],
        "results": [_result(f, indices[f.rule], look.base) for f in report.findings],
    }
    yield json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1)
    yield "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    doc = textwrap.dedent(rule.doc).strip() or rule.name
    return {
        "id": rule.code,
        "name": "".join(part.capitalize() for part in rule.name.split("-")),
        "shortDescription": {"text": doc.splitlines()[0]},
        "fullDescription": {"text": doc.split("\n\n")[0]},
        "help": {"text": doc, "markdown": doc},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"slug": rule.name},
    }


def _artifact(path: str, base: str) -> dict[str, str]:
    return {"uri": quote(printable(relative_path(path, base))), "uriBaseId": "%SRCROOT%"}


def _region(place: TextRange) -> dict[str, int]:
    return {
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
    }


def _location(path: str, place: TextRange, excerpt: str, base: str) -> dict[str, Any]:
    region: dict[str, Any] = dict(_region(place))
    physical: dict[str, Any] = {"artifactLocation": _artifact(path, base), "region": region}
    if excerpt:
        physical["contextRegion"] = {
            "startLine": place.line,
            "endLine": place.line,
            "snippet": {"text": excerpt},
        }
    return {"physicalLocation": physical}


def _result(finding: ReportedFinding, index: int, base: str) -> dict[str, Any]:
    value: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": unlink(finding.message)},
        "locations": [_location(finding.path, finding.place, finding.excerpt, base)],
        "partialFingerprints": {_FINGERPRINT: finding.unique_fingerprint},
    }
    if finding.notes:
        value["relatedLocations"] = [
            {"id": number, **_location(n.path, n.place, n.excerpt, base), "message": {"text": unlink(n.message)}}
            for number, n in enumerate(finding.notes)
        ]
    if finding.remedies:
        value["fixes"] = [_fix(r, finding.path, base) for r in finding.remedies if r.edits]
    return value


def _fix(remedy: Remedy, path: str, base: str) -> dict[str, Any]:
    replacements = [{"deletedRegion": _region(e.place), "insertedContent": {"text": e.new_text}} for e in remedy.edits]
    return {
        "description": {"text": unlink(remedy.title)},
        "artifactChanges": [{"artifactLocation": _artifact(path, base), "replacements": replacements}],
    }


def _notification(result: FileResult, base: str) -> dict[str, Any]:
    return {
        "level": "error",
        "message": {"text": unlink(printable(result.error))},
        "locations": [{"physicalLocation": {"artifactLocation": _artifact(result.path, base)}}],
    }
