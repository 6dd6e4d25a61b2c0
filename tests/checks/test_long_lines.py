"""No line costs more than in proportion to its length, whatever stands in it, and none is told of more than a few times."""

from __future__ import annotations

import pytest
from each_case import check_each
from tiers import one_of_each
from work import calls_of

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.syntax.document import Document
from visa_lsp.syntax.parse import Parser
from visa_lsp.text import Span

HEAD = """.version 4.1
.kernel "k"
.decl V32 v_type=G type=d num_elts=32 align=GRF
.decl A1 v_type=A num_elts=4
.decl P1 v_type=P num_elts=8
"""
TOKENS = [
    "V32(0,0)<", "V32(0,0)<1>", "V32(0,0)<1;1,0> ", "V32 ", "V32.0 ", "0x1:d ", "1 ", "( ", ")", "(", "<", "> ", "[", "] ",
    "{", "}", "} ", "{}", '"', '"a"', "\\", ",", ", ", ":", ". ", "=", "num_elts=", "num_elts=1 ", "attrs={a ", "type=d ",
    "alias=<V32,", "/*", "*/", "*", "1+", "1-", "-", "?", "1?1:", "%sizeof ", "&V32", "r[", "r[A1(0),0]<1>:d ", "flat[V32",
    "(M1,", "(-)V32", "\u00e9", "\x01", "\x0b", "L: ", "mov.", ".<", ".kernel ", "1.5:f ", "V32:f ", "((1)", "undecl ", "::d",
]  # fmt: skip
HEADS = ["", "    mov (M1, 8) ", "    mov (M1, 8) V32(0,0)<1> ", ".decl A v_type=G ", "num_elts", ".kernel ", "    (P1"]


def findings_of(line: str, times: int = 1):
    text = HEAD + f"{line}\n" * times + "    ret (M1, 1)\n"
    return Analysis.of(text).diagnostics


@pytest.mark.full
@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("every", [len(HEADS), 1])
def test_twice_as_long_a_line_takes_at_most_about_twice_as_long(head: str, every: int):
    """By default each token stands behind one head."""

    def check(token: str) -> None:
        findings_of(head + token * 3)
        findings_of(head + token * 247)  # of comments up to two more leave the same line, which is known then
        once = calls_of(lambda: findings_of(head + token * 251))
        twice = calls_of(lambda: findings_of(head + token * 502))
        assert twice < 2.6 * once + 10_000, (once, twice)

    check_each(TOKENS[HEADS.index(head) % every :: every], check, repr)


@pytest.mark.parametrize("times", [1, 12])
def test_a_few_findings_tell_of_a_line_of_nothing_but_mistakes(times: int):
    found = findings_of("num_elts" + "V32(0,0)<" * 300, times)
    assert times <= len([d for d in found if d.name == "syntax-error"]) <= 10 * times


@pytest.mark.parametrize(
    "text", ["4.          1", "4 .\t\t\t\t\t\t\t\t\t\t1", "4.000000000000000000001", "4." + "0" * 9000 + "1"]
)
def test_a_version_is_read_whatever_blanks_and_zeros_it_has(text: str):
    statement = Parser().line(f".version {text}")
    assert (statement.major, statement.minor) == (4, 1)


REFUSED = [
    ".kernel " + "-" * 90,
    ".kernel " + "(" * 90,
    '.kernel "' + "-" * 90 + '"',
    '.kernel "' + "n" * 21_000 + '"',
    ".kernel " + "n" * 21_000,
    ".global_function " + "n" * 21_000,
    ".function " + "n" * 21_000,
    ".function " + "-" * 90,
    ".function f" + " (" * 90,
    ".decl V7 v_type=G type=d num_elts=" + "(" * 90,
    ".decl V7 v_type=G type=d num_elts=" + "-" * 90 + "1",
    ".decl V7 v_type=G type=d num_elts=8 " + " " * 21_000 + "x",
    ".decl " + "n" * 21_000 + " v_type=G type=d num_elts=8",
    ".decl n" + "-" * 90 + " v_type=G type=d num_elts=8",
    ".input V32 offset=" + "(" * 90,
    ".kernel_attr X=" + "(" * 90,
    "n" * 21_000 + ":",
    "n" + "-" * 90 + ":",
    ".version " + "(" * 90,
]


@pytest.mark.parametrize(
    "line", one_of_each(REFUSED, lambda line: line.split()[0]), ids=lambda line: f"{line[:16]}-{len(line)}"
)
def test_a_line_that_is_not_read_means_the_same_to_both_ways_of_checking(line: str):
    body = (
        "    mov (M1, 8) V32(0,0)<1> V7(0,0)<1;1,0>\n    call (M1, 8) f\n" + "    mov (M1, 8) V32(0,0)<1> 0x1:d\n" * 70
    )
    text = f"{HEAD}{body}{line}\n{body}    ret (M1, 1)\n"
    analysis = Analysis.of(text)
    full = analysis.full_diagnostics
    assert analysis.incremental_diagnostics() == full
    assert Analysis(Document.parse(text)).incremental_diagnostics() == full
    at = text.index(line)
    without = Analysis.of(text[:at] + text[at + len(line) :])
    without.incremental_diagnostics()
    again = without.edit(at, at, line)
    assert again.incremental_diagnostics() == full


def test_signs_before_signs_are_not_called_parentheses_alone():
    (finding,) = [d for d in findings_of("    mov (M1, 8) V32(0,0)<1> " + "-" * 90 + "1:d") if d.code == "V001"]
    assert "signs" in finding.message
    assert not [d for d in findings_of(".function " + "a-" * 90) if "nested" in d.message]


def test_a_chain_of_sums_and_a_string_of_signs_are_not_nested():
    assert not findings_of("    mov (M1, 8) V32(0,0)<1> (" + "1+" * 90 + "1):d")
    assert not [d for d in findings_of('FILE "' + "(" * 90 + '"') if "nested" in d.message]


@pytest.mark.parametrize("zeros", [1, 10, 11, 12, 100, 5000])
def test_a_name_with_zeros_before_its_number_is_suggested_both_ways(zeros: int):
    name = "Name" + "0" * zeros + "7"
    text = HEAD + f".decl {name} v_type=G type=d num_elts=8\n" + "    mov (M1, 8) V32(0,0)<1> Name7(0,0)<1;1,0>\n" * 2
    text += "    mov (M1, 8) V32(0,0)<1> 0x1:d\n" * 70 + "    ret (M1, 1)\n"
    analysis = Analysis.of(text)
    assert analysis.incremental_diagnostics() == analysis.full_diagnostics
    (finding,) = [d for d in analysis.full_diagnostics if d.code == "V101"]
    assert name in finding.message


def test_names_of_thousands_of_letters_are_not_compared_letter_by_letter():
    long = "ab" * 4000
    text = HEAD + f".decl {long} v_type=G type=d num_elts=8\n    mov (M1, 8) V32(0,0)<1> {long}c(0,0)<1;1,0>\n"
    assert calls_of(lambda: Analysis.of(text).diagnostics) < 20_000
    assert any(d.span != Span(0, 0) and d.code == "V101" for d in Analysis.of(text).diagnostics)


def test_a_line_of_thousands_of_braces_makes_no_look_up_behind_it_longer():
    bound = Analysis.of(HEAD + "{" * 5000 + "\n{ .decl W v_type=G type=d num_elts=8\n{\n").bound
    scope, steps = bound.bodies[0].scopes[-1], 0
    assert scope.visible("W") is not None
    assert scope.visible("V32") is bound.bodies[0].scope.names["V32"]
    while scope is not None:
        scope, steps = scope.outer, steps + 1
    assert steps == 3


def test_a_name_as_long_as_a_line_is_not_told_in_full():
    findings = [d for d in findings_of(".kernel_attr OutputAsmPath=" + "V32(0,0)<" * 1000) if d.code == "V132"]
    assert findings
    assert all(len(d.message) < 600 for d in findings)
