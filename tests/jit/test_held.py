"""Registers that compiled code holds in values of its own: lanes that are off keep what somebody asks for again."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from compiled_engine import compile_at_once
from tiers import first

from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.runner import RunOptions, run_text
from visa_lsp.sema.lower import resolve_text
from visa_lsp.sim import machine
from visa_lsp.sim.analyses.modes import ModePlan, Modes
from visa_lsp.sim.analyses.register_promotion import find_held
from visa_lsp.sim.interp import Code
from visa_lsp.sim.jit import native
from visa_lsp.sim.jit.body import BodyPlan
from visa_lsp.sim.jit.code_cache import Bindings

HEAD = """.version 4.1
.kernel "k"
.decl x v_type=T num_elts=1
.decl id v_type=G type=uw num_elts=16 align=GRF
.decl at v_type=G type=ud num_elts=16 align=GRF
.decl v v_type=G type=ud num_elts=16 align=GRF
.decl w v_type=G type=ud num_elts=16 align=GRF
.decl n v_type=G type=ud num_elts=1 align=dword
.decl bits v_type=G type=uw num_elts=1 align=word
.decl P1 v_type=P num_elts=16
.decl P2 v_type=P num_elts=16
.input x offset=64 size=4
.kernel_attr SimdSize=16
    mov (M1_NM, 8) id(0,0)<1> 0x76543210:uv
    add (M1_NM, 8) id(0,8)<1> id(0,0)<1;1,0> 0x8:uw
    shl (M1, 16) at(0,0)<1> id(0,0)<1;1,0> 0x2:uw
    mov (M1_NM, 1) bits(0,0)<1> 0x5a3c:uw
    setp (M1_NM, 16) P1 bits(0,0)<0;1,0>
    mad (M1, 16) v(0,0)<1> at(0,0)<1;1,0> at(0,0)<1;1,0> 0x7:ud
    mov (M1_NM, 1) n(0,0)<1> 0x3:ud
"""
TAIL = """    scatter4_scaled.R (M1, 16) x 0x0:ud at.0 w.0
    ret (M1, 1)
"""
LAUNCH = """groups: [3, 1, 1]
local_size: [32, 1, 1]
args:
  x: {buffer: {dtype: uint32, shape: [16], init: arange}}
"""
APART = "    mov (M1, 16) v(0,0)<1> 0x64:ud\n"
# What is between head and tail, and whether the write of 100 may fill lanes that are off.
BODIES = {
    "lanes that wait ask for what they had": (
        "    (P1) goto (M1, 16) L1\n" + APART + "    mov (M1, 16) w(0,0)<1> v(0,0)<1;1,0>\n    goto (M1, 16) L2\n"
        "L1:\n    mov (M1, 16) w(0,0)<1> v(0,0)<1;1,0>\nL2:\n", False,
    ),
    "lanes that wait write first": (
        "    (P1) goto (M1, 16) L1\n" + APART + "    mov (M1, 16) w(0,0)<1> v(0,0)<1;1,0>\n    goto (M1, 16) L2\n"
        "L1:\n    add (M1, 16) v(0,0)<1> at(0,0)<1;1,0> 0x5:ud\n    mov (M1, 16) w(0,0)<1> v(0,0)<1;1,0>\nL2:\n", True,
    ),
    "another lane asks for it": (
        "    (P1) goto (M1, 16) L1\n" + APART + "    mov (M1, 16) w(0,0)<1> v(0,2)<0;1,0>\n    goto (M1, 16) L2\n"
        "L1:\n    mov (M1, 16) w(0,0)<1> 0x9:ud\nL2:\n", False,
    ),
    "whoever writes where the predicate says": (
        "    mov (M1, 16) w(0,0)<1> 0x1:ud\n    (P1) goto (M1, 16) L1\n" + APART
        + "    (P1) mov (M1, 16) v(0,0)<1> 0x2:ud\n    mov (M1, 16) w(0,0)<1> v(0,0)<1;1,0>\nL1:\n", True,
    ),
    "a jump over the place where lanes wait": (
        "    mov (M1, 16) w(0,0)<1> 0x1:ud\n    (P1) goto (M1, 16) L1\n    jmp (M1, 1) L2\nL3:\n    goto (M1, 16) L4\n"
        "L1:\n    mov (M1, 16) w(0,0)<1> v(0,0)<1;1,0>\n    goto (M1, 16) L4\nL2:\n" + APART
        + "    mov (M1, 16) w(0,0)<1> v(0,0)<1;1,0>\n    jmp (M1, 1) L3\nL4:\n", False,
    ),
    "a loop that outlasts its time, with lanes that have left it": (
        "    mov (M1, 16) w(0,0)<1> 0x0:ud\nL0:\n    add (M1, 16) w(0,0)<1> w(0,0)<1;1,0> n(0,0)<0;1,0>\n"
        "    cmp.lt (M1, 16) P2 w(0,0)<1;1,0> v(0,0)<1;1,0>\n    (P2) goto (M1, 16) L0\n" + APART
        + "    add (M1, 16) w(0,0)<1> w(0,0)<1;1,0> v(0,0)<1;1,0>\n", True,
    ),
    "registers that live over a barrier": (
        "    mov (M1, 16) w(0,0)<1> v(0,0)<1;1,0>\n" + APART + "    barrier\n"
        "    add (M1, 16) w(0,0)<1> w(0,0)<1;1,0> n(0,0)<0;1,0>\n", True,
    ),
    "a gather whose lanes stand in an operand": (
        "    mov (M1, 16) w(0,0)<1> 0x4d:ud\n    barrier\n    (P1) goto (M1, 16) L1\n" + APART
        + "    gather.4 (M1, 16) x 0x0:ud id.0 w.0\nL1:\n", True,
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr(machine, "QUANTUM", 50)
    compile_at_once(monkeypatch.setattr)


def left(what, engine_name):
    options = RunOptions(platform="TGLLP", engine=engine_name, checks="none")
    report = run_text(HEAD + BODIES[what][0] + TAIL, parse_launch(LAUNCH, Path("k.launch.yaml")), options)
    assert (report.engine, report.faults) == (engine_name, ())
    return report.buffers[0].array.tolist(), report.instructions, report.result.instructions


@pytest.mark.parametrize("level", first(1, [2, 0]))
@pytest.mark.parametrize("what", BODIES)
def test_engines_leave_the_same(what, level, monkeypatch):
    monkeypatch.setattr(native, "LEVEL", level)
    assert left(what, "jit") == left(what, "interp")


def held(what):
    """Return the held registers of a kernel, and the place of the write of 100."""
    made = resolve_text(HEAD + BODIES[what][0] + TAIL, "TGLLP")
    code = Code(made.module.kernels[0], 32)
    for pc in range(len(code.kernel.instructions)):
        code.op(pc)
    body = BodyPlan(code, ModePlan.constant(code, Modes()), Bindings())
    place = next(
        pc
        for pc, inst in enumerate(code.kernel.instructions)
        if inst.row.mnemonic == "mov" and getattr(inst.get("src0"), "bits", None) == 0x64
    )
    return find_held(code, body.starts, body.ends), place


@pytest.mark.parametrize("what", BODIES)
def test_lanes_that_are_off_are_written_where_nobody_asks_for_them(what):
    found, place = held(what)
    assert (place in found.whole) is BODIES[what][1]


def test_pieces_are_what_no_access_crosses():
    found, _ = held("registers that live over a barrier")
    sizes = {size for _, size in found.pieces}
    assert {64, 4, 2} <= sizes
    start, size = next(piece for piece in found.pieces if piece.size == 64)
    assert found.at(start, start + size) == found.at(start + 4, start + 8) >= 0
    assert found.at(start + size - 4, start + size + 4) is None
    assert found.at(0, 4) == -1
