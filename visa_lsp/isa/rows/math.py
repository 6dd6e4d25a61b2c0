"""Rows: transcendental functions and roots (seed 003 format 1; documentation pages of the same names).

The hardware approximates; the simulator computes in double precision and rounds once, as the words in ``lane`` say.
"""

from __future__ import annotations

from typing import Final

from visa_lsp.isa.lane import S0, S1, Lane, word
from visa_lsp.isa.model import Instruction, Lack
from visa_lsp.isa.platforms import INEXACT, since
from visa_lsp.isa.rows.shapes import EVERY, FLOAT, NEWEST_ONLY, NO_VF, PURE_BF, SEED_ONLY, lane_row
from visa_lsp.isa.types import BF, DF, HF, VF, F

_F_HF: Final = frozenset({F, HF})
_F_HF_BF: Final = _F_HF | {BF}
_F_DF: Final = frozenset({F, DF})
_NO_DOUBLES: Final = Lack(frozenset({DF}), INEXACT, reason="the unit for exact results")
_NO_EXACT: Final = Lack(_F_DF, INEXACT, reason="the unit for exact results")

_APPROXIMATE: Final = "The hardware result is an approximation and may differ in the last bits from one GPU to another."


def _seed_arc(mnemonic: str, seed_opcode: int, function: str, codomain: str) -> Instruction:
    """Make asin, acos or atan: in the appendix only; real tools give their opcodes to other instructions."""
    return lane_row(
        mnemonic, None, "math", FLOAT, 1, Lane(word(mnemonic, S0)),
        f"{function} (seed dialect).",
        f"Computes the {function.lower()} of each lane; results lie in {codomain}. Only the appendix has it: real tools"
        " read the word and then refuse it, and compilers expand the function into other instructions.",
        pitfalls=(f"Opcode 0x{seed_opcode:X} belongs to another instruction in real objects.",),
        dialects=SEED_ONLY, seed_opcode=seed_opcode
    )  # fmt: skip


ROWS: Final[tuple[Instruction, ...]] = (
    lane_row(
        "inv", 0x1B, "math", FLOAT, 1, Lane(word("inv", S0)),
        "Reciprocal.",
        f"Computes 1 / src0 lane by lane; zero gives infinity. {_APPROXIMATE}",
        dialects=EVERY,
        double=True, brain=PURE_BF, lacks=(_NO_DOUBLES, NO_VF),
        foreign={"rcp": ""},
    ),
    lane_row(
        "log", 0x0B, "math", _F_HF_BF, 1, Lane(word("log2", S0)),
        "Logarithm to base 2.",
        f"Computes the base-2 logarithm lane by lane. {_APPROXIMATE}",
        pitfalls=("The base is 2, not e: multiply by ln 2 for the natural logarithm.",),
        dialects=EVERY,
        result=_F_HF, brain=PURE_BF, lacks=(NO_VF,),
    ),
    lane_row(
        "exp", 0x08, "math", _F_HF_BF, 1, Lane(word("exp2", S0)),
        "Two to the power of src0.",
        f"Computes the base-2 exponential lane by lane. {_APPROXIMATE}",
        pitfalls=("The base is 2, not e: multiply the exponent by log2 e for the natural exponential.",),
        dialects=EVERY,
        result=_F_HF, brain=PURE_BF, lacks=(NO_VF,),
    ),
    lane_row(
        "sqrt", 0x19, "math", FLOAT, 1, Lane(word("sqrt", S0)),
        "Square root.",
        f"Computes the square root lane by lane; a negative number gives NaN. {_APPROXIMATE}",
        pitfalls=("For a correctly rounded root use `sqrtm`.",),
        dialects=EVERY,
        double=True, brain=PURE_BF, lacks=(_NO_DOUBLES, NO_VF),
    ),
    lane_row(
        "rsqrt", 0x1A, "math", _F_HF_BF, 1, Lane(word("rsqrt", S0)),
        "Reciprocal square root.",
        f"Computes 1 / square root of src0 lane by lane. {_APPROXIMATE}",
        dialects=EVERY,
        brain=PURE_BF, lacks=(NO_VF,),
        foreign={"rsq": ""},
    ),
    lane_row(
        "sin", 0x17, "math", _F_HF_BF, 1, Lane(word("sin", S0)),
        "Sine.",
        f"Computes the sine of an angle in radians lane by lane. {_APPROXIMATE}",
        pitfalls=("Precision falls for large angles: reduce the argument first.",),
        dialects=EVERY,
        result=_F_HF, brain=PURE_BF, lacks=(NO_VF,),
    ),
    lane_row(
        "cos", 0x18, "math", _F_HF_BF, 1, Lane(word("cos", S0)),
        "Cosine.",
        f"Computes the cosine of an angle in radians lane by lane. {_APPROXIMATE}",
        pitfalls=("Precision falls for large angles: reduce the argument first.",),
        dialects=EVERY,
        result=_F_HF, brain=PURE_BF, lacks=(NO_VF,),
    ),
    lane_row(
        "pow", 0x11, "math", _F_HF_BF, 2, Lane(word("pow", S0, S1)),
        "Power.",
        f"Raises the magnitude of src0 to the power src1 lane by lane. {_APPROXIMATE}",
        pitfalls=("The sign of src0 is dropped.",),
        dialects=EVERY,
        result=_F_HF, brain=PURE_BF, lacks=(NO_VF,),
    ),
    lane_row(
        "sqrtm", 0x7E, "math", _F_DF, 1, Lane(word("sqrtm", S0)),
        "Square root, correctly rounded.",
        "Computes the IEEE square root lane by lane. The finalizer expands it into a sequence of instructions, so it is"
        " much slower than `sqrt`.",
        pitfalls=("Correct rounding needs denormals to be kept (see %cr0).",),
        seed=None,
        source=_F_DF | {VF}, double=True, lacks=(_NO_EXACT, NO_VF),
    ),
    lane_row(
        "divm", 0x7F, "math", _F_DF, 2, Lane(word("divm", S0, S1)),
        "Division, correctly rounded.",
        "Computes the IEEE quotient lane by lane. The finalizer expands it into a sequence of instructions, so it is much"
        " slower than `div`.",
        pitfalls=("Correct rounding needs denormals to be kept (see %cr0).",),
        seed=None,
        source=_F_DF | {VF}, double=True, lacks=(_NO_EXACT, NO_VF),
    ),
    lane_row(
        "tanh", None, "math", _F_HF_BF, 1, Lane(word("tanh", S0)),
        "Hyperbolic tangent.",
        f"Computes the hyperbolic tangent lane by lane. {_APPROXIMATE}",
        pitfalls=("It has no object form; only the newest platforms have the hardware function.",),
        platforms=since("CRI"), dialects=NEWEST_ONLY, seed=None,
        result=_F_HF, brain=PURE_BF, lacks=(NO_VF,),
    ),
    lane_row(
        "sigm", None, "math", _F_HF_BF, 1, Lane(word("sigm", S0)),
        "Sigmoid.",
        f"Computes 1 / (1 + e to the power of -src0) lane by lane. {_APPROXIMATE}",
        pitfalls=("It has no object form; only the newest platforms have the hardware function.",),
        platforms=since("CRI"), dialects=NEWEST_ONLY, seed=None,
        result=_F_HF, brain=PURE_BF, lacks=(NO_VF,),
    ),
    _seed_arc("asin", 0x1C, "Arc sine", "-pi/2 .. pi/2"),
    _seed_arc("acos", 0x1D, "Arc cosine", "0 .. pi"),
    _seed_arc("atan", 0x1E, "Arc tangent", "-pi/2 .. pi/2"),
)  # fmt: skip
