"""The operands of a render target message by the bits of its mode word, for rows, ``sema`` and ``codec``."""

from __future__ import annotations

from typing import Final

MODE_WORDS: Final = {
    "RTI": 1 << 2, "A": 1 << 3, "O": 1 << 4, "Z": 1 << 5, "ST": 1 << 6, "LRTW": 1 << 7, "CPS": 1 << 8,
    "PS": 1 << 9, "CM": 1 << 10, "SI": 1 << 11, "NULLRT": 1 << 12,
}  # fmt: skip


def message_operands(mode: int, *, with_header: bool) -> list[bool]:
    """Return whether each operand of a render target message is a vector operand (else raw), by the bits of its mode word.

    The header is first; then sample index (bit 11), counter (8) and target index (2), which are vector operands;
    then source-0 alpha (3), output mask (4), four colours, depth (5) and stencil (6).
    """
    vectors = sum(mode >> bit & 1 for bit in (11, 8, 2))
    raws = 4 + sum(mode >> bit & 1 for bit in (3, 4, 5, 6))
    return [False] * with_header + [True] * vectors + [False] * raws
