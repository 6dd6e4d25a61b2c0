"""Writes plain values as the text of a ze_info document, in the form of the compilers.

Knows YAML's plain forms, no keys. Invariant: the text reads back as the same value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_./*-]*", re.ASCII)
_RESERVED: Final = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
_WIDTH: Final = 17


def document(root: Mapping[str, object]) -> str:
    """Return the text of a document."""
    return "---\n" + "".join(f"{line}\n" for line in _map(root, 0)) + "...\n"


def scalar(value: object) -> str:
    """Return a word, number or flag as text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    text = str(value)
    if _PLAIN.fullmatch(text) and text.lower() not in _RESERVED:
        return text
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return '"' + "".join(_escape(c) for c in text) + '"'


def _escape(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    return character if character.isprintable() else f"\\U{ord(character):08x}"


def _map(value: Mapping[str, object], indent: int) -> Iterator[str]:
    for key, entry in value.items():
        yield from _entry(key, entry, indent)


def _entry(key: str, value: object, indent: int) -> Iterator[str]:
    lead = " " * indent + f"{key}:"
    if isinstance(value, dict):
        yield lead
        yield from _map(value, indent + 2)
    elif isinstance(value, list | tuple) and value and isinstance(value[0], dict):
        yield lead
        for entry in value:
            lines = list(_map(entry, indent + 4))
            yield " " * (indent + 2) + "- " + lines[0].lstrip()
            yield from lines[1:]
    elif isinstance(value, list | tuple):
        yield f"{lead} [ {', '.join(map(str, value))} ]" if value else f"{lead} []"
    else:
        yield f"{' ' * indent}{key + ':':<{_WIDTH - 1}} {scalar(value)}"
