"""Writes instruction records by the fields of their rows, with the writers of ``writers``.

Refuses forms without an opcode, and values of fields that an object does not store.
"""

from __future__ import annotations

import struct
from operator import call
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.codec.errors import CodecError, MalformedValueError
from visa_lsp.codec.fields import INTEGER_FORMAT, LIST_KINDS, default_value
from visa_lsp.codec.writers import Writer, writer
from visa_lsp.isa import lsc_codes
from visa_lsp.isa.model import Field, FieldKind, Instruction

if TYPE_CHECKING:
    from visa_lsp.program.model import Inst, Value

# Codes of fields that this package defines, not the format (``isa.lsc_codes``, ``isa.rows.matrix``).
_TEXT_ONLY: Final[dict[str, frozenset[int]]] = {
    "addrsize": lsc_codes.ADDRSIZE_TEXT_ONLY,
    "addrtype": frozenset({lsc_codes.ADDRTYPE_SURF}),
    "l1": lsc_codes.CACHE_TEXT_ONLY,
    "l3": lsc_codes.CACHE_TEXT_ONLY,
    "prec1": frozenset({11, 14, 15}),  # bf8, hf8, e2m1
    "prec2": frozenset({11, 14, 15}),
}


class _Plan(Struct, frozen=True):
    """The plan for writing a row's records: opcode, a writer for each field, positions of counts and lists."""

    opcode: bytes
    writers: tuple[Writer, ...]
    lists: tuple[tuple[int, int], ...]
    bits: tuple[tuple[int, int, int], ...]  # a size byte, the field of a word that is one of its bits, and that bit


class InstructionWriter:
    """Writes instruction records. The writers of a row are created at its first use."""

    def __init__(self) -> None:
        self.plans: dict[Instruction, _Plan] = {}

    def write(self, inst: Inst) -> bytes:
        """Return the bytes of the record of one instruction.

        Raises CodecError, with the field and the source line, if the row has no opcode, the number of values differs
        from that of the fields, a list does not have the length in its count, or a value has no code.
        """
        row, values = inst.row, inst.values
        plan = self.plans.get(row)
        if plan is None:
            if row.opcode is None:
                message = f"'{row.mnemonic}' has no opcode"
                raise CodecError(message, line=inst.line)
            bits = _bits(row)
            words = {word for _, word, _ in bits}
            writers = tuple([_write_nothing if i in words else _field_writer(f) for i, f in enumerate(row.fields)])
            plan = self.plans[row] = _Plan(bytes([row.opcode]), writers, _lists(row), bits)
        if len(values) != len(plan.writers):
            message = f"'{row.mnemonic}' has {len(plan.writers)} fields, not {len(values)}"
            raise CodecError(message, line=inst.line)
        for count_at, list_at in plan.lists:
            items = values[list_at]
            if isinstance(items, tuple) and values[count_at] != len(items):
                message = f"the count is {values[count_at]}, but there are {len(items)} in the list"
                raise CodecError(message, None, row.fields[count_at].name, inst.line)
        try:
            parts = [plan.opcode, *map(call, plan.writers, values)]
            for size, word, bit in plan.bits:
                if values[word]:
                    parts[1 + size] = bytes((parts[1 + size][0] | bit,))
            return b"".join(parts)
        except (MalformedValueError, struct.error):
            raise _refusal(inst, plan) from None


def _refusal(inst: Inst, plan: _Plan) -> CodecError:
    """Return the error about a value without a form."""
    for field, write, value in zip(inst.row.fields, plan.writers, inst.values, strict=True):
        message = ""
        try:
            write(value)
        except MalformedValueError as error:
            message = str(error)
        except struct.error:
            message = f"{value} does not fit"
        if message:
            return CodecError(f"`{field.name}`: {message}", None, field.name, inst.line)
    raise AssertionError(inst)  # the writer existed before this call


def _lists(row: Instruction) -> tuple[tuple[int, int], ...]:
    """Return the positions of each list and of the count before it."""
    pairs, count = [], None
    for index, field in enumerate(row.fields):
        if field.kind is FieldKind.COUNT:
            count = index
        elif field.kind in LIST_KINDS and count is not None:
            pairs.append((count, index))
    return tuple(pairs)


def _bits(row: Instruction) -> tuple[tuple[int, int, int], ...]:
    """Return the positions of size bytes and of the words that are hidden bits in them."""
    return tuple([
        (row.index[m.heard[0]], row.index[m.field], m.heard[1])
        for m in row.modifiers
        # Rows share modifiers, so that a row may lack the field of a modifier's bit.
        if m.heard and m.heard[0] in row.index and row.fields[row.index[m.heard[0]]].kind is FieldKind.EXEC_LOG2
    ])  # fmt: skip


def _write_nothing(_value: Value) -> bytes:
    return b""


def _field_writer(field: Field) -> Writer:
    if not field.stored:
        return _skip_field(field)
    write = writer(field.kind)
    if field.name in _TEXT_ONLY and field.kind is FieldKind.U8:
        return _of_text_only(_TEXT_ONLY[field.name], write)
    if field.const is not None and field.kind in INTEGER_FORMAT:
        return _constant(field.const, field.const_mask, write)
    return write


def _of_text_only(codes: frozenset[int], write: Writer) -> Writer:
    """Return ``write`` with a check that refuses codes of newer text, because no reader of objects knows them."""

    def write_known(value: Value) -> bytes:
        if value in codes:
            raise MalformedValueError("only text 4.2 has this form")
        return write(value)

    return write_known


def _skip_field(field: Field) -> Writer:
    default = default_value(field)

    def write(value: Value) -> bytes:
        if value is not None and value != default and not field.lossy:
            raise MalformedValueError(f"it is {value}; an object can hold only {default}")
        return b""

    return write


def _constant(const: int, mask: int, write: Writer) -> Writer:
    """Return ``write`` with the masked bits set to the constant of the row; the other bits are those of the value."""

    def write_constant(value: Value) -> bytes:
        free = value if isinstance(value, int) else 0
        return write(const & mask | free & ~mask)

    return write_constant
