"""Fixes on plain texts: what overlaps, what is inserted at one place, and that nothing ever gets worse."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from visa_lsp.app.check.fixes import apply, mend
from visa_lsp.diagnostics import Diagnostic, Edit, Fix, Rule, Severity
from visa_lsp.text import Span

RULE = Rule("V901", "bad-word", Severity.ERROR, "")


def fix(*edits):
    return Fix("mend", tuple(Edit(Span(start, end), text) for start, end, text in edits), safe=True)


@pytest.mark.parametrize(
    ("fixes", "text", "count"),
    [
        ([fix((0, 1, "A"))], "Abcdef", 1),
        ([fix((0, 2, "A")), fix((1, 3, "B"))], "Acdef", 1),
        ([fix((0, 2, "A")), fix((2, 3, "B"))], "ABdef", 2),
        ([fix((1, 1, "x")), fix((1, 1, "y"))], "axybcdef", 2),
        ([fix((1, 1, "x")), fix((1, 2, "B"))], "axBcdef", 2),
        ([fix((0, 3, "A")), fix((1, 1, "x"))], "Adef", 1),
        ([fix((4, 5, "E"), (0, 1, "A"))], "AbcdEf", 1),
        ([fix((4, 5, "E"), (0, 1, "A")), fix((0, 1, "x"), (5, 6, "F"))], "AbcdEf", 1),
        ([fix((5, 99, "x"))], "abcdef", 0),
        ([], "abcdef", 0),
    ],
)
def test_apply(fixes, text, count):
    assert apply("abcdef", fixes) == (text, count)


def test_new_lines_end_as_the_text_does():
    assert apply("a\r\nb\r\n", [fix((3, 3, "x\ny\n"))]) == ("a\r\nx\r\ny\r\nb\r\n", 1)
    assert apply("a\nb\n", [fix((2, 2, "x\n"))]) == ("a\nx\nb\n", 1)


def inspect(text):
    """Words with good, useless, harmful and clashing fixes."""
    mends = {"a": "", "b": "c", "c": "cc", "d": "d", "e": "dd", "ff": "a"}
    return [
        Diagnostic(RULE, Span(m.start(), m.end()), "no", fixes=(fix((m.start(), m.end(), mends[m.group()])),))
        for m in re.finditer(r"ff|[a-e]", text)
    ]


@settings(deadline=None, max_examples=200)
@given(st.text("abcdef .", max_size=12))
def test_mending_never_makes_worse_and_a_second_run_changes_nothing(text):
    once = mend(text, inspect, lambda _: True)
    assert len(once.diagnostics) <= len(inspect(text))
    assert once.diagnostics == tuple(inspect(once.text))
    twice = mend(once.text, inspect, lambda _: True)
    assert (twice.text, twice.count) == (once.text, 0)


def test_fixes_that_are_not_safe_are_left():
    unsafe = Diagnostic(RULE, Span(0, 1), "no", fixes=(Fix("drop", (Edit(Span(0, 1), ""),)),))
    assert mend("x", lambda _: [unsafe], lambda _: True).text == "x"


def test_fix_says_how_many_findings_have_a_fix_that_it_leaves(run, tmp_path):
    text = (
        '.version 4.1\n.kernel "k"\n.decl V33 v_type=G type=d num_elts=16 align=GRF\n'
        "    mvo (M1, 16) V33(0,0)<1> V33(0,0)<1;1,0>\n    MOV (M1, 16) V33(0,0)<1> V33(0,0)<1;1,0>\n    ret (M1, 1)\n"
    )
    path = tmp_path / "k.visaasm"
    path.write_text(text)
    status, _, err = run("check", "--fix", path)
    assert (status, path.read_text()) == (1, text.replace("MOV", "mov"))
    assert "1 finding left that has a fix which may change the meaning; --unsafe-fixes applies it" in err
    status, _, err = run("check", "--diff", "--unsafe-fixes", path)
    assert (status, "mvo" in path.read_text(), "left" in err) == (1, True, False)
    status, _, err = run("check", "--fix", "--unsafe-fixes", path)
    assert (status, path.read_text()) == (0, text.replace("MOV", "mov").replace("mvo", "mov"))
    assert "left" not in err
