"""The nearest known word: swapped neighbours are one edit, and short words are not like everything."""

import pytest
from each_case import check_each

from visa_lsp.isa.table import TABLE
from visa_lsp.suggest import edit_distance, nearest


@pytest.mark.parametrize(
    ("one", "other", "edits"),
    [("mda", "mad", 1), ("mad", "mad", 0), ("ab", "ba", 1), ("abcd", "badc", 2), ("load", "lod", 1), ("", "ab", 2)],
)
def test_edits(one, other, edits):
    assert edit_distance(one, other, 9) == edit_distance(other, one, 9) == edits


def test_past_the_limit_words_are_not_counted_to_the_end():
    assert edit_distance("aaaaaaaa", "bbbbbbbb", 2) == 3


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("mda", "mad"),
        ("mvo", "mov"),
        ("adn", "and"),
        ("ro", "or"),
        ("MVO", "mov"),
        ("subbb", "subb"),
        ("barier", "barrier"),
        ("lsc_stroe", "lsc_store"),
        ("frobnicate", None),
        ("ox", None),
        ("", None),
        ("m" * 300, None),
    ],
)
def test_mnemonics(word, meant):
    assert nearest(word, TABLE.mnemonics) == meant


@pytest.mark.parametrize("every", [pytest.param(12, id="some"), pytest.param(1, id="all", marks=pytest.mark.full)])
def test_every_swap_of_neighbours_in_a_mnemonic_has_a_suggestion_one_edit_away(every):
    def check(case):
        number, name = case
        for at in range(number % every % (len(name) - 1), len(name) - 1, every):
            swapped = name[:at] + name[at + 1] + name[at] + name[at + 2 :]
            if swapped not in TABLE.mnemonics:
                meant = nearest(swapped, TABLE.mnemonics)
                assert meant is not None
                assert edit_distance(swapped.lower(), meant.lower(), 9) == 1

    check_each(enumerate(sorted(TABLE.mnemonics)), check)


def test_a_word_that_another_begins_with_is_meant_where_none_is_nearer():
    assert nearest("read", ["readwrite", "readonly"]) == "readonly"
    assert nearest("read", ["readonly", "reads"]) == "reads"
    assert nearest("re", ["readonly"]) is None


def test_the_order_of_candidates_does_not_matter():
    words = ["loops", "loopz", "slop"]
    assert nearest("loop", words) == nearest("loop", words[::-1]) == "loops"
