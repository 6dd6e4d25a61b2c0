"""Rows: compare, and the minimum and maximum (seed 003 format 6; pages CMP and MIN_MAX)."""

from __future__ import annotations

from typing import Final

from visa_lsp.isa.lane import S0, S1, Effect, Lane, word
from visa_lsp.isa.model import SAT, BrainFloat, Instruction, Modifier, Trait, layout
from visa_lsp.isa.platforms import since
from visa_lsp.isa.rows.shapes import ANY, COMPARED_BF, EVERY, G, P, dst, src
from visa_lsp.isa.types import BF, BOOL, F

_RELATIONS: Final = {"eq": 0, "ne": 1, "gt": 2, "ge": 3, "lt": 4, "le": 5}

# Seed 003 lists both spellings; the real lexer reads only the lower one, and printing takes the first word of a value.
RELOP: Final = Modifier(
    "relop",
    _RELATIONS | {name.upper(): value for name, value in _RELATIONS.items()},
    optional=True,
    default=6,
    seed_words=frozenset(name.upper() for name in _RELATIONS),
    doc="relation: eq, ne, gt, ge, lt, le",
)


def _min_max(mnemonic: str, op: int, word_: str) -> Instruction:
    """Make one of the two readings of opcode 0x45."""
    return Instruction(
        mnemonic,
        0x45,
        "compare",
        layout(f"E op:b={op} dst:v src0:v src1:v"),
        (dst(), src(0), src(1)),
        (SAT,),
        predicate_lost=True,
        meaning=Lane(word(mnemonic, S0, S1)),
        chooses=True,
        traits=Trait.OVERLOOKED,
        # The finalizer checks the last source only if one of the others is bf.
        brain=BrainFloat(since("CRI"), frozenset({BF, F}), unseen=frozenset({"src1"})),
        summary=f"The {word_} of two sources.",
        detail=f"Takes the {word_} of src0 and src1 lane by lane. If one float is a NaN the other one is the result; if"
        " both are, src1 is.",
        pitfalls=(
            (
                "The object has no place for a predicate: the finalizer accepts one in the text and drops it, so all"
                " lanes are written."
            ),
        ),
        seed="003",
    )


ROWS: Final[tuple[Instruction, ...]] = (
    Instruction(
        "cmp",
        0x2C,
        "compare",
        layout("E relop:b dst:v src0:v src1:v"),
        (dst(ANY | {BOOL}, P | G, "predicate, or all-ones/zero masks"), src(0), src(1)),
        (RELOP,),
        predicable=False,
        dialects=EVERY,
        meaning=Effect("compare"),
        brain=COMPARED_BF,
        traits=Trait.COMPARES,
        summary="Compare two sources.",
        detail="Compares src0 with src1 lane by lane. A predicate destination gets one bit per enabled lane, a general one"
        " all ones or all zeros of its type. With a NaN every relation is false except `ne`; -0 equals +0.",
        pitfalls=(
            "It cannot be predicated.",
            "Bits of lanes that are switched off keep their old value.",
            "Without a relation the text is accepted and the byte is 6, which is not a hardware condition.",
            "Upper-case relations (`.GT`) are seed text only; the finalizer stops on them.",
        ),
        foreign={"setcc": ""},
    ),
    _min_max("min", 0, "smaller"),
    _min_max("max", 1, "larger"),
)
