"""A line filled into the template of its shape is the line that the grammar reads: on real, damaged and random lines."""

from __future__ import annotations

import random

import pytest
from mutants import FACTOR, damaged, sources

from visa_lsp.syntax.comments import strip
from visa_lsp.syntax.parse import MAX_LINE, Parser

_ALPHABET = 'Vv01x9f.:,;()<>[]{}+-*/%&|^!~?="$@_ \tMPTrabtidecl'


def check_line(parser: Parser, code: str) -> None:
    code = code.rstrip()
    if code and not code.isspace() and len(code) <= MAX_LINE:
        assert parser.line(code) == parser.full(code), repr(code)


@pytest.mark.parametrize("seed", range(4))
def test_real_and_damaged_lines(seed: int) -> None:
    pick = random.Random(seed)
    parser = Parser()
    texts = sources(2000)
    count = 0
    while count < 1000 * FACTOR:
        text = pick.choice(texts)
        lines = text.split("\n")
        at = pick.randrange(len(lines))
        for line in damaged(pick, "\n".join(lines[at : at + 30])).split("\n"):
            check_line(parser, strip(line.rstrip("\r"), False)[0])
            count += 1
    print(f"seed {seed}: {count} lines, {parser.full_parses} full parses")


@pytest.mark.parametrize("seed", range(4))
def test_random_lines(seed: int) -> None:
    pick = random.Random(seed)
    parser = Parser()
    for _ in range(300 * FACTOR):
        check_line(parser, "".join(pick.choice(_ALPHABET) for _ in range(pick.randrange(1, 30))))
