"""Signature help: the syntax of the instruction being written, with the operand at the cursor marked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from visa_lsp.ide.index.cursor_context import Expected, context_at
from visa_lsp.ide.prose.opcode import describe_slot

if TYPE_CHECKING:
    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.isa.model import Instruction
    from visa_lsp.text import Span


@dataclass(frozen=True, slots=True)
class Parameter:
    """An operand: its span in the label, and its line of explanation."""

    span: Span
    doc: str


@dataclass(frozen=True, slots=True)
class Signature:
    """A form of an instruction."""

    label: str
    doc: str
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class SignatureHelp:
    """All forms, the active one, and the operand at the cursor (None past the last)."""

    signatures: tuple[Signature, ...]
    active: int
    parameter: int | None


def signature_help(analysis: Analysis, offset: int) -> SignatureHelp | None:
    """Return the syntax of the instruction at an offset; None outside the operands of a known mnemonic."""
    context = context_at(analysis, offset)
    if context.row is None or (context.expected in (Expected.NOTHING, Expected.MODIFIER) and context.operand == 0):
        return None
    slots = context.row.slots
    parameter = None if context.expected is Expected.EXEC or context.operand >= len(slots) else context.operand
    active = next(i for i, row in enumerate(context.rows) if row is context.row)
    return SignatureHelp(tuple(_signature(row, context.word) for row in context.rows), active, parameter)


def _signature(row: Instruction, like: Span) -> Signature:
    label = row.syntax
    parameters = []
    offset = len(label) - sum(len(s.name) + (3 if s.optional else 1) for s in row.slots)
    for slot in row.slots:
        start = offset + 1 + (1 if slot.optional else 0)
        parameters.append(Parameter(type(like)(start, start + len(slot.name)), describe_slot(slot)))
        offset = start + len(slot.name) + (1 if slot.optional else 0)
    return Signature(label, row.summary, tuple(parameters))
