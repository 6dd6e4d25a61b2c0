"""Short kernels on which the engines differed once, when random programs ran on both.

Such programs are those of ``python -m benchmarks.attack --target programs``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

import test_compiled_faults as faults
from tiers import first

from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.runner import RunOptions, run_text
from visa_lsp.sim import machine
from visa_lsp.sim.jit import native

pytestmark = pytest.mark.usefixtures("at_once")

HEAD = """.version 4.1
.kernel "k"
.decl x v_type=T num_elts=1
.decl f v_type=G type=f num_elts=32 align=GRF
.decl h v_type=G type=hf num_elts=32 align=GRF
.decl g v_type=G type=df num_elts=16 align=GRF
.decl r v_type=G type=ud num_elts=32 align=GRF
.decl i v_type=G type=d num_elts=32 align=GRF alias=<r, 0>
.decl s v_type=G type=hf num_elts=64 align=GRF alias=<r, 0>
.decl q v_type=G type=uq num_elts=8 align=GRF alias=<r, 0>
.decl P1 v_type=P num_elts=16
.decl P2 v_type=P num_elts=16
.decl P3 v_type=P num_elts=16
.decl bits v_type=G type=uw num_elts=1 align=word
.input x offset=64 size=4
.kernel_attr SimdSize=16
    mov (M1_NM, 16) r(0,0)<1> 0x0:ud
    mov (M1_NM, 16) r(2,0)<1> 0x0:ud
    cmp.lt (M1, 16) P1 r(0,0)<1;1,0> 0x1:ud
    mov (M1_NM, 1) bits(0,0)<1> 0x5a3c:uw
    setp (M1_NM, 16) P3 bits(0,0)<0;1,0>
"""
STORE = """    oword_st (8) x 0x0:ud {name}.0
    ret (M1, 1)
"""
LAUNCH = """groups: [1, 1, 1]
local_size: [16, 1, 1]
args:
  x: {buffer: {dtype: uint32, shape: [32], init: zeros}}
"""
# What is stored, and the instructions. Of most, no compiler may calculate these beforehand: the NaN that it makes has another sign.
KERNELS = {
    "zero by zero": ("f", ["div (M1_NM, 16) f(0,0)<1> 0x0:f 0x80000000:f"]),
    "zero by zero, eight bytes": ("g", ["div (M1_NM, 16) g(0,0)<1> -0.0:df 0x8000000000000000:df"]),
    "zero by zero, two bytes": ("h", ["div (M1_NM, 16) h(0,0)<1> 0x0:hf 0x0:hf"]),
    "a variable that holds zero": ("f", ["mov (M1_NM, 16) f(0,0)<1> 0x0:f", "div (M1_NM, 16) f(2,0)<1> f(0,0)<1;1,0> f(0,0)<1;1,0>"]),
    "a zero that was an integer": ("f", ["mov (M1_NM, 16) f(0,0)<1> 0x0:d", "div (M1_NM, 16) f(2,0)<1> f(0,0)<1;1,0> f(0,0)<1;1,0>"]),
    "a chosen zero": ("f", ["(P1) sel (M1_NM, 16) f(0,0)<1> 0x0:f 0x3f800000:f", "div (M1_NM, 16) f(2,0)<1> 0x0:f f(0,0)<1;1,0>"]),
    "infinity less infinity": ("f", ["mov (M1_NM, 16) f(0,0)<1> 0x7f800000:f", "add (M1_NM, 16) f(2,0)<1> f(0,0)<1;1,0> (-)f(0,0)<1;1,0>"]),
    "a half that signals, with another sign": ("h", ["mov (M1_NM, 16) r(0,0)<1> 0x7d01fd03:ud", "mov (M1_NM, 16) h(0,0)<1> (-)s(0,0)<1;1,0>"]),
    "a half that signals, wider": ("f", ["mov (M1_NM, 16) r(0,0)<1> 0x7d01fd03:ud", "mov (M1_NM, 16) f(0,0)<1> s(0,0)<1;1,0>"]),
    "the greater of halves that signal": ("h", ["mov (M1_NM, 16) r(0,0)<1> 0x7d01fd03:ud", "max (M1_NM, 16) h(0,0)<1> s(0,0)<1;1,0> s(0,1)<0;1,0>"]),
    "a float that signals, as a half": ("h", ["mov (M1_NM, 16) f(0,0)<1> 0x7f800001:f", "mov (M1_NM, 16) h(0,0)<1> f(0,0)<1;1,0>"]),
    "lanes that wait while others are at a barrier": ("r", ["(P3) goto (M1, 16) L1", "mov (M1, 16) r(0,0)<1> 0x1:ud", "barrier", "goto (M1, 16) L2", "L1:", "mov (M1, 16) r(0,0)<1> 0x2:ud", "L2:"]),
    "lanes that wait while others use up their time": ("r", ["(P3) goto (M1, 16) L1", "L0:", "add (M1, 16) r(0,0)<1> r(0,0)<1;1,0> 0x1:ud", "cmp.lt (M1, 16) P2 r(0,0)<1;1,0> 0x2710:ud", "(P2) goto (M1, 16) L0", "goto (M1, 16) L2", "L1:", "mov (M1, 16) r(0,0)<1> 0x2:ud", "L2:"]),
    "an unsigned number turned over, shifted as a signed one": ("r", ["asr (M1_NM, 16) r(0,0)<1> (~)r(2,0)<1;1,0> 0x1:ud"]),
    "twice a number of eight bytes in one lane, saturated": ("r", ["oword_ld (8) x 0x0:ud r.0", "add.sat (M1, 1) q(0,1)<1> q(0,0)<1;1,0> q(0,0)<1;1,0>"]),
    "the root of less than nothing": ("f", ["sqrt (M1_NM, 16) f(0,0)<1> -4.0:f"]),
}  # fmt: skip


# What a checker has to say of these, in a few words.
WATCHED = {
    "a divisor without sign beside a number with one": ("divisions by zero", ["div (M1_NM, 16) i(0,0)<1> i(0,0)<1;1,0> r(0,0)<1;1,0>"]),
}  # fmt: skip


def ran(name, lines, engine_name, checks):
    text = (
        HEAD
        + "".join(f"{line}\n" if line.endswith(":") else f"    {line}\n" for line in lines)
        + STORE.format(name=name)
    )
    # TGLLP divides no numbers of eight bytes.
    options = RunOptions(platform="SKL" if name == "g" else "TGLLP", engine=engine_name, checks=checks)
    return run_text(text, parse_launch(LAUNCH, Path("k.launch.yaml")), options)


def left(name, lines, engine_name):
    report = ran(name, lines, engine_name, "none")
    assert (report.engine, report.faults) == (engine_name, ())
    return [hex(number) for number in report.buffers[0].array]


def told(lines, engine_name):
    report = ran("r", lines, engine_name, "all")
    return [str(fault) for fault in (*report.faults, *report.findings)]


@pytest.mark.parametrize("level", first(1, [2, 0]))
@pytest.mark.parametrize("what", KERNELS)
def test_engines_leave_the_same_bits(what, level, monkeypatch):
    monkeypatch.setattr(native, "LEVEL", level)
    name, lines = KERNELS[what]
    assert left(name, lines, "jit") == left(name, lines, "interp")


@pytest.mark.parametrize("what", WATCHED)
def test_engines_tell_the_same(what):
    words, lines = WATCHED[what]
    expected = told(lines, "interp")
    assert any(words in line for line in expected), expected
    assert told(lines, "jit") == expected


_WASTED = "    mov (M1, 16) value(0,0)<1> 0x0:d\n"
TURNS = f"""{faults.HEAD}.decl counter v_type=G type=ud num_elts=16 align=GRF
.decl old v_type=G type=ud num_elts=16 align=GRF alias=<value, 0>
{faults.AT}    mov (M1, 16) counter(0,0)<1> 0xf0:ud
    cmp.ge (M1, 16) P1 value(0,0)<1;1,0> 0x10:d
    (P1) goto (M1, 16) L1
{8 * _WASTED}L1:
    call (M1, 16) sub0
    scatter4_scaled.R (M1, 16) x 0x0:ud at.0 value.0
    ret (M1, 1)
.function "sub0"
sub0:
    dword_atomic.inc (M1, 16) x counter.0 %null.0 %null.0 old.0
    ret (M1, 16)
"""


@pytest.mark.parametrize("engine_name", ["interp", "jit"])
def test_a_turn_ends_at_a_jump_back_and_not_at_a_call(engine_name, monkeypatch):
    """The first of two threads has used its time before the call, and counts before the second nevertheless."""
    monkeypatch.setattr(machine, "QUANTUM", 12)
    launch = parse_launch(faults.LAUNCH.format(groups=1, local=32, init="zeros", more=""), Path("k.launch.yaml"))
    report = run_text(TURNS, launch, RunOptions(platform="TGLLP", engine=engine_name, checks="none"))
    assert (report.engine, report.faults) == (engine_name, ())
    assert report.buffers[0].array[:32].tolist() == list(range(32))


# LLVM never ended where such bytes were chosen by a mask of the whole span.
STRIDE = """.version 4.1
.kernel "k"
.decl x v_type=T num_elts=1
.decl r v_type=G type=ud num_elts=128 align=GRF
.decl b v_type=G type=ub num_elts=448 align=GRF alias=<r, 64>
.decl P1 v_type=P num_elts=32
.decl P2 v_type=P num_elts=32
.input r offset=32 size=512
.input x offset=544 size=4
.kernel_attr SimdSize=16
    cmp.lt (M1_NM, 32) P1 r(0,0)<1;1,0> 0x10000000:ud
    setp (M1_NM, 32) P2 r(0,0)<0;1,0>
    subb (M1_NM, 16) r(0,0)<1> r(1,0)<1> (abs)r(1,0)<1;1,0> 0x1:ud
L1:
    (P1) not (M1, 16) b(0,0)<4> b(0,0)<1;1,0>
    (P1) not (M1, 16) b(0,0)<4> b(0,0)<1;1,0>
    (!P2) goto (M1, 16) L2
    add3 (M1, 16) r(0,4)<1> r(0,4)<0;1,0> r(1,0)<4;4,1> (abs)r(0,0)<8;8,1>
L2:
    oword_st (8) x 0x0:ud r.64
    ret (M1, 1)
"""


def test_bytes_with_others_between_them_are_stored_under_a_mask(monkeypatch):
    monkeypatch.setattr(native, "LEVEL", 2)
    values = f"  r: {{values: {list(range(1 << 28, (1 << 28) + 64))}, dtype: uint64}}\n"
    launch = parse_launch(LAUNCH + values, Path("k.launch.yaml"))
    stored = [
        run_text(STRIDE, launch, RunOptions(engine=engine, checks="none", platform="TGLLP")).buffers[0].array.tolist()
        for engine in ("interp", "jit")
    ]
    assert stored[0] == stored[1]
    assert any(stored[0])
