"""The memory of a launch is freed when the launch has ended, without the collector, which counts objects, not bytes."""

from __future__ import annotations

import gc
import weakref

import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

import test_compiled_faults as faults
import test_functions_compiled as functions
import test_replay as replayed
from compiled_engine import compile_at_once, sample_first

from visa_lsp.sim.contents import Contents
from visa_lsp.sim.jit import native
from visa_lsp.sim.machine import Machine

FAR = replayed.FAR + replayed.STORE
LAUNCHES = {
    "compiled": lambda: replayed.ran(replayed.STORE, "jit", checks="none"),
    "compiled, with checks": lambda: replayed.ran(replayed.STORE, "jit"),
    "interpreted": lambda: replayed.ran(replayed.STORE, "interp"),
    "several threads": lambda: replayed.ran(replayed.STORE, "jit", checks="none", threads=3),
    "groups that are interpreted again": lambda: replayed.ran(replayed.only(3, 5) + FAR, "jit"),
    "a first fault that ends the run": lambda: replayed.ran(replayed.only(3) + FAR, "jit", first_fault=True),
    "a budget that is used up": lambda: replayed.ran(replayed.STORE, "jit", checks="none", budget=100),
    "checkers that see each instruction": lambda: replayed.ran(replayed.STORE, "interp", checks="all,item-races"),
    "functions": lambda: functions.ran("clean", "jit"),
    "threads that wait for ever": lambda: faults.ran(faults.FAULTS["a barrier that lanes miss"][0], "jit", groups=1),
    "a fault in an interpreted instruction": lambda: faults.ran("    faddr nowhere value(0,0)<1>\n", "jit", checks="none"),
}  # fmt: skip


@pytest.fixture
def live(monkeypatch):
    """Return the set of the machines and snapshots of memory that exist."""
    objects = weakref.WeakSet()
    for kind in (Machine, Contents):

        def begin(self, *args, begin=kind.__init__, **options):
            objects.add(self)
            begin(self, *args, **options)

        monkeypatch.setattr(kind, "__init__", begin)
    monkeypatch.setattr(native, "LEVEL", 0)
    gc.collect()
    gc.disable()
    yield objects
    gc.enable()


@pytest.mark.parametrize("what", LAUNCHES)
def test_a_launch_leaves_no_memory(what, live, monkeypatch):
    compile_at_once(monkeypatch.setattr)
    report = LAUNCHES[what]()
    assert report.result.steps
    assert not live


def test_a_sample_leaves_no_memory(live, monkeypatch):
    sample_first(monkeypatch, 10)
    report = replayed.ran(replayed.STORE, "auto")
    assert (report.engine, report.result.replayed_groups) == ("jit", 0)
    assert not live
