"""Writers of instruction fields: the counterpart of ``fields``, always for version 4.1.

Truncates the values that Intel's tools truncate silently: row and column of an operand to 8 bits, numbers of labels and
strings to 16, predicates to 12, immediates to 32 or 64. Every other value that does not fit is a
``MalformedValueError``.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final, TypeAlias, cast

from visa_lsp.codec.errors import MalformedValueError
from visa_lsp.codec.fields import EXEC_CODES, INTEGER_FORMAT, TYPES_OF_8_BYTES
from visa_lsp.isa.model import FieldKind
from visa_lsp.isa.operands import SCALAR_REGION, OperandModifier, Region
from visa_lsp.isa.types import EXEC_SIZES, DataType, ExecControl
from visa_lsp.program.model import (
    Address,
    AddressOf,
    General,
    Immediate,
    Indirect,
    ListItem,
    Predicate,
    PredicateOperand,
    RawOperand,
    State,
    Value,
)

Writer: TypeAlias = Callable[["Value"], bytes]

_CUT: Final = frozenset({FieldKind.LABEL, FieldKind.STRING16})
_LIMITS: Final = {"B": 0xFF, "H": 0xFFFF, "I": 0xFFFFFFFF, "i": 0xFFFFFFFF}
_LANE_CODES: Final = {lanes: code for code, lanes in EXEC_CODES.items()}
_SCALAR: Final = SCALAR_REGION.encode()


def writer(kind: FieldKind) -> Writer:
    """Return the writer of a field kind."""
    if kind in INTEGER_FORMAT:
        return _integer_writer(INTEGER_FORMAT[kind], cut=kind in _CUT)
    return _WRITERS[kind]


def write_operand(value: Value) -> bytes:
    """Return the bytes of a vector operand: its tag and its value.

    Raises MalformedValueError if ``value`` is not a vector operand, or its width or region has no code.
    """
    if type(value) is General:  # most operands are
        word = _regions.get(value.region)
        if word is None:
            word = _regions[value.region] = _region(value.region)
        # The value of an enumeration's member is a slow property.
        tag = 0 if value.modifier is OperandModifier.NONE else value.modifier.value << 3
        return _GENERAL.pack(tag, value.var, value.row & 0xFF, value.col & 0xFF, word)
    match value:
        case Immediate(data_type, bits):
            if data_type.code in TYPES_OF_8_BYTES:
                return _IMMEDIATE_64.pack(5, _type(data_type), bits & 0xFFFFFFFFFFFFFFFF)
            return _IMMEDIATE_32.pack(5, _type(data_type), bits & 0xFFFFFFFF)
        case AddressOf(var, row, col):
            return _GENERAL.pack(0, var, row & 0xFF, col & 0xFF, _SCALAR)
        case Address(var, offset, width):
            if width not in EXEC_SIZES[:5]:
                raise MalformedValueError(f"width {width} of an address operand is not 1, 2, 4, 8 or 16")
            return struct.pack("<BHBB", 1, var, offset, width.bit_length() - 1)
        case PredicateOperand(var):
            return struct.pack("<BH", 2, var & 0xFFFF)
        case Indirect(var, addr_offset, offset, data_type, region, modifier):
            tag = 3 | modifier.value << 3
            return struct.pack("<BHBhBH", tag, var, addr_offset, offset, _type(data_type), _region(region))
        case State(sampler, var, offset):
            return struct.pack("<BBHB", 6, sampler, var, offset)
        case _:
            raise MalformedValueError(f"{value!r} is not a vector operand")


# Caches of the bytes for regions, and for sizes with masks; only few of either have a code.
_regions: Final[dict[Region, int]] = {}
_controls: Final[dict[Value, bytes]] = {}
_GENERAL: Final = struct.Struct("<BIBBH")
_IMMEDIATE_32: Final = struct.Struct("<BBI")
_IMMEDIATE_64: Final = struct.Struct("<BBQ")
_RAW: Final = struct.Struct("<IH")


def _region(region: Region) -> int:
    try:
        return region.encode()
    except KeyError as error:
        raise MalformedValueError(f"region {region} cannot be written: {error.args[0]} has no code") from None


def _type(data_type: DataType) -> int:
    """Return the code of a type; the codes of objects have at most four bits."""
    if data_type.code > 15:
        raise MalformedValueError(f"the type {data_type.name} is of text 4.2 and has no code in an object")
    return data_type.code


def _raw(value: Value) -> bytes:
    if not isinstance(value, RawOperand):
        raise MalformedValueError(f"{value!r} is not a raw operand")
    return _RAW.pack(value.var, value.offset)


def _control(value: Value) -> ExecControl:
    if isinstance(value, ExecControl) and value.exec_size in EXEC_SIZES and value.mask_offset in range(0, 32, 4):
        return value
    raise MalformedValueError(f"{value} is not an execution size and mask")


def _exec(value: Value) -> bytes:
    encoded = _controls.get(value)
    if encoded is None:
        encoded = _controls[value] = _control(value).encode().to_bytes(1, "little")
    return encoded


def _exec_code(value: Value) -> bytes:
    control = _control(value)
    if control.exec_size not in _LANE_CODES:
        raise MalformedValueError(f"execution size {control.exec_size} is not 1, 8 or 16")
    return bytes([control.encode() & 0xF0 | _LANE_CODES[control.exec_size]])


def _exec_log2(value: Value) -> bytes:
    return bytes([_control(value).encode() & 15])


def _predicate(value: Value) -> bytes:
    if value is None:
        return b"\0\0"
    if not isinstance(value, Predicate):
        raise MalformedValueError(f"{value!r} is not a predicate")
    return (value.var & 0xFFF | value.combine.value << 13 | value.inverse << 15).to_bytes(2, "little")


def _operands(value: Value) -> bytes:
    return b"".join(_raw(v) if isinstance(v, RawOperand) else write_operand(v) for v in _sequence(value))


def _raws(value: Value) -> bytes:
    return b"".join(map(_raw, _sequence(value)))


def _labels(value: Value) -> bytes:
    return b"".join(_label(cast("int", label)) for label in _sequence(value))


def _sequence(value: Value) -> tuple[ListItem, ...]:
    if not isinstance(value, tuple):
        raise MalformedValueError(f"{value!r} is not a list")
    return value


def _integer_writer(code: str, *, cut: bool = False) -> Writer:
    size, limit = struct.calcsize(code), _LIMITS[code]
    lowest = -(limit + 1) // 2

    def write(value: Value) -> bytes:
        if not isinstance(value, int):
            raise MalformedValueError(f"{value!r} is not a number")
        if not cut and not lowest <= value <= limit:
            raise MalformedValueError(f"{value} does not fit into {size} bytes")
        return (value & limit).to_bytes(size, "little")

    return write


_label: Final = _integer_writer("H", cut=True)

_WRITERS: Final[dict[FieldKind, Writer]] = {
    FieldKind.EXEC: _exec,
    FieldKind.EXEC_CODE: _exec_code,
    FieldKind.EXEC_LOG2: _exec_log2,
    FieldKind.PREDICATE: _predicate,
    FieldKind.VECTOR: write_operand,
    FieldKind.RAW: _raw,
    FieldKind.RAWS: _raws,
    FieldKind.LABELS: _labels,
    FieldKind.VECTORS: _operands,
}
