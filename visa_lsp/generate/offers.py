"""``visa_lsp/lsp/offered.py``: what the server can do, as far as it follows from the handlers that are registered."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.lsp.by_handlers import plain_offers
from visa_lsp.lsp.server import create_server

if TYPE_CHECKING:
    from pathlib import Path

FILE: Final = "visa_lsp/lsp/offered.py"
_HEAD: Final = '''"""What the server offers because it has the handlers; made by ``python -m visa_lsp.generate``. Loads nothing.

Options that no handler tells stand in ``capabilities``, which lays them over these.
"""

'''
_WIDTH: Final = 120


def source(offers: dict[str, Any]) -> str:
    """The module with these offers."""
    return f"{_HEAD}OFFERED = {_broken(offers, 0)}\n"


def _shown(value: object, depth: int, used: int) -> str:
    """A value in Python, in one line where that is not too long for what the line has already."""
    flat = _flat(value)
    if used + len(flat) + 1 <= _WIDTH or not isinstance(value, dict | list):
        return flat
    return _broken(value, depth)


def _flat(value: object) -> str:
    match value:
        case dict():
            return "{" + ", ".join(f"{json.dumps(key)}: {_flat(part)}" for key, part in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(_flat, value)) + "]"
        case str():
            return json.dumps(value)
        case _:
            return repr(value)


def _broken(value: dict[str, Any] | list[Any], depth: int) -> str:
    named = isinstance(value, dict)
    parts = value.items() if isinstance(value, dict) else (("", part) for part in value)
    margin = "    " * (depth + 1)
    lines = []
    for key, part in parts:
        head = margin + (f"{json.dumps(key)}: " if named else "")
        lines.append(f"{head}{_shown(part, depth + 1, len(head))},\n")
    left, right = "{}" if named else "[]"
    return f"{left}\n{''.join(lines)}{'    ' * depth}{right}"


def made(_: Path) -> dict[str, str]:
    """The module for the handlers of today."""
    return {FILE: source(plain_offers(create_server("")))}
