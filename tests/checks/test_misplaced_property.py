"""The short cut of a rule about declarations says of no line that has a finding that it has none."""

from __future__ import annotations

import random

import pytest

from visa_lsp.checks import misplaced_property
from visa_lsp.checks.context import CheckContext, dialect_of
from visa_lsp.sema.bind import bind
from visa_lsp.syntax.document import Document

PARTS = (
    " v_type=G", " v_type=A", " v_type=P", " v_type=S", " type=ud", " type=f", " num_elts=8", " num_elts=(4)", " align=GRF",
    " align=2GRF", " align=16", " alias=<V1, 0>", " alias (V1, 0)", " attrs={Output}", " v_name=x", "  ", " =", "\t",
)  # fmt: skip
USUAL = " v_type=G type=d num_elts=16 align=GRF alias=<V1, 32>"


@pytest.mark.parametrize("seed", range(20))
def test_a_tight_declaration_has_no_finding(seed):
    chooser = random.Random(seed)
    tight = 0
    for _ in range(200):
        parts = list(PARTS[:12])
        chooser.shuffle(parts)
        rest = USUAL if chooser.random() < 0.2 else "".join(parts[: chooser.randrange(1, 7)])
        if chooser.random() < 0.3:
            at = chooser.randrange(len(rest))
            rest = rest[:at] + chooser.choice(PARTS) + rest[at:]
        document = Document.parse(f".decl V1 v_type=G type=d num_elts=64\n.decl V40{rest}\n")
        bound = bind(document)
        ctx = CheckContext(document, bound, None, dialect_of(bound))
        for symbol in bound.bodies[0].symbols:
            assert symbol.decl is not None
            assert symbol.place is not None
            if misplaced_property._is_tight(symbol.decl, symbol.kind):
                tight += 1
                assert not list(misplaced_property._properties(ctx, symbol, symbol.place.line)), rest
    assert tight > 200, "the usual declaration is one of them"
