"""The written rules are those of the grammar file, and are left aside where the file says something else."""

from __future__ import annotations

import subprocess
import sys

import pytest

from visa_lsp.syntax import built_grammar
from visa_lsp.syntax import grammar as module
from visa_lsp.syntax.grammar import grammar_text, rules
from visa_lsp.syntax.rules import rules_of


@pytest.fixture
def afresh():
    rules.cache_clear()
    yield
    rules.cache_clear()


def test_they_are_the_rules_of_the_file():
    assert rules() is built_grammar.RULES
    assert rules_of(grammar_text()) == built_grammar.RULES
    assert next(iter(built_grammar.RULES)) == "line"


def test_a_line_is_read_without_the_library_of_the_grammar():
    code = (
        "import sys; from visa_lsp.syntax.parse import parse_line; print(parse_line('add (M1, 16) V1 V2 V3').errors);"
        "print([name for name in ('parsimonious', 'regex') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split("\n")[:2] == ["()", "[]"]


@pytest.mark.usefixtures("afresh")
def test_a_file_that_was_changed_is_read(monkeypatch: pytest.MonkeyPatch):
    text = grammar_text() + 'another = "word"\n'
    monkeypatch.setattr(module, "grammar_text", lambda: text)
    assert "another" in rules()
    assert "another" not in built_grammar.RULES
