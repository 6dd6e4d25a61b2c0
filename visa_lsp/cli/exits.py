"""How the program ends: its statuses, the mistakes of its user, and the one line that it has for them. Loads nothing."""

from __future__ import annotations

import sys
from typing import Final

EXIT_OK: Final = 0
EXIT_FINDINGS: Final = 1
EXIT_USAGE: Final = 2
EXIT_INTERNAL: Final = 70
EXIT_INTERRUPTED: Final = 130
EXIT_BROKEN_PIPE: Final = 141


class CliError(Exception):
    """A mistake of the user or an input that cannot be read: one line on stderr, exit status 2."""


def printable(text: str) -> str:
    """The text with undecodable bytes shown as replacement characters."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def one_line(text: str) -> str:
    """The text, such as a file's name, fit to be printed within a line."""
    return printable(text).replace("\n", "\\x0a")


def complain(message: str) -> None:
    """One line on stderr, under the program's name."""
    print(f"visa-lsp: {one_line(message)}", file=sys.stderr)
