"""Comments taken out of a line: blanks in their place, so that columns stay.

Only ``/* */`` crosses lines: one bit of state. ``//`` and ``/*`` inside a string are text. An unclosed ``/*`` at the
end of a file is silently accepted by the real lexer.
"""

from __future__ import annotations

import re
from typing import Final

_PIECE: Final = re.compile(r'"(?:\\.|[^"\\])*"?|//.*|/\*.*?(\*/|$)')


def strip(line: str, in_block: bool) -> tuple[str, bool]:
    """(line with comments blanked, whether a block comment is open behind it). ``line`` has no line end."""
    if not in_block and "/" not in line:
        return line, False
    if not in_block and '"' not in line and "/*" not in line:
        return line.partition("//")[0].rstrip(), False
    head = ""
    if in_block:
        close = line.find("*/")
        if close < 0:
            return "", True
        head, line = " " * (close + 2), line[close + 2 :]
    out, at, still_open = [], 0, False
    for piece in _PIECE.finditer(line):
        text = piece.group()
        if text.startswith('"'):
            continue
        out.append(line[at : piece.start()])
        out.append(" " * len(text))
        at = piece.end()
        if text.startswith("/*") and not piece.group(1):
            still_open = True
    out.append(line[at:])
    return (head + "".join(out)).rstrip(), still_open


def opening(line: str, in_block: bool) -> int | None:
    """The column of the ``/*`` that is still open at the end of a line; None where none was opened in it."""
    skipped = line.find("*/") + 2 if in_block else 0
    if in_block and skipped < 2:
        return None
    column = None
    for piece in _PIECE.finditer(line, skipped):
        column = piece.start() if piece.group().startswith("/*") and not piece.group(1) else column
    return column
