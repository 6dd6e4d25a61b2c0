"""Rows: moves and conversions: mov, movs, sel, setp, fcvt, srnd and the two newest lane moves."""

from __future__ import annotations

from typing import Final

from visa_lsp.isa.lane import Effect, Unmodelled
from visa_lsp.isa.model import SAT, Instruction, Modifier, PredicateUse, Role, Shape, Slot, layout
from visa_lsp.isa.operands import ST
from visa_lsp.isa.platforms import since
from visa_lsp.isa.rows.shapes import ANY, AO, EVERY, IM, INT, NEWEST_ONLY, A, G, I, P, dst, lane_row, raw, src
from visa_lsp.isa.types import BOOL, HF, UB, UD, UW, B, F

_ROUNDED: Final = frozenset({UB, B, HF})
_FP8_TF32: Final = frozenset({UB, B, HF, F, UD})

ROWS: Final[tuple[Instruction, ...]] = (
    Instruction(
        "mov", 0x29, "mov", layout("E P dst:v src0:v"),
        (
            dst(ANY | {BOOL}, G | I | A),
            src(0, ANY | {BOOL}, G | I | IM | P | A | AO, "value, address, predicate or address of a variable"),
        ),
        (SAT,),
        dialects=EVERY,
        meaning=Effect("mov"),
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
            "With a predicate source the finalizer writes (M1_NM, 1) and no predicate, whatever the text says.",
            "(~) is no modifier of `mov`.",
        ),
        doc_page="MOV",
    ),
    Instruction(
        "movs", 0x2D, "mov", layout("E dst:v src0:v"),
        (
            Slot("dst", Shape.VECTOR, Role.WRITE, ST | G, INT, doc="surface or sampler element, or a number"),
            Slot("src0", Shape.VECTOR, Role.READ, ST | G | I | IM, INT, doc="surface or sampler element, or a number"),
        ),
        exec_sizes=(1,),
        predicable=False,
        dialects=EVERY,
        meaning=Effect("movs"),
        summary="Copy a surface or sampler handle.",
        detail="Moves state between surface or sampler variables of one class, or between one of them and an integer that"
        " then is its binding table index or handle. `movs (M1_NM, 1) %bss(0) V(0,0)<0;1,0>` sets the bindless surface.",
        pitfalls=("At least one side has to be a surface or a sampler, and if both are they have to be of one class.",),
        doc_page="MOVS",
    ),
    lane_row(
        "sel", 0x2A, "mov", ANY, 2, Effect("select"),
        "Choose between two sources by predicate.",
        "Each lane gets src0 where its predicate bit is set and src1 where it is not. All lanes of the execution mask are"
        " written: here the predicate chooses, it does not guard.",
        pitfalls=(
            "Without a predicate every lane takes src0.",
            "Seed 003 wants one type for all three operands; the finalizer does not complain about others.",
        ),
        predicate_use=PredicateUse.CHOOSES,
        dialects=EVERY,
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
        doc_page="SETP",
    ),
    Instruction(
        "fcvt", 0x1D, "mov", layout("E dst:v src0:v"),
        (dst(_FP8_TF32, G), src(0, _FP8_TF32, G | IM)),
        (SAT,),
        predicable=False,
        platforms=since("PVC"),
        meaning=Effect("fcvt"),
        summary="Convert between eight-bit floats and half.",
        detail="Converts hf to an eight-bit float and back; the eight-bit type is written ub (1-5-2 format, bf8). On PVC-XT"
        " and newer also between f and tf32, which is written ud. Rounding is to nearest even.",
        pitfalls=(
            "Conversion to eight bits has to be unmasked (M1_NM).",
            "vISA has no names for these formats: the integer types stand for them.",
        ),
        doc_page="FCVT",
        seed=None,
    ),
    Instruction(
        "srnd", 0x1E, "mov", layout("E dst:v src0:v src1:v"),
        (dst(_ROUNDED, G), src(0, ANY, G), src(1, ANY, G | IM, "random bits")),
        predicable=False,
        platforms=since("PVCXT"),
        meaning=Effect("srnd"),
        summary="Stochastic rounding to a narrower float.",
        detail="Adds random bits from src1 below the last kept bit of src0's mantissa and cuts the rest: f becomes hf with"
        " 13 random bits, hf becomes an eight-bit float (written ub) with 8.",
        pitfalls=("It has to be unmasked (M1_NM), without predicate, saturation and source modifiers.",),
        doc_page="SRND",
        seed=None,
    ),
    Instruction(
        "shfl_idx4", None, "mov", layout("E P dst:r src0:v src1:v"),
        (
            raw("dst", Role.WRITE, "result, dwords"),
            Slot("src0", Shape.VECTOR, Role.READ, G, frozenset({UD}), doc="table"),
            Slot("src1", Shape.VECTOR, Role.READ, G, frozenset({UW, UB}), doc="four-bit indices"),
        ),
        dialects=NEWEST_ONLY,
        platforms=since("CRI"),
        meaning=Unmodelled("the order in which the hardware pairs indices with table entries is not described in public"),
        summary="Look up sixteen entries by four-bit index.",
        detail="Takes four-bit indices from src1 and replaces each by the entry of that number from the table in src0."
        " Compilers use it to widen four-bit numbers.",
        pitfalls=("It has no object form.",),
        seed=None,
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
    ),
)  # fmt: skip
