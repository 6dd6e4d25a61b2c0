"""The report formats, by name: each a function from a report to text, written piece by piece.

A format gets the whole ``Report`` and a ``Look`` and yields strings. It knows no files and no options.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.cli.check.formats.text import Look, concise, full

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from visa_lsp.cli.check.report import Report

    Format = Callable[[Report, Look], Iterator[str]]


def _json(report: Report, look: Look) -> Iterator[str]:
    from visa_lsp.cli.check.formats.data import as_json

    return as_json(report, look)


def _jsonl(report: Report, look: Look) -> Iterator[str]:
    from visa_lsp.cli.check.formats.data import as_jsonl

    return as_jsonl(report, look)


def _sarif(report: Report, look: Look) -> Iterator[str]:
    from visa_lsp.cli.check.formats.sarif import sarif

    return sarif(report, look)


def _github(report: Report, look: Look) -> Iterator[str]:
    from visa_lsp.cli.check.formats.ci import github

    return github(report, look)


def _gitlab(report: Report, look: Look) -> Iterator[str]:
    from visa_lsp.cli.check.formats.ci import gitlab

    return gitlab(report, look)


def _junit(report: Report, look: Look) -> Iterator[str]:
    from visa_lsp.cli.check.formats.ci import junit

    return junit(report, look)


def _rdjson(report: Report, look: Look) -> Iterator[str]:
    from visa_lsp.cli.check.formats.ci import rdjson

    return rdjson(report, look)


# A format whose module is loaded when the format is used has a function above: some need what takes long to load.
FORMATS: Final[dict[str, Format]] = {
    "full": full,
    "concise": concise,
    "json": _json,
    "jsonl": _jsonl,
    "sarif": _sarif,
    "github": _github,
    "gitlab": _gitlab,
    "junit": _junit,
    "rdjson": _rdjson,
}
FOR_PEOPLE: Final = ("full", "concise")

__all__ = ["FORMATS", "FOR_PEOPLE", "Look"]
