"""The findings of a text do not depend on the texts that were checked before."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from text_mutants import text_mutants

from visa_lsp.analysis import body, judge, text_findings, verdicts
from visa_lsp.analysis.analysis import Analysis

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.diagnostics import Diagnostic

COUNT = 20


@pytest.fixture(autouse=True)
def _low_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (body, judge, text_findings):
        monkeypatch.setattr(module, "REPORTED_LINES", 2)
    monkeypatch.setattr(verdicts, "_MAX_CLASSES", 20)
    monkeypatch.setattr(text_findings, "_GROUP_CHUNKS", 1)


def test_twenty_texts_in_three_orders():
    texts = [mutant.text for mutant in text_mutants(2 * COUNT, 3) if mutant.kind == "visa"][:COUNT]
    forward = list(range(COUNT))
    alone = dict(enumerate(_check(texts[number : number + 1])[0] for number in forward))
    assert any(d.code == "V008" for found in alone.values() for d in found)
    for order in (forward, forward[::-1], random.Random(3).sample(forward, COUNT)):
        checked = _check([texts[number] for number in order])
        assert {number: found for number, found in zip(order, checked, strict=True) if found != alone[number]} == {}


def _check(texts: Sequence[str]) -> list[Sequence[Diagnostic]]:
    """Return the findings of texts as a process finds them that checks them one after another."""
    verdicts._verdicts.clear()
    return [Analysis.of(text).incremental_diagnostics() for text in texts]
