"""Texts of the compiler of 2026, launched through its zebins, compute what pocl computes, with no finding."""

from __future__ import annotations

import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

import opencl
from compiled_engine import compile_at_once
from newest_launches import RUNS, launches, outcome
from tiers import in_turns, one_of_each


def on_each_platform() -> list[object]:
    """Return every launch; by default one on each platform, with programs in turns."""
    return one_of_each(in_turns(launches(), lambda at: at[1], lambda at: at[0].source), lambda at: at[1])


@pytest.mark.corpus
@pytest.mark.parametrize("launch", on_each_platform(), ids=lambda launch: f"{launch[1]}-{launch[0]}")
def test_same_result(launch, monkeypatch):
    case, platform = launch
    if case.reference is None and opencl.why_missing():
        pytest.skip(opencl.why_missing())
    compile_at_once(monkeypatch.setattr)
    assert {run: outcome(case, platform, *run) for run in RUNS} == dict.fromkeys(RUNS, ("right", ""))
