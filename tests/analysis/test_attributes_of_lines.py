"""What a line means by an attribute of its kernel is told apart; lines that mean nothing by it share their verdicts."""

from __future__ import annotations

import pytest

from visa_lsp.analysis import line_classes
from visa_lsp.analysis.analysis import Analysis

_PAD = "".join([f"    add (M1, 8) V33(0,0)<1> V33(0,0)<1;1,0> 0x{n:x}:d\n" for n in range(200, 300)])


def _text(simd: int, line: str) -> str:
    head = f'.version 4.1\n.kernel "k{simd}"\n.decl V33 v_type=G type=d num_elts=32 align=GRF\n.kernel_attr SimdSize={simd}\n'
    return f"{head}{_PAD}    {line}\n    ret (M1, 1)\n"


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("mov (M5, 8) V33(0,0)<1> 0x1:d", {8: ["V219"], 16: ["V219"], 32: []}),
        ("mov (M5_NM, 8) V33(0,0)<1> 0x1:d", {8: [], 16: [], 32: []}),
        ("mov (M1, %DispatchSimd) V33(0,0)<1> 0x1:d", {5: ["V121", "V209"], 8: [], 16: []}),
    ],
)
def test_a_verdict_of_another_width_says_nothing_of_such_lines(line: str, codes: dict[int, list[str]]) -> None:
    for widths in (list(codes), list(reversed(codes))):
        for simd in widths:
            analysis = Analysis.of(_text(simd, line))
            assert [d.code for d in analysis.diagnostics] == codes[simd], simd
            assert analysis.diagnostics == analysis.full_diagnostics


def test_an_edit_of_the_width_judges_them_again() -> None:
    text = _text(32, "mov (M5, 8) V33(0,0)<1> 0x1:d\n    mov (M1, %DispatchSimd) V33(0,0)<1> 0x1:d")
    analysis = Analysis.of(text)
    assert analysis.diagnostics == ()
    at = text.index("SimdSize=32") + len("SimdSize=")
    edited = analysis.edit(at, at + 2, "16")
    assert [d.code for d in edited.diagnostics] == ["V219"]
    assert edited.edit(at, at + 2, "32").diagnostics == ()


def test_other_lines_are_judged_once_for_all_widths(monkeypatch: pytest.MonkeyPatch) -> None:
    judge, asked = line_classes.judge, list[int]()
    monkeypatch.setattr("visa_lsp.analysis.judge.judge", lambda *a: (asked.append(len(a[1])), judge(*a))[1])
    most = []
    for simd in (16, 32):
        asked.clear()
        assert Analysis.of(_text(simd, "mov (M1, 8) V33(0,0)<1> 0x1:d")).diagnostics == ()
        most.append(max(asked))
    assert most[0] > 10 > most[1]


def test_no_rule_says_words_that_classes_do_not_have() -> None:
    from visa_lsp.analysis.rule_sets import rule_sets
    from visa_lsp.syntax.bulk import NARROW_NAME

    words = rule_sets().attribute_words
    assert "M5" in words
    assert [word for word in words if not NARROW_NAME.fullmatch(word)] == []


def test_a_line_before_the_attribute_does_not_know_it() -> None:
    line = "    mov (M1, %DispatchSimd) V33(0,0)<1> 0x1:d\n"
    text = _text(16, line.strip())
    assert Analysis.of(text).diagnostics == ()
    at = text.index(".kernel_attr")
    edited = Analysis.of(text).edit(at, at, line)
    assert [d.code for d in edited.diagnostics] == ["V209"]
    assert edited.diagnostics == edited.full_diagnostics
