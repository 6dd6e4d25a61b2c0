"""Checks that the text of a load/store message can express the fields of its record.

The text of such a message is shorter than its record: numbers have no type, variables have no region, and the data
shape occurs once instead of twice. A code without a word would be printed as another message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.isa import lsc_codes
from visa_lsp.isa.model import FieldKind, Instruction
from visa_lsp.isa.operands import SCALAR_REGION, OperandModifier
from visa_lsp.isa.types import UD, UQ
from visa_lsp.program.model import General, Immediate, State, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.codec.fixed_values import Check

_ORDERS: Final = frozenset({lsc_codes.ORDER_PLAIN, lsc_codes.ORDER_TRANSPOSED})
_CODES: Final[dict[str, frozenset[int]]] = {
    "datasize": frozenset(lsc_codes.DATASIZES),
    "order": _ORDERS,
    "elems": frozenset(range(1, 16)),  # a count or a mask: the text may give either to any message
    "addrsize": frozenset(lsc_codes.ADDRSIZE_BYTES) - lsc_codes.ADDRSIZE_TEXT_ONLY,
    "vnni": frozenset({0, 1}),
    "unused": frozenset({0}),  # a strided message has no mask in this field, and no word for it
}
_NUMBERED_SURFACES: Final = (lsc_codes.ADDRTYPE_FLAT, lsc_codes.ADDRTYPE_SURF)
_NO_SURFACE: Final = (lsc_codes.ADDRTYPE_FLAT, lsc_codes.ADDRTYPE_ARG)


def checks_of(row: Instruction) -> tuple[tuple[int, Check], ...]:
    """Return the checks of a row, each with the position of its field."""
    if row.family != "lsc":
        return ()
    checks: list[tuple[int, Check]] = []
    for index, field in enumerate(row.fields):
        if not field.stored or field.const is not None:
            continue
        if field.kind is FieldKind.VECTOR:
            checks.append((index, _scalar(index, _wide(row, field.name))))
        elif field.name == "chmask":
            checks.append((index, _twice(index, row.index["elems"])))
        elif field.name in _CODES:
            checks.append((index, _code(index, _CODES[field.name])))
            if field.name == "order" and "elems" in row.index:
                checks.append((index, _plain(index, row.index["elems"], always=_has_mask(row))))
    return tuple(checks)


def _has_mask(row: Instruction) -> bool:
    return row.fields[row.index["sub"]].const in lsc_codes.QUAD_SUBS


def _code(index: int, codes: frozenset[int]) -> Check:
    def check(values: list[Value]) -> str:
        return "" if values[index] in codes else f"code {values[index]} has no meaning"

    return check


def _plain(index: int, elems: int, *, always: bool) -> Check:
    """Return the check that only a count is transposed, because there is no word for a transposed mask of channels."""

    def check(values: list[Value]) -> str:
        is_mask = always or values[elems] not in lsc_codes.ELEMS_VALUE
        return "a mask cannot be transposed" if is_mask and values[index] != lsc_codes.ORDER_PLAIN else ""

    return check


def _twice(index: int, other: int) -> Check:
    def check(values: list[Value]) -> str:
        same = values[index] == values[other]
        return "" if same else f"{values[index]} contradicts the data shape, which has {values[other]}"

    return check


def _wide(row: Instruction, name: str) -> Callable[[list[Value], Immediate], bool]:
    """Return whether a number of this field is one of 64 bits."""
    if name != "surface":
        return lambda _values, _number: name == "addr0"
    model = row.index["addrtype"]

    def wide(values: list[Value], number: Immediate) -> bool:
        # The assembler writes a number of 32 bits if no surface is named.
        return values[model] in _NUMBERED_SURFACES and not (values[model] in _NO_SURFACE and number.bits == 0)

    return wide


def _scalar(index: int, wide: Callable[[list[Value], Immediate], bool]) -> Check:
    def check(values: list[Value]) -> str:
        match values[index]:
            case Immediate() as number:
                wanted = UQ if wide(values, number) else UD
                said = number.type is wanted
                return (
                    "" if said else f"a number of type {number.type.name}, but the text can express {wanted.name} only"
                )
            case General(_, _, _, region, modifier) if region == SCALAR_REGION and modifier is OperandModifier.NONE:
                return ""
            case State(_, _, 0):
                return ""
            case _:
                return "neither a number, nor one element of a variable, nor a whole surface, so no text can express it"

    return check
