"""Both engines give the same: launches of the corpus, watched and not. By default one of each program, or of each feature."""

from __future__ import annotations

import numpy as np
import pytest

llvmlite = pytest.importorskip("llvmlite", reason="llvmlite is not installed")

import own_cases  # noqa: E402
import test_run_corpus as corpus  # noqa: E402
from compiled_engine import sample_first  # noqa: E402
from tiers import in_turns, one_of_each  # noqa: E402

from visa_lsp.app.launch import ready_run  # noqa: E402
from visa_lsp.sim.jit import engine, native  # noqa: E402
from visa_lsp.sim.machine import run as interpret  # noqa: E402

pytestmark = pytest.mark.usefixtures("at_once")

# Programs with atomics, shared memory and barriers, functions, printing, pointers to any space, images.
MEANS = {"atoms", "bins", "folds", "deep", "talk", "spaces", "pixels"}


def reports(case, platform, checks, monkeypatch):
    for run in (interpret, engine.run):
        monkeypatch.setattr(ready_run, "engine_function", lambda *_, run=run: run)
        yield corpus.launched(case, platform, checks)


def differences(first, second):
    """Return the fields in which two reports differ."""
    found = {
        name
        for name in first.__struct_fields__
        if name not in ("engine", "buffers", "values", "time", "result", "notes")
        and getattr(first, name) != getattr(second, name)
    }
    counts = ("threads", "groups", "instructions", "barriers", "reads", "writes", "sent")
    found |= {name for name in counts if getattr(first.result, name) != getattr(second.result, name)}
    # Only the report of the compiled engine says why it did not run.
    notes = [
        [note for note in r.notes if not note.startswith("the interpreter ran the launch:")] for r in (first, second)
    ]
    found |= {"notes"} if notes[0] != notes[1] else set()
    for a, b in zip(first.buffers, second.buffers, strict=True):
        if not np.array_equal(a.array.view(np.uint8), b.array.view(np.uint8)) or a.written != b.written:
            found.add(f"buffer {a.arg}")
    return found


def platform_and_lanes(launch):
    """Return the platform and whether lanes are idle, because a test below compiles the programs of `MEANS` at the level of users."""
    case, platform = launch
    return (platform, corpus.has_idle_lanes(case)) if corpus.is_own(case) else case.source


def means_of(launch):
    """Return the features of a program that matter to an engine, such as barriers, functions, atomics; others have their name."""
    case = launch[0]
    return "" if corpus.is_own(case) and case.source not in MEANS else case.source


def quick_means_of(launch):
    """Return the same without printing, whose code takes longest to optimise."""
    return means_of(launch).replace("talk", "")


def memory_of(launch):
    """Return how work items share memory, the only thing that matters to when their bodies run."""
    return launch[0].source if launch[0].source in ("atoms", "bins", "spaces") else ""


def named(launch):
    return "-".join(map(str, launch))


def launches(kind, cases=corpus.CASES, platforms=None):
    """Return launches on platforms; by default one of each kind, in turns on each platform, with idle lanes and without."""
    found = [(case, platform) for case in cases for platform in case.platforms if platform in (platforms or [platform])]
    return one_of_each(in_turns(found, kind, lambda launch: (launch[1], corpus.has_idle_lanes(launch[0]))), kind)


@pytest.mark.corpus
@pytest.mark.parametrize("launch", launches(platform_and_lanes), ids=named)
def test_a_launch_gives_the_same(launch, monkeypatch):
    if corpus.is_own(launch[0]):  # the next test has some at the level of users
        monkeypatch.setattr(native, "LEVEL", 0)
    assert differences(*reports(*launch, "none", monkeypatch)) == set()


@pytest.mark.parametrize("launch", launches(quick_means_of, own_cases.cases()), ids=named)
def test_a_launch_at_the_level_of_users_gives_the_same(launch, monkeypatch):
    assert differences(*reports(*launch, "none", monkeypatch)) == set()


@pytest.mark.corpus
@pytest.mark.parametrize("launch", launches(means_of), ids=named)
def test_a_watched_launch_gives_the_same(launch, monkeypatch):
    monkeypatch.setattr(native, "LEVEL", 0)
    assert differences(*reports(*launch, "all", monkeypatch)) == set()


@pytest.mark.parametrize("launch", launches(memory_of, own_cases.cases(), ["TGLLP"]), ids=named)
def test_a_launch_that_is_compiled_on_its_way_gives_the_same(launch, monkeypatch):
    """Some steps are interpreted, then memory is restored, and the launch begins again as compiled code."""
    monkeypatch.setattr(native, "LEVEL", 0)
    sample_first(monkeypatch, 3)
    assert differences(*reports(*launch, "none", monkeypatch)) == set()
