"""Shorthand for rows: the slots, modifiers and layouts that many instructions share.

Has only parts of several rows; parts of a single row are in that row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Unpack

from visa_lsp.isa.model import (
    EVERY_DIALECT,
    SAT,
    BrainFloat,
    Dialect,
    Instruction,
    Lack,
    Modifier,
    Role,
    Saturation,
    Shape,
    Slot,
    layout,
)
from visa_lsp.isa.operands import AO, IM, A, G, I, OperandClass, P
from visa_lsp.isa.platforms import ALL, MATRIX, since
from visa_lsp.isa.types import BF, DF, FLOAT_TYPES, HF, INT_TYPES, SCALAR_TYPES, UQ, UV, VF, DataType, F, Q, V

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.isa.lane import Meaning
    from visa_lsp.isa.rows._keywords import More

INT, FLOAT, ANY = INT_TYPES, FLOAT_TYPES, SCALAR_TYPES

EVERY: Final = EVERY_DIALECT
SEED_ONLY: Final = frozenset({Dialect.SEED})
NEWEST_ONLY: Final = frozenset({Dialect.V42})

CHANNELS: Final = Modifier("chan", kind=Modifier.Kind.CHANNELS, doc="channels to transfer: any of R, G, B, A")

_SRC_LAYOUT: Final = {
    1: "E P dst:v src0:v",
    2: "E P dst:v src0:v src1:v",
    3: "E P dst:v src0:v src1:v src2:v",
    4: "E P dst:v src0:v src1:v src2:v src3:v",
}


def dst(types: frozenset[DataType] = ANY, classes: OperandClass = G | I, doc: str = "result") -> Slot:
    """Make the destination of a lane instruction."""
    return Slot("dst", Shape.VECTOR, Role.WRITE, classes, types, doc=doc)


def src(
    number: int,
    types: frozenset[DataType] = ANY,
    classes: OperandClass = G | I | IM,
    doc: str = "",
    *,
    scalar: bool = False,
) -> Slot:
    """Make a source of a lane instruction."""
    return Slot(f"src{number}", Shape.VECTOR, Role.READ, classes, types, doc=doc or f"source {number}", scalar=scalar)


def raw(name: str, role: Role = Role.READ, doc: str = "", *, optional: bool = False) -> Slot:
    """Make a raw operand: contiguous registers, GRF-aligned unless the row overrides it."""
    return Slot(name, Shape.RAW, role, doc=doc, optional=optional, grf_aligned=True)


def vec(
    name: str, classes: OperandClass = G | I | IM, doc: str = "", *, types: frozenset[DataType] | None = None
) -> Slot:
    """Make a scalar vector operand of a message: an offset or a coordinate."""
    return Slot(name, Shape.VECTOR, Role.READ, classes, types, scalar=True, doc=doc)


def label(doc: str) -> Slot:
    """Make the label that a branch names."""
    return Slot("label", Shape.LABEL, Role.TARGET, doc=doc)


def number(name: str, doc: str, *, optional: bool = False, limits: tuple[int, int | None] | None = None) -> Slot:
    """Make a bare number of the text; ``limits`` as in ``Slot``."""
    return Slot(name, Shape.INTEGER, Role.OTHER, optional=optional, limits=limits, doc=doc)


SURFACE: Final = Slot("surface", Shape.SURFACE, Role.READ, doc="surface variable; %slm is shared local memory")
IMAGE: Final = Slot("surface", Shape.SURFACE, Role.READ, barred={0: ALL}, doc="surface variable, not %slm")
SAMPLER: Final = Slot("sampler", Shape.SAMPLER, Role.READ, doc="sampler variable")


_PACKED: Final = frozenset({V, UV, VF})
_ARITHMETIC: Final = INT_TYPES | {F, DF, HF}
LOGIC: Final = INT_TYPES | {V, UV}
INT64_TYPES: Final = frozenset({Q, UQ})


def select_verified_types(
    slots: Sequence[Slot],
    result: frozenset[DataType] | None = None,
    source: frozenset[DataType] | None = None,
    *,
    double: bool = False,
) -> dict[str, frozenset[DataType]]:
    """Return the types that the finalizer's verifier accepts in an arithmetic instruction, by slot.

    ``result`` are the types of ``dst``, ``source`` those of the sources; None means any arithmetic type, with df only
    if ``double`` is set. Found by experiments with texts of one instruction.
    """
    types_by_slot = {}
    for slot in slots:
        if slot.role is Role.WRITE and slot.name == "dst":
            types = _ARITHMETIC if result is None else result
        elif slot.role is Role.READ:
            types = _ARITHMETIC | _PACKED if source is None else source
        else:
            continue
        types_by_slot[slot.name] = types if double else types - {DF}
    return types_by_slot


NEVER: Final = Saturation(frozenset())
# For rows in which `.sat` clamps floats only; the finalizer does not check this.
FLOATS_ONLY: Final = Saturation(FLOAT_TYPES, verified=frozenset())
# `bf` with `f` beside it, on platforms with the matrix unit.
MIXED_BF: Final = BrainFloat(MATRIX, frozenset({BF, F}))
COMPARED_BF: Final = BrainFloat(MATRIX, frozenset({BF, F}), apart=frozenset({"dst"}))
# All operands are `bf`.
PURE_BF: Final = BrainFloat(since("CRI"), frozenset({BF}))
# `vf` is no longer read from Xe2 on.
NO_VF: Final = Lack(frozenset({VF}), since("BMG"), result=False)


def lane_row(
    mnemonic: str,
    opcode: int | None,
    family: str,
    types: frozenset[DataType],
    sources: int,
    meaning: Meaning,
    summary: str,
    detail: str,
    *,
    sat: bool = True,
    slots: Sequence[Slot] | None = None,
    result: frozenset[DataType] | None = None,
    source: frozenset[DataType] | None = None,
    double: bool = False,
    **properties: Unpack[More],
) -> Instruction:
    """Make a row of seed 003's formats 1, 3 and 5: predicate, destination and one to four sources of the same types.

    ``result``, ``source`` and ``double`` are as in ``select_verified_types``.
    """
    own = tuple(slots) if slots is not None else (dst(types), *(src(i, types) for i in range(sources)))
    if family in ("arith", "math") or result is not None:
        properties.setdefault("verified", select_verified_types(own, result, source, double=double))
    elif family == "logic":
        properties = {"saturation_dropped": True, "negates": False, "inverts": True, **properties}
        properties.setdefault(
            "verified",
            select_verified_types(own, LOGIC if source is None else source, LOGIC if source is None else source),
        )
    return Instruction(
        mnemonic,
        opcode,
        family,
        layout(_SRC_LAYOUT[sources]),
        own,
        (SAT,) if sat else (),
        meaning=meaning,
        summary=summary,
        detail=detail,
        **properties,
    )


__all__ = [
    "ANY", "AO", "CHANNELS", "COMPARED_BF", "EVERY", "FLOAT", "FLOATS_ONLY", "IM", "IMAGE", "INT", "INT64_TYPES",
    "LOGIC", "MIXED_BF", "NEVER", "NEWEST_ONLY", "PURE_BF", "SAMPLER", "SEED_ONLY", "SURFACE", "A", "G", "I", "P",
    "dst", "label", "lane_row", "number", "raw", "select_verified_types", "src", "vec",
]  # fmt: skip
