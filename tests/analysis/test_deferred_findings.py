"""Deferred findings: the same as those of the whole text."""

from __future__ import annotations

from benchmarks.inputs import generate
from visa_lsp.analysis.analysis import Analysis
from visa_lsp.ide.deferred_findings import compute_findings, find_deferred
from visa_lsp.ide.suppressions import visible

EXTRA = frozenset({"V128", "V134", "V135", "V503", "V506"})


def test_deferred_findings_are_those_of_the_whole_text() -> None:
    text = generate(3, 400)
    analysis = Analysis.of(text)
    assert find_deferred(analysis, EXTRA) is None
    found = compute_findings(analysis, EXTRA)
    assert found == visible(Analysis.of(text), EXTRA)
    assert len(found) > len(visible(analysis))
    assert find_deferred(analysis, EXTRA) == found
    assert find_deferred(analysis, ()) is None
