r"""A text as a client of the protocol has it: edited by positions, lines ending with ``\n``, ``\r\n`` or ``\r``.

Written for itself from the protocol's words, slowly and plainly, so that what the server has can be compared with it.
"""

from __future__ import annotations

from typing import Any


def line_starts(text: str) -> list[tuple[int, int]]:
    """(start, end without the line's end) of each line; the last may be empty."""
    found = []
    start = at = 0
    while at < len(text):
        if text[at] == "\r" or text[at] == "\n":
            found.append((start, at))
            at += 2 if text[at : at + 2] == "\r\n" else 1
            start = at
        else:
            at += 1
    return [*found, (start, len(text))]


def width(ch: str, encoding: str) -> int:
    """Return the number of units of a character."""
    if encoding == "utf-8":
        return len(ch.encode("utf-8", "surrogatepass"))
    return 2 if encoding == "utf-16" and ch > "\uffff" else 1


def offset(text: str, place: dict[str, int], encoding: str = "utf-16") -> int:
    """Return the offset of a position; a place outside is the nearest one inside."""
    lines = line_starts(text)
    if place["line"] >= len(lines):
        return len(text)
    start, end = lines[place["line"]]
    units = 0
    for at in range(start, end):
        if units >= place["character"]:
            return at
        units += width(text[at], encoding)
    return end


def apply(text: str, change: dict[str, Any], encoding: str = "utf-16") -> str:
    """Return a content change as the protocol means it."""
    if "range" not in change:
        return str(change["text"])
    start, end = (offset(text, change["range"][side], encoding) for side in ("start", "end"))
    return text[: min(start, end)] + str(change["text"]) + text[max(start, end) :]
