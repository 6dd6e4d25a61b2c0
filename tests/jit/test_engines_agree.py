"""Both engines give the same: every launch of the corpus, watched and not.

``VISA_LSP_TEST_LAUNCHES=all`` has those of the corpus beside the repository as well: a thousand more.
"""

from __future__ import annotations

import dataclasses
import os

import numpy as np
import pytest

llvmlite = pytest.importorskip("llvmlite", reason="llvmlite is not installed")

import own_cases  # noqa: E402
import test_run_corpus as corpus  # noqa: E402
from compiled import compile_at_once  # noqa: E402

from visa_lsp.cli.launch import runner  # noqa: E402
from visa_lsp.sim.jit import engine  # noqa: E402
from visa_lsp.sim.machine import run as interpret  # noqa: E402

OWN = [(case, platform) for case in own_cases.cases() for platform in case.platforms]
EVERY = os.environ.get("VISA_LSP_TEST_LAUNCHES") == "all"
CASES = [(case, platform) for case in corpus.CASES for platform in case.platforms] if EVERY else OWN


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    compile_at_once(monkeypatch.setattr)


def reports(case, platform, checks, monkeypatch):
    for run in (interpret, engine.run):
        monkeypatch.setattr(runner, "_engine", lambda _, __, run=run: ("", run))
        yield corpus.launched(case, platform, checks)


def differences(first, second):
    """The fields in which two reports differ."""
    found = {
        f.name
        for f in dataclasses.fields(first)
        if f.name not in ("engine", "buffers", "values", "time", "replayed_groups")
        and getattr(first, f.name) != getattr(second, f.name)
    }
    for a, b in zip(first.buffers, second.buffers, strict=True):
        if not np.array_equal(a.array.view(np.uint8), b.array.view(np.uint8)) or a.written != b.written:
            found.add(f"buffer {a.arg}")
    return found


@pytest.mark.parametrize("checks", ["none", "all"])
@pytest.mark.parametrize(("case", "platform"), CASES, ids=str)
def test_a_launch_gives_the_same(case, platform, checks, monkeypatch):
    assert differences(*reports(case, platform, checks, monkeypatch)) == set()


@pytest.mark.parametrize("case", [case for case, platform in OWN if platform == "TGLLP"], ids=str)
def test_a_launch_that_is_compiled_on_its_way_gives_the_same(case, monkeypatch):
    """Some steps are interpreted, then bodies are compiled, and behind the group that runs all groups as a whole."""
    monkeypatch.setattr(engine, "LARGE", 1 << 60)
    monkeypatch.setattr(engine, "PROBE", 400)
    assert differences(*reports(case, "TGLLP", "none", monkeypatch)) == set()
