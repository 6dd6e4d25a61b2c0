"""Bits of an instruction record without a word in text 4.1, in a comment of the line.

``dis`` writes ``// object bits: n|=0x80`` after such an instruction, and the assembler sets the bits again, so that
text and object are equivalent. Rows name these bits (``Field.hidden``); other bits in such a comment are ignored.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from visa_lsp.isa.model import FieldKind

if TYPE_CHECKING:
    from visa_lsp.program.model import Inst

MARK: Final = "object bits:"
_COMMENT: Final = re.compile(r"//.*\bobject bits: (\w+\|=0x[0-9a-f]+(?:, \w+\|=0x[0-9a-f]+)*)")


def comment(inst: Inst) -> str:
    """Return the comment with the hidden bits of an instruction; empty if none is set."""
    items = [f"{name}|=0x{bits:x}" for name, bits in _hidden_bits(inst)]
    return f"// {MARK} {', '.join(items)}" if items else ""


def with_comment(inst: Inst, line: str) -> Inst:
    """Return the instruction with the hidden bits from the comment of its line."""
    match = _COMMENT.search(line)
    if match is None:
        return inst
    row, values = inst.row, list(inst.values)
    for item in match[1].split(", "):
        name, _, digits = item.partition("|=")
        if name not in row.index:
            continue
        index = row.index[name]
        bits, old = int(digits, 16) & row.fields[index].hidden, values[index]
        for modifier in row.modifiers:
            if modifier.heard and modifier.heard[0] == name and bits & modifier.heard[1]:
                values[row.index[modifier.field]] = 1
        if isinstance(old, int):
            values[index] = old | bits
    return replace(inst, values=tuple(values))


def _hidden_bits(inst: Inst) -> list[tuple[str, int]]:
    row, hidden = inst.row, []
    for field, value in zip(row.fields, inst.values, strict=True):
        if not field.hidden:
            continue
        if field.kind is FieldKind.EXEC_LOG2:
            words = [m for m in row.modifiers if m.heard and m.heard[0] == field.name]
            bits = sum(m.heard[1] for m in words if m.heard and inst.get(m.field))
        else:
            # Bits with a word in the row need no comment.
            said = sum({m.mask for m in row.modifiers if m.field == field.name and m.mask != -1})
            bits = value & field.hidden & ~said if isinstance(value, int) else 0
        if bits:
            hidden.append((field.name, bits))
    return hidden
