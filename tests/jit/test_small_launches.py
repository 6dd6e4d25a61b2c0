"""Small launches under checkers: those that cannot take long are interpreted, and nothing is compiled for them."""

from __future__ import annotations

import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from test_replay import LOOP, STORE, ran

from visa_lsp.sim.jit import engine, machine, native
from visa_lsp.sim.machine import QUANTUM


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


def test_a_sample_is_run_on_memory_that_can_be_restored(copies):
    assert ran(LOOP + STORE, "auto", groups=2).engine == "interp"
    assert len(copies) == 1


def test_a_launch_with_much_memory_is_compiled_without_a_copy(monkeypatch, copies):
    monkeypatch.setattr(engine, "MAX_COPIED_BYTES", 64)
    assert ran(STORE, "auto", groups=2, checks="none").engine == "jit"
    assert not copies


def test_a_named_engine_runs_a_launch_of_any_size():
    """Of the same small launch: the engine that is named, with checkers and without."""
    for checks in ("all", "none"):
        assert [ran(STORE, name, groups=2, checks=checks).engine for name in ("auto", "jit", "interp")] == [
            "interp", "jit", "interp",
        ]  # fmt: skip


@pytest.mark.parametrize("checks", ["all", "none"])
def test_a_launch_is_compiled_where_the_first_group_says_that_it_pays(checks, monkeypatch):
    """A group executes each instruction once: that many groups are too few, or enough."""
    monkeypatch.setattr(engine, "WARM", 16)
    monkeypatch.setattr(engine, "START", 0)
    monkeypatch.setattr(engine, "LEAST", 0)
    assert [ran(STORE, "auto", groups=count, checks=checks).engine for count in (1, 40)] == ["interp", "jit"]


@pytest.mark.parametrize("checks", ["all", "none"])
def test_a_long_thread_is_estimated_before_its_time_slice_ends(checks, monkeypatch):
    monkeypatch.setattr(engine, "WARM", 50)
    steps = []
    before = engine.Sample.estimate
    monkeypatch.setattr(
        engine.Sample, "estimate", lambda self, thread, used: (steps.append(used), before(self, thread, used))
    )
    long = LOOP.replace("0x20:", "0x100000:")
    assert ran(long + STORE, "auto", groups=1, checks=checks).engine == "jit"
    assert steps == [engine.PIECE * (number + 1) for number in range(len(steps))]
    assert steps[-1] < QUANTUM


def test_a_report_says_why_a_named_engine_could_not_run_the_launch(monkeypatch):
    monkeypatch.setattr(machine.CompiledMachine, "definedness_of", lambda *_: None)
    report = ran(STORE, "jit", groups=2)
    assert report.engine == "interp"
    assert "the interpreter ran the launch: no proof that registers are written before they are read" in report.notes
