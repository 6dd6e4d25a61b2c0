"""Kernels with faults and with races, as ocloc compiles them: both engines report word for word the same, and leave the same.

Here for one platform; ``VISA_LSP_TEST_FAULTS=all`` has all of them. Code is compiled at the cheapest level.
"""

from __future__ import annotations

import os

import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

import test_faulty_kernels as faulty
import test_race_kernels as races
from compiled import compile_at_once
from test_engines_agree import differences

from visa_lsp.sim.jit import native

pytestmark = faulty.pytestmark
EVERY = os.environ.get("VISA_LSP_TEST_FAULTS") == "all"
PLATFORMS = list(faulty.DEVICES) if EVERY else ["TGLLP"]
CONFIGURATIONS = list(races.CONFIGURATIONS) if EVERY else ["PVCXT"]


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr(native, "LEVEL", 0)
    compile_at_once(monkeypatch.setattr)


@pytest.mark.parametrize("checks", ["all", "none"])
@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("name", faulty.KERNELS)
def test_a_faulty_kernel_is_reported_in_the_same_words(name, platform, checks):
    if name not in faulty.compiled(faulty.DEVICES[platform])[0]:
        pytest.skip(f"ocloc makes no {name} for {platform}")
    found = [faulty.ran(name, which, checks, platform)[1] for which in ("interp", "jit")]
    assert differences(*found) == set()


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
@pytest.mark.parametrize("name", races.KERNELS)
def test_a_race_is_reported_in_the_same_words(name, configuration):
    found = [races.ran(name, configuration, 128, "all", which) for which in ("interp", "jit")]
    assert differences(*found) == set()
