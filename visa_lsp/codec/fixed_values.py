"""Checks of fields that the assembler fills itself, so that an object with another value has no text.

These are fields that the text cannot express, and fields for which Intel's tool ignores the text.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Final, TypeAlias

from visa_lsp.isa.model import ExecStyle, FieldKind, FlowClass, Instruction, Shape, Trait
from visa_lsp.isa.operands import OperandModifier
from visa_lsp.isa.types import ExecControl
from visa_lsp.program.model import General, Indirect, PredicateOperand, Value

# Returns the mistake in a value of an instruction, or an empty text.
Check: TypeAlias = "Callable[[list[Value]], str]"

_NO_EXEC: Final = ExecControl(1, 0, no_mask=True)
_NUMBERS: Final = (FieldKind.U8, FieldKind.U16, FieldKind.U32, FieldKind.S32)
_EXEC: Final = (FieldKind.EXEC, FieldKind.EXEC_CODE, FieldKind.EXEC_LOG2)


def checks_of(row: Instruction) -> tuple[tuple[int, Check], ...]:
    """Return the checks of a row, each with the position of its field."""
    return (
        *_executions(row), *_predicates(row), *_check_repeats(row), *_unsaid(row), *_unsaid_bits(row), *_classes(row),
        *_saturations(row),
    )  # fmt: skip


def _executions(row: Instruction) -> list[tuple[int, Check]]:
    index = next((index for index, field in enumerate(row.fields) if field.kind in _EXEC), None)
    if index is None:
        return []
    if row.exec_style is ExecStyle.NONE and row.fields[index].stored:
        return [(index, _always(index, _NO_EXEC))]
    if row.exec_style is ExecStyle.SIZE:
        return [(index, _check_unmasked(index))]
    if row.flow is FlowClass.JUMP:
        return [(index, _always(index, ExecControl(1)))]
    if row.has(Trait.COPIES) and "src0" in row.index:
        return [(index, _always(index, _NO_EXEC, row.index["src0"]))]
    return []


def _check_unmasked(index: int) -> Check:
    def check(values: list[Value]) -> str:
        control = values[index]
        masked = isinstance(control, ExecControl) and (control.mask_offset or control.no_mask)
        return f"{control} where the text has only a size" if masked else ""

    return check


def _predicates(row: Instruction) -> list[tuple[int, Check]]:
    if row.family != "logic" or "pred" not in row.index or "dst" not in row.index:
        return []
    return [(row.index["pred"], _always(row.index["pred"], None, row.index["dst"]))]


def _always(index: int, wanted: Value, predicate: int | None = None, *, hidden: int = 0) -> Check:
    """Return the check that a field is constant except for hidden bits, always or only if another field is a whole predicate."""

    def check(values: list[Value]) -> str:
        value = values[index]
        if isinstance(value, int):
            value &= ~hidden
        if value == wanted or not (predicate is None or isinstance(values[predicate], PredicateOperand)):
            return ""
        return f"{values[index]} where there can only be {'no predicate' if wanted is None else wanted}"

    return check


def _check_repeats(row: Instruction) -> list[tuple[int, Check]]:
    """Return the checks of operands that occur twice in the record and once in the text."""
    named = {slot.name for slot in row.slots}
    if not all(slot.shape is Shape.VECTOR for slot in row.slots):
        return []
    return [
        (index + 1, _same(index + 1, index))
        for index, (before, field) in enumerate(pairwise(row.fields))
        if field.kind is before.kind is FieldKind.VECTOR and field.name not in named and before.name in named
        if field.stored
    ]


def _same(index: int, other: int) -> Check:
    def check(values: list[Value]) -> str:
        return (
            ""
            if values[index] == values[other]
            else "differs from the operand before it, but the text has one operand for both"
        )

    return check


def _unsaid(row: Instruction) -> list[tuple[int, Check]]:
    """Return the checks of numbers that the text does not give, neither as an operand nor as a word."""
    if row.family == "lsc" or not row.slots:
        return []
    said = {name for slot in row.slots for name in slot.name.split(",")} | {m.field for m in row.modifiers}
    return [
        (index, _always(index, field.default))
        for index, field in enumerate(row.fields)
        if field.kind in _NUMBERS
        and field.stored
        and field.const is None
        and field.name not in said
        and not field.hidden
    ]


def _unsaid_bits(row: Instruction) -> list[tuple[int, Check]]:
    """Return the checks of numbers with some bits fixed by the row, and none from the text."""
    said = {name for slot in row.slots for name in slot.name.split(",")} | {m.field for m in row.modifiers} | {"prop"}
    return [
        (index, _always(index, field.const, hidden=field.hidden))
        for index, field in enumerate(row.fields)
        if field.const is not None and field.stored and field.kind in _NUMBERS and field.name not in said
    ]


def _saturations(row: Instruction) -> list[tuple[int, Check]]:
    """Return the checks that only the result is saturated, because the text has one word for all operands."""
    saturated = "dst" if any(modifier.field == "sat" for modifier in row.modifiers) else ""
    kinds = (FieldKind.VECTOR, FieldKind.VECTORS)
    return [
        (index, _check_unsaturated(index))
        for index, field in enumerate(row.fields)
        if row.slots and field.kind in kinds and field.name != saturated
    ]


def _check_unsaturated(index: int) -> Check:
    def check(values: list[Value]) -> str:
        value = values[index]
        for operand in value if isinstance(value, tuple) else (value,):
            if isinstance(operand, (General, Indirect)) and operand.modifier is OperandModifier.SAT:
                return "an operand that cannot be saturated, but is"
        return ""

    return check


def _classes(row: Instruction) -> list[tuple[int, Check]]:
    """Return the check of a field with the class of a bare name in bits 4 and 5; the text gives only these bits."""
    if not any(field.kind is FieldKind.VARIABLE for field in row.fields) or "prop" not in row.index:
        return []
    index = row.index["prop"]
    own = row.fields[index].const or 0
    allowed = {own | cls << 4 for cls in range(3)}

    def check(values: list[Value]) -> str:
        return "" if values[index] in allowed else f"{values[index]} has bits without meaning"

    return [(index, check)]
