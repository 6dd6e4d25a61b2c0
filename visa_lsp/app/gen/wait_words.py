"""Explains the scoreboard words of machine code: ``$3.dst waits for the result of line 41``.

The instruction that a token belongs to is the last one before the wait in the order of the listing; in a loop it may be a later one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from visa_lsp.toolchain.listing import GenLine

_OPTIONS: Final = re.compile(r"\{([^{}]*)\}\s*(?://.*)?$")
_TOKEN: Final = re.compile(r"\$(\d{1,2})(?:\.(dst|src))?")
_DISTANCE: Final = re.compile(r"([AFILMS]?)@(\d)")
_PIPES: Final = {
    "": "its pipe", "A": "any pipe", "F": "the float pipe", "I": "the integer pipe", "L": "the long pipe",
    "M": "the math pipe", "S": "the scalar pipe",
}  # fmt: skip


def wait_words(placed: Iterable[tuple[GenLine, int]]) -> Iterator[str]:
    """Yield for each line of Gen, given with its line of the text from 0, what it waits for; empty for nothing."""
    setters: dict[str, int] = {}
    for gen, line in placed:
        options = _OPTIONS.search(gen.text)
        explanations: list[str] = []
        for word in options[1].split(",") if options else ():
            if distance := _DISTANCE.fullmatch(word.strip()):
                back = (
                    "the last instruction" if distance[2] == "1" else f"the last instruction but {int(distance[2]) - 1}"
                )
                explanations.append(f"{word.strip()} waits for {back} of {_PIPES[distance[1]]}")
            elif token := _TOKEN.fullmatch(word.strip()):
                setter = setters.get(token[1])
                place = f"of line {setter + 1}" if setter is not None else "of a later line"
                if token[2]:
                    what = "the result" if token[2] == "dst" else "the reads"
                    explanations.append(f"{word.strip()} waits for {what} {place}")
                else:
                    setters[token[1]] = line
        yield "; ".join(explanations)
