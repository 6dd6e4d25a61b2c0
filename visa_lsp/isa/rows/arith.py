"""Rows: arithmetic on lanes (seed 003 formats 3 and 5; documentation pages of the same names)."""

from __future__ import annotations

from typing import Final

from visa_lsp.isa.lane import S0, S1, S2, Lane, word
from visa_lsp.isa.model import Instruction
from visa_lsp.isa.rows.shapes import ANY, INT, lane_row
from visa_lsp.isa.types import UD, D

ROWS: Final[tuple[Instruction, ...]] = (
    lane_row(
        "add", 0x01, "arith", ANY, 2, Lane(S0 + S1),
        "Add two sources.",
        "Adds src0 and src1 lane by lane. Source types may differ: they are converted to a common type first.",
        pitfalls=("Subtract by negating a source: `add (M1, 8) D(0,0)<1> A(0,0)<1;1,0> (-)B(0,0)<1;1,0>`.",),
    ),
    lane_row(
        "mul", 0x10, "arith", ANY, 2, Lane(S0 * S1),
        "Multiply two sources.",
        "Multiplies src0 and src1 lane by lane. With a destination no wider than the sources the low bits are kept.",
        pitfalls=("For the upper half of an integer product use `mulh`, for both halves `madw`.",),
    ),
    lane_row(
        "mad", 0x0C, "arith", ANY, 3, Lane(word("mad", S0, S1, S2)),
        "Multiply, then add.",
        "Computes src0 * src1 + src2 lane by lane. For float types the product is not rounded before the addition.",
        pitfalls=("A fused result may differ in the last bit from `mul` followed by `add`.",),
    ),
    lane_row(
        "mulh", 0x0D, "arith", frozenset({UD, D}), 2, Lane(word("mulh", S0, S1)),
        "Upper half of an integer product.",
        "Multiplies two dwords and keeps the upper 32 bits of the 64-bit product.",
        sat=False,
    ),
    lane_row(
        "avg", 0x02, "arith", INT, 2, Lane(word("avg", S0, S1)),
        "Rounded average of two integers.",
        "Computes (src0 + src1 + 1) shifted right by one, without losing the carry.",
    ),
)  # fmt: skip
