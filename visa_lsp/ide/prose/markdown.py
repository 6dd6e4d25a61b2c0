"""Escaping of file text for Markdown: it is shown literally, without links, images, HTML or emphasis.

A downloaded text may name its kernel ``[x](command:...)``. Invariant: any input gives one inline element, or one block, of
Markdown.
"""

from __future__ import annotations

import re
from typing import Final

_PLAIN: Final = re.compile(r"[A-Za-z0-9%$@?.](?:[A-Za-z0-9%$@?.-]|_(?=[A-Za-z0-9]))*\Z")
_TICKS: Final = re.compile(r"`+")
_ENDS: Final = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")
_MAX_NAME_CHARS: Final = 300


def code(text: str) -> str:
    """Return a code span of a text; line ends and control characters become blanks, a very long text is truncated."""
    shown = _ENDS.sub(" ", text)
    if len(shown) > _MAX_NAME_CHARS:
        shown = shown[:_MAX_NAME_CHARS] + "…"
    ticks = "`" * (1 + max((len(run) for run in _TICKS.findall(shown)), default=0))
    # Markdown strips one blank at both ends; without it, a backtick of the text would join the delimiter.
    blank = " " if shown.startswith("`") or shown.endswith("`") or not shown.strip() else ""
    return f"{ticks}{blank}{shown}{blank}{ticks}"


def strong(name: str) -> str:
    """Return a name in bold, inside a code span if it contains Markdown syntax."""
    return f"**{name}**" if len(name) <= _MAX_NAME_CHARS and _PLAIN.match(name) else f"**{code(name)}**"


def block(text: str, language: str = "visa") -> str:
    """Return a fenced block of one line or several."""
    lines = [_ENDS.sub(" ", line)[: 4 * _MAX_NAME_CHARS] for line in text.split("\n")]
    ticks = "`" * (1 + max((len(run) for run in _TICKS.findall(text)), default=2))
    ticks = ticks if len(ticks) > 3 else "```"
    return "\n".join([f"{ticks}{language}", *lines, ticks])
