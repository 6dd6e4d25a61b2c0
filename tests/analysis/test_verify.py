"""With ``VISA_LSP_VERIFY=1`` an answer of the incremental path that is not the full one raises."""

from __future__ import annotations

import pytest

from visa_lsp.analysis import text_findings
from visa_lsp.analysis.analysis import VERIFY, Analysis
from visa_lsp.analysis.body import Body
from visa_lsp.analysis.chunk_findings import Findings

HEAD = '.version 4.1\n.kernel "k"\n.decl V40 v_type=G type=d num_elts=8 align=dword\n'
GOOD = "    mov (M1, 8) V40(0,0)<1> 0x1:d\n"
BAD = "    mov (M1, 8) V41(0,0)<1> 0x1:d\n"
TEXT = HEAD + GOOD * 100 + BAD + "    ret (M1, 1)\n"


def _edited(analysis: Analysis) -> Analysis:
    at = analysis.document.text.index(GOOD)
    return analysis.edit(at, at + len(GOOD), BAD)


@pytest.fixture(params=["1", "0", None])
def wish(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str | None:
    """Return the value of the variable; None if it is not set."""
    value: str | None = request.param
    if value is None:
        monkeypatch.delenv(VERIFY, raising=False)
    else:
        monkeypatch.setenv(VERIFY, value)
    return value


def _answers(analysis: Analysis, wish: str | None, wrong: str) -> None:
    """Check that a difference raises an error if that is requested, else the wrong answer is returned."""
    if wish == "1":
        with pytest.raises(AssertionError, match=wrong):
            _ = analysis.findings
    else:
        assert analysis.findings.all != analysis.full_diagnostics


@pytest.mark.usefixtures("wish")
def test_right_answers_pass() -> None:
    analysis = Analysis.of(TEXT)
    assert [d.code for d in analysis.findings.all] == ["V101"]
    assert len(_edited(analysis).findings) == 1  # of the first line with a missing name


def test_a_lost_finding_is_told(wish: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Body, "findings", lambda _: iter(()))
    _answers(Analysis.of(TEXT), wish, r"missing \[Diagnostic\(rule=Rule\(code='V101'")


def test_a_finding_lost_by_an_edit_is_told(wish: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    analysis = Analysis.of(TEXT)
    assert len(analysis.findings) == 1
    # As an engine that forgets to look at what an edit left.
    monkeypatch.setattr(text_findings, "update_body", lambda *_: None)
    monkeypatch.setattr(Body, "findings", lambda _: iter(()))
    _answers(_edited(analysis), wish, "missing")


def test_a_finding_too_many_is_told(wish: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    right = Analysis.of(TEXT).full_diagnostics

    class Doubled(Findings):
        @property
        def all(self) -> tuple:
            return (*super().all, right[0])

    monkeypatch.setattr(text_findings, "Findings", Doubled)
    _answers(Analysis.of(TEXT), wish, "another order")
