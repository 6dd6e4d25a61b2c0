"""Replaces the comments of a line by blanks, so that columns stay.

Only ``/* */`` crosses lines, which needs one bit of state. ``//`` and ``/*`` inside a string are text. The real lexer
silently accepts an unclosed ``/*`` at the end of a file. A statement continues in the next line after a backslash at
the line's end, or after a comment that begins in the line and ends in a later one. The whole statement is the code of
its first line, with blanks for the text between, so that distances from the start of the line are those in the text.
"""

from __future__ import annotations

import re
from typing import Final

_PIECE: Final = re.compile(r'"(?:\\.|[^"\\])*"?|//.*|/\*.*?(\*/|$)')


def strip(line: str, in_block: bool) -> tuple[str, bool]:
    """Return (line with comments blanked, whether a block comment is open after it). ``line`` has no line end."""
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


def is_continued(text: str) -> bool:
    """Return whether a line of a text may continue in the next after a backslash."""
    return "\\" in text and ("\\\n" in text or "\\\r\n" in text)


def goes_on(text: str, in_block: bool) -> bool:
    """Return whether a statement of a text may continue in the next line, after a comment or a backslash."""
    for raw in text.split("\n"):
        code, in_block = strip(raw.rstrip("\r"), in_block)
        if code and (in_block or code.endswith("\\")):
            return True
    return False


def strip_all(text: str, in_block: bool) -> list[str]:
    """Return the lines of a text after ``strip``; a line and its continuations are one line, followed by blank lines."""
    codes: list[str] = []
    first, start, size = 0, 0, 0  # the continued line, its start, and the start of this line
    goes_on = False
    for number, raw in enumerate(text.split("\n")):
        line = raw.rstrip("\r")
        code, in_block = strip(line, in_block)
        continued = code.endswith((" \\", "\t\\")) and line.endswith("\\")
        if continued:
            code = code[:-1].rstrip()
        if not goes_on:
            first, start = number, size
        if goes_on and code:
            codes[first] = codes[first].ljust(size - start) + code
            code = ""
        codes.append(code)
        goes_on = bool(codes[first]) and (continued or in_block)
        size += len(raw) + 1
    return codes


def find_open_comment(line: str, in_block: bool) -> int | None:
    """Return the column of the ``/*`` that is still open at the end of a line; None if the line opens none."""
    skipped = line.find("*/") + 2 if in_block else 0
    if in_block and skipped < 2:
        return None
    column = None
    for piece in _PIECE.finditer(line, skipped):
        column = piece.start() if piece.group().startswith("/*") and not piece.group(1) else column
    return column
