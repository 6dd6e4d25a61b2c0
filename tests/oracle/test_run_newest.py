"""Texts of the compiler of 2026, launched through its zebins, compute what pocl computes, with no finding."""

from __future__ import annotations

import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

import opencl  # noqa: E402
from compiled import compile_at_once  # noqa: E402
from newest_launches import RUNS, launches, outcome  # noqa: E402
from tiers import in_turns, one_of_each  # noqa: E402


def of_each_program() -> list[object]:
    """Return every launch; by default one of each program, on platforms in turns."""
    return one_of_each(in_turns(launches(), lambda at: at[0].source, lambda at: at[1]), lambda at: at[0].source)


@pytest.mark.corpus
@pytest.mark.parametrize("launch", of_each_program(), ids=lambda launch: f"{launch[1]}-{launch[0]}")
def test_same_result(launch, monkeypatch):
    case, platform = launch
    if case.reference is None and opencl.missing():
        pytest.skip(opencl.missing())
    compile_at_once(monkeypatch.setattr)
    assert {run: outcome(case, platform, *run) for run in RUNS} == dict.fromkeys(RUNS, ("right", ""))
