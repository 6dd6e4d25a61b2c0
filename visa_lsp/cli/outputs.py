"""Outputs of commands: files, standard output for ``-``, colours, and lines on standard error."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

from visa_lsp.app.errors import printable
from visa_lsp.app.inputs import STDIN
from visa_lsp.app.output_files import write_file
from visa_lsp.app.visible_text import visible
from visa_lsp.cli.streams import write_data

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from visa_lsp.app.check.report import ReportedFinding


def write_output(path: str, data: bytes, inputs: Iterable[str | Path] = (), *, is_default: bool = False) -> None:
    """Write a file, or standard output for ``-``; ``is_default``: the user has not named it.

    Raises UserError if it cannot be written or is an input.
    """
    if path == STDIN:
        write_data(data)
    else:
        write_file(path, data, inputs, is_default=is_default)


def write_report(path: str, text: str, inputs: Iterable[str | Path] = ()) -> None:
    """Write a report for people to a file, or to standard output for ``-``. Raises UserError if it cannot be written."""
    if path == STDIN:
        sys.stdout.write(text)
    else:
        write_file(path, visible(text).encode("utf-8", "backslashreplace"), inputs)


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
