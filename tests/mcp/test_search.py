"""Instructions found by words."""

import pytest

from visa_lsp.app.search import search_instructions
from visa_lsp.isa.table import TABLE


@pytest.mark.parametrize(
    ("query", "mnemonic"),
    [
        ("mad", "mad"),
        ("MAD", "mad"),
        ("multiply and add", "mad"),
        ("how to take the square root", "sqrt"),
        ("barrier", "barrier"),
        ("dot product of bytes", "dp4a"),
        ("sbarrier", "sbarrier.signal"),
        ("fma", "mad"),
    ],
)
def test_the_instruction_is_among_the_first(query, mnemonic):
    assert mnemonic in [row.mnemonic for row in search_instructions(query)[:4]]


def test_an_empty_query_finds_all_and_a_strange_one_none():
    assert search_instructions("") == list(TABLE.rows)
    assert search_instructions("of the") == list(TABLE.rows)
    assert search_instructions("zzzzzz") == []


def test_a_platform_leaves_out_what_it_lacks():
    rows = search_instructions("load", "SKL")
    assert rows
    assert all("SKL" in row.platforms for row in rows)
    assert len(rows) < len(search_instructions("load"))
