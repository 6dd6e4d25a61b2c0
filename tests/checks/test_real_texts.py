"""What compilers print has no finding: every text of the corpus, with its platform named and without one.

All texts take about a minute, in one test; nothing else of the suite goes over all of them with the rules.
"""

from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from visa_lsp.checks import run_checks
from visa_lsp.checks.context import CheckContext
from visa_lsp.ide.analysis import Analysis
from visa_lsp.isa.platforms import platform_named

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"


def reports(path):
    named = (platform_named(word) for word in path.relative_to(CORPUS).parts)
    platform = next(p for p in named if p is not None)
    with_platform = Analysis.of(path.read_text(), platform.name)
    without = CheckContext(with_platform.document, Analysis(with_platform.document).bound, None, with_platform.dialect)
    found = [*with_platform.diagnostics, *run_checks(without)]
    lines = [with_platform.document.position(d.span.start)[0] + 1 for d in found]
    return [f"{path.relative_to(CORPUS)}:{at}: {d.code} {d.message}" for at, d in zip(lines, found, strict=True)]


@pytest.mark.skipif(not CORPUS.is_dir(), reason=f"the oracle corpus is not at {CORPUS}")
@pytest.mark.parametrize("part", ["dev", "dev42", "run"])
def test_real_text_has_no_finding(part):
    texts = sorted((CORPUS / part).rglob("*.visaasm"))
    assert len(texts) > 20
    with ProcessPoolExecutor() as pool:
        found = [report for result in pool.map(reports, texts, chunksize=4) for report in result]
    assert not found
