"""The short cut of a rule about declarations says of no line that has a finding that it has none."""

from __future__ import annotations

import random

import pytest
from tiers import first

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.checks.rules import misplaced_property
from visa_lsp.checks.support.context import CheckContext, dialect_of
from visa_lsp.sema.bind import bind
from visa_lsp.syntax.document import Document

PARTS = (
    " v_type=G", " v_type=A", " v_type=P", " v_type=S", " type=ud", " type=f", " num_elts=8", " num_elts=(4)", " align=GRF",
    " align=2GRF", " align=16", " alias=<V1, 0>", " alias (V1, 0)", " attrs={Output}", " v_name=x", "  ", " =", "\t",
)  # fmt: skip
USUAL = " v_type=G type=d num_elts=16 align=GRF alias=<V1, 32>"


@pytest.mark.parametrize("seed", first(4, range(20)))
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


@pytest.mark.parametrize("more", [0, 100])
@pytest.mark.parametrize("version", ["4.1", "4.2"])
@pytest.mark.parametrize("name", ["V32-1", "a$", "x@y", "q?"])
def test_every_version_has_the_same_names(name, version, more):
    declared = f".decl {name} v_type=G type=d num_elts=8\n"
    text = f'.version {version}\n.kernel "k"\n{declared}' + "    nop\n" * more + "    ret (M1, 1)\n"
    analysis = Analysis.of(text)
    for found in (analysis.full_diagnostics, analysis.incremental_diagnostics()):
        assert [d.message for d in found if d.code == "V136"] == [
            f"`{name}` is not a variable name; a name has letters, digits and `_` only"
        ]


@pytest.mark.parametrize(("version", "counts"), [("4.1", (1, 1, 0, 0, 1)), ("4.2", (1, 1, 1, 1, 0))])
def test_words_of_the_lexer_are_no_names(version, counts):
    def found(name):
        text = f'.version {version}\n.kernel "k"\n.decl {name} v_type=G type=d num_elts=8\n    ret (M1, 1)\n'
        return [d.code for d in Analysis.of(text).full_diagnostics].count("V136")

    assert tuple(map(found, ("add", "flat", "surf", "AVS_4x4", "label"))) == counts
