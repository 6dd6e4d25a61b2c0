"""Helpers of several commands: colour, findings on standard error."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

from visa_lsp.app.errors import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.app.check.report import ReportedFinding


def wants_colour(stream: TextIO, choice: str = "auto") -> bool:
    """Return whether to write colours: by ``--color``, else NO_COLOR, else FORCE_COLOR, else if ``stream`` is a terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def say(line: str) -> None:
    """Print a line to standard error."""
    print(line, file=sys.stderr)


def tell(findings: Iterable[ReportedFinding]) -> None:
    """Print findings to standard error, one per line, in the format ``concise``."""
    for finding in findings:
        say(printable(finding.concise))
