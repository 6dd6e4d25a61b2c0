"""Rows that fit no other family."""

from __future__ import annotations

from typing import Final

from visa_lsp.isa.lane import Effect
from visa_lsp.isa.model import ExecStyle, Instruction
from visa_lsp.isa.rows.shapes import NEWEST_ONLY

ROWS: Final[tuple[Instruction, ...]] = (
    Instruction(
        "breakpoint",
        None,
        "misc",
        (),
        (),
        exec_style=ExecStyle.NONE,
        predicable=False,
        dialects=NEWEST_ONLY,
        meaning=Effect("nop"),
        summary="Stop here under a debugger.",
        detail="Asks the hardware to stop before the next instruction when a debugger is attached; otherwise it does nothing.",
        pitfalls=("It has no object form.",),
        seed=None,
    ),
)
