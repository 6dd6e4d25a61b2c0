"""A line filled into the template of its shape is the line that the grammar reads: on real, damaged and random lines."""

from __future__ import annotations

import random

import pytest
from mutants import damaged, sources
from tiers import first

from visa_lsp.syntax.comments import strip
from visa_lsp.syntax.parse import MAX_LINE, Parser

# Together at least the 100,000 that are promised.
LINES = 84_000
_SEEDS = 8
_full: dict[str, object] = {}


def check_line(parser: Parser, code: str) -> None:
    """Compare; what the grammar says of a line is asked for once, the fast path every time: it learns as it goes."""
    code = code.rstrip()
    if code and not code.isspace() and len(code) <= MAX_LINE:
        if code not in _full:
            _full[code] = parser.full(code)
        assert parser.line(code) == _full[code], repr(code)


@pytest.mark.parametrize("seed", first(1, range(_SEEDS)))
def test_real_and_damaged_lines(seed: int) -> None:
    pick = random.Random(seed)
    parser = Parser()
    texts = sources(2000)
    count = 0
    seen: set[str] = set()
    while count < LINES // _SEEDS:
        text = pick.choice(texts)
        lines = text.split("\n")
        at = pick.randrange(len(lines))
        for line in damaged(pick, "\n".join(lines[at : at + 30])).split("\n"):
            code = strip(line.rstrip("\r"), False)[0]
            check_line(parser, code)
            if code.strip():
                count += 1
                seen.add(code)
    print(f"seed {seed}: {count} lines compared, {len(seen)} of them different")
