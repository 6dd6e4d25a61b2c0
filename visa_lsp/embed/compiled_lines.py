"""Finds a line of vISA in the strings of its source, although the compiler has replaced the operands by variables.

Knows the blocks of a host and no compiler.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from visa_lsp.text import Span

if TYPE_CHECKING:
    from visa_lsp.embed.host_text import HostText

_OPERAND: Final = re.compile(r"__asm\d+_\w+")


def place_of_line(host: HostText, code: str) -> Span | None:
    """Return the place of the first line in a host's strings that equals this one except for names of operands, or None."""
    wanted = " ".join(code.split())
    for number, unit in enumerate(host.units):
        line_start = host.start_of(number)
        for line in unit.text.splitlines(keepends=True):
            words = line.strip()
            if words and _reads_as(words, wanted):
                start = line_start + line.index(words)
                span = host.host_span(Span(start, start + len(words)))
                if span is not None:
                    return span
            line_start += len(line)
    return None


def _reads_as(line: str, code: str) -> bool:
    parts = _OPERAND.split(" ".join(line.split()))
    if not code.startswith(parts[0]):
        return False
    return re.fullmatch(r"\w+".join(map(re.escape, parts)), code) is not None
