"""One small faulty kernel per observer, in ``cases/``: exactly the reports that stand in its text, and no other.

``//@`` lines of a case are its launch file, ``//!`` lines the reports, in order; a report starts with ``note:`` where it
is no fault.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.sim import case_files
from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.runner import RunOptions, run_text
from visa_lsp.sim.observers.checkers import CHECKERS

CASES = sorted(case_files.CASES.glob("*.visaasm"))
# What the first word of a case's name says: the checker that finds it. What no checker is needed for is always reported.
CHECKER_OF = {
    "bounds": "bounds",
    "region": "bounds",
    "uninitialised": "uninitialised",
    "race": "races",
    "barrier": "barriers",
    "misaligned": "alignment",
    "division": "division",
    "items": "item-races",
    "access": "access",
}
ALWAYS = {
    "barrier_thread", "barrier_named_missing", "barrier_split_missing", "barrier_two",
    "endless", "endless_goto", "endless_spin", "endless_calls", "unwritten_barrier_id",
}  # fmt: skip
SLOW = {"race_far", "endless_spin"}  # a second each, with some checkers
WITH_REPORTS = {path.stem for path in CASES if "\n//! " in path.read_text()}


def report_of(path, checks=None):
    path, text, launch = case_files.read_case(path.stem)
    checks = checks or ("all,item-races" if path.stem.startswith("items") else "all")
    return run_text(text, parse_launch(launch, path), RunOptions(path, engine="interp", checks=checks, budget=10_000))


def lines_of(report):
    return [str(fault) for fault in report.faults] + [f"note: {fault}" for fault in report.findings]


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_exactly_these_reports(path):
    wanted = [line[3:].strip() for line in path.read_text().splitlines() if line.startswith("//!")]
    report = report_of(path)
    assert lines_of(report) == wanted
    lines = path.read_text().splitlines()
    for fault in report.faults:
        assert report.excerpt(fault)[1] == lines[fault.line].strip()
        if ", line " in (fault.other or ""):
            assert report.other_excerpt(fault)[1] == lines[fault.other_line].strip()
            assert f", line {fault.other_line + 1}" in fault.other or f"at line {fault.other_line + 1}" in fault.other


def some_of_each_kind():
    """Two cases for each first word of a name, with reports of a checker and with those that nothing takes away; all without any."""
    seen = Counter()
    for path in CASES:
        kind = (path.stem.split("_")[0], path.stem in WITH_REPORTS, path.stem in ALWAYS)
        if path.stem not in SLOW and (path.stem not in WITH_REPORTS or seen[kind] < 2):
            seen[kind] += 1
            yield path


EACH_KIND = list(some_of_each_kind())
SOME = pytest.mark.parametrize(
    "paths", [pytest.param(EACH_KIND, id="each-kind"), pytest.param(CASES, id="all", marks=pytest.mark.full)]
)


@SOME
@pytest.mark.parametrize("check", CHECKERS)
def test_checks_choose_who_looks(check, paths):
    found = {path.stem for path in paths if lines_of(report_of(path, check))}
    of_checker = {stem for stem in WITH_REPORTS - ALWAYS if CHECKER_OF[stem.split("_")[0]] == check}
    if check == "item-races":  # lanes of different threads race like their threads
        of_checker |= {stem for stem in WITH_REPORTS if stem.startswith("race_")}
        of_checker.add("misaligned_block")  # a block is loaded for all lanes, and each stores into it
    assert found == (of_checker | ALWAYS) & {path.stem for path in paths}


@SOME
def test_without_checks_only_what_ends_a_run_is_reported(paths):
    found = {path.stem for path in paths if lines_of(report_of(path, "none"))}
    assert found == ALWAYS & {path.stem for path in paths}


def test_every_checker_has_five_cases_and_clean_kernels_have_no_report():
    for check in CHECKERS:
        cases = [stem for stem in WITH_REPORTS if CHECKER_OF.get(stem.split("_")[0]) == check]
        assert len(cases) >= {"division": 3, "access": 3}.get(check, 5), (check, cases)
    assert {p.stem for p in CASES} - WITH_REPORTS == {
        "clean", "clean_barrier", "clean_division", "clean_loop_without_label_behind", "clean_released", "clean_undefined", "clean_unread_element", "race_not_atomic",
        "items_clean", "access_put_back", "race_fenced_other_platform",
    }  # fmt: skip
