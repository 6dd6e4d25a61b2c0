"""Validated access to the arguments of a request.

Knows JSON values only. Invariant: whatever a client sends, only RequestError is raised.
"""

from __future__ import annotations

from typing import Any, Final, TypeVar

Arguments = dict[str, Any]
T = TypeVar("T")

_MAX_TEXT_CHARS: Final = 1 << 20
_MAX_ITEMS: Final = 10_000


class RequestError(Exception):
    """A request that cannot be answered; the message says why."""


def whole(args: Arguments, name: str, default: int | None = None, least: int = -(1 << 62)) -> int:
    """Return an integer argument. Raises RequestError for one that is missing, malformed or too small."""
    value = args.get(name, default)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is None:
        raise RequestError(f"'{name}' is missing")
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > 1 << 63:
        raise RequestError(f"'{name}' must be a whole number")
    if value < least:
        raise RequestError(f"'{name}' must be at least {least}")
    return value


def text(args: Arguments, name: str, default: str | None = None) -> str:
    """Return a text argument. Raises RequestError for one that is missing, malformed or too long."""
    value = args.get(name)
    value = default if value is None else value
    if value is None:
        raise RequestError(f"'{name}' is missing")
    if not isinstance(value, str) or len(value) > _MAX_TEXT_CHARS:
        raise RequestError(f"'{name}' must be a text")
    return value


def flag(args: Arguments, name: str) -> bool:
    """Return a truth value; false where it is missing. Raises RequestError for another type."""
    return _optional(args, name, bool, False, "true or false")


def table(args: Arguments, name: str) -> Arguments:
    """Return an object argument; empty if it is missing. Raises RequestError for another type."""
    return _optional(args, name, dict, {}, "an object")


def tables(args: Arguments, name: str) -> list[Arguments]:
    """Return a list of objects; empty if it is missing. Raises RequestError for another type, or a list too long."""
    value: list[Arguments] = _optional(args, name, list, [], "a list of objects", dict)
    if len(value) > _MAX_ITEMS:
        raise RequestError(f"'{name}' has more than {_MAX_ITEMS} items")
    return value


def texts(args: Arguments, name: str) -> list[str]:
    """Return a list of texts; empty if it is missing. Raises RequestError for another type."""
    return _optional(args, name, list, [], "a list of texts", str)


def _optional(args: Arguments, name: str, kind: type[T], empty: T, words: str, inner: type = object) -> T:
    value = args.get(name)
    if value is None:
        return empty
    if not isinstance(value, kind) or (isinstance(value, list) and not all(isinstance(item, inner) for item in value)):
        raise RequestError(f"'{name}' must be {words}")
    return value


def style_of(args: Arguments) -> str:
    """Return the requested number format: the letter of ``debug.cells.format_number`` for ``format`` (hex, float, signed)."""
    wanted = table(args, "format")
    return next((letter for word, letter in (("hex", "x"), ("float", "f"), ("signed", "d")) if flag(wanted, word)), "")
