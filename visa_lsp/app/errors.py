"""User errors and their messages. Imports no module of the package."""

from __future__ import annotations

from typing import Final

NEEDS_NUMPY: Final = "launches need NumPy: pip install 'visa-lsp[run]'"


class UserError(Exception):
    """A mistake of the user or an unreadable input; its message is one line."""


def printable(text: str) -> str:
    """Return the text with undecodable bytes shown as replacement characters."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def one_line(text: str) -> str:
    """Return a text, such as a file name, without line breaks."""
    return printable(text).replace("\n", "\\x0a")


def reason(error: OSError | ValueError) -> str:
    """Return the reason of an OSError, in lower case and without its number."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text[:1].lower() + text[1:]


def complaint(message: str) -> str:
    """Return the line of an error message, after the name of the program."""
    return f"visa-lsp: {one_line(message)}"
