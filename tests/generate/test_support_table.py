"""The page of supported instructions is what the table and the simulator's registry say."""

from __future__ import annotations

from visa_lsp.generate.support_table import explain_unsimulated, page
from visa_lsp.isa.table import TABLE
from visa_lsp.sim.effects import EFFECTS


def test_every_mnemonic_is_in_the_page():
    text = page(EFFECTS)
    for mnemonic in TABLE.mnemonics:
        assert f"| `{mnemonic}` |" in text


def test_a_row_of_an_effect_that_nobody_has_is_not_simulated():
    row = TABLE.by_mnemonic["barrier"][0]
    assert explain_unsimulated(row, EFFECTS) is None
    assert explain_unsimulated(row, ()) == "the simulator has no `barrier`"
