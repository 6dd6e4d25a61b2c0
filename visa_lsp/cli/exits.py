"""User errors: a line on standard error, and a JSON object if the command writes JSON."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from visa_lsp.app.errors import complaint, printable

_JSON: Final = ("json", "jsonl")


def complain(message: str) -> None:
    """Print a line to standard error, after the name of the program."""
    print(complaint(message), file=sys.stderr)


def print_error(message: str, status: int, words: Sequence[str]) -> None:
    """Print the error that ends a command as a JSON object, if its ``words`` choose the format JSON."""
    if _format_of(words) not in _JSON:
        return
    import json

    print(json.dumps({"error": printable(message), "exit": status}))


def _format_of(words: Sequence[str]) -> str:
    """Return the value of the last ``--format``; empty without one."""
    chosen = ""
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name == "--format":
            chosen = value if equals else "".join(words[index + 1 : index + 2])
    return chosen
