"""Small launches under checkers: those that cannot take long are interpreted, and nothing is copied or compiled for them."""

from __future__ import annotations

from threading import Event

import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from test_replay import LOOP, STORE, only, ran

from visa_lsp.sim.jit import code_cache, engine, machine, native

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
def test_a_launch_goes_on_in_the_interpreter_while_it_is_compiled(checks, monkeypatch):
    """The compiler waits here for a slice of the interpreter, and the interpreter then for the compiler."""
    monkeypatch.setattr(machine, "WARM", 8)
    monkeypatch.setattr(engine, "WARM", 8)
    compiling, interpreted = Event(), Event()
    warm, compiled = machine.CompiledMachine.warm, native._object

    def wait_for_a_slice(*args):
        compiling.set()
        assert interpreted.wait(20)
        return compiled(*args)

    def count(self, frame, steps):
        warm(self, frame, steps)
        if compiling.is_set() and not interpreted.is_set():
            interpreted.set()
            monkeypatch.setattr(code_cache, "WAIT_SECONDS", None)

    monkeypatch.setattr(native, "_object", wait_for_a_slice)
    monkeypatch.setattr(machine.CompiledMachine, "warm", count)
    report = ran(STORE, "auto", groups=400, checks=checks)
    assert (report.engine, interpreted.is_set()) == ("jit", True)
    assert (report.buffers[0].array == ran(STORE, "interp", groups=400, checks=checks).buffers[0].array).all()


@pytest.mark.parametrize("checks", ["all", "none"])
def test_a_launch_is_compiled_where_the_first_group_says_that_it_pays(checks, monkeypatch):
    """A group executes each instruction once: that many groups are too few, or enough."""
    monkeypatch.setattr(machine, "WARM", 8)
    monkeypatch.setattr(engine, "WARM", 8)
    monkeypatch.setattr(code_cache, "WAIT_SECONDS", None)
    assert [ran(STORE, "auto", groups=count, checks=checks).engine for count in (4, 40)] == ["interp", "jit"]


def test_a_report_says_why_a_named_engine_could_not_run_the_launch(monkeypatch):
    monkeypatch.setattr(machine.CompiledMachine, "definedness_of", lambda *_: None)
    report = ran(STORE, "jit", groups=2)
    assert report.engine == "interp"
    assert "the interpreter ran the launch: no proof that registers are written before they are read" in report.notes
