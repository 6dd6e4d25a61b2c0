"""Fixes on plain texts: what overlaps, what is inserted at one place, and that nothing ever gets worse."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from visa_lsp.app.check.fixes import apply, mend
from visa_lsp.cli.main import main
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


ONE_ANSWER = {
    "mov (M1, 8) V40(0,0)<1> r0(0,1)<0;1,0>": "mov (M1, 8) V40(0,0)<1> %r0(0,1)<0;1,0>",
    "mov (M1, 8) V40(0,0)<1> %R0(0,1)<0;1,0>": "mov (M1, 8) V40(0,0)<1> %r0(0,1)<0;1,0>",
    "add (M1, 8) V40(0,0)<1> V40(0,0)<1;1,0> 0x2": "add (M1, 8) V40(0,0)<1> V40(0,0)<1;1,0> 0x2:ud",
    "add (M1, 8) V40(0,0)<1> V40(0,0)<1;1,0> 2": "add (M1, 8) V40(0,0)<1> V40(0,0)<1;1,0> 2:d",
    "mul (M1, 8) V41(0,0)<1> V41(0,0)<1;1,0> 1.5": "mul (M1, 8) V41(0,0)<1> V41(0,0)<1;1,0> 1.5:f",
    "cmp.eq (M1, 8) P1 V40(0,0)<1;1,0> 0": "cmp.eq (M1, 8) P1 V40(0,0)<1;1,0> 0:d",
    "mov (M1, 8) V40(0,0)<1> 0x1:uh": "mov (M1, 8) V40(0,0)<1> 0x1:uw",
    "mov (M1, 8) V40(0,0)<1> 0x1:int32_t": "mov (M1, 8) V40(0,0)<1> 0x1:d",
    "mov (M1, 8) V40(0,0) V40(0,0)<1;1,0>": "mov (M1, 8) V40(0,0)<1> V40(0,0)<1;1,0>",
    "mov (M1, 8) V40(0,0)<1> (-)0x2": "mov (M1, 8) V40(0,0)<1> -0x2:d",
    # Several answers: the sign of a word, the type of a number among floats.
    "mov (M1, 8) V40(0,0)<1> 0x1:dword": "mov (M1, 8) V40(0,0)<1> 0x1:dword",
    "mul (M1, 8) V41(0,0)<1> V41(0,0)<1;1,0> 2": "mul (M1, 8) V41(0,0)<1> V41(0,0)<1;1,0> 2",
}


def test_what_has_one_right_answer_is_mended(tmp_path):
    head = (
        '.version 4.1\n.kernel "k"\n.decl V40 v_type=G type=d num_elts=8 align=GRF\n'
        ".decl V41 v_type=G type=f num_elts=8 align=GRF\n.decl P1 v_type=P num_elts=8\n"
    )
    path = tmp_path / "k.visaasm"
    path.write_text(head + "".join(f"    {line}\n" for line in ONE_ANSWER) + "    ret (M1, 1)\n")
    main(["check", "--fix", str(path)])
    assert path.read_text().splitlines()[5:-1] == [f"    {line}" for line in ONE_ANSWER.values()]
