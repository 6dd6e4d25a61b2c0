"""Functions that are formulas: both engines give the same bits, whatever numbers lanes have, at either level of optimising."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from compiled_engine import compile_at_once
from tiers import first

import visa_lsp
from visa_lsp.isa.platforms import platform_named
from visa_lsp.sema.lower import resolve_text
from visa_lsp.sim.analyses.modes import ModePlan, Modes
from visa_lsp.sim.interp import Code
from visa_lsp.sim.jit import native
from visa_lsp.sim.jit.body import BodyPlan, CompiledBody
from visa_lsp.sim.jit.code_cache import Bindings, Stopwatch
from visa_lsp.sim.lane_formulas import FORMULAS

GROUPS = 60
MNEMONICS = {"exp2": "exp", "log2": "log"}
# Zeros, ones, infinities, NaNs, denormals, the largest, and angles about those from which on a table is looked into.
SPECIAL = [
    0, 0x80000000, 0x3F800000, 0xBF800000, 0x7F800000, 0xFF800000, 0x7FC00001, 0xFF812345, 1, 0x80000001, 0x7F7FFFFF, 0xFF7FFFFF,
    0x4B7FFFFF, 0x4B800000, 0x4B800001, 0xCB800000, 0x3F7FFFFF, 0x3F800001,
]  # fmt: skip
TEXT = """.version 4.1
.kernel "k"
.decl x v_type=T num_elts=1
.decl a v_type=G type=f num_elts=32 align=GRF
.decl b v_type=G type=f num_elts=32 align=GRF
.decl at v_type=G type=ud num_elts=1 align=dword
.decl group v_type=G type=ud num_elts=1 align=dword alias=<%r0, 4>
.input x offset=64 size=4
.kernel_attr SimdSize=16
    mul (M1, 1) at(0,0)<1> group(0,0)<0;1,0> 0x8:ud
    oword_ld (8) x at(0,0)<0;1,0> a.0
    mov (M1_NM, 32) b(0,0)<1> a(0,1)<0;1,0>
    WORD (M1_NM, WIDTH) a(0,0)<1> a(0,0)<REGION>SECOND
    oword_st (8) x at(0,0)<0;1,0> a.0
    ret (M1, 1)
"""


def numbers():
    """Return groups of 32 lanes: a third any bits, a third near, the rest special."""
    random, count = np.random.default_rng(7), GROUPS * 32
    near = random.uniform(-130, 130, count).astype(np.float32).view(np.uint32)
    found = np.where(random.random(count) < 0.5, random.integers(0, 1 << 32, count, np.uint32), near)
    return np.where(random.random(count) < 0.3, random.choice(np.array(SPECIAL, np.uint32), count), found)


def text_of(word, width):
    """Return a kernel, and a platform that has the function."""
    platform = "CRI" if word in ("tanh", "sigm") else "TGLLP"
    text = TEXT.replace("WORD", MNEMONICS.get(word, word)).replace("WIDTH", str(width))
    if platform == "CRI":
        text = text.replace(".version 4.1", ".version 4.2")
    text = text.replace("REGION", "0;1,0" if width == 1 else "1;1,0")
    return text.replace("SECOND", " b(0,0)<0;1,0>" if word == "pow" else ""), platform


@pytest.mark.parametrize("word", FORMULAS)
def test_no_function_is_left_to_the_interpreter(word):
    text, platform = text_of(word, 16)
    kernel = resolve_text(text, platform).module.kernels[0]
    code = Code(kernel, platform_named(platform).grf_bytes)
    body = CompiledBody(BodyPlan(code, ModePlan.constant(code, Modes()), Bindings()), Stopwatch()).body
    assert body.called_out.isdisjoint(pc for pc, inst in enumerate(kernel.instructions) if inst.row.family == "math")


# By default each word once, and one word in each width and at each level.
BY_DEFAULT = [*((word, 16, 2) for word in FORMULAS), ("pow", 1, 2), ("pow", 8, 0), ("sin", 32, 2)]
CASES = list(dict.fromkeys([*BY_DEFAULT, *itertools.product(FORMULAS, (1, 8, 16, 32), (0, 2))]))


@pytest.mark.parametrize("case", first(len(BY_DEFAULT), CASES), ids=lambda case: "-".join(map(str, case)))
def test_engines_give_the_same_bits(case, monkeypatch):
    word, width, level = case
    compile_at_once(monkeypatch.setattr)
    monkeypatch.setattr(native, "LEVEL", level)
    text, platform = text_of(word, width)
    kernel = visa_lsp.load(text, platform=platform).kernels["k"]
    before, left = numbers(), []
    for engine in ("interp", "jit"):
        array = before.copy()
        result = kernel.launch(groups=(GROUPS, 1, 1), local_size=(1, 1, 1), args=[array], engine=engine, checks="none")
        assert (result.engine, result.ok) == (engine, True)
        left.append(array)
    different = [
        (hex(a), hex(b), hex(c))
        for a, b, c in zip(before.tolist(), left[0].tolist(), left[1].tolist(), strict=True)
        if b != c
    ]
    assert different == []
    # Something was written, and what was written is not the source.
    assert (left[0].reshape(-1, 32)[:, :width] != before.reshape(-1, 32)[:, :width]).any()
