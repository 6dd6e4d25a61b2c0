"""Kernels that change the rounding of ``%cr0`` on their way: both engines give the same bits, and compiled code is not left."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from tiers import first

from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.runner import RunOptions, run_text
from visa_lsp.sim.jit.machine import CompiledThread

pytestmark = pytest.mark.usefixtures("at_once")

HEAD = """.version 4.1
.kernel "k"
.decl ids v_type=G type=uw num_elts=16 align=GRF
.decl x v_type=T num_elts=1
.decl y v_type=T num_elts=1
.decl at v_type=G type=ud num_elts=16 align=GRF
.decl a v_type=G type=f num_elts=16 align=GRF
.decl b v_type=G type=f num_elts=16 align=GRF
.decl c v_type=G type=f num_elts=16 align=GRF
.decl i v_type=G type=d num_elts=16 align=GRF alias=<a, 0>
.decl r v_type=G type=f num_elts=16 align=GRF
.decl h v_type=G type=hf num_elts=16 align=GRF
.decl P1 v_type=P num_elts=16
.decl group v_type=G type=ud num_elts=1 align=dword alias=<%r0, 4>
.input ids offset=32 size=32
.input x offset=64 size=4
.input y offset=68 size=4
.kernel_attr SimdSize=16
"""
READ = """    mov (M1, 16) at(0,0)<1> ids(0,0)<1;1,0>
    mad (M1, 16) at(0,0)<1> group(0,0)<0;1,0> 0x10:ud at(0,0)<1;1,0>
    shl (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x2:ud
    gather4_scaled.R (M1, 16) x 0x0:ud at.0 a.0
    gather4_scaled.R (M1, 16) x 0x1000:ud at.0 b.0
    gather4_scaled.R (M1, 16) x 0x2000:ud at.0 c.0
"""
WRITE = "    scatter4_scaled.R (M1, 16) y 0x0:ud at.0 r.0\n"
CHANGE = "    xor (M1_NM, 1) %cr0(0,0)<1> %cr0(0,0)<0;1,0> {bits}:ud\n"
WORDS = {
    "add": "add (M1, 16) r(0,0)<1> a(0,0)<1;1,0> b(0,0)<1;1,0>",
    "subtract": "add (M1, 16) r(0,0)<1> a(0,0)<1;1,0> (-)b(0,0)<1;1,0>",
    "mul": "mul (M1, 16) r(0,0)<1> a(0,0)<1;1,0> b(0,0)<1;1,0>",
    "mad": "mad (M1, 16) r(0,0)<1> a(0,0)<1;1,0> b(0,0)<1;1,0> c(0,0)<1;1,0>",
    "saturated": "mad.sat (M1, 16) r(0,0)<1> a(0,0)<1;1,0> b(0,0)<1;1,0> c(0,0)<1;1,0>",
    "div": "div (M1, 16) r(0,0)<1> a(0,0)<1;1,0> b(0,0)<1;1,0>",
    "inv": "inv (M1, 16) r(0,0)<1> a(0,0)<1;1,0>",
    "sqrt": "sqrt (M1, 16) r(0,0)<1> (abs)a(0,0)<1;1,0>",
    "min": "min (M1, 16) r(0,0)<1> a(0,0)<1;1,0> b(0,0)<1;1,0>",
    "from integers": "mov (M1, 16) r(0,0)<1> i(0,0)<1;1,0>",
    "to half": "mov (M1, 16) h(0,0)<1> a(0,0)<1;1,0>\n    mov (M1, 16) r(0,0)<1> h(0,0)<1;1,0>",
}
# Rounding up, down and to zero; with the last, denormals of f stay.
MODES = {"up": 0x10, "down": 0x20, "zero": 0x30, "zero, denormals": 0xB0}
LAUNCH = """groups: [64, 1, 1]
local_size: [16, 1, 1]
args:
  x: {{buffer: {{dtype: float32, shape: [3072], npy: {file}}}}}
  y: {{buffer: {{dtype: float32, shape: [1024], init: zeros}}}}
"""


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    """Floats of all kinds: near to each other, far apart, the smallest and largest, none at all."""
    random = np.random.default_rng(5)
    bits = random.integers(0, 1 << 32, 3072, np.uint32)
    bits[::3] = random.normal(size=1024).astype(np.float32).view(np.uint32)
    found = bits.view(np.float32)
    special = [0.0, -0.0, np.inf, -np.inf, 1.0, -1.0, 1e-45, -1e-45, 1.1754942e-38, 3.4028235e38, -3.4028235e38, 0.1]
    for start in (0, 1024, 2048):
        found[start : start + 400 : 2] = random.choice(np.float32(special), 200)
    path = tmp_path_factory.mktemp("numbers") / "x.npy"
    np.save(path, found)
    return path


def ran(body, engine_name, numbers):
    launch = parse_launch(LAUNCH.format(file=numbers.name), Path(numbers.parent / "k.launch.yaml"))
    report = run_text(
        f"{HEAD}{READ}{body}{WRITE}    ret (M1, 1)\n",
        launch,
        RunOptions(platform="TGLLP", engine=engine_name, checks="none"),
    )
    assert not report.faults
    return report.buffers[1].array


def same(first, second):
    """Whether two arrays have the same bits."""
    return np.array_equal(first.view(np.uint32), second.view(np.uint32))


# By default each mode, with words that differ in how they are compiled: of one LLVM operation, fused, saturated, with a formula, converted.
BY_DEFAULT = [
    ("mad", "up"), ("add", "down"), ("div", "zero"), ("saturated", "zero, denormals"), ("from integers", "zero"), ("to half", "zero"),
]  # fmt: skip
CASES = list(dict.fromkeys([*BY_DEFAULT, *itertools.product(WORDS, MODES)]))


@pytest.mark.parametrize("case", first(len(BY_DEFAULT), CASES), ids="-".join)
def test_a_word_rounds_the_same(case, numbers, monkeypatch):
    word, mode = case
    change = CHANGE.format(bits=hex(MODES[mode]))
    body = f"{change}    {WORDS[word]}\n{change}"
    expected = ran(body, "interp", numbers)
    if word not in ("min", "inv", "sqrt") and mode == "zero":
        assert not same(expected, ran(f"    {WORDS[word]}\n", "interp", numbers)), "the mode is of no effect here"
    monkeypatch.setattr(CompiledThread, "slice", None)  # nothing is left to the interpreter
    assert same(ran(body, "jit", numbers), expected)


def test_modes_that_lanes_branch_in_are_left_to_the_interpreter(numbers):
    change = CHANGE.format(bits="0x30")
    branch = "    cmp.lt (M1, 16) P1 a(0,0)<1;1,0> b(0,0)<1;1,0>\n    (P1) goto (M1, 16) out\n"
    body = f"    mov (M1, 16) r(0,0)<1> a(0,0)<1;1,0>\n{branch}{change}    {WORDS['mad']}\nout:\n    add (M1, 16) r(0,0)<1> r(0,0)<1;1,0> c(0,0)<1;1,0>\n"
    assert same(ran(body, "jit", numbers), ran(body, "interp", numbers))
