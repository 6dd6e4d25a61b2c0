"""Fixes mend: applied to a rule's example, each takes its finding away, and a safe one brings no new error."""

from cursor import apply_edits
from each_case import check_each
from markers import complete

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.checks.registry import CHECKS
from visa_lsp.checks.run import run_checks
from visa_lsp.checks.support.context import CheckContext
from visa_lsp.checks.support.rule_page import examples


def diagnose(text, extra):
    analysis = Analysis.of(text, "TGLLP")
    return run_checks(CheckContext(analysis.document, analysis.bound, analysis.platform, analysis.dialect), extra)


def cases():
    for check in CHECKS:
        text, _ = complete(examples(check.rule)[0])
        for found in diagnose(text, (check.rule.code,)):
            if found.rule is check.rule:
                for fix in found.fixes:
                    yield check.rule, text, found, fix


def test_fix_takes_its_finding_away():
    fixed = list(cases())
    check_each(fixed, _taken_away, lambda case: f"{case[0].name}: {case[3].title}")
    assert len({rule.code for rule, *_ in fixed}) >= 25


def _taken_away(case):
    rule, text, found, fix = case
    before = diagnose(text, (rule.code,))
    after = diagnose(apply_edits(text, fix.edits), (rule.code,))
    assert [d.message for d in after].count(found.message) < [d.message for d in before].count(found.message)
    if fix.safe:
        assert sum(d.severity.value == "error" for d in after) <= sum(d.severity.value == "error" for d in before)


def test_the_region_of_one_lane_is_a_scalar():
    text, _ = complete("    add (M1, 1) V33(0,0)<1> V34(0,0)<8;8,1> 0x1:d")
    (found,) = diagnose(text, ("V304",))
    assert [fix.title for fix in found.fixes] == ["change to `<0;1,0>`"]
