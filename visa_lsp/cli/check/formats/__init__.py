"""The report formats, by name: each a function from a report to text, written piece by piece, and what the documents say of it.

A format gets the whole ``CheckReport`` and a ``Look`` and yields strings. It knows no files and no options.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.cli.check.formats.text import Look, concise, full

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from visa_lsp.cli.check.report import CheckReport

    Writer = Callable[[CheckReport, Look], Iterator[str]]


class Format(Struct, frozen=True):
    """A format: what the table in ``docs/check.md`` says of it, and the function that writes."""

    what: str
    write: Writer


def _late(module: str, name: str) -> Writer:
    """The function of a format whose module is loaded when the format is used: some need libraries that take long to load."""

    def write(report: CheckReport, look: Look) -> Iterator[str]:
        yield from getattr(import_module(f"visa_lsp.cli.check.formats.{module}"), name)(report, look)

    return write


# A new format is one line here.
FORMATS: Final[dict[str, Format]] = {
    "full": Format(
        "the source line underlined, places that belong to the finding, fixes; the default on a terminal", full
    ),
    "concise": Format("`path:line:col: severity CODE slug: message`; the default elsewhere", concise),
    "json": Format("one array", _late("data", "as_json")),
    "jsonl": Format("one object to a line", _late("data", "as_jsonl")),
    "sarif": Format("SARIF 2.1.0 with relative addresses, rule pages, fixes and fingerprints", _late("sarif", "sarif")),
    "github": Format("workflow commands, shown beside the lines of a pull request", _late("ci", "github")),
    "gitlab": Format("a code quality report", _late("ci", "gitlab")),
    "junit": Format("a suite for each file", _late("ci", "junit")),
    "rdjson": Format("for reviewdog", _late("ci", "rdjson")),
}
FOR_PEOPLE: Final = ("full", "concise")

__all__ = ["FORMATS", "FOR_PEOPLE", "Look"]
