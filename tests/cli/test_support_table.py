"""The page of supported instructions is what the table and the simulator's registry say."""

from __future__ import annotations

from pathlib import Path

from visa_lsp.cli.support_table import page, simulated
from visa_lsp.isa.table import TABLE
from visa_lsp.sim.effects import EFFECTS

PAGE = Path(__file__).parents[2] / "docs" / "instructions.md"


def test_the_page_is_up_to_date():
    assert page(EFFECTS) == PAGE.read_text(encoding="utf-8"), (
        "docs/instructions.md is stale: run python -m visa_lsp.cli.support_table docs/instructions.md"
    )


def test_every_mnemonic_is_in_the_page():
    text = PAGE.read_text(encoding="utf-8")
    for mnemonic in TABLE.mnemonics:
        assert f"| `{mnemonic}` |" in text


def test_a_row_of_an_effect_that_nobody_has_is_not_simulated():
    row = TABLE.by_mnemonic["barrier"][0]
    assert simulated(row, EFFECTS) is None
    assert simulated(row, ()) == "the simulator has no `barrier`"
