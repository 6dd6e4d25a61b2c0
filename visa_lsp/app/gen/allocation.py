"""Spills and fills of each variable, and copies between registers, that the register allocator added to the code of a kernel."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from visa_lsp.toolchain.listing import spilled_in

if TYPE_CHECKING:
    from visa_lsp.toolchain.finalize import FinalizedKernel

_PART: Final = re.compile(r"^(?:SP|FL)_[A-Za-z]+_(\w+)_\d+$")  # of a variable, as in SP_GRF_V0069_0
_COPY: Final = re.compile(r"\s*(?:\([^)]*\)\s*)?mov \(\d+\|M\d+\)\s+r\d[^ ]*\s+r\d")


@dataclass(slots=True)
class Spills:
    """The number of messages that store and load a variable in scratch memory."""

    spills: int = 0
    fills: int = 0

    def __str__(self) -> str:
        return f"{self.spills} spill{'s' * (self.spills != 1)}, {self.fills} fill{'s' * (self.fills != 1)}"


def spills_of(kernel: FinalizedKernel) -> dict[str, Spills]:
    """Return the spills of each variable of a kernel that has some; of temporaries under the finalizer's name."""
    counts = defaultdict[str, Spills](Spills)
    for line in kernel.listing.lines:
        kind, name = spilled_in(line) or ("", "")
        if not name:
            continue
        variable = counts[part[1] if (part := _PART.match(name)) else name]
        if kind == "spill":
            variable.spills += 1
        else:
            variable.fills += 1
    return dict(counts)


def added_copies(kernel: FinalizedKernel) -> int:
    """Return the number of copies between registers that belong to no line of the text."""
    return sum(line.number is None and _COPY.match(line.text) is not None for line in kernel.listing.lines)
