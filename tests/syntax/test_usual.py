"""What the grammar reads in one step is what it reads without those alternatives: real lines, damaged lines, random lines."""

from __future__ import annotations

import random
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parsimonious.grammar import Grammar
from test_shapes import PIECES, SEED, damaged, real_lines

from visa_lsp.syntax import build, tree
from visa_lsp.syntax.grammar import grammar_text
from visa_lsp.syntax.nodes import grammar, parse_node

USUAL = ("usual_exec", "usual_ref", "usual_value")
# Signs and words that stand beside usual operands, or make them unusual.
BESIDE = (
    "mov", "(M1, 16)", "(16)", "(M1,16)", "( M1, 16)", "V1(0,0)<1>", "V1(0,0)<8;8,1>", "(-)V1(0,0)<0;1,0>", "(abs)V2", "(~)",
    "( - )V3", "A0(0)<1>", "A0(0)", "V1(0, 0)<1>", "V1(0,0)<1;1>", "V1<1>", "V1.32", "V1 .32", "T6", "T6(0)", "%null.0", "0x10:ud",
    "12:w", "0x:ud", "1.5:f", "12:d.", "0X1:d", "flat", "bti(0)", "bss(1)<1>", "r", "r(0)", "r(0,0)<1>", ".", ".x", "[", "[0]", "]",
    "<", "<1>", "(", ")", "(0)", "(0,0)", ":", ":ud", ": ud", ",", "-", "\u00e9", "\u00a0", "\x1c", " ", "\t",
)  # fmt: skip


@cache
def longhand() -> Grammar:
    """Return the grammar without the alternatives that only save steps."""
    text = grammar_text()
    for name in USUAL:
        assert f"{name} / " in text, f"the grammar has no alternative {name}"
        # A rule that is nothing but another one would take that one's name.
        text = text.replace(f"{name} / ", "any_exec / " if name == "usual_exec" else "")
    return Grammar(text)


def read(by: Grammar, line: str) -> tree.Statement | None:
    node = parse_node(line, by)
    return None if node is None else build.statement(node)


SOME = pytest.mark.parametrize("count", [200, pytest.param(3000, marks=pytest.mark.full)])


@SOME
def test_real_and_damaged_lines(count: int):
    chooser = random.Random(SEED + 1)
    for line in real_lines()[:count]:
        for text in (line, damaged(line, chooser), damaged(damaged(line, chooser), chooser)):
            assert read(grammar(), text) == read(longhand(), text), text


@SOME
def test_random_lines(count: int):
    @settings(deadline=None, max_examples=count // 2, print_blob=True)
    @given(st.lists(st.sampled_from(PIECES + BESIDE), max_size=7), st.sampled_from(["", " "]))
    def are_read_alike(pieces: list[str], gap: str):
        line = "mov (M1, 16) " + gap.join(pieces)
        assert read(grammar(), line) == read(longhand(), line)

    are_read_alike()


@pytest.mark.parametrize("name", USUAL)
def test_they_are_used(name: str):
    assert f"name='{name}'" in repr(parse_node("add (M1_NM, 16) (-abs)V1(0,0)<8;8,1> A0(1)<1> P1 %null.0 0x1f:ud"))
