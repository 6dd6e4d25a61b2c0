"""The recogniser gives the nodes that the grammar's own machinery gives: real lines, damaged lines, random lines."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from parsimonious.exceptions import ParseError
from test_shapes import PIECES, SEED, damaged, real_lines

from visa_lsp.syntax.grammar import grammar_text
from visa_lsp.syntax.recognise import BLANK, Node, Recogniser, recogniser
from visa_lsp.syntax.rules import built, rules_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from parsimonious.grammar import Grammar
    from parsimonious.nodes import Node as Full

GRAMMAR: Final = built(grammar_text())


def named(node: Full) -> Iterator[Full]:
    """The named nodes directly below, blanks left out."""
    for child in node.children:
        if not child.expr_name:
            yield from named(child)
        elif child.expr_name != BLANK:
            yield child


def trimmed(node: Full) -> Node:
    return Node(node.expr_name, node.full_text, node.start, node.end, [trimmed(part) for part in named(node)])


def expected(rules: Grammar, line: str) -> Node | None:
    try:
        return trimmed(rules.parse(line))
    except ParseError:
        return None


def test_real_and_damaged_lines():
    chooser = random.Random(SEED)
    for line in real_lines()[:1200]:
        for text in (line, damaged(line, chooser), damaged(damaged(line, chooser), chooser)):
            assert recogniser().parse(text) == expected(GRAMMAR, text), text


@settings(deadline=None, max_examples=300, print_blob=True)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=9), st.sampled_from(["", " ", "\t", "\x1f"]))
@example(["[", "V1", "]", "flat"], "")
@example(["mov", "(16)", "V1", "V2"], "\x1c")
@example(["mov", "(16)", "V1", "V2"], "\u2003")
def test_random_lines(pieces: list[str], gap: str):
    line = gap.join(pieces)
    assert recogniser().parse(line) == expected(GRAMMAR, line)


@pytest.mark.parametrize(
    "line",
    [
        "((((1))))+1",
        "-~-(2)",
        "a<(1;2)>",
        "a b  a",
        "",
        "a",
        "b",
        "\u00e9",
        "aab",
        "1+",
        "xxxx",
        "xyxy",
        "df",
        "dedf",
        "\u2003",
    ],
)
def test_every_class_of_expression(line: str):
    text = r"""
        line  = sum / words / pairs / maybe / empty
        sum   = term (_ ~"[+]" _ term)*
        term  = ~"[-~]" term / "(" sum ")" / ~"[0-9]+(?![a-z])"
        words = word{1,2} _ !"b" &~"(?=a|<|$)" rest?
        word  = ~"a(?=a|b| |<|$)" _
        rest  = ~".+"
        pairs = ("xy" / "xx")+
        maybe = ~"(?:de)?" "d" ~"[a-z]"
        empty = ""
        _     = ~"\\s*"
        """
    assert Recogniser(rules_of(text)).parse(line) == expected(built(text), line)
