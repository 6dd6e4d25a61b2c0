"""What compilers print has no finding: every text of the corpus with its platform named, and every eighth without one.

Without a platform nothing is asked that a platform does not ask as well, but for the register sizes. The texts come in
chunks of equal weight, so that several processes can share them; nothing else of the suite goes over all of them.
"""

import pytest
from corpus import at_least, inside, texts
from tiers import first

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.checks.run import run_checks
from visa_lsp.checks.support.context import CheckContext
from visa_lsp.isa.platforms import platform_named

CHUNKS = 12
SAMPLE = 8


def chunk(number):
    # By falling size, dealt out like cards.
    return sorted(texts(), key=lambda path: (-path.stat().st_size, path))[number::CHUNKS]


def reports(path, platform):
    analysis = Analysis.of(path.read_text(), platform)
    ctx = CheckContext(analysis.document, analysis.bound, analysis.platform, analysis.dialect)
    found = run_checks(ctx)
    lines = [analysis.document.position(d.span.start)[0] + 1 for d in found]
    return [f"{inside(path)}:{at}: {d.code} {d.message}" for at, d in zip(lines, found, strict=True)]


@pytest.mark.corpus
@pytest.mark.parametrize("number", range(CHUNKS))
def test_real_text_has_no_finding(number):
    found = []
    for path in chunk(number):
        named = (platform_named(word) for word in inside(path).parts)
        found += reports(path, next(p.name for p in named if p is not None))
    assert not found


@pytest.mark.corpus
@pytest.mark.parametrize("number", first(2, range(CHUNKS)))
def test_real_text_has_no_finding_without_a_platform(number):
    assert not [report for path in chunk(number)[::SAMPLE] for report in reports(path, None)]


@pytest.mark.corpus
def test_the_corpus_is_whole():
    assert len(texts()) >= at_least(170, 700)
