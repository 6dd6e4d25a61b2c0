"""The one-fault texts of the oracle corpus: what the finalizer and the specification say of each, and what we say.

Where both call for an error there is one; where only the specification does there is at least a warning; the control has
no finding. The messages of all of them are a golden text, to be read.
"""

import re
from pathlib import Path

import pytest
from corpus import HAS_MORE, HAS_OWN, OWN, faults
from each_case import check_each

from visa_lsp.analysis.analysis import Analysis

HERE = Path(__file__).parent
# Of the project's own texts and, where they are, of those beside the repository.
GOLDENS = [HERE / "verdicts_own.txt"] * HAS_OWN + [HERE / "verdicts.txt"] * HAS_MORE


def analysis(row):
    return Analysis.of(Path(row["path"]).read_text(), row["platform"])


def check_each_text(check):
    check_each(faults(), check, lambda row: row["id"])


@pytest.mark.corpus
def test_severity_agrees_with_the_judges():
    check_each_text(_severity_agrees)


def _severity_agrees(row):
    severities = {d.severity.value for d in analysis(row).diagnostics}
    if row["seed_expects"] == "error" and row["verdict"] == "agree":
        assert "error" in severities
    elif row["seed_expects"] == "error":
        assert severities & {"error", "warning"}
    elif "control" in row["fault"] or (row["seed_expects"], row["verdict"]) == ("accept", "agree"):
        assert not severities


@pytest.mark.corpus
def test_one_fault_gives_at_most_one_finding():
    assert [row["id"] for row in faults() if len(analysis(row).diagnostics) > 1] == []


# The finalizer names the line of the token where it stumbled, or counts an earlier line; ours is the line of the fault.
ELSEWHERE = {
    "redeclared_cross_class": 16,
    "alias_loop": 16,
    "alias_undeclared": 16,
    "input_of_pred": 19,
    "operand_missing": 24,
    "indirect_no_type": 24,
    "twice": 10,
    "alias_of_nothing": 9,
    "one_source": 31,
    "raw_without_byte": 31,
    "no_end": 31,
    "flag_input": 29,
}


@pytest.mark.corpus
def test_line_is_that_of_the_fault():
    check_each_text(_line_is_that_of_the_fault)


def _line_is_that_of_the_fault(row):
    told = re.search(r"near line (\d+)", row["stderr"])
    checked = analysis(row)
    if told is None or not checked.diagnostics:
        return
    line, _ = checked.document.position(checked.diagnostics[0].span.start)
    assert line + 1 == ELSEWHERE.get(row["id"], int(told[1]))


def listing(own):
    lines = []
    for row in faults():
        if Path(row["path"]).is_relative_to(OWN) != own:
            continue
        checked = analysis(row)
        for d in checked.diagnostics:
            line, column = checked.document.position(d.span.start)
            where = f"{row['id']}:{line + 1}:{column + 1}"
            lines.append(
                f"{where}: {d.severity.value} {d.code} {d.name}: {d.message} [{checked.document.slice(d.span)}]"
            )
    return "\n".join(lines) + "\n"


@pytest.mark.corpus
@pytest.mark.parametrize("golden", GOLDENS, ids=lambda path: path.stem)
def test_messages_are_those_that_were_read(golden):
    assert listing(golden.stem == "verdicts_own") == golden.read_text()
