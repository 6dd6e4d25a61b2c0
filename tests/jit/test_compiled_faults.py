"""Kernels that do not end, are very large, or do what only a checker sees: the compiled engine stays bounded and right."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from unjudged_run import run_unjudged

from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.runner import RunOptions
from visa_lsp.sim.analyses import costs
from visa_lsp.sim.jit import body as bodies
from visa_lsp.sim.jit import emitter, native

pytestmark = pytest.mark.usefixtures("at_once")

HEAD = """.version 4.1
.kernel "k"
.decl ids v_type=G type=uw num_elts=16 align=GRF
.decl x v_type=T num_elts=1
.decl at v_type=G type=ud num_elts=16 align=GRF
.decl value v_type=G type=d num_elts=16 align=GRF
.decl never v_type=G type=d num_elts=16 align=GRF
.decl group v_type=G type=ud num_elts=1 align=dword alias=<%r0, 4>
.decl P1 v_type=P num_elts=16
.input ids offset=32 size=32
.input x offset=64 size=4
.kernel_attr SimdSize=16
.kernel_attr SLMSize=1
"""
AT = """    mov (M1, 16) at(0,0)<1> ids(0,0)<1;1,0>
    shl (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x2:ud
    mov (M1, 16) value(0,0)<1> ids(0,0)<1;1,0>
"""
LAUNCH = """groups: [{groups}, 1, 1]
local_size: [{local}, 1, 1]
args:
  x: {{buffer: {{dtype: int32, shape: [64], init: {init}}}{more}}}
"""
# What a kernel does, the kind of report, and how it is launched.
FAULTS = {
    "out of bounds": ("    add (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0xf8:ud\n    scatter4_scaled.R (M1, 16) x 0x0:ud at.0 value.0\n", "out-of-bounds", {}),
    "two groups at one place": ("    scatter4_scaled.R (M1, 16) x 0x0:ud at.0 value.0\n    add (M1, 16) value(0,0)<1> value(0,0)<1;1,0> group(0,0)<0;1,0>\n    scatter4_scaled.R (M1, 16) x 0x0:ud at.0 value.0\n", "data-race", {}),
    "two groups at one byte of two dwords": ("    mov (M1, 16) value(0,0)<1> 0x7:d\n    add (M1, 16) at(0,0)<1> group(0,0)<0;1,0> 0x3:ud\n    scatter_scaled.2 (M1, 16) x 0x0:ud at.0 value.0\n", "data-race", {}),
    "lanes with different values": ("    mov (M1, 16) at(0,0)<1> 0x0:ud\n    scatter4_scaled.R (M1, 16) x 0x0:ud at.0 value.0\n", "data-race", {"groups": 1}),
    "lanes that overlap": ("    shr (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x1:ud\n    scatter_scaled.4 (M1, 16) x 0x0:ud at.0 value.0\n", "data-race", {"groups": 1}),
    "lanes whose elements overlap": ("    mov (M1, 16) two(0,0)<1> value(0,0)<1;1,0>\n    mov (M1, 16) two(2,0)<1> 0x7:d\n    scatter4_scaled.RG (M1, 16) x 0x0:ud at.0 two.0\n", "data-race", {"groups": 1, "declared": ".decl two v_type=G type=d num_elts=32 align=GRF\n"}),
    "threads that share without a barrier": ("    scatter4_scaled.R (M1, 16) %slm 0x0:ud at.0 value.0\n    xor (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x40:ud\n    scatter4_scaled.R (M1, 16) %slm 0x0:ud at.0 at.0\n", "data-race", {"groups": 1, "local": 32}),
    "never written": ("    scatter4_scaled.R (M1, 16) x 0x0:ud at.0 never.0\n", "uninitialised-read", {"groups": 1}),
    "shared memory that holds nothing": ("    gather4_scaled.R (M1, 16) %slm 0x0:ud at.0 value.0\n    scatter4_scaled.R (M1, 16) x 0x0:ud at.0 value.0\n", "uninitialised-read", {"groups": 1}),
    "a byte of shared memory that holds nothing": ("    scatter_scaled.1 (M1, 16) %slm 0x0:ud at.0 value.0\n    gather_scaled.1 (M1, 16) %slm 0x1:ud at.0 value.0\n    scatter_scaled.1 (M1, 16) x 0x0:ud at.0 value.0\n", "uninitialised-read", {"groups": 1}),
    "threads that share bytes without a barrier": ("    shr (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x2:ud\n    scatter_scaled.1 (M1, 16) %slm 0x0:ud at.0 value.0\n    xor (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x10:ud\n    scatter_scaled.1 (M1, 16) %slm 0x0:ud at.0 value.0\n", "data-race", {"groups": 1, "local": 32}),
    "divided by zero": ("    div (M1, 16) value(0,0)<1> value(0,0)<1;1,0> value(0,0)<1;1,0>\n", "division-by-zero", {"groups": 1}),
    "an odd address": ("    add (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x1:ud\n    gather4_scaled.R (M1, 16) x 0x0:ud at.0 value.0\n", "misaligned-access", {"groups": 1}),
    "a barrier that lanes miss": ("    cmp.lt (M1, 16) P1 value(0,0)<1;1,0> 0x8:d\n    (P1) goto (M1, 16) out\n    barrier\nout:\n", "barrier-divergence", {"groups": 1}),
    "a store to what is readonly": ("    scatter4_scaled.R (M1, 16) x 0x0:ud at.0 value.0\n", "wrong-access", {"groups": 1, "more": ", access: readonly"}),
    "a region that leaves its variable": ("    mov (M1, 16) value(1,0)<1> 0x1:d\n    mov (M1, 16) value(0,8)<1> 0x1:d\n", "region-outside-variable", {"groups": 1}),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _cheap(monkeypatch):
    monkeypatch.setattr(native, "LEVEL", 0)


def ran(body, engine_name, checks="all", budget=None, groups=2, local=16, more="", init="arange", declared=""):
    launch = parse_launch(LAUNCH.format(groups=groups, local=local, more=more, init=init), Path("k.launch.yaml"))
    options = RunOptions(platform="TGLLP", engine=engine_name, checks=checks, budget=budget)
    return run_unjudged(f"{HEAD}{declared}{AT}{body}    ret (M1, 1)\n", launch, options)


def told(report):
    return [str(fault) for fault in (*report.faults, *report.findings)]


@pytest.mark.parametrize("what", FAULTS)
def test_no_fault_is_overlooked(what):
    body, kind, launch = FAULTS[what]
    expected = ran(body, "interp", **launch)
    assert kind in {fault.kind.value for fault in (*expected.faults, *expected.findings)}
    found = ran(body, "jit", **launch)
    assert found.engine == "interp"
    assert told(found) == told(expected)
    assert (found.buffers[0].array == expected.buffers[0].array).all()


@pytest.mark.parametrize("what", ["out of bounds", "lanes whose elements overlap", "shared memory that holds nothing"])
def test_no_fault_is_overlooked_in_a_function_for_equal_messages(what, monkeypatch):
    monkeypatch.setattr(emitter, "MAX_INLINE_MESSAGES", 0)
    monkeypatch.setattr(bodies, "MAX_HELD_INSTRUCTIONS", 0)
    test_no_fault_is_overlooked(what)


def test_what_is_clean_is_told_by_compiled_code():
    body = "    mad (M1, 16) value(0,0)<1> value(0,0)<1;1,0> 0x3:w value(0,0)<1;1,0>\n    scatter4_scaled.R (M1, 16) x 0x0:ud at.0 value.0\n"
    report = ran(body, "jit", groups=1)
    assert (report.engine, told(report)) == ("jit", [])
    assert report.buffers[0].array[:16].tolist() == [4 * n for n in range(16)]


def test_bytes_and_words_of_shared_memory_are_clean_where_each_is_written_by_one_thread():
    body = """    shr (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x1:ud
    scatter_scaled.2 (M1, 16) %slm 0x0:ud at.0 value.0
    gather_scaled.2 (M1, 16) %slm 0x0:ud at.0 value.0
    shr (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x1:ud
    scatter_scaled.1 (M1, 16) %slm 0x40:ud at.0 at.0
    gather_scaled.1 (M1, 16) %slm 0x40:ud at.0 never.0
    add (M1, 16) value(0,0)<1> value(0,0)<1;1,0> never(0,0)<1;1,0>
    shl (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x2:ud
    scatter4_scaled.R (M1, 16) x 0x0:ud at.0 value.0
"""
    report = ran(body, "jit", groups=1, local=32)
    assert (report.engine, told(report)) == ("jit", [])
    assert report.buffers[0].array[:32].tolist() == [2 * n for n in range(32)]


def test_elements_at_any_address_are_clean_where_no_other_thread_is():
    body = """    mul (M1, 16) at(0,0)<1> ids(0,0)<1;1,0> 0x3:uw
    gather_scaled.2 (M1, 16) x 0x0:ud at.0 value.0
    scatter_scaled.4 (M1_NM, 1) x 0x3f:ud at.0 value.0
"""
    report = ran(body, "jit", groups=1)
    assert (report.engine, told(report)) == ("jit", [])
    assert report.buffers[0].array.tobytes()[0x3F:0x43] == bytes([0, 0, 0, 0])


def test_a_register_that_one_lane_addresses_is_clean_while_lanes_are_elsewhere():
    body = """    cmp.lt (M1, 16) P1 ids(0,0)<1;1,0> 0x9:uw
    (!P1) goto (M1, 16) out
    shl (M1, 16) word(0,0)<1> ids(0,0)<1;1,0> 0x2:uw
    addr_add (M1, 16) A0(0)<1> &value word(0,0)<1;1,0>
    setp (M1_NM, 16) P2 0x4:ud
    (P2) mov (M1, 8) r[A0(2),0]<1>:d 0x63:d
    scatter4_scaled.R (M1, 16) x 0x0:ud at.0 value.0
out:
"""
    declared = ".decl word v_type=G type=uw num_elts=16 align=GRF\n.decl A0 v_type=A num_elts=16\n.decl P2 v_type=P num_elts=16\n"
    found, expected = (ran(body, name, groups=1, declared=declared) for name in ("jit", "interp"))
    assert (found.engine, told(found)) == ("jit", told(expected))
    assert (found.buffers[0].array == expected.buffers[0].array).all()


def test_a_loop_over_lanes_with_equal_values_is_clean_while_lanes_are_elsewhere():
    body = """    cmp.lt (M1, 16) P1 ids(0,0)<1;1,0> 0x9:uw
    (!P1) goto (M1, 16) out
    setp (M1_NM, 16) P2 0x0:ud
    cmp.eq (M1, 16) P2 never(0,0)<0;1,0> never(0,0)<0;1,0>
    mov (M1_NM, 1) left(0,0)<1> P2
again:
    fbl (M1_NM, 1) lane(0,0)<1> left(0,0)<0;1,0>
    shl (M1_NM, 1) lane(0,0)<1> lane(0,0)<0;1,0> 0x2:w
    addr_add (M1_NM, 1) A0(0)<1> &value word(0,0)<0;1,0>
    mov (M1_NM, 1) same(0,0)<1> r[A0(0),0]<0;1,0>:d
    cmp.eq (M1, 16) P3 same(0,0)<0;1,0> value(0,0)<1;1,0>
    (P3) scatter4_scaled.R (M1, 16) x 0x0:ud at.0 value.0
    mov (M1_NM, 1) done(0,0)<1> P3
    and (M1_NM, 1) left(0,0)<1> left(0,0)<0;1,0> (~)done(0,0)<0;1,0>
    setp (M1_NM, 16) P3 left(0,0)<0;1,0>
    (P3) goto (M1, 16) again
out:
"""
    numbers = "".join(f".decl {name} v_type=G type=ud num_elts=1\n" for name in ("left", "lane", "done", "same"))
    declared = f"{numbers}.decl word v_type=G type=uw num_elts=2 alias=<lane, 0>\n.decl A0 v_type=A num_elts=1\n"
    predicates = ".decl P2 v_type=P num_elts=16\n.decl P3 v_type=P num_elts=16\n"
    report = ran(body, "jit", groups=1, init="zeros", declared=declared + predicates)
    assert (report.engine, told(report)) == ("jit", [])
    assert report.buffers[0].array[:16].tolist() == [*range(9), *[0] * 7]


def test_groups_that_a_check_sends_back_are_counted_and_making_code_is_timed():
    body, _, launch = FAULTS["out of bounds"]
    report = ran(body, "jit", **launch)
    assert report.result.replayed_groups == report.result.groups == 2
    assert report.time.compile > 0
    clean = ran("    scatter4_scaled.R (M1, 16) x 0x0:ud at.0 value.0\n", "jit", groups=1)
    assert (clean.result.replayed_groups, clean.engine) == (0, "jit")
    assert clean.time.compile > 0
    assert ran(body, "interp", **launch).time.compile == 0


@pytest.mark.parametrize("checks", ["none", "all"])
def test_a_loop_without_end_is_ended_by_the_budget(checks):
    body = "again:\n    add (M1, 16) value(0,0)<1> value(0,0)<1;1,0> 0x1:w\n    jmp (M1, 1) again\n"
    expected, found = (ran(body, name, checks, budget=100_000) for name in ("interp", "jit"))
    assert [fault.kind.value for fault in found.faults] == ["step-budget"]
    assert told(found) == told(expected)
    assert found.result.instructions == expected.result.instructions


def test_a_large_kernel_is_interpreted_and_a_note_says_so(monkeypatch):
    monkeypatch.setattr(costs, "MAX_INSTRUCTIONS", 40)
    body = "    add (M1, 16) value(0,0)<1> value(0,0)<1;1,0> 0x1:w\n" * 40
    report = ran(body, "auto", groups=1)
    assert report.engine == "interp"
    assert any("are interpreted" in note for note in report.notes)


def test_an_atomic_of_floats_is_clean_and_keeps_the_old_value_where_neither_is_less():
    declared = ".decl f v_type=G type=f num_elts=16 align=GRF\n.decl none v_type=G type=f num_elts=16 align=GRF\n"
    body = """    mov (M1, 16) at(0,0)<1> 0x0:ud
    mov (M1, 16) f(0,0)<1> ids(0,0)<1;1,0>
    dword_atomic.fmax (M1, 16) x at.0 f.0 %null.0 none.0
    mov (M1, 16) f(0,0)<1> 0x80000000:f
    mov (M1, 16) at(0,0)<1> 0x4:ud
    dword_atomic.fmin (M1, 16) x at.0 f.0 %null.0 %null.0
"""
    for engine_name in ("jit", "interp"):
        report = ran(body, engine_name, groups=1, init="zeros", declared=declared)
        assert (report.engine, told(report)) == (engine_name, [])
        assert report.buffers[0].array[:2].view("<f4").tolist() == [15.0, 0.0]
        assert report.buffers[0].array[1] == 0  # not the bits of -0.0
