"""Outcomes of the launches of ``corpus/run2026``: kernels of the corpus as a compiler of 2026 prints them.

``PYTHONPATH=.:tests/support:tests/own python tests/oracle/newest_launches.py [NAME ...]`` prints a table of all launches, or of
those whose platform, source or kernel is named. ``VISA_LSP_NEWEST`` names another folder of the same layout.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from collections import Counter

import opencl
import test_run_corpus as corpus
from compiled_engine import compile_at_once
from corpus import BESIDE, OWN
from corpus_results import compare, kept, of_pocl

from visa_lsp.app.launch.body_source import TextProblems
from visa_lsp.sim.launch.config import LaunchError

PART = os.environ.get("VISA_LSP_NEWEST", "run2026")
PLATFORMS = ("TGLLP", "DG2", "PVCXT", "BMG", "PTL", "CRI", "NVL")
RUNS = (("interp", "all"), ("jit", "all"), ("jit", "none"))  # engine and checks
OUTCOMES = ("right", "wrong", "refused", "finding")


def launches() -> list[tuple[corpus.Case, str]]:
    """Return every case with each platform that has a text of its kernel."""
    return [
        (case, platform)
        for case in corpus.CASES
        for platform in PLATFORMS
        if (BESIDE / PART / platform / case.source / f"{case.kernel}.visaasm").is_file()
    ]


@functools.cache
def pocl_buffers(case) -> dict:
    """Return the buffers that pocl leaves."""
    return of_pocl(case)[0]


def outcome(case, platform: str, engine: str, checks: str) -> tuple[str, str]:
    """Return one of ``OUTCOMES`` and its reason; a finding is a fault beside those that the source deserves."""
    try:
        report = corpus.launched(case, platform, checks, PART, engine)
    except (LaunchError, TextProblems) as error:
        return "refused", str(error)
    arrays = [getattr(arg, "array", None) for arg in case.args]
    simd = corpus.simd_of(case, platform, PART)
    if (OWN / "cl" / f"{case.source}.cl").is_file():
        expected = kept(case, simd)
    else:
        expected = case.reference(arrays, simd) if case.reference else pocl_buffers(case)
    faults = [str(fault) for fault in report.faults if fault.kind.value != case.reports]
    try:
        compare(case, {buffer.arg: buffer.array for buffer in report.buffers}, expected)
    except AssertionError as error:
        return "wrong", faults[0] if faults else " ".join(str(error).split())
    return ("finding", faults[0]) if faults else ("right", "")


def main(names: list[str]) -> None:
    """Print the table, and each reason with the launches that it concerns."""
    assert not opencl.why_missing(), opencl.why_missing()
    compile_at_once(setattr)
    table: Counter[tuple[str, str, str, str]] = Counter()
    reasons: dict[tuple[str, str], list[str]] = {}
    for case, platform in launches():
        if names and not {platform, case.source, case.kernel} & set(names):
            continue
        for engine, checks in RUNS:
            kind, why = outcome(case, platform, engine, checks)
            table[platform, engine, checks, kind] += 1
            if kind != "right":
                reasons.setdefault((kind, re.sub(r"\d+", "#", why)), []).append(f"{platform}/{case}/{engine}/{checks}")
    print(f"{'platform':10}{'engine':8}{'checks':8}" + "".join(f"{kind:>9}" for kind in OUTCOMES))
    for platform, engine, checks in dict.fromkeys(key[:3] for key in sorted(table)):
        counts = (table[platform, engine, checks, kind] for kind in OUTCOMES)
        print(f"{platform:10}{engine:8}{checks:8}" + "".join(f"{count:9}" for count in counts))
    for (kind, why), places in sorted(reasons.items(), key=lambda item: -len(item[1])):
        print(f"{len(places):4} {kind}: {why[:300]}\n       {', '.join(places[:6])}")


if __name__ == "__main__":
    main(sys.argv[1:])
