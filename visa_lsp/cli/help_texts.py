"""The help of every command, as its parser prints it, for the pages of commands.

Invariant: lines are wrapped at the same width on every terminal.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from visa_lsp.cli.help import list_commands
from visa_lsp.cli.main import PROGRAM

if TYPE_CHECKING:
    from collections.abc import Iterator

_COLUMNS: Final = "84"


def help_texts() -> dict[str, str]:
    """Return the help by the words that call it: ``visa-lsp``, ``visa-lsp check``, ``visa-lsp zeinfo emit``."""
    with _fix_columns():
        parsers = {"visa-lsp": PROGRAM.parser(), **dict(list_commands("visa-lsp", PROGRAM.whole_parser()))}
        return {words: parser.format_help().rstrip() for words, parser in parsers.items()}


@contextmanager
def _fix_columns() -> Iterator[None]:
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = _COLUMNS
    try:
        yield
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before
