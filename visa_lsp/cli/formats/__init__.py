"""The report formats, by name: each a function from a report to text, written piece by piece.

A format gets the whole ``Report`` and a ``Look`` and yields strings. It knows no files and no options.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.cli.formats.ci import github, gitlab, junit, rdjson
from visa_lsp.cli.formats.data import as_json, as_jsonl
from visa_lsp.cli.formats.sarif import sarif
from visa_lsp.cli.formats.text import Look, concise, full

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from visa_lsp.cli.report import Report

    Format = Callable[[Report, Look], Iterator[str]]

FORMATS: Final[dict[str, Format]] = {
    "full": full,
    "concise": concise,
    "json": as_json,
    "jsonl": as_jsonl,
    "sarif": sarif,
    "github": github,
    "gitlab": gitlab,
    "junit": junit,
    "rdjson": rdjson,
}
FOR_PEOPLE: Final = ("full", "concise")

__all__ = ["FORMATS", "FOR_PEOPLE", "Look"]
