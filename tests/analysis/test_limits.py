"""A text that is nothing but mistakes gets its first findings and one that says that there are more."""

from __future__ import annotations

import pytest

from visa_lsp.analysis import body, judge, text_findings
from visa_lsp.analysis.analysis import Analysis

HEAD = '.version 4.1\n.kernel "k"\n.decl V40 v_type=G type=d num_elts=8 align=dword\n'


@pytest.fixture(autouse=True)
def _low(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (body, judge, text_findings):
        monkeypatch.setattr(module, "REPORTED_LINES", 20)
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


def test_lines_beyond_the_limit_are_checked_when_the_first_ones_are_mended() -> None:
    wrong, right = "    mov (M1, 8 V40(0,0)<1> 1\n", "    mov (M1, 8) V40(0,0)<1> 0x1:d\n"
    text = HEAD + wrong * 300 + right * 9000 + wrong * 9 + "    ret (M1, 1)\n"
    analysis = Analysis.of(text)
    assert analysis.diagnostics[-1].code == "V008"
    for _ in range(3):  # at the third time, no more lines than the limit are wrong
        end = len(HEAD) + 100 * len(wrong)
        analysis = analysis.edit(len(HEAD), end, right * 100)
        text = text[: len(HEAD)] + right * 100 + text[end:]
        text = text[: len(HEAD)] + text[len(HEAD) + 100 * len(right) :]
        analysis = analysis.edit(len(HEAD), len(HEAD) + 100 * len(right), "")
        assert analysis.document.text == text
        assert analysis.diagnostics == Analysis.of(text).diagnostics
    assert [d.code for d in analysis.diagnostics] == ["V001"] * 9


def test_only_lines_with_findings_count() -> None:
    """The lines are judged one by one, because their name is declared several times."""
    scope = "{\n.decl X v_type=G type=d num_elts=8\n    mov (M1, 8) X(0,0)<1> 0x1:d\n}\n"
    assert Analysis.of(f"{HEAD}{scope * 60}    ret (M1, 1)\n").diagnostics == ()


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
