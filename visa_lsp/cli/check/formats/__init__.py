"""The report formats, by name: each a function from a report to text, written piece by piece.

A format gets the whole ``CheckReport`` and a ``Look`` and yields strings. It knows no files and no options.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from visa_lsp.cli.check.formats.text import Look, concise, full

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from visa_lsp.cli.check.report import CheckReport

    Format = Callable[[CheckReport, Look], Iterator[str]]


def _late(module: str, name: str) -> Format:
    """A format whose module is loaded when the format is used: some need libraries that take long to load."""

    def write(report: CheckReport, look: Look) -> Iterator[str]:
        yield from getattr(import_module(f"visa_lsp.cli.check.formats.{module}"), name)(report, look)

    return write


FORMATS: Final[dict[str, Format]] = {
    "full": full,
    "concise": concise,
    "json": _late("data", "as_json"),
    "jsonl": _late("data", "as_jsonl"),
    "sarif": _late("sarif", "sarif"),
    "github": _late("ci", "github"),
    "gitlab": _late("ci", "gitlab"),
    "junit": _late("ci", "junit"),
    "rdjson": _late("ci", "rdjson"),
}
FOR_PEOPLE: Final = ("full", "concise")

__all__ = ["FORMATS", "FOR_PEOPLE", "Look"]
