"""The generated cases of every row in compiled code, against the same model.

By default one kernel for each way of computing a result: of rows with a lane meaning those that have a word, a number of sources or a type that none
before them has, of others one of each kind of effect. Every value of every dimension occurs in it; `full` has all rows and kernels. Code is compiled at
the cheapest level; ``pytest --compiled`` with ``tests/sim`` has every case at the level that users get.
"""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

import compiled_engine
from tiers import one_of_each, that_cover

from tests.sim import test_generated_flow as flow
from tests.sim import test_generated_lanes as lanes
from tests.sim import test_generated_messages as messages
from tests.sim.generator import addresses, bench, flow_runs, lane_cases, matrix_cases, message_cases, sampler_cases
from tests.sim.generator.counts import COMPILED, prove
from visa_lsp.isa.lane import Lane
from visa_lsp.isa.operands import Region
from visa_lsp.isa.types import TYPE_BY_NAME
from visa_lsp.program.model import General, Immediate
from visa_lsp.sim.jit import native

CASES = [
    *(("lanes", row, lane_cases.benches) for row in lanes.LANES),
    *(("matrix", row, matrix_cases.benches) for row in lanes.MATRIX),
    *(("addresses and handles", row, addresses.address_benches if row.mnemonic == "mov" else addresses.benches) for row in lanes.ADDRESSES),
    *((*case.values, message_cases.benches) for case in messages.ROWS),
    *(("sampler", row, sampler_cases.benches) for row in messages.SAMPLER),
]  # fmt: skip


def features(number):
    """Return what distinguishes the compiled code of a row from that of others: words, types and number of sources, or the effect."""
    family, row, _ = CASES[number]
    if not isinstance(row.meaning, Lane):
        words = row.mnemonic.split("_")  # one for loads, one for stores; of atomics one for each update
        return {(family, *row.meaning.name.split("_")[:2]), words[-1] if "atomic" in words else ""}
    words, rest = set(), [row.meaning.expr]
    while rest:
        expression = rest.pop()
        words.add((expression.word, expression.args) if expression.word == "src" else expression.word)
        rest += [arg for arg in expression.args if not isinstance(arg, int)]
    return words


def title(number):
    return f"{CASES[number][0]}-{CASES[number][1].mnemonic}"


EVERY_ROW = pytest.mark.parametrize("number", range(len(CASES)), ids=title)


@pytest.fixture(autouse=True)
def _compiled(monkeypatch):
    compiled_engine.compile_at_once(monkeypatch.setattr)
    monkeypatch.setattr(native, "LEVEL", 0)
    for where in (bench, flow_runs):
        monkeypatch.setattr(where, "Machine", compiled_engine.machine_class())


def each_value(dimensions, number, same):
    """As few combinations as have every value of every dimension; but one of those that are the same for all."""
    one = {name: dimensions[name] for name in same if name in dimensions}
    if "emask" in one:
        one["emask"] = one["emask"][:2]  # with the last, hardly a lane is on
    for turn, (name, values) in enumerate(one.items()):
        dimensions = dimensions | {name: [values[(number >> turn) % len(values)]]}
    chance = np.random.default_rng(number)
    count = max(map(len, dimensions.values()))
    columns = {
        name: [values[i] for _ in range(-(-count // len(values))) for i in chance.permutation(len(values))]
        for name, values in dimensions.items()
    }
    return [{name: column[i] for name, column in columns.items()} for i in range(count)]


def change_modes(made, control):
    """Write the control register in the way in which its value is known before a run: one body is compiled for all modes."""
    before, made.modes = getattr(made, "modes", 0), control
    to, own = (General(bench.CONTROL, 0, 0, region) for region in (Region(None, None, 1), Region(0, 1, 0)))
    made.emit("xor", exec=bench.ONE, dst=to, src0=own, src1=Immediate(TYPE_BY_NAME["ud"], before ^ control))


@pytest.mark.parametrize("number", that_cover(range(len(CASES)), features), ids=title)
def test_row(number, monkeypatch):
    family, row, make = CASES[number]
    # Of a message on images each width has code of its own, which takes long to compile: rows take turns.
    same = ("grf", "emask", *(("size",) if family in ("images", "sampler") else ()))
    for where in (lane_cases, matrix_cases, addresses, message_cases, sampler_cases):
        monkeypatch.setattr(where, "cases", lambda dimensions: each_value(dimensions, number, same))
    monkeypatch.setattr(bench.Bench, "mode", change_modes)
    prove(COMPILED + family, row, make(row))


@pytest.mark.full
@EVERY_ROW
def test_every_kernel_of_a_row(number, monkeypatch):
    family, row, make = CASES[number]
    monkeypatch.setattr(bench.Bench, "mode", change_modes)
    prove(COMPILED + family, row, make(row))


def kind_of_program(number):
    """Who makes it, and the lanes that are on."""
    return flow.PROGRAMS[number][0], number % 2


@pytest.mark.parametrize("number", one_of_each(range(len(flow.PROGRAMS)), kind_of_program))
def test_lanes_end_as_if_each_had_run_alone(number):
    kernel, functions = flow.program(number)
    wrong = flow_runs.differences(kernel, functions, flow.MASKS[number % 2])
    assert not wrong, "\n".join(wrong[:5])
