"""Pseudo-code run by its evaluator leaves what the program leaves: launches of the corpus, random branches, every row."""

from __future__ import annotations

import numpy as np
import pytest
from corpus_launches import CASES, FILES, prepare, prepare_file
from pseudo_code_machine import ReadingMachine, evaluate
from tiers import first

from tests.sim.generator import addresses, bench, flow_cases, flow_runs, lane_cases, message_cases
from tests.sim.generator.pairwise import each_value
from visa_lsp.app.read.fold import fold_reading
from visa_lsp.app.read.names import names_for
from visa_lsp.app.read.structure import reading_of
from visa_lsp.isa.lane import Effect, Lane
from visa_lsp.isa.message_forms import ElementForm
from visa_lsp.isa.table import TABLE
from visa_lsp.sim.effects import moves
from visa_lsp.sim.machine import run

# One of each kernel first, those that run on Tiger Lake before others: some are the default tier's.
LAUNCHES = [(str(case), platform) for case in CASES for platform in case.platforms]
LAUNCHES = list(
    dict.fromkeys([*{case.kernel: (str(case), case.platforms[0]) for case in CASES[::-1]}.values(), *LAUNCHES])
)
BY_NAME = {str(case): case for case in CASES}
ROWS = [
    row for row in TABLE.rows
    if isinstance(row.meaning, Lane) or (isinstance(row.meaning, Effect) and row.meaning.name in {*moves.EFFECTS} - addresses.EFFECTS)
]  # fmt: skip
MESSAGES = [row for row in TABLE.rows if isinstance(row.meaning, ElementForm)]


def left_by(ready, engine):
    """Return the buffers, the printed text and the faults of a launch."""
    result = engine(ready.dispatch(50_000_000))
    buffers = {key: array.tobytes() for key, array in ready.prepared.arrays.items()}
    return buffers, ready.printed, [str(fault) for fault in result.faults]


def by_pseudo_code(ready):
    return lambda dispatch: evaluate(
        dispatch, lambda kernel: fold_reading(reading_of(kernel), kernel, names_for(kernel, ready.platform, None))
    )


@pytest.mark.corpus
@pytest.mark.parametrize("launch", first(12, LAUNCHES), ids="-".join)
def test_pseudo_code_leaves_what_the_program_leaves(launch):
    name, platform = launch
    one, other = (prepare(BY_NAME[name], platform) for _ in range(2))
    assert left_by(one, by_pseudo_code(one)) == left_by(other, run)


@pytest.mark.parametrize("path", first(5, dict.fromkeys(path for path, _ in FILES)), ids=lambda path: path.name)
def test_it_does_so_with_the_launch_files_of_the_project(path):
    pairs = [(prepare_file(path, name), prepare_file(path, name)) for known, name in FILES if known == path]
    assert any(one is not None for one, _ in pairs)
    for one, other in pairs:
        assert one is other is None or left_by(one, by_pseudo_code(one)) == left_by(other, run)


@pytest.mark.parametrize("make", [flow_cases.goto_program, flow_cases.structured_program])
@pytest.mark.parametrize("seed", first(3, range(9)))
def test_lanes_take_the_same_ways(make, seed, monkeypatch):
    monkeypatch.setattr(flow_runs, "Machine", lambda dispatch, _=(): ReadingMachine(dispatch, reading_of))
    with np.errstate(all="ignore"):
        assert flow_runs.differences(*make(seed), 0x5A3C_B6D3) == []


def agree(benches):
    for one in benches:
        assert one.differences() == []


@pytest.mark.parametrize("row", first(0, ROWS), ids=lambda row: row.mnemonic)
def test_every_row_of_lanes(row, monkeypatch):
    monkeypatch.setattr(bench, "Machine", lambda dispatch, _=(): ReadingMachine(dispatch, reading_of))
    agree(lane_cases.benches(row, each_value))


@pytest.mark.parametrize("row", first(0, MESSAGES), ids=lambda row: row.mnemonic)
def test_every_message_of_lanes(row, monkeypatch):
    monkeypatch.setattr(bench, "Machine", lambda dispatch, _=(): ReadingMachine(dispatch, reading_of))
    agree(message_cases.benches(row, each_value))
