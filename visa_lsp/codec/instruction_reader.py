"""Reads instruction records: a row's fields compiled into steps, its constants into checks, older versions included.

The constants of rows distinguish rows of one opcode. Lists, by field name, the fields that older versions lack or store
differently; names no mnemonic and no opcode.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Final, cast

from visa_lsp.codec import fixed_values, lsc_values
from visa_lsp.codec.errors import CodecError, MalformedValueError
from visa_lsp.codec.fields import (
    INTEGER_FORMAT,
    LIST_KINDS,
    Reader,
    Readers,
    default_value,
    read_old_channels,
    read_old_eight_lanes,
    read_sampler_byte,
    read_word_immediate,
)
from visa_lsp.codec.records import STRICT_FROM
from visa_lsp.isa.model import Dialect, Field, FieldKind, Instruction, Role, Shape
from visa_lsp.isa.operands import AO, SCALAR_REGION, G, OperandModifier
from visa_lsp.isa.types import UW
from visa_lsp.program.model import NULL_RAW, Address, AddressOf, General, Immediate, Inst, Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.codec.body_limits import BodyLimits
    from visa_lsp.codec.fixed_values import Check as Judge
    from visa_lsp.isa.table import InstructionTable

_SIZES: Final = {"B": 1, "H": 2, "I": 4, "i": 4}
_FIXED_SIZES: Final[dict[FieldKind, int]] = {
    **{kind: _SIZES[code] for kind, code in INTEGER_FORMAT.items()},
    FieldKind.EXEC: 1,
    FieldKind.EXEC_CODE: 1,
    FieldKind.EXEC_LOG2: 1,
    FieldKind.PREDICATE: 2,
}


class RowMismatchError(Exception):
    """A constant field has another value: the record belongs to another row."""


@dataclass(frozen=True, slots=True)
class OldField:
    """A field that versions before ``until`` store by ``read``, or do not store (``read`` None)."""

    name: str
    kind: FieldKind
    until: tuple[int, int]
    read: Reader | None
    default: Value = None


OLD_FIELDS: Final = (
    OldField("op", FieldKind.U16, (4, 0), read_sampler_byte),
    OldField("aoffimmi", FieldKind.VECTOR, (3, 4), read_word_immediate),
    OldField("ffid", FieldKind.U8, (3, 6), None, 0),
    OldField("mask", FieldKind.VECTOR, (3, 1), None, Immediate(UW, 0)),
)


# The typed pixel records before 3.2: other order, no predicate, no level of detail.
OLD_TYPED_UNTIL: Final = (3, 2)
OLD_TYPED_FIELDS: Final = ("exec", "pred", "chan", "surface", "u", "v", "r", "lod")
OLD_TYPED_ORDER: Final = (2, 0, 3, 4, 5, 6)
OLD_TYPED_READERS: Final[dict[str, Reader]] = {"chan": read_old_channels, "exec": read_old_eight_lanes}


# Register fields that an operand fills in addition to the field of its name.
_FILLED: Final[dict[Shape, tuple[str, ...]]] = {
    Shape.LSC_ADDRESS_TYPED: ("u", "v", "r", "lod"),
    Shape.LSC_ADDRESS_TYPED_2D: ("src0", "src1"),
}


@dataclass(frozen=True, slots=True)
class ExpectedConstant:
    """A constant at a fixed distance after the opcode."""

    distance: int
    size: int
    mask: int
    value: int


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """The compiled plan for reading a row: ``steps`` are (position in the values, reader), ``judges`` check all values."""

    row: Instruction
    template: list[Value]
    steps: tuple[tuple[int, Reader], ...]
    checks: tuple[ExpectedConstant, ...]
    judges: tuple[tuple[int, Judge], ...] = ()

    def matches(self, code: bytes, offset: int) -> bool:
        """Return whether the constants at fixed distances agree; ``offset`` is the byte of ``code`` after the opcode."""
        for check in self.checks:
            start = offset + check.distance
            if int.from_bytes(code[start : start + check.size], "little") & check.mask != check.value:
                return False
        return True

    def describe(self) -> str:
        """Return the row's name with its constants: ``min (op=0)``."""
        constants = [f"{f.name}={f.const}" for f in self.row.fields if f.const is not None]
        return f"{self.row.mnemonic} ({', '.join(constants)})" if constants else self.row.mnemonic


class _InstructionError(Exception):
    """A failure at ``at`` in the instruction bytes, in the field ``name``."""

    def __init__(self, message: str, offset: int, name: str = "") -> None:
        self.message = message
        self.offset = offset
        self.name = name
        super().__init__(message)


class InstructionReader:
    """Reads instruction records of one version. The forms of an opcode are compiled at its first use."""

    def __init__(self, table: InstructionTable, version: tuple[int, int] = (4, 1)) -> None:
        self.table = table
        self.readers = Readers(version)
        self.forms: dict[int, tuple[Form, ...]] = {}

    def read_all(
        self, data: bytes, start: int, end: int, path: str, limits: BodyLimits | None = None
    ) -> tuple[Inst, ...]:
        """Return the instructions that fill the bytes ``data[start:end]`` exactly, with all names within limits.

        Raises CodecError, with the byte of the file and the field, if an opcode is unknown, a value has no meaning, or
        the last instruction is cut off.
        """
        code = data[start:end]
        offset, size = 0, len(code)
        instructions: list[Inst] = []
        while offset < size:
            try:
                instruction, after = self._read(code, offset)
                _in_limits(instruction, offset, limits)
                offset = after
            except _InstructionError as error:
                where = f"{path}.instructions[{len(instructions)}]{error.name and '.' + error.name}"
                raise CodecError(error.message, start + error.offset, where) from None
            instructions.append(instruction)
        return tuple(instructions)

    def _read(self, code: bytes, offset: int) -> tuple[Inst, int]:
        opcode = code[offset]
        candidates = self.forms.get(opcode)
        if candidates is None:
            rows = self.table.by_opcode.get(opcode, ())
            candidates = self.forms[opcode] = forms(rows, self.readers)
        if not candidates:
            raise _InstructionError(f"unknown opcode 0x{opcode:02x}", offset)
        for form in candidates:
            if not form.matches(code, offset + 1):
                continue
            values = form.template.copy()
            now, index = offset + 1, 0
            try:
                for index, read in form.steps:
                    values[index], now = read(code, now, values)
            except RowMismatchError:
                continue
            except MalformedValueError as error:
                raise _InstructionError(str(error), now, form.row.fields[index].name) from None
            except (IndexError, struct.error):
                raise _InstructionError("the instruction is cut off", now, form.row.fields[index].name) from None
            if now > len(code):
                raise _InstructionError("the instruction is cut off", offset)
            for index, judge in form.judges:
                if wrong := judge(values):
                    raise _InstructionError(wrong, offset, form.row.fields[index].name)
            return Inst(form.row, tuple(values)), now
        descriptions = list(dict.fromkeys(form.describe() for form in candidates))
        shown = ", ".join(descriptions[:4]) + (", ..." if len(descriptions) > 4 else "")
        raise _InstructionError(f"opcode 0x{opcode:02x} has no form with these bytes; expected one of {shown}", offset)


def _in_limits(inst: Inst, offset: int, limits: BodyLimits | None) -> None:
    absent = limits.absent(inst) if limits else None
    if absent:
        raise _InstructionError(absent.message, offset, absent.field)


def forms(rows: Iterable[Instruction], readers: Readers) -> tuple[Form, ...]:
    """Return the forms of one opcode, sorted by more fixed bits first, then the dialect that has objects first."""

    def rank(row: Instruction) -> tuple[int, bool]:
        masks = ((f.const_mask, _FIXED_SIZES.get(f.kind, 4)) for f in row.fields if f.const is not None)
        bits = sum((mask & (1 << 8 * size) - 1).bit_count() for mask, size in masks)
        return -bits, Dialect.V41 not in row.dialects

    return tuple(_form(row, readers) for row in sorted(rows, key=rank))


def _form(row: Instruction, readers: Readers) -> Form:
    template = [default_value(field) for field in row.fields]
    typed_count = len(OLD_TYPED_FIELDS)
    if readers.version < OLD_TYPED_UNTIL and tuple(f.name for f in row.fields[:typed_count]) == OLD_TYPED_FIELDS:
        order = (*OLD_TYPED_ORDER, *range(typed_count, len(row.fields)))
        typed = ((i, OLD_TYPED_READERS.get(row.fields[i].name) or _reader(row, i, readers)) for i in order)
        return Form(row, template, tuple(typed), ())
    steps: list[tuple[int, Reader]] = []
    checks: list[ExpectedConstant] = []
    unsaid = _unsaid(row)
    distance: int | None = 0  # after the opcode; None after the first field of varying size
    for index, field in enumerate(row.fields):
        if not field.stored:
            continue
        old = _old_field(field, readers.version)
        if old and old.read is None:
            template[index] = old.default
            continue
        read = old.read if old and old.read else _reader(row, index, readers)
        size = None if old else _FIXED_SIZES.get(field.kind)
        if field.const is not None:
            if distance is not None and size is not None:
                mask = field.const_mask & (1 << 8 * size) - 1
                checks.append(ExpectedConstant(distance, size, mask, field.const & mask))
            else:
                read = _check_constant(read, field.const, field.const_mask)
        distance = None if distance is None or size is None else distance + size
        steps.append(
            (index, _null(row, read) if field.name in unsaid else _require_word(row, index, read, readers.version))
        )
    fixed = fixed_values.checks_of(row) if readers.version >= STRICT_FROM else ()
    return Form(row, template, tuple(steps), tuple(checks), (*lsc_values.checks_of(row), *fixed))


def _unsaid(row: Instruction) -> frozenset[str]:
    """Return the registers of the record that no operand of the text names, because the message does not use them."""
    if row.family != "lsc":
        return frozenset()
    said = {name for slot in row.slots for name in (*slot.name.split(","), *_FILLED.get(slot.shape, ()))}
    return frozenset(f.name for f in row.fields if f.kind is FieldKind.RAW) - said


def _null(row: Instruction, read: Reader) -> Reader:
    def null(code: bytes, offset: int, values: list[Value]) -> tuple[Value, int]:
        value, end = read(code, offset, values)
        if value != NULL_RAW:
            raise MalformedValueError(f"`{row.mnemonic}` has no such operand, but it is not %null here")
        return value, end

    return null


def _require_word(row: Instruction, index: int, read: Reader, version: tuple[int, int]) -> Reader:
    """Return ``read`` with a check that refuses bits without a word, because their text would mean another instruction.

    Before version 4 such bits may hold anything.
    """
    field = row.fields[index]
    words = [m for m in row.modifiers if m.field == field.name]
    if not words or field.kind not in INTEGER_FORMAT or any(field.name in s.name.split(",") for s in row.slots):
        return read
    reach = reduce(or_, (m.reach for m in words), field.const_mask if field.const is not None else 0)
    if reach == -1:
        return read
    heard = [(row.index[m.field], m.heard[1]) for m in row.modifiers if m.heard and m.heard[0] == field.name]
    unknown = ~reduce(or_, (bit for _, bit in heard), reach | field.hidden) if version >= STRICT_FROM else 0

    def read_required(code: bytes, offset: int, values: list[Value]) -> tuple[Value, int]:
        value, end = read(code, offset, values)
        number = cast("int", value)
        if number & unknown:
            raise MalformedValueError(f"0x{number:x} has bits without meaning: 0x{number & unknown:x}")
        for position, bit in heard:
            values[position] = int(bool(number & bit))
        return value, end

    return read_required


def _old_field(field: Field, version: tuple[int, int]) -> OldField | None:
    for old in OLD_FIELDS:
        if old.name == field.name and old.kind is field.kind and version < old.until:
            return old
    return None


def _reader(row: Instruction, index: int, readers: Readers) -> Reader:
    kind = row.fields[index].kind
    if kind is FieldKind.VECTORS:
        mode = _last(row, index, FieldKind.U16)
        with_header = all(f.kind is not FieldKind.RAW for f in row.fields[mode:index])
        return readers.message_reader(mode, with_header=with_header)
    if kind in LIST_KINDS:
        return readers.list_reader(kind, _last(row, index, FieldKind.COUNT))
    read = readers.by_kind[kind]
    if kind is FieldKind.EXEC_LOG2 and row.fields[index].hidden:
        return _with_bits(row, index, read)
    return _address_of(row, index, read) if kind is FieldKind.VECTOR else read


def _with_bits(row: Instruction, index: int, read: Reader) -> Reader:
    """Return ``read`` for a size byte that also has the hidden bits of words of the row."""
    field = row.fields[index]
    heard = [(row.index[m.field], m.heard[1]) for m in row.modifiers if m.heard and m.heard[0] == field.name]

    def read_size(code: bytes, offset: int, values: list[Value]) -> tuple[Value, int]:
        byte = code[offset]
        for position, bit in heard:
            values[position] = int(bool(byte & bit))
        value, _ = read(bytes((byte & ~field.hidden,)), 0, values)
        return value, offset + 1

    return read_size


def _last(row: Instruction, before: int, kind: FieldKind) -> int:
    for index in range(before - 1, -1, -1):
        if row.fields[index].kind is kind:
            return index
    raise ValueError(f"{row.mnemonic}: a list field needs a field of kind {kind.name} before it")


def _check_constant(read: Reader, const: int, mask: int) -> Reader:
    def read_checked(code: bytes, offset: int, values: list[Value]) -> tuple[Value, int]:
        value, end = read(code, offset, values)
        if (cast("int", value) ^ const) & mask:
            raise RowMismatchError
        return value, end

    return read_checked


def _address_of(row: Instruction, index: int, read: Reader) -> Reader:
    """Return ``read`` with ``AddressOf`` for a first source of address arithmetic that may be a variable's address.

    The object stores such an operand as a general operand with region <0;1,0>. It is an address if the slot allows no
    general operand, or if the destination is an address variable.
    """
    name = row.fields[index].name
    # A second source with that region is an offset in a variable: &V0054 V0071(0,0)<0;1,0>.
    slot = next((s for s in row.slots if s.role is Role.READ), None)
    if slot is None or slot.name != name or slot.shape is not Shape.VECTOR or AO not in slot.classes:
        return read
    always = G not in slot.classes
    positions = {field.name: position for position, field in enumerate(row.fields)}
    written = (positions[s.name] for s in row.slots if s.role is Role.WRITE and s.name in positions)
    target = next((position for position in written if position < index), None)

    def read_address_of(code: bytes, offset: int, values: list[Value]) -> tuple[Value, int]:
        value, end = read(code, offset, values)
        if (
            isinstance(value, General)
            and value.region == SCALAR_REGION
            and value.modifier is OperandModifier.NONE
            and (always or (target is not None and isinstance(values[target], Address)))
        ):
            return AddressOf(value.var, value.row, value.col), end
        return value, end

    return read_address_of
