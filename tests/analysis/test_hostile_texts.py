"""Input that wants to hurt gets an answer; how long that takes is the business of ``benchmarks/hostile.py``."""

from __future__ import annotations

import pytest

from benchmarks.hostile import KINDS, text_of
from visa_lsp.analysis.analysis import Analysis


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_text_is_answered(kind: str) -> None:
    analysis = Analysis.of(text_of(kind, 300))
    found = analysis.diagnostics
    assert found == analysis.full_diagnostics
    if kind != "kernels":
        assert found


def test_long_line_is_refused_by_its_length() -> None:
    found = Analysis.of(text_of("one line (bytes)", 1_000_000)).diagnostics
    assert [d.code for d in found] == ["V001"]


def test_deep_nesting_is_refused() -> None:
    assert [d.code for d in Analysis.of(text_of("nested parentheses", 100_000)).diagnostics] == ["V001"]
