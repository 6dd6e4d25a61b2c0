"""Every kernel of the corpus, launched through its zebin, computes what pocl computes from the same OpenCL source.

Accuracy by kernel and the sources that pocl cannot run stand in ``corpus_cases``, with reasons. All checkers watch: a
kernel gives no report but those named there.
"""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING

import corpus_cases
import opencl
import own_cases
import pytest
from corpus import HAS_MORE, OWN, ROOTS, files, place
from corpus_launches import CASES, launch_of, program
from corpus_results import compare, kept, of_pocl
from tiers import in_turns, one_of_each

from visa_lsp.app.launch.ready_run import run_ready
from visa_lsp.app.launch.runner import RunOptions, ready
from visa_lsp.sim.faults import FaultKind

if TYPE_CHECKING:
    from visa_lsp.app.launch.report import RunReport

SYMBOLS = "Intel_Symbol_Table_Void_Program"
OWN_CASES = list(own_cases.cases())
NO_READ_ON_PVC = (*corpus_cases.NO_READ_ON_PVC, *own_cases.NO_READ_ON_PVC)


def launched(case, platform, checks="all", part="run", engine="interp") -> RunReport:
    return run_ready(
        ready(
            program(case.source, case.kernel, platform, part),
            launch_of(case, place(f"{part}/{platform}/{case.source}"), case.source),
            RunOptions(platform=platform, engine=engine, checks=checks),
        )
    )


def simd_of(case, platform, part="run") -> int:
    return program(case.source, case.kernel, platform, part).kernels[0].int_attribute("SimdSize")


def has_idle_lanes(case) -> bool:
    """Whether a launch has fewer work items than its threads have lanes."""
    return prod(case.local) % 16 > 0


def is_own(case) -> bool:
    """Whether a kernel is one of the project's own."""
    return place(f"run/{case.platforms[0]}/{case.source}").is_relative_to(OWN)


def of_each_kernel() -> list[object]:
    """Every launch on every platform; by default one of each kernel, in turns with idle lanes and without.

    Own kernels take turns on platforms, others run on all.
    """
    found = [(case, platform) for case in CASES for platform in case.platforms]
    turns = in_turns(found, lambda launch: launch[0].kernel, lambda launch: (launch[1], has_idle_lanes(launch[0])))
    return one_of_each(turns, lambda launch: (launch[0].kernel, is_own(launch[0]) or launch[1]))


@pytest.mark.corpus
@pytest.mark.parametrize("launch", of_each_kernel(), ids=lambda launch: "-".join(map(str, launch)))
def test_same_result(launch):
    case, platform = launch
    expected = None
    own = is_own(case)
    if case.reference is None and not own:
        if opencl.why_missing():
            pytest.skip(opencl.why_missing())
        expected, printed = of_pocl(case)
    report = launched(case, platform)
    kinds = {fault.kind for fault in report.faults}
    if platform == "PVCXT" and case.kernel in NO_READ_ON_PVC:
        assert kinds == {FaultKind.UNINITIALISED}
        return
    assert [str(f) for f in report.faults if f.kind.value != case.reports] == []
    told = {f.kind.value for f in report.faults} | {f"note: {f.kind.value}" for f in report.findings}
    assert not case.reports or case.reports in told
    found = {buffer.arg: buffer.array for buffer in report.buffers}
    if own:
        expected = kept(case, simd_of(case, platform))
    elif case.reference:
        arrays = [getattr(arg, "array", None) for arg in case.args]
        expected = case.reference(arrays, simd_of(case, platform))
    compare(case, found, expected)
    if case.kernel == "talk":
        assert sorted(report.printed.splitlines()) == kept_text(case)
    if case.kernel == "pr":
        compare_printed(report.printed, printed[0])


def kept_text(case) -> list[str]:
    return (OWN / "expected" / f"{case}.printed.txt").read_text().splitlines()


def compare_printed(ours, theirs):
    """Threads print in any order. pocl 3.1 refuses ``%v4d`` without a length, so that line has the source's own values."""
    lines = sorted(line for line in theirs.splitlines() if line.startswith("x["))
    assert len(lines) == 17
    assert sorted(ours.splitlines()) == sorted(["v=1,2,3,0 c=z l=17", *lines])


def test_no_kernel_is_left_out():
    """Each text of ``run`` that has an entry in its ze_info is launched."""
    seen = {(case.source, case.kernel, platform) for case in CASES for platform in case.platforms}
    there = set()
    for path in files("run/*/*/*.visaasm"):
        platform, source = path.parts[-3:-1]
        if f"name:            {path.stem}\n" in (path.parent / f"{source}.zeinfo.yaml").read_text():
            there.add((source, path.stem, platform))
    there = {entry for entry in there if entry[1] != SYMBOLS}
    assert there - seen == set()
    assert len({source for source, _, _ in there}) == 22 + (43 if HAS_MORE else 0)


def test_every_exception_is_used():
    for module in (corpus_cases, own_cases):
        cases = list(module.cases())
        assert set(module.ACCURACY) <= {case.kernel for case in cases}
        assert {case.source for case in cases if case.reference} == set(module.WITHOUT_POCL)
        assert {case.kernel for case in cases if case.reports} == set(module.RIGHT)


def test_no_source_is_in_two_places():
    names = [{path.name for path in root.glob("run/*/*")} for root in ROOTS]
    assert not set.intersection(*names) or len(names) == 1


def test_every_kept_result_is_of_a_launch():
    names = {str(case) for case in OWN_CASES}
    assert {re.sub(r"(\.simd\d+)?\.(\d\.npy|printed\.txt)$", "", path.name) for path in files("expected/*")} == names
