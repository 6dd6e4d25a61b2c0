"""The findings of a text do not depend on the texts that were checked before, nor on what earlier processes kept."""

from __future__ import annotations

import random
from contextlib import nullcontext
from typing import TYPE_CHECKING

import pytest
from text_mutants import text_mutants

from visa_lsp.analysis import body, judge, text_findings, verdicts
from visa_lsp.analysis.analysis import Analysis
from visa_lsp.analysis.verdict_store import use_store
from visa_lsp.disk_cache import Kept

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from visa_lsp.diagnostics import Diagnostic

COUNT = 20


@pytest.fixture(autouse=True)
def _low_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (body, judge, text_findings):
        monkeypatch.setattr(module, "REPORTED_LINES", 2)
    monkeypatch.setattr(verdicts, "_MAX_CLASSES", 20)
    monkeypatch.setattr(judge, "_DISK_LOOKUP_CLASSES", 4)
    monkeypatch.setattr(text_findings, "_GROUP_CHUNKS", 1)


def test_twenty_texts_in_three_orders_with_three_states_of_the_cache(tmp_path):
    texts = [mutant.text for mutant in text_mutants(2 * COUNT, 3) if mutant.kind == "visa"][:COUNT]
    forward = list(range(COUNT))
    alone = dict(enumerate(_check(texts[number : number + 1], nullcontext())[0] for number in forward))
    assert any(d.code == "V008" for found in alone.values() for d in found)
    for order in (forward, forward[::-1], random.Random(3).sample(forward, COUNT)):
        path = tmp_path / f"{order[0]}"
        # Without a file, with a new one, and with the one that the last run wrote.
        new, written = (use_store(lambda path=path: Kept(path, "")) for _ in range(2))
        for store in (nullcontext(), new, written):
            checked = _check([texts[number] for number in order], store)
            assert {number: found for number, found in zip(order, checked, strict=True) if found != alone[number]} == {}


def _check(texts: Sequence[str], store: AbstractContextManager[None]) -> list[Sequence[Diagnostic]]:
    """Return the findings of texts as a process finds them that checks them one after another."""
    verdicts._verdicts.clear()
    with store:
        return [Analysis.of(text).incremental_diagnostics() for text in texts]
