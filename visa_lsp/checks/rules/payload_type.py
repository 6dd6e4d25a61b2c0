"""A raw operand of an atomic, gather or scatter is of a type that the message does not carry.

`dword_atomic` takes offsets of type `ud`; its data are `ud`, for `add` and `sub` also `d`, for the float operations
`f`; with `.16` they are `ud` for all operations, and there is no second operand. The data of `gather` and `scatter`
have elements of four bytes. Of the operands of a matrix product only src0 can be `%null`.

Why: the message works on dwords, whatever the declared type of the variable.

Example:

    dword_atomic.xchg (M1, 8) T6 V36.0 V35.0 %null.0 V36.0

Instead:

    dword_atomic.xchg (M1, 8) T6 V36.0 V36.0 %null.0 V36.0

Authority: seed 003, DWORD_ATOMIC, GATHER and SCATTER; the finalizer rejects the text.
"""

from __future__ import annotations

from collections.abc import Iterator

from visa_lsp.checks.rule import ERROR, Body, Bound, Check, CheckContext, Diagnostic, rule
from visa_lsp.checks.support.facts import operand_place, slot_words, words
from visa_lsp.isa.message_forms import data_fields
from visa_lsp.isa.model import Instruction, Operation, Shape, Trait
from visa_lsp.isa.types import TYPES
from visa_lsp.program.model import General, RawOperand
from visa_lsp.syntax import tree

RULE = rule("V403", "payload-type", ERROR, __doc__)
_NARROW_GRF_BYTES = 32


def _instruction(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    row, statement = bound.row, bound.statement
    assert row is not None
    if not isinstance(statement, tree.Instruction):
        return
    if row.has(Trait.MATRIX):
        yield from _matrix(ctx, body, bound)
        return
    operation = next(
        (candidate for w in reversed(statement.words) if (candidate := _operation(row, w.text)) is not None), None
    )
    for operand in bound.operands:
        value, name = operand.value, operand.slot.name
        if not isinstance(value, RawOperand):
            continue
        symbol = ctx.facts(body).variables.get(value.var)
        if symbol is None or symbol.type is None:
            continue
        place = operand_place(bound, operand)
        if not row.operations:
            taken = row.verified.get(name)
            if taken is not None and not symbol.predefined and symbol.type not in taken:
                names = words(f"`{t.name}`" for t in TYPES if t in taken)
                message = (
                    f"{slot_words(operand.slot)} of `{row.mnemonic}` has type `{symbol.type.name}`; it must be {names}"
                )
                yield ctx.report(RULE, place, message)
            carries_dwords = row.has(Trait.DWORD_DATA) and name in data_fields(row.meaning)
            if carries_dwords and not symbol.predefined and symbol.type.size != 4:
                message = f"{slot_words(operand.slot)} of `{row.mnemonic}` has type `{symbol.type.name}`; its elements must have four bytes"
                yield ctx.report(RULE, place, message)
            continue
        if operation is None:
            continue
        if name in operation.unused:
            if value.var != 0:
                yield ctx.report(RULE, place, f"`{name}` is not used by this operation; it must be `%null.0`")
            continue
        allowed = operation.types.get(name)
        if allowed is not None and not symbol.predefined and symbol.type not in allowed:
            names = words(f"`{t.name}`" for t in TYPES if t in allowed)
            message = f"{slot_words(operand.slot)} of this operation has type `{symbol.type.name}`; it must be {names}"
            yield ctx.report(RULE, place, message)


def _operation(row: Instruction, word: str) -> Operation | None:
    """Return the operation of a word, which may be any of its names."""
    if word in row.operations:
        return row.operations[word]
    for modifier in row.modifiers:
        code = modifier.words.get(word)
        same = [other for other, its in modifier.words.items() if code is not None and its == code]
        operation = next((row.operations[other] for other in same if other in row.operations), None)
        if operation is not None:
            return operation
    return None


def _matrix(ctx: CheckContext, body: Body, bound: Bound) -> Iterator[Diagnostic]:
    """Yield wrong types of the operands of a matrix multiplication; the precisions after the mnemonic are not checked."""
    wide = ctx.platform is None or ctx.platform.grf_bytes > _NARROW_GRF_BYTES
    for operand in bound.operands:
        value = operand.value
        if not isinstance(value, (RawOperand, General)):
            continue
        symbol = ctx.facts(body).variables.get(value.var)
        if value.var == 0 and operand.slot.name in ("dst", "src1", "src2"):
            message = f"{slot_words(operand.slot)} of `{_name(bound)}` cannot be `%null`; only `src0` can be absent"
            yield ctx.report(RULE, operand_place(bound, operand), message)
            continue
        if symbol is None or symbol.type is None or (symbol.predefined and isinstance(value, RawOperand)):
            continue
        if value.var == 0:
            continue
        sums = operand.slot.name in ("dst", "src0")
        allowed = ("ud", "d", *(("f",) if sums else ()), *(("uw", "w", "hf", "bf") if sums and wide else ()))
        if bound.row is not None and bound.row.verified:
            own = bound.row.verified.get(operand.slot.name, frozenset({symbol.type}))
            allowed = tuple([t.name for t in TYPES if t in own])
        if symbol.type.name not in allowed:
            names = words(f"`{t}`" for t in allowed)
            message = (
                f"{slot_words(operand.slot)} of `{_name(bound)}` has type `{symbol.type.name}`; it must be {names}"
            )
            yield ctx.report(RULE, operand_place(bound, operand), message)


def _name(bound: Bound) -> str:
    return bound.row.mnemonic if bound.row is not None else ""


def _carries(row: Instruction) -> bool:
    """Return whether the row fixes the types of its raw operands."""
    named = any(slot.shape is Shape.RAW and slot.name in row.verified for slot in row.slots)
    return named or bool(row.operations) or row.has(Trait.DWORD_DATA | Trait.MATRIX)


CHECK = Check(
    RULE,
    instruction=_instruction,
    wants=_carries,
)
