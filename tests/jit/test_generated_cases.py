"""The generated cases of every row in compiled code, against the same model: some kernels of each row.

``VISA_LSP_TEST_KERNELS=1000`` says how many of each row, which are all. Code is compiled at the cheapest level; ``pytest --compiled`` with
``tests/sim`` has every case at the level that users get.
"""

from __future__ import annotations

import os

import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

import compiled

from tests.sim import test_generated_flow as flow
from tests.sim import test_generated_lanes as lanes
from tests.sim import test_generated_messages as messages
from tests.sim.generator import addresses, bench, flow_runs, lane_cases, matrix_cases, message_cases, sampler_cases
from tests.sim.generator.counts import COMPILED, prove
from visa_lsp.sim.jit import native

KERNELS = int(os.environ.get("VISA_LSP_TEST_KERNELS", "1"))
CASES = [
    *(("lanes", row, lane_cases.benches) for row in lanes.LANES),
    *(("matrix", row, matrix_cases.benches) for row in lanes.MATRIX),
    *(("addresses and handles", row, addresses.address_benches if row.mnemonic == "mov" else addresses.benches) for row in lanes.ADDRESSES),
    *((*case.values, message_cases.benches) for case in messages.ROWS),
    *(("sampler", row, sampler_cases.benches) for row in messages.SAMPLER),
]  # fmt: skip


@pytest.fixture(autouse=True)
def _compiled(monkeypatch):
    compiled.compile_at_once(monkeypatch.setattr)
    monkeypatch.setattr(native, "LEVEL", 0)
    for where in (bench, flow_runs):
        monkeypatch.setattr(where, "Machine", compiled.machine_class())


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda n: f"{CASES[n][0]}-{CASES[n][1].mnemonic}")
def test_row(number):
    family, row, make = CASES[number]
    whole = list(make(row))
    step = -(-len(whole) // KERNELS)
    prove(COMPILED + family, row, whole[number % step :: step])


@pytest.mark.parametrize("number", range(len(flow.PROGRAMS)))
def test_lanes_end_as_if_each_had_run_alone(number):
    kernel, functions = flow.program(number)
    wrong = flow_runs.differences(kernel, functions, flow.MASKS[number % 2])
    assert not wrong, "\n".join(wrong[:5])
