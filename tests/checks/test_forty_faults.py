"""A text with many different faults gives one finding for each of them, and none for what only follows from one."""

from pathlib import Path

from visa_lsp.analysis.analysis import Analysis

TEXT = (Path(__file__).parent / "forty_faults.visaasm").read_text()
# The lines that are as they should be.
SOUND = {*range(1, 12), 22, 25, 26, 27, 61}


def lines_of(analysis):
    return [analysis.document.position(d.span.start)[0] + 1 for d in analysis.diagnostics]


def test_every_faulty_line_has_one_finding_and_no_other_line_has_any():
    analysis = Analysis.of(TEXT, "TGLLP")
    faulty = sorted(set(range(1, TEXT.count("\n") + 1)) - SOUND)
    assert len(faulty) >= 40
    assert lines_of(analysis) == faulty


def test_faults_are_of_many_kinds():
    found = Analysis.of(TEXT, "TGLLP").diagnostics
    assert len({d.message for d in found}) == len(found)
    assert len({d.name for d in found}) >= 30


def test_mending_one_line_takes_away_its_finding_only():
    whole = len(Analysis.of(TEXT, "TGLLP").diagnostics)
    lines = TEXT.split("\n")
    for number in range(28, 61):
        mended = "\n".join([*lines[: number - 1], "    // mended", *lines[number:]])
        assert len(Analysis.of(mended, "TGLLP").diagnostics) == whole - 1, lines[number - 1]
