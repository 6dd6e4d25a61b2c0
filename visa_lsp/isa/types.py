"""Data types, execution sizes and execution masks.

Sources: seed 000 "Variables", seed 001 "Execution Mask", and objects of the finalizer (type codes, exec byte).
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from msgspec import Struct


class TypeKind(Enum):
    """The interpretation of the bits of a type."""

    UNSIGNED = "unsigned integer"
    SIGNED = "signed integer"
    FLOAT = "float"
    BOOL = "bool"
    PACKED_INT = "packed integer vector"
    PACKED_FLOAT = "packed float vector"
    STORED_FLOAT = "narrow float, for storage and the matrix unit"


class DataType(Struct, frozen=True, eq=False):
    """A data type: its name in text, its code in the object, its size in bytes."""

    name: str
    code: int
    size: int
    kind: TypeKind
    doc: str

    @property
    def is_float(self) -> bool:
        """True for a scalar floating-point type."""
        return self.kind is TypeKind.FLOAT

    @property
    def is_int(self) -> bool:
        """True for a scalar integer type."""
        return self.kind in (TypeKind.UNSIGNED, TypeKind.SIGNED)

    @property
    def is_signed(self) -> bool:
        """True for a signed integer type."""
        return self.kind is TypeKind.SIGNED

    @property
    def is_packed(self) -> bool:
        """True for a vector type, which only immediates may have."""
        return self.kind in (TypeKind.PACKED_INT, TypeKind.PACKED_FLOAT)

    @property
    def bits(self) -> int:
        """Width of one element in bits."""
        return self.size * 8

    def __repr__(self) -> str:
        return self.name


_U, _S, _F = TypeKind.UNSIGNED, TypeKind.SIGNED, TypeKind.FLOAT

UD: Final = DataType("ud", 0, 4, _U, "unsigned doubleword, 32 bits")
D: Final = DataType("d", 1, 4, _S, "signed doubleword, 32 bits")
UW: Final = DataType("uw", 2, 2, _U, "unsigned word, 16 bits")
W: Final = DataType("w", 3, 2, _S, "signed word, 16 bits")
UB: Final = DataType("ub", 4, 1, _U, "unsigned byte, 8 bits")
B: Final = DataType("b", 5, 1, _S, "signed byte, 8 bits")
DF: Final = DataType("df", 6, 8, _F, "double-precision float, 64 bits")
F: Final = DataType("f", 7, 4, _F, "single-precision float, 32 bits")
V: Final = DataType("v", 8, 4, TypeKind.PACKED_INT, "eight signed 4-bit integers in one dword, immediates only")
VF: Final = DataType("vf", 9, 4, TypeKind.PACKED_FLOAT, "four 8-bit floats in one dword, immediates only")
BOOL: Final = DataType("bool", 10, 1, TypeKind.BOOL, "one bit, predicates only")
UQ: Final = DataType("uq", 11, 8, _U, "unsigned quadword, 64 bits")
UV: Final = DataType("uv", 12, 4, TypeKind.PACKED_INT, "eight unsigned 4-bit integers in one dword, immediates only")
Q: Final = DataType("q", 13, 8, _S, "signed quadword, 64 bits")
HF: Final = DataType("hf", 14, 2, _F, "half-precision float, 16 bits")
BF: Final = DataType("bf", 15, 2, _F, "bfloat16: the upper half of a single-precision float")

# Types of declarations in the newest text only: no object has room for their codes, and no instruction computes with them.
TF32: Final = DataType("tf32", 16, 4, TypeKind.STORED_FLOAT, "tensor float: 19 bits of precision and range in a dword")
HF8: Final = DataType("hf8", 17, 1, TypeKind.STORED_FLOAT, "8-bit float with 4 exponent bits")
BF8: Final = DataType("bf8", 18, 1, TypeKind.STORED_FLOAT, "8-bit float with 5 exponent bits")
E2M1: Final = DataType("e2m1", 19, 1, TypeKind.STORED_FLOAT, "4-bit float, two in a byte")

TYPES: Final[tuple[DataType, ...]] = (UD, D, UW, W, UB, B, DF, F, V, VF, BOOL, UQ, UV, Q, HF, BF, TF32, HF8, BF8, E2M1)
TYPE_BY_NAME: Final[dict[str, DataType]] = {t.name: t for t in TYPES}
TYPE_BY_CODE: Final[dict[int, DataType]] = {t.code: t for t in TYPES if t.code < 16}

INT_TYPES: Final = frozenset(t for t in TYPES if t.is_int)
FLOAT_TYPES: Final = frozenset(t for t in TYPES if t.is_float)
SCALAR_TYPES: Final = INT_TYPES | FLOAT_TYPES

EXEC_SIZES: Final[tuple[int, ...]] = (1, 2, 4, 8, 16, 32)
MAX_LANES: Final = 32


def type_named(name: str) -> DataType | None:
    """Return the type of a name in lower or upper case; None if there is none."""
    return TYPE_BY_NAME.get(name.lower())


class ExecControl(Struct, frozen=True):
    """Execution size, in lanes, with mask control: ``(M5, 16)`` is ``ExecControl(16, 16)``.

    ``mask_offset`` is the first lane of the execution mask that applies: 0, 4 .. 28.
    """

    exec_size: int
    mask_offset: int = 0
    no_mask: bool = False

    def encode(self) -> int:
        """Return the exec byte: low nibble log2 of the lanes, high nibble mask control."""
        control = self.mask_offset // 4 + (8 if self.no_mask else 0)
        return (self.exec_size.bit_length() - 1) | control << 4

    @staticmethod
    def decode(byte: int) -> ExecControl | None:
        """Return the value of an exec byte; None if the size code is above 32 lanes."""
        code, control = byte & 15, byte >> 4
        if code > 5:
            return None
        return ExecControl(1 << code, (control & 7) * 4, control >= 8)

    @property
    def mask_name(self) -> str:
        """The mask in text: ``M1`` .. ``M8``, ``M1_NM`` .. ``M8_NM``."""
        return f"M{self.mask_offset // 4 + 1}{'_NM' if self.no_mask else ''}"

    def __str__(self) -> str:
        return f"({self.mask_name}, {self.exec_size})"
