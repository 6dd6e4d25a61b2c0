"""Outcomes of the launches of ``corpus/run2026``: the corpus of ``run``, as a compiler of 2026 prints it.

``python tests/oracle/newest_launches.py [PLATFORM or SOURCE ...]`` prints how many launches each engine gets right.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "support"), str(Path(__file__).parents[1] / "own")]

import corpus_cases
import opencl
import test_run_corpus as corpus
from corpus import BESIDE

from visa_lsp.cli.launch.program import TextProblems
from visa_lsp.sim.launch.config import LaunchError

PART = os.environ.get("VISA_LSP_NEWEST", "run2026")
PLATFORMS = ("TGLLP", "DG2", "PVCXT", "BMG", "PTL", "CRI", "NVL")
ENGINES = ("interp", "jit")
CASES = [case for case in corpus_cases.cases() if (BESIDE / PART).is_dir()]


def launches() -> list[tuple[corpus_cases.Case, str]]:
    """Return every case with each platform that has a text of its kernel."""
    return [
        (case, platform)
        for case in CASES
        for platform in PLATFORMS
        if (BESIDE / PART / platform / case.source / f"{case.kernel}.visaasm").is_file()
    ]


@functools.cache
def expected_of(case) -> dict | None:
    """Return the buffers that pocl gives; None where the case has a reference of its own."""
    return None if case.reference else corpus.wanted(case)[0]


def outcome(case, platform: str, engine: str) -> tuple[str, str]:
    """Return `right`, `wrong`, `refused` or `finding`, with the reason."""
    try:
        report = corpus.launched(case, platform, part=PART, engine=engine)
    except (LaunchError, TextProblems) as error:
        return "refused", getattr(error, "message", None) or str(error)
    expected = expected_of(case)
    if expected is None:
        arrays = [getattr(arg, "array", None) for arg in case.args]
        expected = case.reference(arrays, corpus.simd_of(case, platform, PART))
    faults = [str(fault) for fault in report.faults if fault.kind.value != case.reports]
    try:
        corpus.compare(case, {buffer.arg: buffer.array for buffer in report.buffers}, expected)
    except AssertionError as error:
        return "wrong", "; ".join(faults)[:300] or " ".join(str(error).split())[:200]
    return ("finding", faults[0]) if faults else ("right", "")


def main(words: list[str]) -> None:
    """Print the table of outcomes and each reason with its number of launches."""
    assert not opencl.missing(), opencl.missing()
    table: Counter[tuple[str, str, str]] = Counter()
    reasons: dict[tuple[str, str], list[str]] = {}
    for case, platform in launches():
        if words and not {platform, case.source, case.kernel} & set(words):
            continue
        for engine in ENGINES:
            kind, why = outcome(case, platform, engine)
            table[platform, engine, kind] += 1
            if kind != "right":
                reasons.setdefault((kind, re.sub(r"\d+", "#", why)), []).append(f"{platform}/{case}/{engine}")
    kinds = ("right", "wrong", "refused", "finding")
    print(f"{'':16}" + "".join(f"{kind:>9}" for kind in kinds))
    for platform, engine in dict.fromkeys((p, e) for p, e, _ in table):
        print(f"{platform:8}{engine:8}" + "".join(f"{table[platform, engine, kind]:9}" for kind in kinds))
    for (kind, why), places in sorted(reasons.items(), key=lambda item: -len(item[1])):
        print(f"{len(places):4} {kind}: {why}\n       {', '.join(places[:6])}")


if __name__ == "__main__":
    main(sys.argv[1:])
