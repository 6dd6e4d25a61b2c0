"""Rows: bitwise logic, shifts, bit fields and bit counts (seed 003; documentation pages of the same names)."""

from __future__ import annotations

from typing import Final

from visa_lsp.isa.lane import S0, S1, S2, S3, Effect, Lane, Unmodelled, word
from visa_lsp.isa.model import Instruction, Lack, Layout, Modifier, Role, Shape, Slot, Trait, layout
from visa_lsp.isa.platforms import between, since, until
from visa_lsp.isa.rows.shapes import EVERY, IM, INT, INT64_TYPES, LOGIC, NEVER, NEWEST_ONLY, G, I, P, dst, lane_row, src
from visa_lsp.isa.types import BOOL, UB, UD, UQ, UW, B, D, Q, W

_DWORDS: Final = frozenset({UD, D})
_UD: Final = frozenset({UD})
_UNSIGNED: Final = frozenset({UB, UW, UD})
_BITS: Final = INT | {BOOL}
_ROTATED: Final = frozenset({UD, D, UW, W, UQ, Q})
_LOGIC_32: Final = LOGIC - INT64_TYPES
_NO_LONG_ROTATION: Final = Lack(INT64_TYPES, until("ARL"), result=False)
_NO_LONG_SHIFT: Final = between("DG2", "ARL")

_PLAIN: Final = (Layout(("<1;1,0>", "<0;1,0>")),)
_PREDICATES: Final = (
    "The operands are either all general (or immediate) integers or all predicates; over predicates the instruction"
    " cannot itself be predicated."
)
_COUNT: Final = "Only the lowest 5 bits of the count matter, 6 where the shifted type has 64 bits."


def _logic(
    mnemonic: str, opcode: int, sources: int, meaning: Lane, summary: str, *, detail: str, traits: Trait = Trait.PLAIN
) -> Instruction:
    """Make and, or, xor, not: over integers or over whole predicates."""
    slots = (dst(_BITS, G | I | P), *(src(n, _BITS, G | I | IM | P) for n in range(sources)))
    return lane_row(
        mnemonic, opcode, "logic", _BITS, sources, meaning, summary, f"{detail} {_PREDICATES}",
        slots=slots, sat=False, dialects=EVERY, traits=traits, unmixed=P,
        pitfalls=("Of the source modifiers only (~) is allowed, and only here.",),
    )  # fmt: skip


ROWS: Final[tuple[Instruction, ...]] = (
    _logic("and", 0x20, 2, Lane(S0 & S1), "Bitwise and.", detail="Combines the bits of src0 and src1 with and, lane by lane."),
    _logic("or", 0x21, 2, Lane(S0 | S1), "Bitwise or.", detail="Combines the bits of src0 and src1 with or, lane by lane."),
    _logic(
        "xor", 0x22, 2, Lane(S0 ^ S1), "Bitwise exclusive or.",
        detail="Combines the bits of src0 and src1 with exclusive or, lane by lane.",
        traits=Trait.CANCELS,
    ),
    _logic("not", 0x23, 1, Lane(~S0), "Bitwise complement.", detail="Inverts every bit of src0, lane by lane."),
    lane_row(
        "shl", 0x24, "logic", INT, 2, Lane(word("shl", S0, S1)),
        "Shift left.",
        f"Shifts src0 left by src1 and fills with zeros. {_COUNT}",
        pitfalls=("With `.sat` a result of more than 33 bits is undefined.",),
        dialects=EVERY,
        lacks=(Lack(INT64_TYPES, _NO_LONG_SHIFT),),
        negates=True,
        traits=Trait.SHIFT,
        foreign={"lsl": ""},
    ),
    lane_row(
        "shr", 0x25, "logic", INT, 2, Lane(word("shr", S0, S1)),
        "Logical shift right.",
        f"Shifts src0 right by src1 and fills with zeros. {_COUNT}",
        pitfalls=("src0 should be unsigned; for signed values use `asr`.",),
        dialects=EVERY,
        lacks=(Lack(frozenset({UQ}), _NO_LONG_SHIFT),),
        negates=True,
        traits=Trait.SHIFT,
        foreign={"lsr": ""},
    ),
    lane_row(
        "asr", 0x26, "logic", INT, 2, Lane(word("asr", S0, S1)),
        "Arithmetic shift right.",
        f"Shifts src0 right by src1 and fills with copies of the sign bit. {_COUNT}",
        dialects=EVERY,
        negates=True,
        traits=Trait.SHIFT,
        foreign={"sar": ""},
    ),
    lane_row(
        "rol", 0x80, "logic", _ROTATED, 2, Lane(word("rol", S0, S1)),
        "Rotate left.",
        "Rotates the bits of src0 left by src1, modulo the width of its type.",
        sat=False, platforms=since("ICLLP"), seed=None,
        pitfalls=("Rotating quadwords needs a PVC or newer.",),
        source=LOGIC - {B, UB}, lacks=(_NO_LONG_ROTATION,),
        negates=True,
        traits=Trait.SHIFT,
    ),
    lane_row(
        "ror", 0x81, "logic", _ROTATED, 2, Lane(word("ror", S0, S1)),
        "Rotate right.",
        "Rotates the bits of src0 right by src1, modulo the width of its type.",
        sat=False, platforms=since("ICLLP"), seed=None,
        pitfalls=("Rotating quadwords needs a PVC or newer.",),
        source=LOGIC - {B, UB}, lacks=(_NO_LONG_ROTATION,),
        negates=True,
        traits=Trait.SHIFT,
    ),
    lane_row(
        "bfe", 0x46, "logic", _DWORDS, 3, Lane(word("bfe", S0, S1, S2)),
        "Extract a bit field.",
        "Takes src0 bits from position src1 of src2 and moves them to the bottom; with type d the field is"
        " sign-extended, with ud zero-extended. Width and position count modulo 32.",
        slots=(dst(_DWORDS), src(0, _DWORDS, doc="width"), src(1, _DWORDS, doc="offset"), src(2, _DWORDS, doc="value")),
        sat=False, exec_sizes=(1, 4, 8, 16, 32), dialects=EVERY,
        pitfalls=("The order is width, offset, value.", "Operands are 16-byte aligned unless the size is 1; size 2 is not allowed."),
    ),
    lane_row(
        "bfi", 0x47, "logic", _DWORDS, 4, Lane(word("bfi", S0, S1, S2, S3)),
        "Insert a bit field.",
        "Copies src3 and replaces src0 bits from position src1 on by the lowest bits of src2. Width and position count"
        " modulo 32.",
        slots=(
            dst(_DWORDS), src(0, _DWORDS, doc="width"), src(1, _DWORDS, doc="offset"), src(2, _DWORDS, doc="bits to insert"),
            src(3, _DWORDS, doc="value that receives them"),
        ),
        sat=False, exec_sizes=(1, 4, 8, 16, 32), dialects=EVERY,
        pitfalls=("Operands are 16-byte aligned unless the size is 1; size 2 is not allowed.",),
    ),
    lane_row(
        "bfrev", 0x48, "logic", _DWORDS, 1, Lane(word("bfrev", S0)),
        "Reverse the bits of a dword.",
        "Bit 0 becomes bit 31, bit 1 becomes bit 30, and so on.",
        sat=False, dialects=EVERY,
    ),
    lane_row(
        "cbit", 0x27, "logic", INT, 1, Lane(word("cbit", S0)),
        "Count one bits.",
        "Counts the bits of src0 that are set.",
        slots=(dst(_DWORDS), src(0, INT)),
        sat=False, seed=None,
        pitfalls=("The documented source types are ub, uw and ud.",),
        source=_LOGIC_32,
        foreign={"popcnt": ""},
    ),
    lane_row(
        "fbh", 0x2F, "logic", _DWORDS, 1, Lane(word("fbh", S0)),
        "Find the first significant bit from the top.",
        "Counts from the most significant bit down to the first one bit; for a negative d to the first zero bit. Where"
        " there is none (0, and -1 for d) all bits of the result are set.",
        sat=False, seed=None,
        pitfalls=("The position counts from bit 31 down, not from bit 0.",),
        source=_LOGIC_32,
    ),
    lane_row(
        "fbl", 0x2E, "logic", _UNSIGNED, 1, Lane(word("fbl", S0)),
        "Find the lowest one bit.",
        "Gives the position of the least significant one bit; zero gives all ones.",
        slots=(dst(_DWORDS), src(0, INT)),
        sat=False, seed=None,
        source=_LOGIC_32,
    ),
    lane_row(
        "lzd", 0x1F, "logic", _UD, 1, Lane(word("lzd", S0)),
        "Count leading zero bits.",
        "Counts the zero bits above the highest one bit of a dword; zero gives 32.",
        sat=False, dialects=EVERY,
        pitfalls=("Only ud; from Xe2 on no source modifiers.",),
        result=_UD, source=LOGIC, saturation=NEVER, negates=True, inverts=False, unmodified=since("BMG"), unmodified_newest=True,
        foreign={"clz": ""},
    ),
    Instruction(
        "bfn", 0x85, "logic", layout("E P dst:v src0:v src1:v src2:v func:b"),
        (dst(_ROTATED), src(0, _ROTATED), src(1, _ROTATED), src(2, _ROTATED)),
        (Modifier("func", kind=Modifier.Kind.HEX, doc="truth table of the boolean function: x and two hex digits"),),
        meaning=Effect("bfn"),
        summary="Any boolean function of three bits.",
        detail="Applies one function of three bits to every bit position. The byte behind the dot is its truth table: bit"
        " src0 + 2 * src1 + 4 * src2 of it is the result. `x80` is and of all three, `xfe` or, `x96` exclusive or,"
        " `xd8` takes src1 where src0 is 1 and src2 where it is 0.",
        pitfalls=(
            "The hardware instruction exists from XeHP on; the finalizer accepts the text everywhere.",
            "No `.sat`; of the source modifiers only (~).",
        ),
        traits=Trait.DOTTED,
        seed=None,
        verified=dict.fromkeys(("dst", "src0", "src1", "src2"), LOGIC), negates=False, inverts=True,
    ),
    Instruction(
        "lfsr", None, "logic", layout("E P func:b dst:v src0:v src1:v"),
        (
            Slot("dst", Shape.VECTOR, Role.WRITE, G, _UD, doc="result", layouts=(Layout(("<1>",)),)),
            Slot("src0", Shape.VECTOR, Role.READ, G, _UD, doc="state", layouts=_PLAIN),
            Slot("src1", Shape.VECTOR, Role.READ, G | IM, _UD, doc="polynomial", layouts=_PLAIN),
        ),
        (Modifier("func", {"b32": 0, "b16v2": 1, "b8v4": 2}, doc="one 32-bit, two 16-bit or four 8-bit registers"),),
        dialects=NEWEST_ONLY,
        platforms=since("CRI"),
        meaning=Unmodelled("the step of the hardware's feedback register is not described in public"),
        summary="Step a linear feedback shift register.",
        detail="Advances pseudo-random registers by one step: src0 is the state, src1 the polynomial. A dword holds one"
        " register of 32 bits, two of 16 or four of 8, as the word behind the dot says.",
        pitfalls=(
            "Only ud, no source modifiers and no saturation; one element a lane, or one for all lanes.",
            "It has no object form.",
        ),
        seed=None,
        verified=dict.fromkeys(("dst", "src0", "src1"), _UD), unmodified=since("CRI"),
    ),
)  # fmt: skip
