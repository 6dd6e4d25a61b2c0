"""The built grammar is the one of the grammar file, and is left aside where the file says something else."""

from __future__ import annotations

import pytest

from visa_lsp.syntax import built_grammar
from visa_lsp.syntax import grammar as module
from visa_lsp.syntax.grammar import built, grammar, grammar_text


@pytest.fixture
def afresh():
    grammar.cache_clear()
    yield
    grammar.cache_clear()


def test_it_has_the_rules_of_the_file():
    found, expected = grammar(), built(grammar_text())
    assert str(found) == str(expected)
    assert found.default_rule is found["line"]
    assert expected.default_rule.name == "line"


@pytest.mark.usefixtures("afresh")
def test_a_file_that_was_changed_is_read(monkeypatch: pytest.MonkeyPatch):
    text = grammar_text() + 'another = "word"\n'
    monkeypatch.setattr(module, "grammar_text", lambda: text)
    assert "another" in grammar()
    assert "another" not in built_grammar.grammar()
