"""What the grammar reads in one step is what it reads without those alternatives: real lines, damaged lines, random lines."""

from __future__ import annotations

import random
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_shapes import PIECES, SEED, damaged, real_lines

from visa_lsp.syntax import build, tree
from visa_lsp.syntax.grammar import grammar_text
from visa_lsp.syntax.recognise import Recogniser, recogniser
from visa_lsp.syntax.rules import rules_of

USUAL = ("usual_exec", "usual_ref", "usual_value")
# Signs and words that stand beside usual operands, or make them unusual.
BESIDE = (
    "mov", "(M1, 16)", "(16)", "(M1,16)", "( M1, 16)", "V1(0,0)<1>", "V1(0,0)<8;8,1>", "(-)V1(0,0)<0;1,0>", "(abs)V2", "(~)",
    "( - )V3", "A0(0)<1>", "A0(0)", "V1(0, 0)<1>", "V1(0,0)<1;1>", "V1<1>", "V1.32", "V1 .32", "T6", "T6(0)", "%null.0", "0x10:ud",
    "12:w", "0x:ud", "1.5:f", "12:d.", "0X1:d", "flat", "bti(0)", "bss(1)<1>", "r", "r(0)", "r(0,0)<1>", ".", ".x", "[", "[0]", "]",
    "<", "<1>", "(", ")", "(0)", "(0,0)", ":", ":ud", ": ud", ",", "-", "\u00e9", "\u00a0", "\x1c", " ", "\t",
)  # fmt: skip


@cache
def longhand() -> Recogniser:
    """The recogniser of the grammar without the alternatives that only save steps."""
    text = grammar_text()
    for name in USUAL:
        assert f"{name} / " in text, f"the grammar has no alternative {name}"
        # A rule that is nothing but another one would take that one's name.
        text = text.replace(f"{name} / ", "any_exec / " if name == "usual_exec" else "")
    return Recogniser(rules_of(text))


def read(by: Recogniser, line: str) -> tree.Statement | None:
    node = by.parse(line)
    return None if node is None else build.statement(node)


def test_real_and_damaged_lines():
    chooser = random.Random(SEED + 1)
    for line in real_lines():
        for text in (line, damaged(line, chooser), damaged(damaged(line, chooser), chooser)):
            assert read(recogniser(), text) == read(longhand(), text), text


@settings(deadline=None, max_examples=1500, print_blob=True)
@given(st.lists(st.sampled_from(PIECES + BESIDE), max_size=7), st.sampled_from(["", " "]))
def test_random_lines(pieces: list[str], gap: str):
    line = "mov (M1, 16) " + gap.join(pieces)
    assert read(recogniser(), line) == read(longhand(), line)


@pytest.mark.parametrize("name", USUAL)
def test_they_are_used(name: str):
    assert f"name='{name}'" in repr(
        recogniser().parse("add (M1_NM, 16) (-abs)V1(0,0)<8;8,1> A0(1)<1> P1 %null.0 0x1f:ud")
    )
