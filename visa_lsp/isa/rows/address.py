"""Rows: address arithmetic (seed 003 format 4; page ADDR_ADD)."""

from __future__ import annotations

from typing import Final

from visa_lsp.isa.lane import Effect
from visa_lsp.isa.model import Instruction, Role, Shape, Slot, layout
from visa_lsp.isa.rows.shapes import AO, EVERY, IM, INT, A, G, I
from visa_lsp.isa.types import UB, UW, B, W

ROWS: Final[tuple[Instruction, ...]] = (
    Instruction(
        "addr_add",
        0x28,
        "address",
        layout("E dst:v src0:v src1:v"),
        (
            Slot("dst", Shape.VECTOR, Role.WRITE, A, doc="address elements"),
            Slot("src0", Shape.VECTOR, Role.READ, A | AO | G, INT, doc="address, or address of a variable: &V[32]"),
            # Older objects have indirect offsets; the newer grammar does not.
            Slot("src1", Shape.VECTOR, Role.READ, G | I | IM | AO, INT, doc="byte offset, uw"),
        ),
        # Seed 003 says at most 8; the compiler prints 16.
        exec_sizes=(1, 2, 4, 8, 16),
        predicable=False,
        dialects=EVERY,
        meaning=Effect("addr_add"),
        verified={"src1": frozenset({B, UB, W, UW})},
        summary="Add a byte offset to an address.",
        detail="Computes register file addresses for indirect operands: src0 is another address or the address of a variable"
        " with a constant offset, src1 the byte offset to add, of type uw.",
        pitfalls=(
            "The offset counts bytes, not elements.",
            "A result outside the variable that src0 names is undefined when it is used.",
            "A general operand as src0 means its address, not its value.",
        ),
    ),
)
