"""Every rule has a page in ``cases`` with a text that has the finding and one that just has not."""

import re
from pathlib import Path

from each_case import check_each
from markers import differences, strip

from visa_lsp.checks.registry import CHECKS

CASES = Path(__file__).parent / "cases"
PAGES = sorted(CASES.glob("*.md"))
BLOCK = re.compile(r"^```visa *(?P<words>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page):
    for block in BLOCK.finditer(page.read_text()):
        yield block["words"].split(), block["text"].removesuffix("\n")


def test_findings_are_those_that_the_page_marks():
    def check(page):
        for words, text in blocks(page):
            platform = next((w for w in words if not w.startswith("+")), None)
            extra = tuple(w[1:] for w in words if w.startswith("+"))
            assert not differences(text, platform, extra), "\n".join([*differences(text, platform, extra), text])

    check_each(PAGES, check, lambda page: page.name)


def test_rule_has_a_page_with_a_hit_and_a_near_miss():
    def has_both(check):
        marked = [{f.slug for f in strip(text)[1]} for _, text in blocks(CASES / f"{check.rule.name}.md")]
        assert any(check.rule.name in slugs for slugs in marked)
        assert any(check.rule.name not in slugs for slugs in marked)

    check_each(CHECKS, has_both, lambda check: check.rule.name)
