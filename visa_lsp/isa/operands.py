"""Operand classes, source modifiers and regions: the values in the bytes of an operand.

Sources: seed 004 (operands), and objects of the finalizer.
"""

from __future__ import annotations

from enum import Enum, Flag, auto
from typing import Final

from msgspec import Struct


class OperandClass(Flag):
    """The classes of a vector operand. The members are the letters of seed 003's tables."""

    GENERAL = auto()
    ADDRESS = auto()
    PREDICATE = auto()
    INDIRECT = auto()
    IMMEDIATE = auto()
    STATE = auto()
    ADDRESS_OF = auto()


G, A, P, I, IM, ST, AO = (  # noqa: E741 - the letters of seed 003's tables
    OperandClass.GENERAL,
    OperandClass.ADDRESS,
    OperandClass.PREDICATE,
    OperandClass.INDIRECT,
    OperandClass.IMMEDIATE,
    OperandClass.STATE,
    OperandClass.ADDRESS_OF,
)

NO_CLASS: Final = OperandClass(0)
CLASS_NAMES: Final[dict[OperandClass, str]] = {
    G: "general operand",
    A: "address operand",
    P: "predicate",
    I: "indirect operand",
    IM: "immediate",
    ST: "surface or sampler element",
    AO: "address of a variable",
}


def describe_classes(classes: OperandClass) -> str:
    """Return words for a set of classes: ``general operand or immediate``."""
    names = [name for cls, name in CLASS_NAMES.items() if cls in classes]
    return ", ".join(names[:-1]) + " or " + names[-1] if len(names) > 1 else (names[0] if names else "nothing")


class OperandModifier(Enum):
    """The modifier of a vector operand, with its code in bits 3-5 of the tag byte."""

    NONE = 0
    ABS = 1
    NEG = 2
    NEGABS = 3
    SAT = 4
    NOT = 5


MODIFIER_TEXT: Final[dict[OperandModifier, str]] = {
    OperandModifier.NONE: "",
    OperandModifier.ABS: "(abs)",
    OperandModifier.NEG: "(-)",
    OperandModifier.NEGABS: "(-abs)",
    OperandModifier.SAT: "",
    OperandModifier.NOT: "(~)",
}
MODIFIER_BY_TEXT: Final[dict[str, OperandModifier]] = {
    "(abs)": OperandModifier.ABS,
    "(-)": OperandModifier.NEG,
    "(-abs)": OperandModifier.NEGABS,
    "(~)": OperandModifier.NOT,
    "(not)": OperandModifier.NOT,
}

# Codes of the three region numbers; None is the null vertical stride.
REGION_CODE: Final[dict[int | None, int]] = {None: 0, 0: 1, 1: 2, 2: 3, 4: 4, 8: 5, 16: 6, 32: 7}
REGION_VALUE: Final[dict[int, int | None]] = {code: value for value, code in REGION_CODE.items()}

LEGAL_WIDTHS: Final = (1, 2, 4, 8, 16)


class Region(Struct, frozen=True):
    """``<vert_stride; width, horz_stride>`` in elements.

    A destination has only ``horz_stride`` (the other two are None); a multi-address indirect
    operand has no ``vert_stride``.
    """

    vert_stride: int | None
    width: int | None
    horz_stride: int | None

    def encode(self) -> int:
        """Return the region word: vstride in bits 0-3, width in 4-7, hstride in 8-11.

        Raises KeyError if a value has no code.
        """
        return REGION_CODE[self.vert_stride] | REGION_CODE[self.width] << 4 | REGION_CODE[self.horz_stride] << 8

    @staticmethod
    def decode(word: int) -> Region | None:
        """Return the region of a word; None if a code has no meaning."""
        codes = (word & 15, word >> 4 & 15, word >> 8 & 15)
        if word >> 12 or any(code not in REGION_VALUE for code in codes):
            return None
        return Region(REGION_VALUE[codes[0]], REGION_VALUE[codes[1]], REGION_VALUE[codes[2]])

    @property
    def is_scalar(self) -> bool:
        """True if every lane reads the same element."""
        return self.vert_stride == 0 and self.width == 1

    def __str__(self) -> str:
        if self.width is None:
            return f"<{self.horz_stride}>"
        if self.vert_stride is None:
            return f"<{self.width},{self.horz_stride}>"
        return f"<{self.vert_stride};{self.width},{self.horz_stride}>"


SCALAR_REGION: Final = Region(0, 1, 0)
CONTIGUOUS_REGION: Final = Region(1, 1, 0)

# Alignment of declarations: words that text accepts, and the word that dumps print for a code.
ALIGN_CODE: Final[dict[str, int]] = {
    "byte": 0,
    "word": 1,
    "dword": 2,
    "qword": 3,
    "oword": 4,
    "GRF": 5,
    "GRFx2": 6,
    "2GRF": 6,
    "2_GRF": 6,
    "hword": 7,
    "wordx32": 8,
    "32word": 8,
    "wordx64": 9,
    "64word": 9,
}
ALIGN_TEXT: Final[dict[int, str]] = {
    0: "byte",
    1: "word",
    2: "dword",
    3: "qword",
    4: "oword",
    5: "GRF",
    6: "GRFx2",
    7: "hword",
    8: "wordx32",
    9: "wordx64",
}
ALIGN_BY_BYTES: Final[dict[int, int]] = {1: 0, 2: 1, 4: 2, 8: 3, 16: 4, 32: 7, 64: 8, 128: 9}


def align_bytes(code: int, grf_bytes: int) -> int:
    """Return the bytes of an alignment code, for GRF rows of ``grf_bytes``. Raises KeyError for an unknown code."""
    if code == 5:
        return grf_bytes
    if code == 6:
        return 2 * grf_bytes
    return {0: 1, 1: 2, 2: 4, 3: 8, 4: 16, 7: 32, 8: 64, 9: 128}[code]
