"""Parses the register pressure from the finalizer (``-dumpRPE``): the number of live registers at each instruction.

It describes the code before register allocation, so it does not depend on the allocator. Several passes may print a table;
the last one is used.
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
    """The live GRF registers: the maximum, and the maximum of the Gen instructions of each ``$N``."""

    peak: int | None = None
    by_number: dict[int, int] = field(default_factory=dict)


def read_pressure(said: str) -> ToldPressure:
    """Parse the last table in the output of the finalizer; the result is empty if there is none."""
    peaks = list(_PEAK.finditer(said))
    if not peaks:
        return ToldPressure()
    starts = [match.start() for match in _TABLE.finditer(said, 0, peaks[-1].start())]
    rows: dict[int, int] = {}
    for match in _ROW.finditer(said, starts[-1] if starts else 0, peaks[-1].start()):
        number = int(match[2])
        rows[number] = max(rows.get(number, 0), int(match[1]))
    return ToldPressure(int(peaks[-1][1]), rows)
