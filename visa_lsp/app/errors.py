"""Mistakes of the user as exceptions, and words about them. Loads nothing."""

from __future__ import annotations


class UserError(Exception):
    """A mistake of the user, or an input that cannot be read; its message is one line."""


def printable(text: str) -> str:
    """Return the text with undecodable bytes shown as replacement characters."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def one_line(text: str) -> str:
    """Return the text, such as a file's name, fit to be printed within a line."""
    return printable(text).replace("\n", "\\x0a")


def reason(error: OSError | ValueError) -> str:
    """Return what went wrong with a file, in lower case and without its number."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return text[:1].lower() + text[1:]


def complaint(message: str) -> str:
    """Return the line in which a command reports a mistake, under the program's name."""
    return f"visa-lsp: {one_line(message)}"
