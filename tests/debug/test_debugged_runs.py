"""A debugged run is the run: buffers and faults, on the corpus; and any way back and forth leads to the same state."""

from __future__ import annotations

import random

import numpy as np
import own_cases
import pytest
import test_run_corpus as corpus
from debugging import debugger_of, state, step, through
from tiers import first

from visa_lsp.app.launch import runner
from visa_lsp.debug.goals import Goal, StepGoal
from visa_lsp.sim.machine import run as interpret

CASES = [(case, platform) for case in own_cases.cases() for platform in case.platforms]
# One of each kind: with barriers, functions, SIMD32, loops, shared memory.
KINDS = [
    next(c for c in CASES if c[0].kernel == kernel and c[1] == platform)
    for kernel, platform in (
        ("tiles", "TGLLP"), ("climb", "DG2"), ("saxpy", "TGLLP"), ("saxpy", "DG2"), ("hail", "TGLLP"), ("total", "TGLLP"),
    )
]  # fmt: skip


def named(launch):
    return "-".join(map(str, launch))


def report(case, platform, run, monkeypatch, checks="all"):
    monkeypatch.setattr(runner, "_engine", lambda *_: run)
    return corpus.launched(case, platform, checks)


def assert_same(first, second):
    for a, b in zip(first.buffers, second.buffers, strict=True):
        assert np.array_equal(a.array.view(np.uint8), b.array.view(np.uint8)), a.arg
        assert a.written == b.written
    for name in ("faults", "findings"):
        assert getattr(first, name) == getattr(second, name), name
    for name in ("instructions", "barriers", "reads", "writes", "groups", "threads"):
        assert getattr(first.result, name) == getattr(second.result, name), name


@pytest.mark.parametrize("launch", [*KINDS, *first(0, (run for run in CASES if run not in KINDS))], ids=named)
def test_a_run_under_the_debugger_gives_what_a_run_gives(launch, monkeypatch):
    case, platform = launch
    assert_same(report(case, platform, interpret, monkeypatch), report(case, platform, through, monkeypatch))


def stepped(steps):
    """Return an engine that takes so many single steps, each of the thread whose turn it is, and runs to the end."""

    def run(dispatch, observers):
        debugger = debugger_of(dispatch, observers)
        for _ in range(steps):
            if step(debugger).reason == "end":
                break
        while not debugger.at_end:
            debugger.go(Goal())
        return debugger.finish()

    return run


@pytest.mark.parametrize("launch", first(1, KINDS), ids=named)
def test_single_steps_do_not_change_a_run(launch, monkeypatch):
    case, platform = launch
    assert_same(report(case, platform, interpret, monkeypatch), report(case, platform, stepped(2_000), monkeypatch))


@pytest.mark.full
@pytest.mark.parametrize("launch", KINDS, ids=named)
def test_going_back_and_forth_by_chance_leads_to_the_same_states_and_the_same_end(launch, monkeypatch):
    case, platform = launch

    def run(dispatch, observers):
        debugger = debugger_of(dispatch, observers)
        chance = random.Random(7)
        seen = {0: state(debugger)}
        for _ in range(100):
            if step(debugger).reason == "end":
                break
            seen[debugger.time] = state(debugger)
        for _ in range(60):
            time = chance.choice(list(seen))
            debugger.to_time(time)
            if debugger.time == time:
                assert state(debugger) == seen[time]
            for _ in range(chance.randrange(4)):
                thread = debugger.stepper.current
                if thread is None or debugger.at_end:
                    break
                back = chance.random() < 0.5
                (debugger.back if back else debugger.go)(StepGoal(thread, over=chance.random() < 0.5, breaks=False))
                if debugger.time in seen and not debugger.at_end:
                    assert state(debugger) == seen[debugger.time]
        while not debugger.at_end:
            debugger.go(Goal())
        return debugger.finish()

    assert_same(report(case, platform, interpret, monkeypatch), report(case, platform, run, monkeypatch))
