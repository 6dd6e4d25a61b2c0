"""What a missing name may have meant depends on names that are spelt alike, and on those without a number."""

from __future__ import annotations

import pytest

from visa_lsp.checks.support.name_index import Pool, normalize_spelling, same_letters
from visa_lsp.suggest import nearest


@pytest.mark.parametrize(
    ("word", "names", "meant"),
    [
        ("V40", ["V0040", "V0041"], "V0040"),
        ("v0040", ["V0041", "V0040"], "V0040"),
        ("V" + "0" * 100 + "7", ["V7"], "V7"),
        ("V0", ["V000"], "V000"),
        ("V41", ["V40", "V42"], None),
        ("loop3", ["loop4", "loops"], "loops"),
        ("lop", ["loop", "V40"], "loop"),
        ("LOOP", ["loop"], "loop"),
        ("V" + "9" * 6000, ["V1"], None),
    ],
)
def test_near(word, names, meant):
    assert Pool(names).near(word, nearest) == meant


def test_a_name_is_not_what_it_may_have_meant_itself():
    assert Pool(["V40"]).near("V40", nearest) is None


def test_among_many_names_only_letters_of_another_case_are_meant():
    assert Pool(["loop", "Lop"]).near("lop", same_letters) == "Lop"
    assert Pool(["loop"]).near("lop", same_letters) is None


def test_spelling():
    assert normalize_spelling("V0040") == normalize_spelling("v40") != normalize_spelling("V41")
    assert normalize_spelling("V00") == normalize_spelling("V0")
    assert not normalize_spelling("loop").number
