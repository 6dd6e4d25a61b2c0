"""A text that is nothing but mistakes gets its first findings and one that says that there are more."""

from __future__ import annotations

import pytest

from visa_lsp.analysis import judge, text_findings
from visa_lsp.analysis.analysis import Analysis

HEAD = '.version 4.1\n.kernel "k"\n.decl V40 v_type=G type=d num_elts=8 align=dword\n'


@pytest.fixture(autouse=True)
def _low(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "SUSPECTS", 20)
    monkeypatch.setattr(text_findings, "SUSPECTS", 20)
    monkeypatch.setattr(text_findings, "MAX_BODIES", 5)
    monkeypatch.setattr(text_findings, "BODIES", 3)


def test_first_mistakes_are_shown_and_the_rest_is_named() -> None:
    text = HEAD + "".join(f"    mov (M1, 8 V40(0,0)<1> {n}\n" for n in range(300)) + "    ret (M1, 1)\n"
    analysis = Analysis.of(text)
    found = analysis.diagnostics
    (limit,) = [d for d in found if d.code == "V008"]
    shown = [d for d in analysis.full_diagnostics if d.span.start < limit.span.start]
    assert [d for d in found if d.code != "V008"] == shown
    assert 15 < len(shown) < 60
    # Mended, it is a text like any other.
    start, end = len(HEAD), text.index("    ret")
    mended = analysis.edit(start, end, "")
    assert mended.diagnostics == ()


def test_kernels_beyond_the_limit_are_not_looked_at() -> None:
    text = ".version 4.1\n" + "".join(f'.kernel "k{n}"\n    bad\n    ret (M1, 1)\n' for n in range(40))
    analysis = Analysis.of(text)
    found = analysis.diagnostics
    assert found[-1].code == "V008"
    assert found[:-1] == tuple(d for d in analysis.full_diagnostics if d.span.start < found[-1].span.start)
    assert len(found) > 2
    at = text.index("bad")
    again = analysis.edit(at, at + 3, "ret (M1, 1)")
    assert again.diagnostics[-1].code == "V008"
    assert len(again.diagnostics) < len(found)


def test_many_kernels_are_looked_at_in_turns() -> None:
    text = (
        ".version 4.1\n" + "".join(f'.kernel "k{n % 3}"\n    bad{n}\n    ret (M1, 1)\n' for n in range(4)) + "\n" * 60
    )
    analysis = Analysis.of(text)
    assert analysis.diagnostics == analysis.full_diagnostics
