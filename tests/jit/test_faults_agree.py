"""Kernels with faults and with races, as ocloc compiles them: both engines report word for word the same, and leave the same.

By default each kernel on one platform, watched. Code is compiled at the cheapest level.
"""

from __future__ import annotations

import itertools

import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

import test_faulty_kernels as faulty
import test_race_kernels as races
from compiled import compile_at_once
from test_engines_agree import differences
from tiers import in_turns, one_of_each

from visa_lsp.sim.jit import native

pytestmark = faulty.pytestmark
# Each kernel watched on one platform, and one of each kind of fault unwatched.
FAULTY = one_of_each(
    in_turns(
        itertools.product(faulty.KERNELS, faulty.DEVICES, ["all", "none"]), lambda case: case[0], lambda case: case[1]
    ),
    lambda case: (case[0] if case[2] == "all" else tuple(faulty.KERNELS[case[0]][1]), case[2]),
)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr(native, "LEVEL", 0)
    compile_at_once(monkeypatch.setattr)


@pytest.mark.parametrize("case", FAULTY, ids="-".join)
def test_a_faulty_kernel_is_reported_in_the_same_words(case):
    name, platform, checks = case
    if name not in faulty.compiled(faulty.DEVICES[platform])[0]:
        pytest.skip(f"ocloc makes no {name} for {platform}")
    found = [faulty.ran(name, which, checks, platform)[1] for which in ("interp", "jit")]
    assert differences(*found) == set()


@pytest.mark.parametrize("case", races.EVERY, ids=" ".join)
def test_a_race_is_reported_in_the_same_words(case):
    found = [races.ran(*case, 128, "all", which) for which in ("interp", "jit")]
    assert differences(*found) == set()
