"""Every row of control flow and of barriers: random programs whose lanes must end as if each had run alone.

Predefined variables, which are rows of ``isa.predefined``, each against what a dispatch of known shape gives them.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pytest
from msgspec.structs import replace
from tiers import first

from tests.sim.generator import flow_cases, flow_runs, sync_cases
from tests.sim.generator.counts import tell
from tests.support.builders import Builder, dispatch, imm
from tests.support.model import registry, scalar_threads
from visa_lsp.isa import predefined
from visa_lsp.isa import types as ty
from visa_lsp.isa.lane import Effect
from visa_lsp.isa.operands import Region
from visa_lsp.isa.table import TABLE
from visa_lsp.program.model import General
from visa_lsp.sim.machine import Machine

PROGRAMS = [(flow_cases.goto_program, seed) for seed in range(9)] + [
    (flow_cases.structured_program, seed) for seed in range(9)
]
MASKS = (0xFFFF_FFFF, 0x5A3C_B6D3)
FLOW = [r for r in TABLE.rows if isinstance(r.meaning, Effect) and r.meaning.name in scalar_threads.EFFECTS]
NOTHING = [r for r in TABLE.rows if isinstance(r.meaning, Effect) and r.meaning.name in registry.NOTHING]
SYNC = [r for r in TABLE.rows if isinstance(r.meaning, Effect) and r.meaning.name in sync_cases.EFFECTS]


@cache
def program(number):
    make, seed = PROGRAMS[number]
    return make(seed)


@pytest.mark.parametrize(
    "number",
    first(12, sorted(range(len(PROGRAMS)), key=lambda n: PROGRAMS[n][1])),
    ids=lambda n: f"{PROGRAMS[n][0].__name__}-{PROGRAMS[n][1]}",
)
def test_lanes_end_as_if_each_had_run_alone(number):
    kernel, functions = program(number)
    wrong = flow_runs.differences(kernel, functions, MASKS[number % 2])
    assert not wrong, "\n".join(wrong[:5])


@pytest.mark.parametrize("row", FLOW, ids=lambda r: r.mnemonic)
def test_programs_hold_every_flow_row(row):
    used = Counter()
    for number in range(len(PROGRAMS)):
        kernel, functions = program(number)
        for body in (kernel, *functions):
            used += body.used
    tell("flow", row.mnemonic, used[row.mnemonic])
    assert used[row.mnemonic] >= 3


@pytest.mark.parametrize("row", NOTHING, ids=lambda r: r.mnemonic)
def test_rows_without_effect_change_nothing(row):
    bench = flow_cases.Program(3, 16)
    for _ in range(4):
        bench.step()
        bench.say(row)
    tell("marks and fences", row.mnemonic, 4)
    bench.finish()
    assert flow_runs.differences(bench, [], 0xFFFF) == []


@pytest.mark.parametrize("row", SYNC, ids=lambda r: f"{r.mnemonic}-{len(r.slots)}")
def test_barriers_hold_every_thread(row):
    count = 0
    for ring in sync_cases.rings(row, SYNC):
        assert ring.differences() == []
        count += ring.count
    tell("barriers", str(row.key), count)


def test_a_named_barrier_waits_for_producers_and_for_consumers():
    from visa_lsp.sim.group import Barrier

    barrier = Barrier(2)
    barrier.producers, barrier.expected = 1, 2
    barrier.signal(produces=False)
    barrier.signal(produces=False)
    assert barrier.generation == 0
    barrier.signal(consumes=False)
    assert barrier.generation == 1
    barrier.signal()
    assert barrier.generation == 1


# What a thread finds in each predefined variable, one list of elements; None: only what it wrote itself.
GROUP, THREAD, LANES = (3, 4, 5), 1, 0x00F3
HEADER = [11, 3, 13, 14, 15, 16, 4, 5]
FOUND = {
    "%null": [0], "%thread_x": [3], "%thread_y": [4], "%group_id_x": [3], "%group_id_y": [4], "%group_id_z": [5],
    "%tsc": None, "%r0": HEADER, "%arg": None, "%retval": None, "%sp": None, "%fp": None, "%hw_id": [THREAD],
    "%sr0": [THREAD, None, LANES, None], "%cr0": [0], "%ce0": [LANES], "%dbg0": None, "%color": [0],
    "%impl_arg_buf_ptr": None, "%local_id_buf_ptr": None, "%msg0": None,
}  # fmt: skip


@pytest.mark.parametrize("row", predefined.VARIABLES, ids=lambda v: v.name)
def test_predefined_variable(row):
    assert row.name in FOUND, f"{row.name} has no independent model"
    bench = Builder()
    count = min(row.num_elements, 8)
    outs = [bench.var(row.type, 16) for _ in range(2)]

    def element(number, region=Region(0, 1, 0)):  # noqa: B008 - a value that nothing changes
        per_row = bench.grf // row.type.size
        return General(row.number, number // per_row, number % per_row, region)

    def look(i, out):
        dst = bench.dst(out, 1, 0, i) if row.type.size < 8 else bench.dst(out, 1, i // 4, i % 4)
        bench.op("mov", "M1_NM,1", dst=dst, src0=element(i))

    for i in range(count):
        look(i, outs[0])
    keeps = row.writable and row.name not in ("%tsc", "%cr0")
    if keeps:
        for i in range(count):
            bench.op("mov", "M1_NM,1", dst=element(i, Region(None, None, 1)), src0=imm(100 + i, ty.UD))
            look(i, outs[1])
    bench.ret()
    order = dispatch(bench, lanes=LANES, threads=2)
    machine = Machine(replace(order, payload=lambda _g, _n: np.array(HEADER, "<u4").tobytes()))
    _, threads = machine.start(GROUP)
    frame = threads[THREAD].frame
    for _ in threads[THREAD].run(1000):
        pass
    layout, kind = frame.code.layout, np.dtype(f"<u{row.type.size}")
    got = [frame.regs[layout.offset(o) : layout.offset(o) + count * kind.itemsize].view(kind).tolist() for o in outs]
    for i, wanted in enumerate(FOUND[row.name] or []):
        assert wanted is None or got[0][i] == wanted, f"element {i} of {row.name}"
    if keeps:
        assert got[1] == [100 + i for i in range(count)]
    tell("predefined variables", row.name, count * (1 + keeps))


def test_the_timestamp_rises():
    bench = Builder()
    outs = [bench.var(ty.UD, 16) for _ in range(2)]
    for out in outs:
        bench.op("mov", "M1_NM,1", dst=bench.dst(out), src0=General(6, 0, 0, Region(0, 1, 0)))
        bench.op("mov", "M1_NM,1", dst=bench.dst(out, 1, 0, 8), src0=imm(1))
    bench.ret()
    order = dispatch(bench)
    machine = Machine(order)
    _, threads = machine.start((0, 0, 0))
    for _ in threads[0].run(1):
        pass
    frame = threads[0].frame
    first, second = (int(frame.regs[frame.code.layout.offset(o) :][:4].view("<u4")[0]) for o in outs)
    assert second > first
