"""The report formats by name, each with its description for the documents.

A format is a function from a ``CheckReport`` and a ``Look`` to pieces of text. It knows no files and no options.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.app.check.formats.text import Look, concise, full

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from visa_lsp.app.check.report import CheckReport

    Writer = Callable[[CheckReport, Look], Iterator[str]]


class Format(Struct, frozen=True):
    """A format: its description in the table of ``docs/check.md`` and its function."""

    what: str
    write: Writer


def _json(report: CheckReport, look: Look) -> Iterator[str]:
    from visa_lsp.app.check.formats.data import as_json

    return as_json(report, look)


def _jsonl(report: CheckReport, look: Look) -> Iterator[str]:
    from visa_lsp.app.check.formats.data import as_jsonl

    return as_jsonl(report, look)


def _sarif(report: CheckReport, look: Look) -> Iterator[str]:
    from visa_lsp.app.check.formats.sarif import sarif

    return sarif(report, look)


def _github(report: CheckReport, look: Look) -> Iterator[str]:
    from visa_lsp.app.check.formats.ci import github

    return github(report, look)


def _gitlab(report: CheckReport, look: Look) -> Iterator[str]:
    from visa_lsp.app.check.formats.ci import gitlab

    return gitlab(report, look)


def _junit(report: CheckReport, look: Look) -> Iterator[str]:
    from visa_lsp.app.check.formats.ci import junit

    return junit(report, look)


def _rdjson(report: CheckReport, look: Look) -> Iterator[str]:
    from visa_lsp.app.check.formats.ci import rdjson

    return rdjson(report, look)


# A new format is one line here; a format whose import is slow has a function above.
FORMATS: Final[dict[str, Format]] = {
    "full": Format("the underlined source line, related places and fixes; the default on a terminal", full),
    "concise": Format("`path:line:col: severity CODE slug: message`; the default elsewhere", concise),
    "json": Format("one array", _json),
    "jsonl": Format("one object per line", _jsonl),
    "sarif": Format("SARIF 2.1.0 with relative addresses, rule pages, fixes and fingerprints", _sarif),
    "github": Format("workflow commands, which annotate pull requests", _github),
    "gitlab": Format("a code quality report", _gitlab),
    "junit": Format("one suite per file", _junit),
    "rdjson": Format("for reviewdog", _rdjson),
}
FOR_PEOPLE: Final = ("full", "concise")

__all__ = ["FORMATS", "FOR_PEOPLE", "Look"]
