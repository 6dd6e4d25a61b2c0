"""Reading the register pressure that the finalizer tells (``-dumpRPE``): how many registers are live at each instruction.

It speaks of the code before registers are given out, so that it holds whatever allocator gives them. Several passes may
tell a table each; the last one counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

_ROW: Final = re.compile(r"^\[(\d{1,9})\].*//[^/\n]*?\$(\d{1,9}):", re.MULTILINE)
_PEAK: Final = re.compile(r"^max pressure: (\d{1,9})", re.MULTILINE)
_TABLE: Final = re.compile(r"^BB 0:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ToldPressure:
    """GRF registers in use: at most, and by ``$N`` the most at any Gen instruction of that number."""

    peak: int | None = None
    by_number: dict[int, int] = field(default_factory=dict)


def read_pressure(said: str) -> ToldPressure:
    """Return the last table of what the finalizer said; without one nothing is known."""
    peaks = list(_PEAK.finditer(said))
    if not peaks:
        return ToldPressure()
    starts = [match.start() for match in _TABLE.finditer(said, 0, peaks[-1].start())]
    rows: dict[int, int] = {}
    for match in _ROW.finditer(said, starts[-1] if starts else 0, peaks[-1].start()):
        number = int(match[2])
        rows[number] = max(rows.get(number, 0), int(match[1]))
    return ToldPressure(int(peaks[-1][1]), rows)
