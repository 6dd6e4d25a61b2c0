"""What is said of a long text from a few bound lines is what a binding of all lines says."""

import random
import re

import pytest
from corpus import read, reference_texts

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.ide.features.definition import definition, type_definition
from visa_lsp.ide.features.hover import hover
from visa_lsp.ide.features.references import highlights, references
from visa_lsp.ide.features.rename import RenameRefused, prepare_rename, rename
from visa_lsp.ide.features.semantic_tokens import semantic_tokens
from visa_lsp.ide.index.focus import Focus
from visa_lsp.ide.index.text_index import Index

QUESTIONS = {
    "hover": hover,
    "definition": definition,
    "type definition": type_definition,
    "references": references,
    "highlights": highlights,
    "prepare rename": prepare_rename,
}


def renamed(analysis, offset, name):
    try:
        return rename(analysis, offset, name)
    except RenameRefused as refusal:
        return str(refusal)


def both(text: str) -> tuple[Analysis, Analysis]:
    analysis = Analysis.of(text, "TGLLP")
    return analysis, Focus(analysis.document, analysis.platform, Analysis.of(text, "TGLLP").bound)


@pytest.mark.parametrize("number", range(3))
def test_a_focused_answer_equals_a_whole_one(number):
    draw = random.Random(number)
    texts = [p for p in reference_texts() if 200 < read(p).count("\n") < 900]
    text = read(draw.choice(texts))
    focused, whole = both(text)
    for _ in range(25):
        offset = draw.randrange(len(text))
        for name, question in QUESTIONS.items():
            assert question(focused, offset) == question(whole, offset), (name, focused.document.position(offset))
        other = draw.choice(("V0040", "fresh_name", "_0_004"))
        assert renamed(focused, offset, other) == renamed(whole, offset, other)


@pytest.mark.parametrize("label", ["L:\n", "  L:\n"], ids=["at the margin", "indented"])
@pytest.mark.parametrize("many", [1, 2])
def test_labels_are_found_from_every_place_of_their_names(label, many):
    line = "    mov (M1, 8) V40(0,0)<1> V40(0,0)<1;1,0>\n"
    head = '.version 4.1\n.kernel "k"\n.decl V40 v_type=G type=d num_elts=8\n.decl P1 v_type=P num_elts=8\n'
    uses = "    (P1) goto (M1, 8) L\n    jmp (M1, 1) L\n    call (M1, 8) S\n    foo (M1, 8) L V40\n    ret (M1, 1)\n"
    text = head + (label + line * 120) * many + line * 120 + uses + "S:\n    subret (M1, 8)\n"
    focused, whole = both(text)
    for found in re.finditer(r"\b[LS]\b", text):
        for name, question in QUESTIONS.items():
            assert question(focused, found.start()) == question(whole, found.start()), (name, found.start())
        assert definition(focused, found.start()) is not None
        assert prepare_rename(focused, found.start()) is not None
        assert renamed(focused, found.start(), "fresh") == renamed(whole, found.start(), "fresh")


@pytest.mark.parametrize("number", range(3))
def test_templates_colour_as_binding_does(number):
    texts = [p for p in reference_texts() if 200 < read(p).count("\n") < 900]
    text = read(random.Random(number).choice(texts))
    focused, whole = both(text)
    assert list(semantic_tokens(focused)) == list(semantic_tokens(whole))


@pytest.mark.parametrize("word", [".decl", "mov", "M1", "v_type"])
def test_nobody_searches_for_what_names_nothing(word, monkeypatch):
    decls = "".join(f".decl V{n} v_type=G type=d num_elts=8 align=dword\n" for n in range(40, 240))
    text = f'.version 4.1\n.kernel "k"\n{decls}' + "    mov (M1, 8) V40(0,0)<1> V41(0,0)<1;1,0>\n" * 200
    asked = []
    mentions = Index.mentions
    monkeypatch.setattr(Index, "mentions", lambda *some, **more: asked.append(some) or mentions(*some, **more))
    analysis = Analysis.of(text + "    ret (M1, 1)\n")
    offset = text.index(word) + 1
    assert highlights(analysis, offset) == ()
    assert definition(analysis, offset) is None
    assert renamed(analysis, offset, "V40") == "nothing here can be renamed"
    assert not asked
    assert len(highlights(analysis, text.index("V41") + 1)) == 201
    assert asked


def test_lines_of_a_text_with_scopes_are_coloured_without_the_rest():
    scope = "{\n.decl V50 v_type=A num_elts=1\n    mov (M1, 8) V40(0,0)<1> V41(0,0)<1;1,0>\n    addr_add (M1, 1) V50(0)<1> &V40 0:w\n}\n"
    line = "    mov (M1, 8) V50(0,0)<1> V41(0,0)<1;1,0>\n"
    decls = "".join(f".decl V{n} v_type=G type=d num_elts=8 align=dword\n" for n in (40, 41, 50))
    text = f'.version 4.1\n.kernel "k"\n{decls}' + (line * 20 + scope) * 30
    focused, whole = both(text)
    tokens = list(semantic_tokens(whole))
    assert {t.modifiers for t in tokens if text.split("\n")[t.line][t.span.start : t.span.end] == "V50"} >= {
        ("modification",),
        ("modification", "address"),
    }
    for first in range(0, whole.document.line_count, 50):
        found = list(semantic_tokens(focused, first, first + 49))
        assert found == [t for t in tokens if first <= t.line < first + 50]
    assert "bound" not in vars(focused), "the whole text was bound"
