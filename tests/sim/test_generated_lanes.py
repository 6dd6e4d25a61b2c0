"""Every row on lanes and on the matrix unit: cases made from its own slots and types, against ``tests/support/model``.

Dimensions and their pairwise combination stand in ``tests/sim/generator``; the model shares no code with the simulator.
In the default tier every value of a dimension meets a row, in the full one every pair of values does.
"""

from __future__ import annotations

import pytest

from tests.sim.generator import addresses, lane_cases, matrix_cases
from tests.sim.generator.counts import prove
from tests.sim.generator.pairwise import each_value
from tests.support.model import lanes, matrix, moves
from tests.support.model.numbers import SIZES, limits
from visa_lsp.isa.lane import Effect, Lane
from visa_lsp.isa.operands import OperandModifier, Region
from visa_lsp.isa.table import TABLE
from visa_lsp.isa.types import TYPE_BY_NAME, ExecControl
from visa_lsp.program.model import General, Immediate


def named(row, effects):
    return isinstance(row.meaning, Effect) and row.meaning.name in effects


SOME = pytest.mark.parametrize(
    "some", [pytest.param(each_value, id="values"), pytest.param(iter, id="pairs", marks=pytest.mark.full)]
)
LANES = [
    r
    for r in TABLE.rows
    if isinstance(r.meaning, Lane) or named(r, {*lanes.EFFECTS, *moves.EFFECTS} - addresses.EFFECTS)
]
ADDRESSES = [r for r in TABLE.rows if named(r, {*addresses.EFFECTS, "mov"})]
MATRIX = [r for r in TABLE.rows if named(r, matrix.EFFECTS)]


@SOME
@pytest.mark.parametrize("row", LANES, ids=lambda r: r.mnemonic)
def test_lane_row(row, some):
    prove("lanes", row, lane_cases.benches(row, some))


@pytest.mark.parametrize("row", ADDRESSES, ids=lambda r: r.mnemonic)
def test_address_row(row):
    benches = addresses.address_benches(row) if row.mnemonic == "mov" else addresses.benches(row)
    prove("addresses and handles", row, benches)


@SOME
@pytest.mark.parametrize("row", MATRIX, ids=lambda r: r.mnemonic)
def test_matrix_row(row, some):
    prove("matrix", row, matrix_cases.benches(row, some))


@pytest.mark.parametrize("kind", ["b", "ub", "w", "uw", "d", "ud"])
def test_a_shift_that_clamps(kind):
    bench = lane_cases.LaneBench("shl")
    low, high = limits(kind)
    numbers = [low, high, 0, 1, high // 2, low // 2, high // 2 + 1, 3]
    for count in (0, 1) if SIZES[kind] == 4 else (0, 1, 3, 8):
        source = bench.words(kind, numbers)
        dst = General(bench.var(kind, 16), 0, 0, Region(None, None, 1), OperandModifier.SAT)
        bench.emit(
            "shl", exec=ExecControl(8, 0, no_mask=True), dst=dst, src0=General(source, 0, 0, Region(1, 1, 0)),
            src1=Immediate(TYPE_BY_NAME["uw"], count),
        )  # fmt: skip
    assert bench.differences() == []
