"""Rules about whole kernels run later: with the same result, and not at all once nobody wants to know."""

from __future__ import annotations

import pytest

from benchmarks.inputs import generated
from visa_lsp.analysis.analysis import Analysis
from visa_lsp.ide.late import Stopped, known_late, late_findings
from visa_lsp.ide.suppressions import visible

EXTRA = frozenset({"V128", "V134", "V135", "V503", "V506"})


def test_late_findings_are_those_of_the_whole_look() -> None:
    text = generated(3, 400)
    analysis = Analysis.of(text)
    assert known_late(analysis, EXTRA) is None
    found = late_findings(analysis, EXTRA, lambda: False)
    assert found == visible(Analysis.of(text), EXTRA)
    assert len(found) > len(visible(analysis))
    assert known_late(analysis, EXTRA) == found
    assert known_late(analysis, ()) is None


def test_late_findings_end_when_nobody_wants_them() -> None:
    analysis = Analysis.of(generated(3, 400))
    asked = iter(range(1000))
    with pytest.raises(Stopped):
        late_findings(analysis, EXTRA, lambda: next(asked) > 50)
    assert next(asked) < 60
    assert known_late(analysis, EXTRA) is None
