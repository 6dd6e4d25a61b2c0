"""Small launches under checkers: those that cannot take long are interpreted, and nothing is copied or compiled for them."""

from __future__ import annotations

import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from test_replay import LOOP, STORE, only, ran

from visa_lsp.sim.jit import engine

ON = "    (P1) goto (M1, 16) out\n    add (M1, 16) value(0,0)<1> value(0,0)<1;1,0> 0x1:w\nout:\n"
CALL = "    call (M1, 16) sub\n    goto (M1, 16) out\nsub:\n    add (M1, 16) value(0,0)<1> value(0,0)<1;1,0> 0x1:w\n    ret (M1, 16)\nout:\n"


@pytest.fixture
def copies(monkeypatch):
    """Grows with each copy of the memory of a launch."""
    made = []
    before = engine.Contents
    monkeypatch.setattr(engine, "Contents", lambda dispatch: made.append(dispatch) or before(dispatch))
    return made


@pytest.mark.parametrize(("body", "count"), [("", 0), (only(0) + ON, 0), (LOOP, 1), (CALL, 1)])
def test_memory_is_copied_where_a_kernel_may_execute_an_instruction_twice(body, count, copies):
    report = ran(body + STORE, "jit", groups=2)
    assert (report.engine, len(copies)) == ("interp", count)


def test_memory_is_copied_where_there_is_more_to_do(monkeypatch, copies):
    monkeypatch.setattr(engine, "PROBE", 20)
    assert ran(STORE, "jit", groups=2).engine == "interp"
    assert not copies
    ran(STORE, "jit", groups=4)
    assert len(copies) == 1
