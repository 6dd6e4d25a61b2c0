"""Colours for the printed reports of commands: a pattern and a style for each kind of part.

Reports are coloured as they are printed, so that ``app`` makes one text for terminals, files and editors. Invariant: without
its colours the text is unchanged.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Final

from visa_lsp.app.inputs import STDIN
from visa_lsp.app.visible_text import paint
from visa_lsp.cli.outputs import wants_colour

if TYPE_CHECKING:
    from collections.abc import Callable

_RED: Final = "1;31"
_GREEN: Final = "1;32"
_YELLOW: Final = "1;33"
_BLUE: Final = "1;34"
_CYAN: Final = "36"
_BOLD: Final = "1"
_DIM: Final = "2"
_PLACE: Final = (r"^[^\s:][^:\n]*(?::\d+)?:(?= )", _BOLD)
# By command: patterns of parts of lines, and their styles. The first pattern that matches at a place counts.
_STYLES: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "run": (
        (r"^  fault:|\bFAILED\b|^! arg[^:\n]*:", _RED),
        (r"^  (?:ok$|ran, no fault found)|: holds$", _GREEN),
        (r"^  (?:note|expected fault|message|for the cause):|^  ran, nothing was checked", _YELLOW),
        (r"^  assumed:.*", _DIM),
        _PLACE,
    ),
    "prove": (
        (r"\b(?:\d+ )?refuted\b", _RED),
        (r"\b(?:\d+ )?(?:unknown|bounded)\b", _YELLOW),
        (r"\b\d+ proved\b", _GREEN),
        (r"^    .*", _DIM),
        _PLACE,
    ),
    "why": (
        (r"\b(?:first difference|executed by the reference only):|\bexpected .*", _RED),
        (r"\bdiffers:|^note:", _YELLOW),
        (r"#\d+", _BLUE),
        (r"\A.*? = ", _BOLD),
    ),
    "verify": (
        (r": different$|\bhazards?\b", _RED),
        (r"\bequal at\b|\bno hazard at\b", _GREEN),
        (r"\bnot judged\b|^  unneeded wait", _YELLOW),
        _PLACE,
    ),
    "gen": ((r"^(?:kernel|function|==) .*", _BOLD), (r"//.*", _DIM), (r"^ {12}[^/\n]*", _CYAN)),
    "read": (
        (r"//.*", _DIM),
        (r"^(?:kernel|function)\b", _BOLD),
        (r"\b(?:if|else|for|while|do|return|break|continue|goto|switch)\b", _CYAN),
    ),
    "stats": (_PLACE, (r"^kernel .*", _BOLD), (r"\bneeds up to \d+ GRF rows\b|\b[1-9]\d* bytes spilled\b", _YELLOW)),
}  # fmt: skip


def ink_of(command: str, choice: str, output: str | None = STDIN) -> Callable[[str], str]:
    """Return the function that colours printed text of a command, by ``--color``; files get no colours."""
    if output not in (STDIN, None) or not wants_colour(sys.stdout, choice):
        return str
    parts = re.compile("|".join(f"({pattern})" for pattern, _ in _STYLES[command]), re.MULTILINE)
    styles = [style for _, style in _STYLES[command]]
    return lambda text: parts.sub(lambda part: paint(part[0], styles[(part.lastindex or 1) - 1]), text)
