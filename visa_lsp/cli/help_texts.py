"""The help of every command, as its parser prints it, for the pages of commands.

Invariant: lines are wrapped at the same width on every terminal.
"""

from __future__ import annotations

import argparse
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from visa_lsp.cli.main import PROGRAM

if TYPE_CHECKING:
    from collections.abc import Iterator

_COLUMNS: Final = "84"


def help_texts() -> dict[str, str]:
    """Return the help by the words that call it: ``visa-lsp``, ``visa-lsp check``, ``visa-lsp zeinfo emit``."""
    with _fix_columns():
        texts = dict(_help("visa-lsp", PROGRAM.whole_parser()))
        texts["visa-lsp"] = PROGRAM.parser().format_help().rstrip()
    return texts


def _help(words: str, parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    yield words, parser.format_help().rstrip()
    for action in parser._actions:  # noqa: SLF001 - argparse has no other way to list its options
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for name, below in action.choices.items():
                yield from _help(f"{words} {name}", below)


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
