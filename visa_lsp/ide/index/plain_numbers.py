"""Values of numbers in the text, as far as they have one without binding.

For display in hover and hints only; ``sema`` determines the values of the program. Never raises.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from visa_lsp.isa.types import DataType, TypeKind
from visa_lsp.syntax.constant_expressions import ExpressionError, evaluate

if TYPE_CHECKING:
    from visa_lsp.syntax import tree


def number_of(node: tree.Expr | None) -> int | None:
    """Return the value of a constant expression without names; None if it has no value."""
    if node is None:
        return None
    try:
        return evaluate(node, lambda _name: None, lambda _name: None)
    except ExpressionError:
        return None


def float_of_bits(bits: int, type_: DataType) -> float | None:
    """Return the low bits as a number of a float type; None for other types."""
    match type_.name:
        case "f":
            return float(struct.unpack("<f", struct.pack("<I", bits & 0xFFFFFFFF))[0])
        case "df":
            return float(struct.unpack("<d", struct.pack("<Q", bits & 0xFFFFFFFFFFFFFFFF))[0])
        case "hf":
            return float(struct.unpack("<e", struct.pack("<H", bits & 0xFFFF))[0])
        case "bf":
            return float(struct.unpack("<f", struct.pack("<I", (bits & 0xFFFF) << 16))[0])
        case _:
            return None


def int_of_bits(bits: int, type_: DataType) -> int:
    """Return the low bits as a number of an integer type; sign-extended for a signed type."""
    value = bits & ((1 << type_.bits) - 1)
    return value - (1 << type_.bits) if type_.is_signed and value >> (type_.bits - 1) else value


def unpack_values(bits: int, type_: DataType) -> tuple[int | float, ...]:
    """Return the elements of a packed immediate, lane 0 first; empty for other types.

    A packed float has a sign bit, three exponent bits with bias 3 and four mantissa bits; all zero but the sign is zero.
    """
    if type_.kind is TypeKind.PACKED_INT:
        nibbles = [bits >> (4 * lane) & 15 for lane in range(8)]
        return tuple(n - 16 if type_.name == "v" and n > 7 else n for n in nibbles)
    if type_.kind is TypeKind.PACKED_FLOAT:
        return tuple(_small_float(bits >> (8 * lane) & 0xFF) for lane in range(4))
    return ()


def _small_float(byte: int) -> float:
    sign = -1.0 if byte >> 7 else 1.0
    if byte & 0x7F == 0:
        return sign * 0.0
    return float(sign * (1 + (byte & 15) / 16) * 2.0 ** ((byte >> 4 & 7) - 3))
