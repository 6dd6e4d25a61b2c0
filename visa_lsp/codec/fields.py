"""Readers and writers of instruction fields: one closure per field kind, made once per object.

A reader takes ``(code, at, values)`` and returns ``(value, next at)``; ``values`` are the fields read before it. Reading
past the end raises ``IndexError`` or ``struct.error``, a value without meaning ``MalformedValueError``; the record's reader
converts them to a ``CodecError`` with the offset. Knows no mnemonics and no opcodes. Equal operands are one object.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final, TypeAlias, cast

from visa_lsp.codec.errors import MalformedValueError
from visa_lsp.isa.model import Field, FieldKind
from visa_lsp.isa.operands import OperandModifier, Region
from visa_lsp.isa.render_target import message_operands
from visa_lsp.isa.types import DF, TYPE_BY_CODE, UD, UQ, UW, DataType, ExecControl, Q
from visa_lsp.program.model import (
    NULL_RAW,
    Address,
    Combine,
    General,
    Immediate,
    Indirect,
    ListItem,
    Predicate,
    PredicateOperand,
    RawOperand,
    State,
    Value,
    VectorOperand,
)

Reader: TypeAlias = Callable[[bytes, int, list[Value]], tuple[Value, int]]
# A reader of an item of a list.
ItemReader: TypeAlias = Callable[[bytes, int, list[Value]], tuple[ListItem, int]]

TYPES_OF_8_BYTES: Final = frozenset(t.code for t in (DF, Q, UQ))
EXEC_CODES: Final = {0: 8, 1: 16, 2: 1}
_MODIFIERS: Final = {modifier.value: modifier for modifier in OperandModifier}
_COMBINES: Final = {combine.value: combine for combine in Combine}
_PLAIN: Final = frozenset({1, 2, 5, 6})  # operand classes without modifiers

INTEGER_FORMAT: Final[dict[FieldKind, str]] = {
    FieldKind.SURFACE: "B",
    FieldKind.SAMPLER: "B",
    FieldKind.U8: "B",
    FieldKind.COUNT: "B",
    FieldKind.U16: "H",
    FieldKind.LABEL: "H",
    FieldKind.STRING16: "H",
    FieldKind.U32: "I",
    FieldKind.S32: "i",
    FieldKind.STRING32: "I",
    FieldKind.VARIABLE: "I",
}
LIST_KINDS: Final = frozenset({FieldKind.RAWS, FieldKind.LABELS, FieldKind.VECTORS})


def default_value(field: Field) -> Value:
    """Return the value of a field that the object does not store."""
    match field.kind:
        case kind if kind in INTEGER_FORMAT:
            return field.default
        case kind if kind in LIST_KINDS:
            return ()
        case FieldKind.RAW:
            return NULL_RAW
        case FieldKind.VECTOR:
            return Immediate(UD, field.default)
        case FieldKind.PREDICATE:
            return None
        case FieldKind.EXEC_LOG2:
            return ExecControl(1 << field.default)
        case _:
            return ExecControl(1)


class Readers:
    """The readers of one object. ``version`` determines the width of ids and the meaning of mask codes."""

    def __init__(self, version: tuple[int, int]) -> None:
        self.version = version
        self.wide_ids = version >= (3, 4)
        self.vector = self._vector()
        self.raw = self._raw()
        exec_byte = _exec_3_0 if version == (3, 0) else _exec
        self.by_kind: dict[FieldKind, Reader] = {
            FieldKind.EXEC: _cache_reader(1, exec_byte),
            FieldKind.EXEC_CODE: _cache_reader(1, _exec_code),
            FieldKind.EXEC_LOG2: _cache_reader(1, _exec_log2),
            FieldKind.PREDICATE: _cache_reader(2, _predicate),
            FieldKind.VECTOR: self.vector,
            FieldKind.RAW: self.raw,
        }
        for kind, code in INTEGER_FORMAT.items():
            narrow = kind in (FieldKind.STRING32, FieldKind.VARIABLE) and not self.wide_ids
            self.by_kind[kind] = integer_reader("H" if narrow else code)

    def list_reader(self, kind: FieldKind, count_at: int) -> Reader:
        """Return the reader of a list whose length is the value of field ``count_at``."""
        item = self.raw if kind is FieldKind.RAWS else integer_reader(INTEGER_FORMAT[FieldKind.LABEL])

        def read(code: bytes, offset: int, values: list[Value]) -> tuple[Value, int]:
            items: list[ListItem] = []
            for _ in range(cast("int", values[count_at])):
                value, offset = item(code, offset, values)
                items.append(value)
            return tuple(items), offset

        return read

    def message_reader(self, mode_at: int, *, with_header: bool) -> Reader:
        """Return the reader of message operands: the mode word, field ``mode_at``, selects the present ones."""

        def read(code: bytes, offset: int, values: list[Value]) -> tuple[Value, int]:
            items: list[ListItem] = []
            for is_vector in message_operands(cast("int", values[mode_at]), with_header=with_header):
                value, offset = (self.vector if is_vector else self.raw)(code, offset, values)
                items.append(value)
            return tuple(items), offset

        return read

    def _raw(self) -> ItemReader:
        cache: dict[bytes, RawOperand] = {}
        size = 6 if self.wide_ids else 4
        unpack = struct.Struct("<IH" if self.wide_ids else "<HH").unpack

        def read(code: bytes, offset: int, _values: list[Value]) -> tuple[ListItem, int]:
            chunk = code[offset : offset + size]
            operand = cache.get(chunk)
            if operand is None:
                operand = cache[chunk] = RawOperand(*unpack(chunk))
            return operand, offset + size

        return read

    def _vector(self) -> ItemReader:
        cache: dict[bytes, VectorOperand] = {}
        sizes = (9 if self.wide_ids else 7, 5, 3, 9, 0, 6, 5, 0)
        # Before version 4 the upper half of a type byte may hold anything.
        type_bits = 15 if self.version < (4, 0) else 0xFF
        general = struct.Struct("<IBBH" if self.wide_ids else "<HBBH").unpack

        def read(code: bytes, offset: int, _values: list[Value]) -> tuple[ListItem, int]:
            cls = code[offset] & 7
            size = sizes[cls]
            if cls == 5 and code[offset + 1] & 15 in TYPES_OF_8_BYTES:
                size = 10
            chunk = code[offset : offset + size]
            operand = cache.get(chunk)
            if operand is None:
                if len(chunk) < size:
                    raise IndexError
                operand = cache[chunk] = _operand(chunk, cls, general, type_bits) if size else _no_operand(code[offset])
            return operand, offset + size

        return read


def integer_reader(code: str) -> ItemReader:
    """Return the reader of an integer in ``struct`` notation."""
    record = struct.Struct("<" + code)
    unpack, size = record.unpack_from, record.size

    def read(data: bytes, offset: int, _values: list[Value]) -> tuple[ListItem, int]:
        return unpack(data, offset)[0], offset + size

    def read_byte(data: bytes, offset: int, _values: list[Value]) -> tuple[ListItem, int]:
        return data[offset], offset + 1

    return read_byte if code == "B" else read


def _cache_reader(size: int, parse: Callable[[int], Value]) -> Reader:
    cache: dict[bytes, Value] = {}

    def read(code: bytes, offset: int, _values: list[Value]) -> tuple[Value, int]:
        chunk = code[offset : offset + size]
        if chunk not in cache:
            if len(chunk) < size:
                raise IndexError
            cache[chunk] = parse(int.from_bytes(chunk, "little"))
        return cache[chunk], offset + size

    return read


def _exec(byte: int) -> Value:
    control = ExecControl.decode(byte)
    if control is None:
        raise MalformedValueError(f"execution size code {byte & 15} is not 0 to 5 (1 to 32 lanes)")
    return control


def _exec_3_0(byte: int) -> Value:
    # Version 3.0 has two codes after the eight masks: no mask, and the default mask.
    mask = byte >> 4
    if mask > 9:
        raise MalformedValueError(f"mask code {mask} is not 0 to 9")
    return _exec(byte & 15 | {9: 0}.get(mask, mask) << 4)


def _exec_code(byte: int) -> Value:
    if byte & 15 not in EXEC_CODES:
        raise MalformedValueError(f"lane code {byte & 15} is not 0 to 2 (8, 16 or 1 lanes)")
    control = byte >> 4
    return ExecControl(EXEC_CODES[byte & 15], (control & 7) * 4, control >= 8)


def _exec_log2(byte: int) -> Value:
    if byte > 5:
        raise MalformedValueError(f"size code {byte} is not 0 to 5")
    return ExecControl(1 << byte)


def _predicate(word: int) -> Value:
    combine = _COMBINES.get(word >> 13 & 3)
    if combine is None or word & 0x1000:
        raise MalformedValueError(f"predicate word 0x{word:04x} has reserved bits set")
    return Predicate(word & 0xFFF, bool(word & 0x8000), combine) if word else None


def _no_operand(tag: int) -> VectorOperand:
    raise MalformedValueError(f"operand tag 0x{tag:02x}: unknown operand class {tag & 7}")


def _region(word: int) -> Region:
    region = Region.decode(word)
    if region is None:
        raise MalformedValueError(f"region 0x{word:04x} has a code without meaning")
    # No text can express these operands, and nothing is read or written by them.
    if region.horz_stride is None:
        raise MalformedValueError(f"region 0x{word:04x} has no horizontal stride")
    if region.width is None and region.vert_stride is not None:
        raise MalformedValueError(f"region 0x{word:04x} has a vertical stride and no width")
    return region


def _type(code: int) -> DataType:
    if code not in TYPE_BY_CODE:
        raise MalformedValueError(f"unknown data type {code}")
    return TYPE_BY_CODE[code]


def _operand(chunk: bytes, cls: int, general: Callable[[bytes], tuple[int, ...]], type_bits: int) -> VectorOperand:
    tag = chunk[0]
    modifier = _MODIFIERS.get(tag >> 3)
    if modifier is None or (cls in _PLAIN and modifier is not OperandModifier.NONE):
        raise MalformedValueError(f"operand tag 0x{tag:02x}: the modifier is not allowed here")
    match cls:
        case 0:
            var, row, col, region = general(chunk[1:])
            return General(var, row, col, _region(region), modifier)
        case 1:
            var, offset, width = struct.unpack_from("<HBB", chunk, 1)
            if width > 4:
                raise MalformedValueError(f"width code {width} of an address operand is not 0 to 4 (1 to 16)")
            return Address(var, offset, 1 << width)
        case 2:
            return PredicateOperand(int.from_bytes(chunk[1:], "little"))
        case 3:
            var, addr_offset, offset, type_code, region = struct.unpack_from("<HBhBH", chunk, 1)
            return Indirect(var, addr_offset, offset, _type(type_code & type_bits), _region(region), modifier)
        case 5:
            return Immediate(_type(chunk[1] & type_bits), int.from_bytes(chunk[2:], "little"))
        case _:
            state, var, offset = struct.unpack_from("<BHB", chunk, 1)
            if state > 1:
                raise MalformedValueError(f"state class {state} is neither 0 (surface) nor 1 (sampler)")
            return State(state == 1, var, offset)


def read_word_immediate(code: bytes, offset: int, _values: list[Value]) -> tuple[Value, int]:
    """Return a bare word of older versions that is now an immediate operand."""
    return Immediate(UW, struct.unpack_from("<H", code, offset)[0]), offset + 2


def read_sampler_byte(code: bytes, offset: int, _values: list[Value]) -> tuple[Value, int]:
    """Return the one-byte sampler operation of 3.x, with its three flags moved from above five bits to above eight."""
    byte = code[offset]
    return byte & 0x1F | (byte & 0xE0) << 3, offset + 1


def read_old_channels(code: bytes, offset: int, _values: list[Value]) -> tuple[Value, int]:
    """Return a channel mask of versions before 3.2, in which a set bit omits its channel."""
    return ~code[offset] & 15, offset + 1


def read_old_eight_lanes(code: bytes, offset: int, _values: list[Value]) -> tuple[Value, int]:
    """Return an exec byte of versions before 3.2, whose size code 0 means 8 lanes, the only size then.

    Raises MalformedValueError for every other size code.
    """
    if code[offset] & 15:
        raise MalformedValueError(f"lane code {code[offset] & 15} is not 0 (8 lanes)")
    control = code[offset] >> 4
    return ExecControl(8, (control & 7) * 4, control >= 8), offset + 1
