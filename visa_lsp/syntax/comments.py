"""Replaces the comments of a line by blanks, so that columns stay.

Only ``/* */`` crosses lines, which needs one bit of state. ``//`` and ``/*`` inside a string are text. The real lexer
silently accepts an unclosed ``/*`` at the end of a file. A statement continues in the next line after a backslash at
the line's end, or after a comment that begins in the line and ends in a later one. The whole statement is the code of
its first line, with blanks for the text between, so that distances from the start of the line are those in the text.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_BLOCK: Final = re.compile(r"/\*(?:[^\n*]|\*(?!/))*+(\*/)?")
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
    out, end, still_open = [], 0, False
    for piece in _PIECE.finditer(line):
        text = piece.group()
        if text.startswith('"'):
            continue
        out.append(line[end : piece.start()])
        out.append(" " * len(text))
        end = piece.end()
        if text.startswith("/*") and not piece.group(1):
            still_open = True
    out.append(line[end:])
    return (head + "".join(out)).rstrip(), still_open


def is_continued(text: str) -> bool:
    """Return whether a line of a text may continue in the next after a backslash."""
    return "\\" in text and ("\\\n" in text or "\\\r\n" in text)


def may_cross_lines(text: str, in_block: bool) -> bool:
    """Return whether a comment or a statement of a text may have several lines; False is certain."""
    if in_block or is_continued(text):
        return True
    return "/*" in text and any(match.group(1) != "*/" for match in _BLOCK.finditer(text))


class JoinedLines(NamedTuple):
    """The lines of a text without comments; a statement of several lines is one line, followed by blank lines.

    ``ends`` maps the start of the first line of such a statement to the end of its last line. ``is_pending``: the last
    statement may continue after the text. ``in_block``: a block comment is open after the text.
    """

    codes: list[str]
    ends: dict[int, int]
    is_pending: bool
    in_block: bool


def join_lines(text: str, in_block: bool) -> JoinedLines:
    """Return the lines of a text after ``strip``, with the lines of each statement joined."""
    codes: list[str] = []
    ends: dict[int, int] = {}
    # Joined once at the end, because a statement may have any number of lines.
    pieces: dict[int, list[str]] = {}
    first_line = start = end = size = (
        0  # the line of the last statement, its start, its end, and the start of this line
    )
    continued = is_pending = False
    lines = text.split("\n")
    rest = lines.pop()
    for number, raw in enumerate([*lines, rest] if rest else lines):
        line = raw.rstrip("\r")
        code, in_block = strip(line, in_block)
        if is_pending and (continued or code):
            ends[start] = size + len(raw) + 1
        continued = code.endswith((" \\", "\t\\")) and line.endswith("\\")
        if continued:
            code = code[:-1].rstrip()
        if not is_pending:
            first_line, start, end = number, size, size + len(code)
        elif code:
            pieces.setdefault(first_line, [codes[first_line]]).extend((" " * (size - end), code))
            end, code = size + len(code), ""
        codes.append(code)
        is_pending = bool(codes[first_line]) and (continued or in_block)
        size += len(raw) + 1
    for number, parts in pieces.items():
        codes[number] = "".join(parts)
    return JoinedLines(codes if rest else [*codes, ""], ends, is_pending, in_block)


def code_after_comment(text: str) -> str | None:
    """Return the code of the line in which the comment around the start of a text ends; None if it does not end."""
    end = -1
    while (close := text.find("*/", end + 1)) >= 0:
        start, end = text.rfind("\n", 0, close) + 1, text.find("\n", close)
        code, in_block = strip(text[start : end if end >= 0 else None].rstrip("\r"), True)
        if code or not in_block:
            return code
        if end < 0:
            break
    return None


def find_open_comment(line: str, in_block: bool) -> int | None:
    """Return the column of the ``/*`` that is still open at the end of a line; None if the line opens none."""
    skipped = line.find("*/") + 2 if in_block else 0
    if in_block and skipped < 2:
        return None
    column = None
    for piece in _PIECE.finditer(line, skipped):
        column = piece.start() if piece.group().startswith("/*") and not piece.group(1) else column
    return column
