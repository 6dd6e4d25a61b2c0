"""``--fix`` never makes a text worse: asked of real lines broken by token, in as many ways as the benchmark breaks them.

After the fixes there are no more findings than before, of no severity and of no broken line; a second run changes nothing.
"""

from collections import Counter

import pytest
from tiers import first

from benchmarks.mutation import mutants
from visa_lsp.analysis.analysis import Analysis
from visa_lsp.app.check.fixes import mend
from visa_lsp.diagnostics import Severity
from visa_lsp.ide.suppressions import visible

CHUNKS = 8


def inspect(platform):
    return lambda text: visible(Analysis.of(text, platform))


def severities(findings):
    count = Counter(d.severity for d in findings)
    return count[Severity.ERROR], count[Severity.ERROR] + count[Severity.WARNING], len(findings)


def broken_lines(findings):
    return sum(d.name == "syntax-error" for d in findings)


@pytest.mark.parametrize("number", first(1, range(CHUNKS)))
def test_fixes_of_mutants_never_make_worse_and_settle(number):
    mended = 0
    for mutant in mutants(250, seed=1000 + number):
        look = inspect(mutant.platform)
        before = look(mutant.text)
        once = mend(mutant.text, look, lambda _: True)
        assert all(a <= b for a, b in zip(severities(once.diagnostics), severities(before), strict=True)), mutant
        assert broken_lines(once.diagnostics) <= broken_lines(before), mutant
        assert once.diagnostics == look(once.text), mutant
        if once.count:
            mended += 1
            assert mend(once.text, look, lambda _: True).text == once.text, mutant
    assert mended
