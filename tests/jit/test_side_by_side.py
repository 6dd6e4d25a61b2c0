"""Groups on several threads of the host: what they leave in memory is what one thread leaves, and atomics lose nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

import own_cases
import test_run_corpus as corpus
from compiled_engine import sample_first
from test_compiled_faults import AT, HEAD, LAUNCH
from test_engines_agree import differences, launches, memory_of, named
from unjudged_run import run_unjudged

from visa_lsp.app.launch import ready_run, runner
from visa_lsp.app.launch.file import parse_launch
from visa_lsp.sim.jit import engine, native
from visa_lsp.sim.machine import run as interpret

pytestmark = pytest.mark.usefixtures("at_once")

SIDE_BY_SIDE = "groups ran in parallel on 3 threads; the order of atomics of different groups is undefined"
COUNT_UP = AT + "    mov (M1, 16) at(0,0)<1> 0x0:ud\n    dword_atomic.inc (M1, 16) x at.0 %null.0 %null.0 value.0\n"


def on_three(dispatch, observers):
    return engine.run(replace(dispatch, host_threads=3), observers)


@pytest.mark.parametrize("launch", launches(memory_of, own_cases.cases(), ["TGLLP"]), ids=named)
def test_a_launch_leaves_the_same(launch, monkeypatch):
    monkeypatch.setattr(native, "LEVEL", 0)
    found = []
    for run in (interpret, on_three):
        monkeypatch.setattr(ready_run, "engine_function", lambda *_, run=run: run)
        found.append(corpus.launched(*launch, "none"))
    assert differences(*found) <= {"notes"}


def launched(code: str, groups: int, *, checks: str = "none", budget: int | None = None, name: str = "jit"):
    text = HEAD + code + "    ret (M1, 1)\n"
    launch = parse_launch(LAUNCH.format(groups=groups, local=16, init="zeros", more=""), Path("k.launch.yaml"))
    options = runner.RunOptions(platform="TGLLP", engine=name, checks=checks, budget=budget, threads=3)
    return run_unjudged(text, launch, options)


def test_atomics_of_all_groups_count():
    report = launched(COUNT_UP, 5_000)
    assert SIDE_BY_SIDE in report.notes
    assert (report.result.groups, report.result.threads) == (5_000, 5_000)
    assert report.buffers[0].array[0] == 16 * 5_000
    assert report.result.instructions["dword_atomic"] == 5_000


def test_what_is_stored_outside_goes_nowhere():
    code = AT + "    mov (M1, 16) at(0,0)<1> 0xffff00:ud\n    scatter4_scaled.R (M1, 16) x 0x0:ud at.0 value.0\n"
    report = launched(code, 600)
    assert report.ok
    assert not np.any(report.buffers[0].array)
    assert SIDE_BY_SIDE in report.notes


def test_checkers_watch_one_group_at_a_time():
    report = launched(AT + "    mov (M1, 16) value(0,0)<1> 0x1:d\n", 600, checks="all")
    assert "groups ran one after another, not on several threads: checkers watch one group at a time" in report.notes


def test_a_small_launch_runs_on_one_thread(monkeypatch):
    sample_first(monkeypatch, 300)
    report = launched(COUNT_UP, 3, name="auto")
    assert "groups ran one after another, not on several threads: the launch is too small" in report.notes
    assert report.buffers[0].array[0] == 48


def test_a_budget_ends_all_of_them():
    report = launched("again:\n    jmp (M1, 1) again\n", 600, budget=1_000_000)
    (fault,) = report.faults
    assert "its budget of 1000000 instructions" in fault.message
