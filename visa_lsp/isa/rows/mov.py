"""Rows: moves and conversions: mov, movs, sel, setp, fcvt, srnd and the two newest lane moves."""

from __future__ import annotations

from typing import Final

from visa_lsp.isa.lane import Effect, Unmodelled
from visa_lsp.isa.model import (
    SAT,
    BrainFloat,
    Dialect,
    Instruction,
    Layout,
    Modifier,
    PredicateUse,
    Role,
    Saturation,
    Shape,
    Slot,
    Together,
    Trait,
    layout,
)
from visa_lsp.isa.operands import ST
from visa_lsp.isa.platforms import ALL, MATRIX, between, since, until
from visa_lsp.isa.rows.shapes import (
    ANY,
    AO,
    EVERY,
    IM,
    INT,
    INT64_TYPES,
    MIXED_BF,
    NEWEST_ONLY,
    A,
    G,
    I,
    P,
    dst,
    lane_row,
    raw,
    src,
)
from visa_lsp.isa.types import BF, BF8, BOOL, E2M1, HF, HF8, TF32, UB, UD, UW, B, DataType, F

_ROUNDED: Final = frozenset({UB, B, HF})
_FP8_TF32: Final = frozenset({UB, B, HF, F, UD})
# Declared narrow floats are moved unchanged, or converted to and from one wider type.
_NARROW: Final = frozenset({TF32, HF8, BF8, E2M1})


def _pair(
    to: DataType, source: DataType, oldest: str, *, unmasked: bool = False, plain: bool = False, saturable: bool = True
) -> Together:
    """Make the conversion from one type to another that exists from a platform on."""
    types = {"dst": frozenset({to}), "src0": frozenset({source})}
    return Together(types, since(oldest), unmasked=unmasked, plain=plain, saturable=saturable)


def _make_rounding(to: frozenset[DataType], source: frozenset[DataType], oldest: str) -> Together:
    """Make one stochastic rounding; hardware takes its random bits from ub or uw, older tools want src0's type."""
    types = {"dst": to, "src0": source, "src1": frozenset({UW, UB, F, HF})}
    return Together(types, since(oldest), unmasked=True)


ROWS: Final[tuple[Instruction, ...]] = (
    Instruction(
        "mov", 0x29, "mov", layout("E P dst:v src0:v"),
        (
            dst(ANY | {BOOL} | _NARROW, G | I | A),
            Slot(
                "src0", Shape.VECTOR, Role.READ, G | I | IM | P | A | AO, ANY | {BOOL} | _NARROW,
                doc="value, address, predicate or address of a variable", flag_result=INT - INT64_TYPES,
            ),
        ),
        (SAT,),
        dialects=EVERY,
        meaning=Effect("mov"),
        # Newer finalizers convert any number to and from it.
        brain=BrainFloat(MATRIX, frozenset({BF, F}), until("PVCXT"), newest=False),
        together=(
            _pair(TF32, F, "PVCXT", plain=True, saturable=False), _pair(F, TF32, "PVCXT"),
            _pair(BF8, HF, "PVC", plain=True), _pair(HF, BF8, "PVC", plain=True),
            _pair(HF8, HF, "PTL", plain=True), _pair(HF, HF8, "PTL", plain=True),
            *(
                Together(dict.fromkeys(("dst", "src0"), frozenset({one})), saturable=one is E2M1)
                for one in (TF32, BF8, HF8, E2M1)
            ),
        ),
        limited=_NARROW,
        summary="Copy, with conversion.",
        detail="Copies src0 to dst lane by lane and converts between their types. With an address destination src0 is an"
        " integer, another address or the address of a variable (`&V[32]`). With a predicate as src0 all its bits go to"
        " dst as one integer, element 0 lowest.",
        pitfalls=(
            (
                "Float to integer rounds toward zero and clamps; integer to narrower integer keeps the low bits unless"
                " `.sat` is given."
            ),
            "A predicate cannot be the destination: use `setp` or `cmp`.",
            "A predicate is moved to an integer of at most 32 bits.",
            "With a predicate source the finalizer always writes (M1_NM, 1) and no predicate.",
            "(~) is not a modifier of `mov`.",
            "tf32 is converted to and from f only (PVCXT), bf8 (PVC) and hf8 (PTL) to and from hf, without predicate or source modifier.",
        ),
        traits=Trait.COPIES,
        foreign={"neg": ""},
    ),
    Instruction(
        "movs", 0x2D, "mov", layout("E dst:v src0:v"),
        (
            Slot("dst", Shape.VECTOR, Role.WRITE, ST | G, INT, doc="surface or sampler element, or a number"),
            Slot("src0", Shape.VECTOR, Role.READ, ST | G | I | IM, INT, doc="surface or sampler element, or a number"),
        ),
        exec_sizes=(1,),
        needs=ST,
        predicable=False,
        dialects=EVERY,
        meaning=Effect("movs"),
        summary="Copy a surface or sampler handle.",
        detail="Moves state between surface or sampler variables of one class, or between one of them and an integer,"
        " its binding table index or handle. `movs (M1_NM, 1) %bss(0) V(0,0)<0;1,0>` sets the bindless surface.",
        pitfalls=("At least one side has to be a surface or a sampler; if both are, they have to be of one class.",),
        traits=Trait.MOVES_STATE,
    ),
    lane_row(
        "sel", 0x2A, "mov", ANY, 2, Effect("select"),
        "Choose between two sources by predicate.",
        "Each lane gets src0 where its predicate bit is set and src1 where it is not. All lanes of the execution mask are"
        " written: here the predicate chooses, it does not guard.",
        pitfalls=(
            "Without a predicate every lane takes src0.",
            "Seed 003 requires one type for all three operands; the finalizer accepts different types.",
        ),
        predicate_use=PredicateUse.CHOOSES,
        dialects=EVERY, chooses=True, brain=MIXED_BF,
        foreign={"select": ""},
    ),
    Instruction(
        "setp", 0x2B, "mov", layout("E dst:v src0:v"),
        (
            Slot("dst", Shape.VECTOR, Role.WRITE, P, doc="predicate"),
            src(0, INT, doc="bits: of one integer, or the lowest of each element"),
        ),
        predicable=False,
        dialects=EVERY,
        meaning=Effect("setp"),
        summary="Set a predicate from bits.",
        detail="With a scalar or immediate source bit i of it becomes bit i of the predicate, whatever the execution mask is."
        " With a region the lowest bit of each lane's element is taken, for enabled lanes only.",
        pitfalls=(
            "With a scalar source the mask has to be M1_NM, or M5_NM for the upper sixteen bits.",
        ),
    ),
    Instruction(
        "fcvt", 0x1D, "mov", layout("E dst:v src0:v"),
        (dst(_FP8_TF32, G), src(0, _FP8_TF32, G)),
        (SAT,),
        predicable=False,
        platforms=since("PVC"),
        meaning=Effect("fcvt"),
        saturation=Saturation(platforms=since("PTL")),
        together=(
            _pair(UB, HF, "PVC", unmasked=True), _pair(HF, UB, "PVC"),
            _pair(UD, F, "PVC"),
            # Newer finalizers read a tf32 as f, and refuse this.
            Together({"dst": frozenset({F}), "src0": frozenset({UD})}, between("PVC", "PVCXT"), dialects=frozenset({Dialect.V41})),
            _pair(B, HF, "PTL", unmasked=True), _pair(HF, B, "PTL"),
        ),
        unmodified=ALL,
        summary="Convert between narrow floats and wider ones.",
        detail="Converts between hf and an eight-bit float: type ub is bf8 (five exponent bits), type b is hf8 (four, from PTL"
        " on). Also converts between f and tf32, which is written ud. Rounding is to nearest even.",
        pitfalls=(
            "Conversion to eight bits has to be unmasked (M1_NM).",
            "The integer types stand for these formats; `mov` between variables declared bf8, hf8 or tf32 does the same.",
            "`.sat` exists from PTL on.",
            "The source is a register without modifier; there is no immediate.",
            "From Xe2 on tf32 (ud) is not a source; read it as f, because its bits are those of an f.",
        ),
        seed=None,
    ),
    Instruction(
        "srnd", 0x1E, "mov", layout("E dst:v src0:v src1:v"),
        (
            dst(_ROUNDED, G),
            src(0, frozenset({F, HF, BF}), G | IM),
            src(1, frozenset({UW, UB, F, HF}), G | IM, "random bits"),
        ),
        (SAT,),
        predicable=False,
        platforms=since("PVCXT"),
        meaning=Effect("srnd"),
        saturation=Saturation(platforms=since("PTL")),
        together=(
            _make_rounding(frozenset({HF}), frozenset({F}), "PVCXT"),
            _make_rounding(frozenset({UB}), frozenset({HF}), "PVCXT"),
            _make_rounding(frozenset({UB, B}), frozenset({HF, BF}), "PTL"),
        ),
        unmodified=ALL,
        summary="Stochastic rounding to a narrower float.",
        detail="Adds random bits from src1 below the last kept bit of src0's mantissa and cuts the rest: f becomes hf with"
        " 13 random bits, hf becomes an eight-bit float (bf8, written ub) with 8. From PTL on the source may be bf as well, and"
        " the result the eight-bit float with four exponent bits (hf8, written b).",
        pitfalls=(
            "It has to be unmasked (M1_NM), without predicate and source modifiers.",
            "src1 is ub or uw; the type of src0, which older tools require there, is accepted too.",
            "`.sat` exists from PTL on.",
        ),
        seed=None,
    ),
    Instruction(
        "shfl_idx4", None, "mov", layout("E P dst:r src0:v src1:v"),
        (
            raw("dst", Role.WRITE, "result, dwords"),
            Slot(
                "src0", Shape.VECTOR, Role.READ, G, frozenset({UD}), doc="table",
                layouts=(Layout(("<1;1,0>",), 1, lanes=16), Layout(("<0;16,1>",), 1, lanes=32)),
            ),
            Slot(
                "src1", Shape.VECTOR, Role.READ, G, frozenset({UW, UB}), doc="four-bit indices",
                layouts=(Layout(("<2;1,0>",), 2, type=UW), Layout(("<4;1,0>",), 4, type=UB)),
            ),
        ),
        exec_sizes=(16, 32),
        exec_verified=(16, 32),
        dialects=NEWEST_ONLY,
        platforms=since("CRI"),
        meaning=Unmodelled("the order in which the hardware pairs indices with table entries is not described in public"),
        summary="Look up sixteen entries by four-bit index.",
        detail="Takes four-bit indices from src1 and replaces each by the entry of that number from the table in src0."
        " Compilers use it to widen four-bit numbers.",
        pitfalls=(
            "src0 lies `(n,0)<1;1,0>` with size 16 and `(n,0)<0;16,1>` with size 32; src1 `<2;1,0>` as uw and `<4;1,0>` as ub.",
            "It has no object form.",
        ),
        seed=None,
        verified=dict.fromkeys(("dst", "src0"), frozenset({UD})) | {"src1": frozenset({UW, UB})}, unmodified=since("CRI"),
    ),
    Instruction(
        "dnscl", None, "mov", layout("E P convert:b mode:b rounding:b dst:r src0:r src1:r src2:r"),
        (
            raw("dst", Role.WRITE, "packed four-bit numbers"),
            raw("src0", doc="scaled values"),
            raw("src1", doc="scaled values"),
            raw("src2", doc="random bits, %null for rne"),
        ),
        (
            Modifier("convert", {"bftoe2m1": 0, "bftoint4": 1, "hftoe2m1": 2, "hftoint4": 3}, doc="from and to which type"),
            Modifier("mode", {"mode0": 0, "mode1": 1, "mode2": 2, "mode3": 3}, doc="where the packed numbers go"),
            Modifier("rounding", {"srnd": 0, "rne": 1}, doc="stochastic, or to nearest even"),
        ),
        dialects=NEWEST_ONLY,
        platforms=since("CRI"),
        meaning=Unmodelled("the packing modes of the hardware are not described in public"),
        summary="Convert 16-bit floats to four-bit numbers.",
        detail="Narrows bf or hf values to four-bit floats (1-2-1) or four-bit integers and packs them. All operands are"
        " registers of type ud.",
        pitfalls=("With `.rne` src2 has to be %null.", "It has no object form."),
        seed=None,
        verified=dict.fromkeys(("dst", "src0", "src1", "src2"), frozenset({UD})),
    ),
)  # fmt: skip
