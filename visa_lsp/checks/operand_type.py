"""An operand's data type is none that the instruction takes.

Why: the result would be computed on bits that mean something else. The finalizer checks arithmetic and logic and rejects them;
moves, comparisons and messages it takes as they are.

Example:

    shl (M1, 16) V35(0,0)<1> V35(0,0)<1;1,0> 0x1:d

Instead:

    shl (M1, 16) V33(0,0)<1> V33(0,0)<1;1,0> 0x1:d

Authority: seed 003, data types of each instruction; the finalizer's verifier for arithmetic and logic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.checks.facts import operand_place, slot_words
from visa_lsp.checks.rule import ERROR, WARNING, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.isa.model import Shape
from visa_lsp.isa.types import FLOAT_TYPES, INT_TYPES, TYPES
from visa_lsp.program.model import Immediate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from visa_lsp.isa.model import Instruction
    from visa_lsp.isa.types import DataType

RULE = rule("V401", "operand-type", WARNING, __doc__)


def _instruction(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    row = bound.row
    assert row is not None
    for operand in bound.operands:
        allowed = operand.slot.types
        type_ = ctx.facts(body).type_of(operand.value)
        if allowed is None or type_ is None or type_ in allowed or type_.name == "bool":
            continue
        # v and uv stand for words, vf for floats.
        stands_for = FLOAT_TYPES if type_.name == "vf" else INT_TYPES
        if type_.is_packed and isinstance(operand.value, Immediate) and allowed & stands_for:
            continue
        severity = ERROR if _verified(row, type_) else WARNING
        tail = "" if severity is ERROR else " (the finalizer does not check)"
        message = f"{slot_words(operand.slot)} of `{row.mnemonic}` has type `{type_.name}`; it can be {type_words(allowed)}{tail}"
        yield ctx.report(RULE, operand_place(bound, operand), message, severity=severity)
        return


def _verified(row: Instruction, type_: DataType) -> bool:
    """Whether the finalizer's verifier looks at the types of this instruction."""
    return row.family == "logic" and type_.is_float


def type_words(allowed: Iterable[DataType]) -> str:
    """A set of types as words, integers and floats by one word where all of them are meant."""
    kept = frozenset(allowed)
    parts = []
    if kept >= INT_TYPES:
        parts.append("an integer")
        kept -= INT_TYPES
    if kept >= FLOAT_TYPES:
        parts.append("a float")
        kept -= FLOAT_TYPES
    parts.extend(f"`{t.name}`" for t in TYPES if t in kept)
    return " or ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)


CHECK = Check(RULE, instruction=_instruction, wants=lambda row: any(s.shape is Shape.VECTOR and s.types for s in row.slots))
