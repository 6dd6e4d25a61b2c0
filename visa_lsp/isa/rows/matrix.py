"""Rows: the matrix unit: dpas, dpasw, bdpas (pages DPAS and DPASW; precision codes as the finalizer writes them)."""

from __future__ import annotations

from typing import Final

from visa_lsp.isa.lane import Effect, Unmodelled
from visa_lsp.isa.model import Instruction, Modifier, Role, Shape, Slot, Trait, layout
from visa_lsp.isa.platforms import MATRIX, since, until
from visa_lsp.isa.rows.shapes import NEWEST_ONLY, G, raw
from visa_lsp.isa.types import BF, HF, SCALAR_TYPES, UB, UD, F

# The first nine and tf32 are in objects; bf8, hf8 and e2m1 are later.
PRECISIONS: Final = {
    "u2": 3, "s2": 4, "u4": 5, "s4": 6, "u8": 7, "s8": 8, "bf": 9, "hf": 10, "tf32": 12,
    "u1": 1, "s1": 2, "bf8": 11, "hf8": 14, "e2m1": 15,
}  # fmt: skip
# The width of an element, by its code.
PRECISION_BITS: Final = {
    3: 2, 4: 2, 5: 4, 6: 4, 7: 8, 8: 8, 9: 16, 10: 16, 12: 32, 1: 1, 2: 1, 11: 8, 14: 8, 15: 4,
}  # fmt: skip
# If src1 and src2 both have these precisions, a dword of a column holds eight products; with other integers four.
NARROW_PRECISIONS: Final = frozenset({3, 4, 5, 6})
_DPASW_PRECISIONS: Final = {word: code for word, code in PRECISIONS.items() if code < 11}
# The lexer of text 4.2 reads only pairs of one kind.
_FAMILIES: Final = (
    frozenset(word for word in PRECISIONS if len(word) == 2),
    frozenset({"bf8", "hf8"}),
    frozenset({"tf32"}),
    frozenset({"e2m1"}),
)
_SCALED_FAMILIES: Final = (frozenset({"bf"}), frozenset({"hf"}), *_FAMILIES[1:])
_SCALED: Final = {word: PRECISIONS[word] for word in ("bf", "hf", "bf8", "hf8", "e2m1")}


def _modifiers(words: dict[str, int], depths: tuple[int, ...], counts: tuple[int, ...]) -> tuple[Modifier, ...]:
    fold = words is not _SCALED
    return (
        Modifier("prec1", words, fold=fold, doc="precision of src1, the weights"),
        Modifier("prec2", words, fold=fold, doc="precision of src2, the activations"),
        Modifier("depth", {str(n): n for n in depths}, doc="systolic depth"),
        Modifier("count", {str(n): n for n in counts}, doc="repeat count: rows of the result"),
    )


_OPERANDS: Final = (
    raw("dst", Role.WRITE, "D, count x execution size"),
    raw("src0", doc="C, or %null.0 for zero"),
    raw("src1", doc="B, the weights"),
)
_SRC2: Final = Slot("src2", Shape.SIMPLE, Role.READ, G, SCALAR_TYPES, doc="A, the activations")
_RECORD: Final = "E dst:r src0:r src1:r src2:v prec1:b prec2:b depth:b count:b"

_WHAT: Final = (
    "Computes D = C + A x B, where A is src2 (count rows), B is src1 and C is src0. One dword holds one tf32, two 16-bit, four 8-bit"
    " or eight narrower numbers, so that the inner size is depth times that count. dst, src0 and src2 are stored row by row;"
    " each dword column of src1's registers holds one column of B."
)
_CHECKS: Final = (
    "In the text the precision of src1 comes first, then that of src2; the bytes have the same order.",
    "src2 is written without a region: `V(0,0)`. It begins at a multiple of the bytes that one step reads: 32 for 8 and 16 bits at depth 8.",
    "Registers of eight dwords (before PVC) need size 8, registers of sixteen size 16.",
    "Integer precisions may differ; float precisions have to be equal.",
)

ROWS: Final[tuple[Instruction, ...]] = (
    Instruction(
        "dpas", 0x83, "matrix", layout(_RECORD), (*_OPERANDS, _SRC2), _modifiers(PRECISIONS, (1, 2, 4, 8), tuple(range(1, 9))),
        exec_sizes=(8, 16),
        predicable=False,
        platforms=MATRIX,
        meaning=Effect("dpas"),
        summary="Matrix multiply and accumulate.",
        detail=_WHAT,
        pitfalls=(*_CHECKS, "The hardware supports depth 8 only."),
        families=_FAMILIES,
        seed=None,
        traits=Trait.MATRIX | Trait.OWN_SHAPE | Trait.DOTTED,
    ),
    Instruction(
        "dpasw", 0x1C, "matrix", layout(_RECORD), (*_OPERANDS, _SRC2), _modifiers(_DPASW_PRECISIONS, (1, 2, 4, 8), tuple(range(1, 9))),
        exec_sizes=(8,),
        predicable=False,
        platforms=MATRIX & until("ARL"),
        meaning=Unmodelled("two fused units share src2, and threads run by themselves here"),
        summary="Matrix multiply on two fused units.",
        detail=f"{_WHAT} Two fused units share src2: each supplies half of its registers.",
        pitfalls=(*_CHECKS, "Threads have to run in pairs: a group needs an even number of them.", "PVC does not have it."),
        families=_FAMILIES,
        seed=None,
        traits=Trait.MATRIX | Trait.OWN_SHAPE | Trait.DOTTED,
    ),
    Instruction(
        "bdpas", None, "matrix",
        layout("E dst:r src0:r src1:r src2:r src3:v src4:v prec1:b prec2:b depth:b count:b"),
        (
            *_OPERANDS,
            raw("src2", doc="A, the activations"),
            Slot("src3", Shape.SIMPLE, Role.READ, G, frozenset({UB}), doc="scales of src1's blocks"),
            Slot("src4", Shape.SIMPLE, Role.READ, G, frozenset({UB}), doc="scales of src2's blocks"),
        ),
        _modifiers(_SCALED, (8,), (8,)),
        exec_sizes=(16,),
        predicable=False,
        dialects=NEWEST_ONLY,
        platforms=since("CRI"),
        meaning=Unmodelled("how the hardware lays out and applies the block scales is not described in public"),
        summary="Matrix multiply with block scales.",
        detail=f"{_WHAT} Blocks of src1 and src2 are multiplied by the scales in src3 and src4 first.",
        pitfalls=("Size 16, depth 8 and count 8 are the only ones.", "It has no object form."),
        seed=None,
        traits=Trait.MATRIX | Trait.OWN_SHAPE,
        families=_SCALED_FAMILIES,
        verified=dict.fromkeys(("dst", "src0"), frozenset({F, BF, HF})) | dict.fromkeys(("src1", "src2"), frozenset({BF, HF, UD}))
        | dict.fromkeys(("src3", "src4"), frozenset({UB})),
    ),
)  # fmt: skip
