"""A debugged run is the run: buffers and faults, on the corpus; ``test_every_kernel_stepped`` has single steps, back and forth."""

from __future__ import annotations

import numpy as np
import own_cases
import pytest
import test_run_corpus as corpus
from debugging import through
from tiers import first

from visa_lsp.app.launch import ready_run
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
    monkeypatch.setattr(ready_run, "engine_function", lambda *_: run)
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
