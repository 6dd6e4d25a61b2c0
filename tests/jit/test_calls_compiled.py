"""Subroutines under checkers: they run as compiled code in the place of their calls, and reports and counts are those of the text."""

from __future__ import annotations

import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

import test_compiled_faults as faults

from visa_lsp.sim.jit import native

DECLARED = ".decl P2 v_type=P num_elts=16\n"
CALLS = """    call (M1, 16) twice
    cmp.lt (M1, 16) P1 value(0,0)<1;1,0> 0x8:d
again:
    (P1) call (M1, 16) more
    cmp.lt (M1, 16) P1 value(0,0)<1;1,0> 0x6:d
    (P1) goto (M1, 16) again
    scatter4_scaled.R (M1, 16) x 0x0:ud at.0 value.0
    ret (M1, 1)
.function "more"
    call (M1, 16) twice
    cmp.gt (M1, 16) P2 value(0,0)<1;1,0> 0x9:d
    (P2) ret (M1, 16)
    {in_more}
    add (M1, 16) value(0,0)<1> value(0,0)<1;1,0> 0x1:d
    ret (M1, 16)
.function "twice"
    {in_twice}
    add (M1, 16) value(0,0)<1> value(0,0)<1;1,0> value(0,0)<1;1,0>
"""
PLACES = {
    "clean": {},
    "undefined": {"in_more": "scatter4_scaled.R (M1, 16) x 0x0:ud at.0 never.0"},
    "outside": {"in_more": "(P2) scatter4_scaled.R (M1, 16) x 0x400:ud at.0 at.0\n    scatter4_scaled.R (M1, 16) x 0x400:ud at.0 at.0"},
    "divided by zero": {"in_twice": "div (M1, 16) never(0,0)<1> value(0,0)<1;1,0> value(0,0)<1;1,0>"},
    "barrier of some lanes": {"in_more": "barrier"},
    "without end": {"in_more": "\ninside:\n    jmp (M1, 1) inside"},
    "from one into the other": {"in_more": "jmp (M1, 1) inside", "in_twice": "\ninside:"},
}  # fmt: skip


@pytest.fixture(autouse=True)
def _cheap(monkeypatch, at_once):
    monkeypatch.setattr(native, "LEVEL", 0)


@pytest.mark.parametrize("what", PLACES)
def test_calls_do_the_same_compiled(what):
    body = CALLS.format(**{"in_more": "", "in_twice": ""} | PLACES[what])
    expected, found = (ran(body, name) for name in ("interp", "jit"))
    assert faults.told(found) == faults.told(expected)
    assert bool(faults.told(found)) == (what != "clean")
    assert (found.result.executions, found.result.steps) == (expected.result.executions, expected.result.steps)
    assert (found.buffers[0].array == expected.buffers[0].array).all()
    assert found.engine == ("jit" if what in ("clean", "without end") else "interp")


def ran(body, engine):
    return faults.ran(body, engine, groups=1, declared=DECLARED, budget=20_000)
