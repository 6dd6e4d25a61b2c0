"""One small faulty kernel per observer, in ``cases/``: exactly the reports that stand in its text, and no other.

``//@`` lines of a case are its launch file, ``//!`` lines the reports, in order; a report starts with ``note:`` where it
is no fault.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from visa_lsp.cli.launchfile import parse_launch
from visa_lsp.cli.launchrun import run_text
from visa_lsp.sim.checkers import CHECKERS

CASES = sorted((Path(__file__).parent / "cases").glob("*.visaasm"))
# Cases that a checker finds; what no checker is needed for is always reported.
OF_CHECKER = {
    "bounds": {"bounds_surface", "bounds_slm", "bounds_grf", "region"},
    "uninitialised": {"uninitialised", "uninitialised_lanes", "uninitialised_predicate"},
    "races": {"race_slm", "race_surface", "race_groups"},
    "barriers": {"barrier_lanes"},
    "alignment": {"misaligned"},
    "division": {"division"},
}
ALWAYS = {"barrier_thread", "endless"}


def report_of(path, checks="all"):
    text = path.read_text()
    launch = parse_launch("\n".join(line[3:].strip() for line in text.splitlines() if line.startswith("//@")), path)
    return run_text(text, launch, path=path, engine="interp", checks=checks, budget=10_000)


def lines_of(report):
    return [str(fault) for fault in report.faults] + [f"note: {fault}" for fault in report.findings]


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_exactly_these_reports(path):
    wanted = [line[3:].strip() for line in path.read_text().splitlines() if line.startswith("//!")]
    report = report_of(path)
    assert lines_of(report) == wanted
    for fault in report.faults:
        assert report.excerpt(fault)[1] == path.read_text().splitlines()[fault.line].strip()


@pytest.mark.parametrize("check", CHECKERS)
def test_checks_choose_who_looks(check):
    found = {path.stem for path in CASES if lines_of(report_of(path, check))}
    assert found == OF_CHECKER[check] | ALWAYS


def test_without_checks_only_what_ends_a_run_is_reported():
    assert {path.stem for path in CASES if lines_of(report_of(path, "none"))} == ALWAYS


def test_every_case_has_its_checker():
    named = set().union(*OF_CHECKER.values(), ALWAYS, {"clean", "race_not_atomic"})
    assert named == {path.stem for path in CASES}
