"""Rows: flow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from visa_lsp.isa.model import Instruction

ROWS: Final[tuple[Instruction, ...]] = ()
