"""Kernels with faults and with races, as ocloc compiles them: both engines report word for word the same, and leave the same.

By default one kernel of each kind. Code is compiled at the cheapest level.
"""

from __future__ import annotations

import itertools
from operator import itemgetter

import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

import test_faulty_kernels as faulty
import test_race_kernels as races
from compiled_engine import compile_at_once
from test_engines_agree import differences
from tiers import in_turns, one_of_each

from visa_lsp.sim.jit import native

pytestmark = faulty.pytestmark


def kind_of_fault(case):
    """Return the kinds of a kernel's faults if checkers watch: without them all kernels are of one kind."""
    name, _, checks = case
    return frozenset(faulty.KERNELS[name][1]) if checks == "all" else checks


def kind_of_race(case):
    """Return what is found."""
    return frozenset(races.KERNELS[case[0]][2])


def of_each(kind, *parts):
    """All combinations, names first and platforms second; by default one of each kind, on platforms in turns."""
    return one_of_each(in_turns(itertools.product(*parts), itemgetter(0), itemgetter(1)), kind)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr(native, "LEVEL", 0)
    compile_at_once(monkeypatch.setattr)


@pytest.mark.parametrize("case", of_each(kind_of_fault, faulty.KERNELS, faulty.DEVICES, ["all", "none"]), ids="-".join)
def test_a_faulty_kernel_is_reported_in_the_same_words(case):
    name, platform, checks = case
    if name not in faulty.compiled(faulty.DEVICES[platform])[0]:
        pytest.skip(f"ocloc makes no {name} for {platform}")
    found = [faulty.ran(name, which, checks, platform)[1] for which in ("interp", "jit")]
    assert differences(*found) == set()


@pytest.mark.parametrize("case", of_each(kind_of_race, races.KERNELS, races.CONFIGURATIONS), ids=" ".join)
def test_a_race_is_reported_in_the_same_words(case):
    found = [races.ran(*case, 128, "all", which) for which in ("interp", "jit")]
    assert differences(*found) == set()
