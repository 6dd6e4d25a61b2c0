"""Rows: SIMD control flow: ``goto``, and the structured words of the appendix that it replaced.

Sources: page GOTO; seed 003 opcodes 0x60 .. 0x66, which real objects use for other instructions or not at all.
"""

from __future__ import annotations

from typing import Final

from visa_lsp.isa.lane import Effect
from visa_lsp.isa.model import FlowClass, Instruction, layout
from visa_lsp.isa.rows.shapes import SEED_ONLY, label


def _make_structured(mnemonic: str, code: int, summary: str, detail: str, *, modern: str, guarded: bool) -> Instruction:
    """Make one word of the appendix's structured control flow."""
    return Instruction(
        mnemonic,
        None,
        "simd_flow",
        layout("E P" if guarded else "E"),
        (),
        predicable=guarded,
        dialects=SEED_ONLY,
        seed_opcode=code,
        meaning=Effect(mnemonic),
        flow=FlowClass(mnemonic),
        summary=f"{summary} (seed dialect).",
        detail=f"{detail} Today's text has no such word: {modern}",
        pitfalls=("It has no object form.",),
    )


ROWS: Final[tuple[Instruction, ...]] = (
    Instruction(
        "goto",
        0x6C,
        "simd_flow",
        layout("E P label:label"),
        (label("block label in the same subroutine"),),
        meaning=Effect("goto"),
        flow=FlowClass.GOTO,
        foreign={"branch": "", "br": ""},
        summary="Branch per lane.",
        detail="Sends the enabled lanes whose predicate bit is set to a label. Forward, they are switched off and wait at the"
        " label; the others go on, and if none are left execution moves to the next place where lanes wait. Backward,"
        " the taken lanes jump and the others wait behind the `goto`. With size 1 all lanes go or stay together.",
        pitfalls=(
            "Without a predicate all active lanes are taken.",
            "Divergent lanes meet again only at the label at which they wait; the code in between must lead there.",
            "Instructions without mask (_NM) run for switched-off lanes too.",
        ),
        seed=None,
    ),
    _make_structured(
        "if", 0x60, "Begin a conditional block",
        "Switches off the lanes whose predicate bit is clear until `else` or `endif`, and skips the block if none are left.",
        modern="write `(!P) goto (M1, n) L_else` and put the label where `else` or `endif` stood.",
        guarded=True,
    ),
    _make_structured(
        "else", 0x61, "Other half of a conditional block",
        "Exchanges the lanes of the innermost `if`: those that were switched off there run now.",
        modern="end the first half with `goto (M1, n) L_endif` and put the label `L_else:` here.",
        guarded=False,
    ),
    _make_structured(
        "endif", 0x62, "End of a conditional block",
        "Restores the lanes that were active before the innermost `if`.",
        modern="put a label here; lanes that wait at it become active there.",
        guarded=False,
    ),
    _make_structured(
        "do", 0x63, "Begin a loop",
        "Marks the head of a loop that `while` closes.",
        modern="put a label here for the `goto` at the end of the loop.",
        guarded=False,
    ),
    _make_structured(
        "while", 0x64, "End a loop",
        "Sends the lanes whose predicate bit is set back to the matching `do`; the others wait until all have left the loop.",
        modern="write `(P) goto (M1, n) L_head`.",
        guarded=True,
    ),
    _make_structured(
        "break", 0x65, "Leave a loop",
        "Takes the lanes whose predicate bit is set out of the innermost loop; they wait behind its `while`.",
        modern="write `(P) goto (M1, n) L_exit` with a label behind the loop.",
        guarded=True,
    ),
    _make_structured(
        "cont", 0x66, "Next round of a loop",
        "Sends the lanes whose predicate bit is set to the `while` of the innermost loop.",
        modern="write `(P) goto (M1, n) L_test` with a label before the backward `goto`.",
        guarded=True,
    ),
)  # fmt: skip
