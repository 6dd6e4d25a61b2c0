"""Output files of commands; ``-`` is standard output."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from visa_lsp.app.inputs import STDIN
from visa_lsp.app.output_files import write_file
from visa_lsp.app.visible_text import visible
from visa_lsp.cli.streams import write_data

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def write_output(path: str, data: bytes, inputs: Iterable[str | Path] = (), *, is_default: bool = False) -> None:
    """Write a file, or standard output for ``-``; ``is_default``: the user has not named it. Raises UserError."""
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
