"""Instructions without their names: a shape, and the variables and labels in it.

Two instructions are equal up to renaming if their shapes are equal and their names correspond. Predefined variables are
part of the shape. Immediates count with the bits of their type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct

from visa_lsp.compare.model import LABEL, Ref
from visa_lsp.compare.refs import FIRST
from visa_lsp.isa import predefined
from visa_lsp.isa.model import LABEL_KINDS, STRING_KINDS, Field, FieldKind
from visa_lsp.program.model import (
    Address,
    AddressOf,
    General,
    Immediate,
    Indirect,
    Predicate,
    PredicateOperand,
    RawOperand,
    State,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from visa_lsp.program.model import Inst, Kernel, ListItem, Value

    Part: TypeAlias = tuple[Hashable, tuple[Ref, ...]]

_SAMPLERS: Final = frozenset(sampler.number for sampler in predefined.SAMPLERS)
_BY_CLASS: Final = "GAPP"  # the class of a lifetime's variable, by its two bits


class Item(Struct, frozen=True, eq=False):
    """An instruction of a body: ``number`` is its place there, ``loose`` its shape without lanes, regions and numbers."""

    number: int
    inst: Inst
    shape: Hashable
    loose: Hashable
    refs: tuple[Ref, ...]


def items_of(kernel: Kernel) -> list[Item]:
    """Return the instructions to compare: all except source marks."""
    return [_item(n, inst, kernel) for n, inst in enumerate(kernel.instructions) if inst.row.marks_source is None]


def _item(number: int, inst: Inst, kernel: Kernel) -> Item:
    shapes: list[Hashable] = [inst.row.mnemonic]
    refs: list[Ref] = []
    for shape, named in parts_of(inst, kernel):
        shapes.append(shape)
        refs += named
    return Item(number, inst, tuple(shapes), (inst.row.mnemonic, tuple(letter for letter, _ in refs)), tuple(refs))


def parts_of(inst: Inst, kernel: Kernel) -> Iterator[Part]:
    """Return shape and names of each field of an instruction."""
    for field, value in zip(inst.row.fields, inst.values, strict=True):
        yield _part(field, value, inst, kernel)


def _part(field: Field, value: Value, inst: Inst, kernel: Kernel) -> Part:
    if isinstance(value, tuple):
        if field.kind in LABEL_KINDS:
            return len(value), tuple((LABEL, number) for number in value if isinstance(number, int))
        operands = [_operand(item) for item in value]
        return tuple(shape for shape, _ in operands), tuple(ref for _, refs in operands for ref in refs)
    if not isinstance(value, int):
        return _operand(value)
    if field.kind in LABEL_KINDS:
        return LABEL, ((LABEL, value),)
    if field.kind in STRING_KINDS:
        return kernel.string(value), ()
    if field.kind is FieldKind.SURFACE:
        return _describe_variable("T", value)
    if field.kind is FieldKind.SAMPLER:
        return _describe_variable("S", value)
    if field.kind is FieldKind.VARIABLE:
        prop = inst.get("prop")
        return _describe_variable(_BY_CLASS[(prop if isinstance(prop, int) else 0) >> 4 & 3], value)
    return value, ()


def _operand(value: Value | ListItem) -> Part:
    match value:
        case General(var, row, col, region, modifier):
            shape, refs = _describe_variable("G", var)
            return (shape, row, col, region, modifier), refs
        case RawOperand(var, offset):
            shape, refs = _describe_variable("G", var)
            return (shape, offset), refs
        case Predicate(var, inverse, combine):
            shape, refs = _describe_variable("P", var)
            return (shape, inverse, combine), refs
        case Immediate(type_, bits):
            return ("immediate", type_.name, bits & ((1 << 8 * type_.size) - 1)), ()
        case PredicateOperand(var):
            return _describe_variable("P", var)
        case Address(var, offset, width):
            shape, refs = _describe_variable("A", var)
            return (shape, offset, width), refs
        case Indirect(var, addr_offset, offset, type_, region, modifier):
            shape, refs = _describe_variable("A", var)
            return (shape, addr_offset, offset, type_.name, region, modifier), refs
        case State(sampler, var, offset):
            shape, refs = _describe_variable("S" if sampler else "T", var)
            return (shape, offset), refs
        case AddressOf(var, row, col):
            shape, refs = _describe_variable("G", var)
            return ("&", shape, row, col), refs
        case _:
            return value, ()


def _describe_variable(letter: str, number: int) -> Part:
    """Return shape and name of a variable: predefined ones are identified by number, others by name."""
    if number < FIRST[letter] or (letter == "S" and number in _SAMPLERS):
        return (letter, number), ()
    return letter, ((letter, number),)


def is_label(item: Item) -> bool:
    """Return whether an item is the record of a label, which is not an instruction."""
    return item.inst.row.opens_label
