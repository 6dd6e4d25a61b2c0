"""Text for a terminal: escapes control characters, and adds colours that no input can forge."""

from __future__ import annotations

import os
import re
from typing import Final

# C0 except line feed and tab, DEL, C1, bidirectional controls, and line separators.
_CONTROLS: Final = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
_SECRET: Final = os.urandom(8).hex()  # unique per process, so that no input contains it
_INK: Final = re.compile(rf"\x1b\[([0-9;]*):{_SECRET}m")


def visible(text: str) -> str:
    """Return the text with control characters escaped and the colours of ``paint`` as terminal sequences."""
    if _CONTROLS.search(text) is None:
        return text
    pieces = _INK.split(text)
    pieces[::2] = [_CONTROLS.sub(_escape, piece) for piece in pieces[::2]]
    pieces[1::2] = [f"\033[{style}m" for style in pieces[1::2]]
    return "".join(pieces)


def _escape(match: re.Match[str]) -> str:
    # JSON has no raw character below the blank, and no escape of two digits.
    number = ord(match[0])
    return f"\\x{number:02x}" if number < 0x20 else f"\\u{number:04x}"


def paint(text: str, style: str) -> str:
    """Return the text in a terminal style, for a stream or for ``visible``."""
    return f"\033[{style}:{_SECRET}m{text}\033[0:{_SECRET}m" if text else text
