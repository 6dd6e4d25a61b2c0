"""Rows: arithmetic on lanes, and the small products over neighbouring lanes (dp2 .. plane, sad2).

Sources: seed 003 formats 3 and 5, the documentation pages of the same names, and the finalizer's objects for the
records. Type sets include everything that the compiler prints: the integers of one instruction may differ in size and
sign.
"""

from __future__ import annotations

from typing import Final

from visa_lsp.isa.lane import S0, S1, S2, Effect, Lane, word
from visa_lsp.isa.model import (
    SAT,
    Instruction,
    Lack,
    PredicateUse,
    Refusal,
    Role,
    Saturation,
    Shape,
    Slot,
    Trait,
    layout,
)
from visa_lsp.isa.platforms import ALL, INEXACT, since, until
from visa_lsp.isa.rows.shapes import (
    ANY,
    EVERY,
    FLOAT,
    FLOATS_ONLY,
    INT,
    INT64_TYPES,
    LOGIC,
    MIXED_BF,
    NEVER,
    NEWEST_ONLY,
    NO_VF,
    PURE_BF,
    G,
    I,
    P,
    dst,
    lane_row,
    src,
)
from visa_lsp.isa.types import DF, FLOAT_TYPES, HF, INT_TYPES, UB, UD, UQ, UV, UW, VF, B, D, F, Q, V, W

_F: Final = frozenset({F})
_F_DF: Final = frozenset({F, DF})
_DWORDS: Final = frozenset({UD, D})
_WORDS_UP: Final = frozenset({UD, D, UW, W, UQ, Q})
_WORDS: Final = frozenset({UW, W})
_BYTES: Final = frozenset({UB, B})
_UD: Final = frozenset({UD})
_D_W: Final = frozenset({D, UD, W, UW})
_FACTORS: Final = (INT_TYPES | {F, DF, HF, V, UV, VF}) - INT64_TYPES
_SAD: Final = {"dst": frozenset({W, UW}), "src0": frozenset({B, UB, V, UV}), "src1": frozenset({B, UB, V, UV})}
_DIVISION: Final = Lack(INT_TYPES, since("XeHP_SDV"))

_DOT = "Lanes are taken in groups of four, as vectors (x, y, z, w); all four lanes of a group get the same result."


def _early_out(mnemonic: str, sources: int, summary: str, detail: str) -> Instruction:
    """Make invm or rsqtm: an approximation and a predicate that marks the lanes where it is final."""
    names = [f"src{n}" for n in range(sources)]
    return Instruction(
        mnemonic,
        None,
        "arith",
        layout("E P dst:v preddst:v " + " ".join(f"{n}:v" for n in names)),
        (
            dst(_F_DF),
            Slot("preddst", Shape.VECTOR, Role.WRITE, P, doc="set where the result is final"),
            *(src(n, _F_DF) for n in range(sources)),
        ),
        dialects=NEWEST_ONLY,
        platforms=ALL - INEXACT,
        meaning=Effect(mnemonic),
        saturation=NEVER,
        verified=dict.fromkeys(names, _F_DF) | {"dst": _F_DF | {HF}},
        summary=summary,
        detail=detail,
        pitfalls=("There is no saturation, and no object form: compilers that write objects do not know it.",),
        seed=None,
    )


ROWS: Final[tuple[Instruction, ...]] = (
    lane_row(
        "add", 0x01, "arith", ANY, 2, Lane(S0 + S1),
        "Add two sources.",
        "Adds src0 and src1 lane by lane. Source types may differ: they are converted to a common type first, and the"
        " sum to the destination's type. Without `.sat` an integer result wraps.",
        pitfalls=(
            "Subtract by negating a source: `add (M1, 8) D(0,0)<1> A(0,0)<1;1,0> (-)B(0,0)<1;1,0>`.",
            "The carry of an unsigned sum is lost; `addc` keeps it.",
        ),
        dialects=EVERY,
        double=True, brain=MIXED_BF, lacks=(NO_VF,),
        traits=Trait.SUM,
        foreign={"sub": "subtract with `add` and `(-)` before the second source", "fadd": ""},
    ),
    lane_row(
        "mul", 0x10, "arith", ANY, 2, Lane(S0 * S1),
        "Multiply two sources.",
        "Multiplies src0 and src1 lane by lane. With a destination no wider than the sources the low bits are kept;"
        " two dwords into a quadword give the full product where the platform has 64-bit integers.",
        pitfalls=(
            "For the upper half of an integer product use `mulh`, for both halves `madw`.",
            "`.sat` is for float results only.",
            "From PVC on the arithmetic units take no byte sources.",
        ),
        saturation=FLOATS_ONLY,
        dialects=EVERY,
        source=_FACTORS, double=True, brain=MIXED_BF, lacks=(NO_VF,),
        traits=Trait.PRODUCT,
        foreign={"fmul": ""},
    ),
    lane_row(
        "mad", 0x0C, "arith", ANY, 3, Lane(word("mad", S0, S1, S2)),
        "Multiply, then add.",
        "Computes src0 * src1 + src2 lane by lane. For float types the product is not rounded before the addition;"
        " for integers the low bits that fit the destination are kept.",
        pitfalls=(
            "A fused result may differ in the last bit from `mul` followed by `add`.",
            "`.sat` is for float results only.",
        ),
        saturation=Saturation(FLOAT_TYPES, verified=since("BMG")),
        dialects=EVERY,
        double=True, brain=MIXED_BF, lacks=(NO_VF,),
        traits=Trait.PRODUCT,
        foreign={"fmad": "", "fma": ""},
    ),
    lane_row(
        "mulh", 0x0D, "arith", _DWORDS, 2, Lane(word("mulh", S0, S1)),
        "Upper half of an integer product.",
        "Multiplies two dwords and keeps the upper 32 bits of the 64-bit product. Together with `mul` it gives the"
        " whole product.",
        sat=False,
        pitfalls=("The sign of the sources' type decides whether the product is signed.",),
        dialects=EVERY,
        result=_DWORDS, saturation=NEVER,
        traits=Trait.PRODUCT,
    ),
    lane_row(
        "avg", 0x02, "arith", INT, 2, Lane(word("avg", S0, S1)),
        "Rounded average of two integers.",
        "Computes (src0 + src1 + 1) shifted right by one, without losing the carry.",
        dialects=EVERY,
        result=INT_TYPES - INT64_TYPES,
    ),
    lane_row(
        "add3", 0x84, "arith", _WORDS_UP, 3, Lane(word("add3", S0, S1, S2)),
        "Add three integers.",
        "Adds three word or dword sources lane by lane in one instruction.",
        pitfalls=(
            "The hardware instruction exists from XeHP on; the finalizer accepts the text everywhere.",
            "Immediates of more than 16 bits, or as src1, cost an extra move.",
        ),
        seed=None,
        result=_D_W, source=_D_W,
        traits=Trait.SUM,
    ),
    Instruction(
        "add3.o", 0x92, "arith", layout("E P dst:v src0:v src1:v src2:v"),
        (dst(_WORDS_UP), src(0, _WORDS_UP), src(1, _WORDS_UP), src(2, _WORDS_UP)),
        (SAT,),
        saturation=Saturation(frozenset(), verified=frozenset()),
        meaning=Effect("add3o"), predicate_use=PredicateUse.RECEIVES,
        summary="Add three integers and report overflow.",
        detail="Adds three integers lane by lane. The predicate in front is a result here: its bits are set in the"
        " lanes where the sum did not fit the destination's type.",
        pitfalls=(
            "The predicate is written, not read, although it has the place of other instructions' guards.",
            "The 2022 finalizer crashes on this instruction.",
        ),
        seed=None,
        verified=dict.fromkeys(("dst", "src0", "src1", "src2"), _D_W),
        refusals=(Refusal("it writes a predicate and has to have one in front", stops=True, unpredicated=True),),
        traits=Trait.SUM,
    ),
    Instruction(
        "addc", 0x49, "arith", layout("E P dst:v carry:v src0:v src1:v"),
        (
            dst(_UD),
            Slot("carry", Shape.VECTOR, Role.WRITE, G | I, _UD, doc="carry: 1 or 0 in each lane"),
            src(0, _UD),
            src(1, _UD),
        ),
        dialects=EVERY,
        meaning=Effect("addc"),
        summary="Add two dwords and keep the carry.",
        detail="Adds two unsigned dwords lane by lane; dst gets the low 32 bits and carry gets 1 where the sum needed a 33rd"
        " bit, else 0. It is the building block of 64-bit additions.",
        pitfalls=("carry is an ordinary general variable of type ud, not a predicate.",),
        verified={"dst": _UD, "src0": _UD | {UV}, "src1": _UD | {UV}},
        traits=Trait.SUM,
    ),
    Instruction(
        "subb", 0x4A, "arith", layout("E P dst:v borrow:v src0:v src1:v"),
        (
            dst(_UD),
            Slot("borrow", Shape.VECTOR, Role.WRITE, G | I, _UD, doc="borrow: 1 or 0 in each lane"),
            src(0, _UD),
            src(1, _UD),
        ),
        dialects=EVERY,
        meaning=Effect("subb"),
        summary="Subtract two dwords and keep the borrow.",
        detail="Computes src0 - src1 of unsigned dwords lane by lane; borrow gets 1 where src0 is below src1, else 0.",
        pitfalls=("borrow is an ordinary general variable of type ud, not a predicate.",),
        verified={"dst": _UD, "src0": _UD | {UV}, "src1": _UD | {UV}},
    ),
    Instruction(
        "madw", 0x91, "arith", layout("E P dst:v src0:v src1:v src2:v"),
        (
            Slot("dst", Shape.VECTOR, Role.WRITE, G | I, _DWORDS, doc="low halves, then high halves"),
            src(0, _DWORDS),
            src(1, _DWORDS),
            src(2, _DWORDS),
        ),
        exec_sizes=(1, 2, 4, 8, 16),
        meaning=Effect("madw"),
        summary="Multiply and add dwords with a 64-bit result.",
        detail="Computes src0 * src1 + src2 in 64 bits lane by lane. The low dwords of all lanes are written first; the"
        " high dwords follow from the next whole register after them.",
        pitfalls=(
            "The destination takes twice the registers that its region shows: declare room for both halves.",
            "dst must begin on a register; a stride other than 1 costs extra moves.",
            "The documentation allows sixteen lanes from PVC on; the compiler prints them for older platforms too.",
        ),
        seed=None,
        saturation=NEVER,
        verified={"dst": _DWORDS} | dict.fromkeys(("src0", "src1", "src2"), LOGIC),
        traits=Trait.OWN_SHAPE | Trait.PRODUCT,
    ),
    lane_row(
        "dp4a", 0x82, "arith", _DWORDS, 3, Lane(word("dp4a", S0, S1, S2)),
        "Dot product of four bytes, accumulated.",
        "Takes each dword of src1 and src2 as four bytes; adds the four byte products and src0. Whether the bytes of a"
        " source are signed follows from its type: d or ud.",
        platforms=since("TGLLP"),
        seed=None,
        result=_DWORDS, source=_DWORDS,
    ),
    lane_row(
        "div", 0x03, "arith", ANY, 2, Lane(word("div", S0, S1)),
        "Divide src0 by src1.",
        "Divides lane by lane. Integer quotients are cut toward zero. Float division is a multiplication by the"
        " reciprocal and is not correctly rounded.",
        pitfalls=(
            "Integer division is not available from XeHP on: the compiler writes a sequence of other instructions.",
            "For correctly rounded quotients use `divm`.",
            "`.sat` is for float results only.",
        ),
        saturation=Saturation(FLOAT_TYPES),
        dialects=EVERY,
        source=_FACTORS, double=True, brain=PURE_BF,
        lacks=(_DIVISION, Lack(frozenset({DF}), INEXACT, reason="the unit for exact results"), NO_VF),
    ),
    lane_row(
        "mod", 0x0F, "arith", INT, 2, Lane(word("mod", S0, S1)),
        "Remainder of an integer division.",
        "Computes the remainder of src0 divided by src1 lane by lane; it has the sign of src0.",
        pitfalls=("Not available from XeHP on.",),
        dialects=EVERY,
        result=INT_TYPES - INT64_TYPES, saturation=NEVER, lacks=(_DIVISION,),
    ),
    lane_row(
        "lrp", 0x0E, "arith", _F, 3, Lane(word("lrp", S0, S1, S2)),
        "Linear interpolation.",
        "Computes src0 * src1 + (1 - src0) * src2 lane by lane: src0 is the weight of src1.",
        pitfalls=("Operands are read and written as contiguous elements or as one scalar; other regions are ignored.",),
        seed=None,
        result=_F, lacks=(NO_VF,),
    ),
    lane_row(
        "frc", 0x09, "arith", FLOAT, 1, Lane(word("frc", S0)),
        "Fractional part.",
        "Computes src0 - floor(src0) lane by lane: the result is never negative.",
        sat=False,
        dialects=EVERY,
        result=_F, saturation=NEVER, lacks=(NO_VF,),
    ),
    lane_row(
        "rndd", 0x12, "arith", FLOAT, 1, Lane(word("rndd", S0)),
        "Round down.",
        "Rounds each lane to the nearest whole number that is not greater.",
        dialects=EVERY,
        result=_F, lacks=(NO_VF,),
        foreign={"floor": ""},
    ),
    lane_row(
        "rndu", 0x13, "arith", FLOAT, 1, Lane(word("rndu", S0)),
        "Round up.",
        "Rounds each lane to the nearest whole number that is not smaller.",
        dialects=EVERY,
        result=_F, lacks=(NO_VF,),
        foreign={"ceil": ""},
    ),
    lane_row(
        "rnde", 0x14, "arith", FLOAT, 1, Lane(word("rnde", S0)),
        "Round to nearest, ties to even.",
        "Rounds each lane to the nearest whole number; halfway values go to the even neighbour.",
        dialects=EVERY,
        result=_F, lacks=(NO_VF,),
    ),
    lane_row(
        "rndz", 0x15, "arith", FLOAT, 1, Lane(word("rndz", S0)),
        "Round toward zero.",
        "Drops the fraction of each lane.",
        dialects=EVERY,
        result=_F, lacks=(NO_VF,),
        foreign={"trunc": ""},
    ),
    lane_row(
        "dp2", 0x04, "arith", _F, 2, Effect("dot2"),
        "Two-component dot product.",
        f"Adds the products of the x and y components of src0 and src1. {_DOT}",
        exec_sizes=(4, 8, 16, 32), dialects=EVERY,
        result=_F, lacks=(NO_VF,),
        traits=Trait.OWN_SHAPE | Trait.FOURS,
    ),
    lane_row(
        "dp3", 0x05, "arith", _F, 2, Effect("dot3"),
        "Three-component dot product.",
        f"Adds the products of the x, y and z components of src0 and src1. {_DOT}",
        exec_sizes=(4, 8, 16, 32), dialects=EVERY,
        result=_F, lacks=(NO_VF,),
        traits=Trait.OWN_SHAPE | Trait.FOURS,
    ),
    lane_row(
        "dp4", 0x06, "arith", _F, 2, Effect("dot4"),
        "Four-component dot product.",
        f"Adds the four products of the components of src0 and src1. {_DOT}",
        exec_sizes=(4, 8, 16, 32), dialects=EVERY,
        result=_F, lacks=(NO_VF,),
        traits=Trait.OWN_SHAPE | Trait.FOURS,
    ),
    lane_row(
        "dph", 0x07, "arith", _F, 2, Effect("doth"),
        "Homogeneous dot product.",
        f"As `dp4` with src0's w component taken as 1: x*x + y*y + z*z + src1's w. {_DOT}",
        pitfalls=("Seed 003's word list spells it `dhp`; its table and all tools say `dph`.",),
        exec_sizes=(4, 8, 16, 32), dialects=EVERY,
        result=_F, lacks=(NO_VF,),
        traits=Trait.OWN_SHAPE | Trait.FOURS,
    ),
    lane_row(
        "line", 0x0A, "arith", INT | _F, 2, Effect("line"),
        "Line equation p * u + q.",
        "src0 is a vector of four scalars, p is the first of them and q the last; src1 gives u lane by lane. The result"
        " is p * u + q.",
        slots=(dst(INT | _F), src(0, INT | _F, G, "four scalars: p, unused, unused, q"), src(1, INT | _F, doc="u")),
        pitfalls=("src0's region must be scalar: both strides 0.",),
        exec_sizes=(4, 8, 16, 32), dialects=EVERY,
        result=INT_TYPES | _F, lacks=(NO_VF,),
        traits=Trait.OWN_SHAPE | Trait.FOURS,
    ),
    lane_row(
        "plane", 0x6B, "arith", _F, 2, Effect("plane"),
        "Plane equation p * u + q * v + r.",
        "src0 is a vector of four scalars: p, q, one that is unused, r. src1 holds the u of eight lanes, then the v of the same"
        " eight lanes; sixteen lanes take two such pairs. The result is p * u + q * v + r.",
        slots=(dst(_F), src(0, _F, G | I, "four scalars: p, q, unused, r"), src(1, _F, G | I, "u and v in turn, eight lanes each")),
        pitfalls=("Regions of the sources are ignored: src0 has to be 16-byte aligned, src1 register aligned.",),
        platforms=until("PTL"),
        exec_sizes=(8, 16), seed=None,
        result=_F, lacks=(NO_VF,),
        traits=Trait.OWN_SHAPE | Trait.FOURS | Trait.OWN_REGIONS | Trait.OVERLOOKED,
    ),
    lane_row(
        "sad2", 0x16, "arith", INT, 2, Effect("sad2"),
        "Sum of absolute differences of two bytes.",
        "Takes lanes in pairs: the even lane gets |a0 - b0| + |a1 - b1| over the bytes of both lanes, the odd lane is"
        " undefined.",
        slots=(dst(_WORDS), src(0, _BYTES), src(1, _BYTES)), exec_sizes=(2, 4, 8, 16, 32),
        pitfalls=("Seed 003 describes the destination as words with stride 2.",),
        platforms=until("ICLLP"), dialects=EVERY,
        verified=_SAD, narrow_immediates=True,
    ),
    lane_row(
        "sad2add", 0x6A, "arith", INT, 3, Effect("sad2add"),
        "Sum of absolute differences of two bytes, accumulated.",
        "Like `sad2`, and adds src2 of the even lane. The odd lane is undefined.",
        slots=(dst(_WORDS), src(0, _BYTES), src(1, _BYTES), src(2, _WORDS)), exec_sizes=(2, 4, 8, 16, 32),
        platforms=until("ICLLP"), seed=None,
        verified=_SAD | {"src2": _WORDS | {V, UV}}, narrow_immediates=True,
    ),
    _early_out(
        "invm", 2, "First approximation of a quotient.",
        "Starts a correctly rounded division: dst gets an approximation of src0 / src1, and preddst is set in lanes"
        " whose result is already final (zero, infinity, NaN) and must not be refined further.",
    ),
    _early_out(
        "rsqtm", 1, "First approximation of a reciprocal square root.",
        "Starts a correctly rounded 1 / square root: dst gets an approximation, and preddst is set in lanes whose result"
        " is already final (zero, infinity, NaN) and must not be refined further.",
    ),
)  # fmt: skip
