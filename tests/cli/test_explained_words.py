"""The words that ``explain`` offers: each has a page, and a line to choose it by."""

from visa_lsp.app.explain import explain_text
from visa_lsp.app.explained_words import list_words, words


def test_every_word_has_a_page_and_a_line():
    for word in words():
        assert explain_text(word.word), word
        assert word.line, word
        assert "\n" not in word.line
    assert len({word.word for word in words()}) == len(words())


def test_rules_may_be_asked_for_by_name_too():
    assert {"V101", "undeclared-name", "mad"} <= set(list_words())
