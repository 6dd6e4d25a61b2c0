"""No row without an independent model: a row has one, or it is recorded as a message for a reason that is printed.

The model stands on its own: it reads the table and the program's values, nothing of the simulator.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from each_case import check_each
from msgspec.structs import replace

from tests.sim.generator import lane_cases, sync_cases
from tests.sim.generator.counts import REASONS
from tests.sim.generator.pairwise import cases, pairwise
from tests.support.model import registry, scalar_threads
from visa_lsp.isa.lane import Effect, Lane, Unmodelled
from visa_lsp.isa.table import TABLE

MODEL = Path(__file__).parents[1] / "support" / "model"
MODELLED = set(registry.EFFECTS) | scalar_threads.EFFECTS | sync_cases.EFFECTS | registry.NOTHING


def reason(row):
    """Why a row has no model; None where it has one."""
    match row.meaning:
        case Lane():
            return None
        case Effect(name):
            return None if name in MODELLED else ""
        case Unmodelled(text):
            return f"recorded as message: {text}"
    return ""


def test_rows_have_an_independent_model():
    def check(row):
        text = reason(row)
        assert text != "", "no independent model"
        if text:
            REASONS.setdefault(text, []).append(row.mnemonic)

    check_each(TABLE.rows, check, lambda row: str(row.key))


def test_the_model_knows_nothing_of_the_simulator():
    def check(path):
        for node in ast.walk(ast.parse(path.read_text())):
            names = (
                [a.name for a in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
            assert not [n for n in names if n.startswith(("visa_lsp.sim", "tests.sim"))]

    check_each(sorted(MODEL.glob("*.py")), check)


@pytest.mark.parametrize("sizes", [(2, 3), (4, 1, 5), (3, 3, 3, 3), (12, 7, 2, 8, 3, 16)])
def test_every_pair_of_values_occurs(sizes):
    rows = pairwise(sizes)
    for i in range(len(sizes)):
        for j in range(i):
            assert {(r[i], r[j]) for r in rows} == {(a, b) for a in range(sizes[i]) for b in range(sizes[j])}


def test_combinations_are_the_same_every_time():
    assert cases({"a": [1, 2], "b": ["x", "y", "z"]}) == cases({"a": [1, 2], "b": ["x", "y", "z"]})


def test_a_new_row_gets_cases_without_a_change_here():
    new = replace(TABLE.by_mnemonic["avg"][0], mnemonic="avg.new", opcode=None)
    made = TABLE.with_rows(new).by_mnemonic["avg.new"][0]
    benches = list(lane_cases.benches(made))
    assert sum(b.count for b in benches) > 100
    assert [d for b in benches for d in b.differences()] == []
