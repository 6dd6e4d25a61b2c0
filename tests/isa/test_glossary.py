"""One word for one thing: the table of terms, its page, ``explain``, hover."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cursor import analyse_at_cursor
from each_case import each_of

from visa_lsp.app.explain import explain_text
from visa_lsp.app.explained_words import list_words
from visa_lsp.generate.glossary_page import page
from visa_lsp.ide.features.hover import hover
from visa_lsp.isa.glossary import TERMS, meaning, term_called

ROOT = Path(__file__).parents[2]


def test_names_are_of_one_term_each_and_lead_to_terms():
    names = [word.lower() for term in TERMS for word in (term.name, *term.also)]
    assert len(names) == len(set(names))
    known = {term.name for term in TERMS}
    assert {name for term in TERMS for name in term.see} <= known
    assert not [term.name for term in TERMS if term.name in term.see]
    for term in TERMS:
        assert term.doc[0].isupper(), term.name
        assert term.doc.rstrip("`").endswith("."), term.name


@each_of(TERMS, lambda term: term.name)
def test_explain_tells_every_term_by_each_of_its_names(term):
    for word in (term.name, *term.also, term.name.upper()):
        assert term_called(word) is term
        assert f"# {term.name}\n\n{term.doc}" in (explain_text(word) or ""), word
    assert term.name in list_words()
    assert f"### {term.name}\n\n{term.doc}" in page()


def test_a_term_of_several_words_needs_no_quotes(printed, refused):
    whole = printed("explain", "execution", "size")
    assert whole.startswith("# execution size\n\nThe number of lanes of an instruction")
    assert printed("explain", "exec size") == whole
    assert "did you mean `execution size`?" in refused("explain", "executoin size")


def test_links_of_the_page_lead_to_its_headings():
    text = (ROOT / "docs" / "glossary.md").read_text()
    headings = {line[4:].replace(" ", "-").lower() for line in text.splitlines() if line.startswith("### ")}
    assert set(re.findall(r"\]\(#([^)]*)\)", text)) <= headings


@pytest.mark.parametrize(("letter", "name"), [("G", "general variable"), ("A", "address variable"), ("P", "predicate")])
def test_hover_says_what_the_glossary_says(letter, name):
    term = term_called(name)
    analysis, offset = analyse_at_cursor(f".decl C v_type=^{letter} num_elts=1")
    assert term is not None
    assert hover(analysis, offset).markdown.endswith(term.doc)


def test_hover_falls_back_on_the_glossary_where_the_numbers_are_none():
    for source, name in (
        ("mov (M1, ^7) A(0,0)<1> A(0,0)<1;1,0>", "execution size"),
        ("mov (M1, 8) A(0,0)<1> A(0,0)<^8;0,1>", "region"),
    ):
        analysis, offset = analyse_at_cursor(source)
        shown = hover(analysis, offset)
        assert shown is not None
        assert shown.markdown.startswith(meaning(name)), shown.markdown


def test_hover_and_explain_have_the_same_headings_and_lines():
    analysis, offset = analyse_at_cursor("^mad (M1, 8) A(0,0)<1> A(0,0)<1;1,0> A(0,0)<1;1,0> A(0,0)<1;1,0>")
    shown = hover(analysis, offset).markdown
    page_of = explain_text("mad") or ""
    for heading in ("Operands", "Modifiers", "Take care"):
        assert f"**{heading}**\n\n" in shown
        part = page_of.partition(f"## {heading}\n\n")[2].partition("\n\n")[0]
        assert part
        assert part in shown
