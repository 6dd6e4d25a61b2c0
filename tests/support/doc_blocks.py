"""The blocks of code in a Markdown page: fenced ones, and those that are indented, also below an item of a list."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_FENCE = re.compile(r"^ *```(\S*)(?: title=\"([^\"]+)\")?$")
_ITEM = re.compile(r"^(?:\*|-|\d+\.) ")


class Block(NamedTuple):
    """``kind`` is the word behind the fence, empty for one without; ``name`` that of a file to be written; line from 1."""

    line: int
    kind: str
    name: str
    text: str


def blocks_of(page: str) -> Iterator[Block]:
    """Yield the blocks in the order of the page."""
    lines, at = page.splitlines(), 0
    while at < len(lines):
        fence = _FENCE.match(lines[at])
        if fence:
            end = next(n for n in range(at + 1, len(lines)) if lines[n].strip() == "```")
            yield Block(at + 1, fence[1], fence[2] or "", _join(lines[at + 1 : end]))
        elif width := _measure_indent(lines, at):
            end = next((n for n in range(at, len(lines)) if lines[n].strip() and _width(lines[n]) < width), len(lines))
            yield Block(at + 1, "", "", _join(line[width:] for line in lines[at:end]))
            end -= 1
        else:
            end = at
        at = end + 1


def _join(lines) -> str:
    return "\n".join(lines).rstrip() + "\n"


def _width(line: str) -> int:
    return len(line) - len(line.lstrip())


def _measure_indent(lines: list[str], at: int) -> int:
    """By how much a block is indented that begins at a line; 0 where none does."""
    if at == 0 or lines[at - 1].strip() or not lines[at].startswith("    "):
        return 0
    above = next((line for line in reversed(lines[:at]) if line.strip() and not line.startswith("  ")), "")
    width = 8 if _ITEM.match(above) else 4
    return width if _width(lines[at]) >= width else 0
