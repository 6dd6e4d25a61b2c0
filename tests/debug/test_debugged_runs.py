"""A debugged run is the run: buffers, faults, what a trace shows, on the corpus; and any way back and forth leads to the same state."""

from __future__ import annotations

import random
import re

import numpy as np
import own_cases
import pytest
import test_run_corpus as corpus
from debugging import debugger_of, state, step, through

from visa_lsp.cli.launch import runner
from visa_lsp.debug.goals import Goal, StepGoal, key_of
from visa_lsp.sim.machine import run as interpret
from visa_lsp.sim.observers.trace import Tracer

CASES = [(case, platform) for case in own_cases.cases() for platform in case.platforms]
EVERY_KERNEL = list(
    {
        case.kernel: (case, platform) for case, platform in CASES if platform != "PVCXT" or case.platforms == ("PVCXT",)
    }.values()
)
# One of each kind: with barriers, functions, SIMD32, loops, atomics, images.
KINDS = [
    next(c for c in CASES if c[0].kernel == kernel and c[1] == platform)
    for kernel, platform in (
        ("saxpy", "TGLLP"), ("saxpy", "DG2"), ("tiles", "TGLLP"), ("climb", "DG2"), ("hail", "TGLLP"), ("total", "TGLLP"),
    )
]  # fmt: skip


def report(case, platform, run, monkeypatch, checks="all"):
    monkeypatch.setattr(runner, "_engine", lambda _name, _budget: ("interp", run))
    return corpus.launched(case, platform, checks)


def assert_same(first, second):
    for a, b in zip(first.buffers, second.buffers, strict=True):
        assert np.array_equal(a.array.view(np.uint8), b.array.view(np.uint8)), a.arg
        assert a.written == b.written
    for name in (
        "faults",
        "findings",
        "instructions",
        "opcodes",
        "barriers",
        "bytes_read",
        "bytes_written",
        "groups",
        "threads",
    ):
        assert getattr(first, name) == getattr(second, name), name


@pytest.mark.parametrize(("case", "platform"), EVERY_KERNEL, ids=str)
def test_a_run_under_the_debugger_gives_what_a_run_gives(case, platform, monkeypatch):
    assert_same(report(case, platform, interpret, monkeypatch), report(case, platform, through, monkeypatch))


def stepped(steps):
    """An engine that takes so many single steps, each of the thread whose turn it is, and runs to the end."""

    def run(dispatch, observers):
        debugger = debugger_of(dispatch, observers)
        for _ in range(steps):
            if step(debugger).reason == "end":
                break
        while not debugger.at_end:
            debugger.go(Goal())
        return debugger.finish()

    return run


@pytest.mark.parametrize(("case", "platform"), KINDS, ids=str)
def test_single_steps_do_not_change_a_run(case, platform, monkeypatch):
    assert_same(report(case, platform, interpret, monkeypatch), report(case, platform, stepped(2_000), monkeypatch))


@pytest.mark.parametrize(("case", "platform"), KINDS, ids=str)
def test_going_back_and_forth_by_chance_leads_to_the_same_states_and_the_same_end(case, platform, monkeypatch):
    def run(dispatch, observers):
        debugger = debugger_of(dispatch, observers)
        chance = random.Random(7)
        seen = {0: state(debugger)}
        for _ in range(300):
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


TRACED = re.compile(r"\[(\d+),(\d+),(\d+)\]\.(\d+) #(\d+)[^:]*: .*?(?:  // (.*))?$")


@pytest.mark.parametrize(("case", "platform"), KINDS, ids=str)
def test_what_a_trace_prints_is_what_the_debugger_shows_behind_each_instruction(case, platform, monkeypatch):
    lines: list[str] = []
    compared = []

    def traced(dispatch, observers):
        return interpret(dispatch, (*observers, Tracer([((0, 0, 0), 0)], lines.append, limit=400)))

    def compare(dispatch, observers):
        debugger = debugger_of(dispatch, observers)
        expected = iter(lines[:300])
        while not debugger.at_end:
            thread = debugger.stepper.current
            if key_of(thread) != ((0, 0, 0), 0):
                debugger.go(StepGoal(thread))
                continue
            at = debugger.stack(thread)[0]
            inst = thread.frame.code.kernel.instructions[thread.frame.pc]
            if inst.row.opens_label or inst.row.marks_source:
                debugger.go(StepGoal(thread))
                continue
            line = next(expected, None)
            if line is None:
                break
            match = TRACED.match(line)
            assert match is not None, line
            assert int(match[5]) == at.place.pc
            cells = debugger.cells(at)
            destination = inst.get("dst")
            debugger.go(StepGoal(thread))
            name, _, values = (match[6] or "").partition(" = ")
            if ";" in values or "..." in values or name not in cells.body.ids or not hasattr(destination, "region"):
                continue
            if (
                destination.var not in cells.names.types
                or (destination.row, destination.col) != (0, 0)
                or destination.region.horz_stride != 1
            ):
                continue
            found = cells.variable(destination.var).values()
            told = values.split(", ")
            assert [f"{v:.9g}" if found.dtype.kind == "f" else str(v) for v in found[: len(told)].tolist()] == told, (
                line
            )
            compared.append(line)
        while not debugger.at_end:
            debugger.go(Goal())
        return debugger.finish()

    report(case, platform, traced, monkeypatch, "none")
    report(case, platform, compare, monkeypatch, "none")
    assert len(compared) > 5
