"""The command on texts of the oracle corpus: the two spellings, many processes, fixes that never make worse."""

import shutil
from pathlib import Path

import pytest
from corpus import faults, read
from tiers import first

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.app.check.formats.table import FORMATS
from visa_lsp.ide.suppressions import visible

FOLDER = Path(faults()[-1]["path"]).parent  # the larger one, where there are two
pytestmark = pytest.mark.corpus
TEXTS = sorted(FOLDER.glob("*.visaasm"))


@pytest.fixture
def folder(here):
    shutil.copytree(FOLDER, here / "errors")
    return here / "errors"


@pytest.mark.parametrize("form", first(2, FORMATS))
def test_both_spellings_and_any_number_of_processes_report_the_same(folder, run, form):
    one = run("check", "--format", form, "errors", "none", "--jobs", "1")
    assert one == run("--check", "--format", form, "errors", "none", "--jobs", "3")
    assert one[0] == 2


def test_command_finds_what_the_engine_finds(folder, check):
    _, found = check("errors")
    expected = [(f"errors/{p.name}", d.code, d.message) for p in TEXTS for d in visible(Analysis.of(read(p)))]
    assert [(f["path"], f["code"], f["message"]) for f in found] == expected


def test_findings_point_at_their_token(folder, check):
    for finding in check("errors")[1]:
        lines = (folder.parent / finding["path"]).read_bytes().decode("utf-8", "surrogateescape").split("\n")
        line = lines[finding["line"] - 1]
        assert 1 <= finding["column"] <= len(line) + 1
        assert (finding["line"], finding["column"]) <= (finding["end_line"], finding["end_column"])
