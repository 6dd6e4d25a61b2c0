"""Small launches under checkers: those that cannot take long are interpreted, and nothing is copied or compiled for them."""

from __future__ import annotations

import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from test_replay import LOOP, STORE, only, ran

from visa_lsp.sim.jit import engine, machine, native

ON = "    (P1) goto (M1, 16) out\n    add (M1, 16) value(0,0)<1> value(0,0)<1;1,0> 0x1:w\nout:\n"
CALL = "    call (M1, 16) sub\n    goto (M1, 16) out\nsub:\n    add (M1, 16) value(0,0)<1> value(0,0)<1;1,0> 0x1:w\n    ret (M1, 16)\nout:\n"


@pytest.fixture(autouse=True)
def _unoptimised(monkeypatch):
    monkeypatch.setattr(native, "LEVEL", 0)


@pytest.fixture
def copies(monkeypatch):
    """Grows with each copy of the memory of a launch."""
    made = []
    before = engine.Contents
    monkeypatch.setattr(engine, "Contents", lambda dispatch: made.append(dispatch) or before(dispatch))
    return made


@pytest.mark.parametrize(("body", "count"), [("", 0), (only(0) + ON, 0), (LOOP, 1), (CALL, 1)])
def test_memory_is_copied_where_a_kernel_may_execute_an_instruction_twice(body, count, copies):
    report = ran(body + STORE, "auto", groups=2)
    assert (report.engine, len(copies)) == ("interp", count)


def test_memory_is_copied_where_there_is_more_to_do(monkeypatch, copies):
    monkeypatch.setattr(engine, "WARM", 20)
    assert ran(STORE, "auto", groups=2).engine == "interp"
    assert not copies
    ran(STORE, "auto", groups=30)
    assert len(copies) == 1


def test_a_named_engine_runs_a_launch_of_any_size():
    """Of the same small launch: the engine that is named, with checkers and without."""
    for checks in ("all", "none"):
        assert [ran(STORE, name, groups=2, checks=checks).engine for name in ("auto", "jit", "interp")] == [
            "interp", "jit", "interp",
        ]  # fmt: skip


@pytest.mark.parametrize("checks", ["all", "none"])
def test_a_launch_is_compiled_where_the_first_group_says_that_it_pays(checks, monkeypatch):
    """A group executes each instruction once: that many groups are too few, or enough."""
    monkeypatch.setattr(engine, "WARM", 8)
    assert [ran(STORE, "auto", groups=count, checks=checks).engine for count in (4, 40)] == ["interp", "jit"]


def test_a_report_says_why_a_named_engine_could_not_run_the_launch(monkeypatch):
    monkeypatch.setattr(machine.CompiledMachine, "definedness_of", lambda *_: None)
    report = ran(STORE, "jit", groups=2)
    assert report.engine == "interp"
    assert "the interpreter ran the launch: no proof that registers are written before they are read" in report.notes
