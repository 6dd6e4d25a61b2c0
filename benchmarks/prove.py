"""Answers of `prove` on GPUVerify's test suite, on the kernels of the corpus, and on random kernels.

--gpuverify FOLDER: a checkout of mc-imperial/gpuverify (its OpenCL tests are compiled by ocloc; nothing of them is kept). The first line
of a test says whether it passes, the second the sizes; a fault that a header names is compared with what was refuted. --corpus: every
kernel of the launches of the corpus. --read: what `prove` prints for kernels of --standard, for someone who has not seen them. --random N: proofs of random kernels, and of mutants of them, against launches that keep the
assumptions. Usage: python -m benchmarks.prove [--gpuverify FOLDER] [--standard] [--read] [--corpus] [--random N] [--launches N] [--mutants N] [--newer OCLOC] [--seed N] [--start NUMBER] [--only WORD] [--jobs N] [--timeout S] [--table]
[--keep FOLDER].
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.inputs import CORPUS
from benchmarks.prove_random import random_kernels
from benchmarks.prove_standard import print_for_readers, prove_standard
from visa_lsp.app.compile.build import build_source, device_of, read_source
from visa_lsp.app.errors import UserError
from visa_lsp.app.prove.document import ProofOptions, prove_data

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.app.prove import ProofResult

PROPERTIES = ("race", "bounds", "divergence")

# Annotations of GPUVerify, which the compiler has to ignore.
_ANNOTATIONS = (
    "assert requires ensures invariant candidate_invariant global_invariant function_wide_invariant"
    " function_wide_candidate_invariant global_requires global_ensures global_assert assume reads_from writes_to"
    " requires_fresh_array barrier_invariant barrier_invariant_1"
)
_DEFINITIONS = "".join(f"#define __{name}(...)\n" for name in _ANNOTATIONS.split()) + "#define __non_temporal(x) x\n"
MAX_GROUP = 1024  # work items of a group that devices allow; some tests have more
_KINDS = (
    ("null pointer", "null"),
    ("race", "race"),
    ("write by work item", "race"),
    ("non-uniform control flow", "divergence"),
    ("bounds", "bounds"),
    ("assert", "assert"),
    ("invariant", "assert"),
    ("postcondition", "assert"),
    ("precondition", "assert"),
)
# The kind of fault, by reading, of tests whose header names none.
_READ = {
    "race": (
        *(f"async_work_group_copy/fail/test{number}" for number in (1, 2, 4, 5, 10, 13, 14)),
        "atomics/refined_atomic_abstraction/bad_local_counters", "atomics/refined_atomic_abstraction/predication",
        "atomics/forloop", "imagetests/fail2dimagecopy", "misc/fail/miscfail1", "misc/fail/miscfail3",
        "misc/fail/miscfail9", "reducedstrengthnonloopbug", "test_for_benign_read_write_bug", "warpsync/broken_shuffle",
    ),
    "divergence": (*(f"async_work_group_copy/fail/test{number}" for number in (7, 9, 11, 12)), "barrier_intervals/test2"),
    "null": tuple(f"async_work_group_copy/fail/test{number}" for number in (15, 16, 17, 18)),
}  # fmt: skip
# Faults that the compiled text does not have, by reading it.
_COPIES = "each work item copies the elements that it then uses: no other one touches them"
_UNREAD = "nothing reads the shared local memory, so that the compiler has removed its stores"
GONE = {
    **{f"async_work_group_copy/fail/test{number}": _COPIES for number in (1, 2, 4, 5, 13, 14)},
    "async_work_group_copy/fail/test11": "the copies and the choice between their events are removed; waiting is a barrier for all",
    "async_work_group_copy/fail/test17": "a null local pointer is offset 0 of shared local memory, where the array lies",
    "inter_group_and_barrier_flag_tests/fail/missing_local_barrier_flag": _UNREAD,
    "inter_group_and_barrier_flag_tests/fail/no_barrier_flags": _UNREAD,
}
_SIZES = {"local_size": "local_size", "num_groups": "groups", "global_size": "global_size"}


def read_header(source: str) -> dict[str, Any]:
    """Return the verdict of a test from its header, with the kind of fault and the options that change the checks.

    The verdict is ``none`` if it is about some arrays only, or about GPUVerify's own errors. ``warp`` is the number of
    work items that run in step.
    """
    lines = source.splitlines()
    options = next((line for line in lines[:3] if line.startswith("//--")), "")
    head = "\n".join(line for line in lines[1:12] if line.startswith("//") and line != options).lower()
    first = lines[0].lower()
    verdict = "pass" if first.startswith("//pass") else "fail" if "not_all_verified" in first else "none"
    if "/checkArrays:" in options and "specifyall" not in source:
        verdict = "none"
    kind = next((kind for word, kind in _KINDS if word in head), "?")
    wanted = ["divergence"]
    if "--only-divergence" not in options:
        wanted += ["race", "bounds"] if "--check-array-bounds" in options else ["race"]
    warp = sum(sizes(options, "warp-sync"))
    return {"expected": verdict, "kind": kind, "wanted": wanted, "warp": warp, "assume": assumptions(source, options)}


def sizes(options: str, name: str) -> list[int]:
    """Return the numbers of an option: ``--local_size=64``, ``[8,8]`` or ``8,8``."""
    found = re.search(rf"--{name}=\[?([\d, ]*\d)", options)
    return [int(one) for one in re.findall(r"\d+", found[1])] if found else []


def assumptions(source: str, options: str) -> list[str]:
    """Return the sizes of a test, and its preconditions as far as they are ones of launches."""
    local = [*(sizes(options, "local_size") or [64]), 1, 1][:3]
    total, groups, offset = (sizes(options, name) for name in ("global_size", "num_groups", "global_offset"))
    while prod(local) > MAX_GROUP:
        axis = local.index(max(local))
        local[axis] = min(MAX_GROUP, local[axis] // 2)
    if total and not groups:
        groups = [-(-one // size) for one, size in zip(total, local, strict=False)]
    groups = [1] if "--only-intra-group" in options else groups
    conditions_of_sizes = []
    for axis, name in enumerate("xyz"):
        conditions_of_sizes += [f"local_size_{name} == {local[axis]}", f"offset_{name} == {([*offset, 0, 0, 0])[axis]}"]
        if groups or axis:
            conditions_of_sizes.append(f"groups_{name} <= {([*groups, 1, 1, 1])[axis]}")
    conditions = re.findall(r"__requires\(([^;]*)\);", source)
    given = re.search(r"--kernel-args=\w+,0x([0-9a-fA-F]{1,8})\b", options)
    scalar = re.search(r"\bint (\w+)\)", source)
    if given and scalar:
        conditions.append(f"{scalar[1]} == {int(given[1], 16)}")
    plain = [(rf"\b{name}\b", value) for name, value in re.findall(r"#define (\w+) +(\S.*)$", source, re.MULTILINE)]
    plain += [(rf"get_{name}\(0\)", f"{word}_x") for name, word in _SIZES.items()]
    for old, new in (
        *plain,
        (r"\(1 << (\d+)\)", lambda one: str(1 << int(one[1]))),
        ("&&?", " and "),
        (r"\|\|?", " or "),
    ):
        conditions = [re.sub(old, new, one) for one in conditions]
    return [*conditions_of_sizes, *("?" + one for one in conditions)]


def prove_text(
    path: Path, text: bytes, assume: Sequence[str], seconds: float, *, item_races: bool = True
) -> list[ProofResult]:
    """Return the answers for a text, without the preconditions that are none of launches."""
    kept = list(assume)
    while True:
        given = tuple(one.removeprefix("?") for one in kept)
        options = ProofOptions(PROPERTIES, given, seconds, item_races=item_races)
        try:
            return list(prove_data(str(path), path, text, options).results)
        except UserError as error:
            bad = next((one for one in kept if one[0] == "?" and f"--assume {one[1:]!r}" in str(error)), None)
            if bad is None:
                print("error", path, error)
                return []
            kept.remove(bad)


def one_test(path: Path, root: Path, folder: Path, seconds: float) -> dict[str, Any]:
    """Compile and prove a test; return what came of it."""
    source = path.read_text(errors="replace")
    name = str(path.relative_to(root).parent)
    row = {"name": name, **read_header(source)}
    row["kind"] = next((kind for kind, names in _READ.items() if name in names), row["kind"])
    place = folder / name.replace("/", "+")
    place.mkdir(exist_ok=True)
    full = place / "kernel.cl"
    if not (place / "kernel.zebin").is_file():
        full.write_text(_DEFINITIONS + source)
        try:
            build = build_source(read_source(str(full)), device_of(None, None))
        except Exception as error:  # noqa: BLE001 - a test that does not compile
            return {**row, "compiled": f"{type(error).__name__}: {error}"}
        if build.program is None or not build.texts:
            return {**row, "compiled": build.findings[0].message if build.findings else "no program"}
        (place / "kernel.zebin").write_bytes(build.program)
        for text in build.texts:
            if text.is_kernel and text.name != "Intel_Symbol_Table_Void_Program":
                (place / f"{text.name}.visaasm").write_text(text.text)
    before = os.times()
    results: list[ProofResult] = []
    for file in sorted(place.glob("*.visaasm")):
        data = file.read_bytes()
        width = re.search(rb"SimdSize=(\d+)", data)
        items = prod(int(one[1]) for one in re.finditer(r"local_size_. == (\d+)", " ".join(row["assume"])))
        in_step = min(items, int(width[1]) if width else 0) <= row["warp"]
        results += prove_text(file, data, row["assume"], seconds, item_races=not in_step)
    after = os.times()  # of the processes that have ended: processor time, because the machine may be busy
    return {
        **row,
        "compiled": True,
        "seconds": after.children_user + after.children_system - before.children_user - before.children_system,
        "answers": {p: dict(Counter(r.answer for r in results if r.property == p)) for p in PROPERTIES},
        "reasons": sorted({f"{r.property} {r.line}: {r.reason}" for r in results if r.reason}),
        "refuted": [f"{r.property} {r.line}" for r in results if r.answer == "refuted"],
    }


def gpuverify(root: Path, only: str, jobs: int, seconds: float, kept: Path | None, *, table: bool) -> None:
    """Print what GPUVerify's tests say and what is answered."""
    tests = [path for path in sorted(root.rglob("*.cl")) if only in str(path)]
    folder = kept or Path(tempfile.mkdtemp(prefix="prove-"))
    folder.mkdir(exist_ok=True)
    with ThreadPoolExecutor(jobs) as pool:
        rows = list(pool.map(lambda path: one_test(path, root, folder, seconds), tests))
    (folder / "rows.json").write_text(json.dumps(rows, indent=1))
    print("rows:", folder / "rows.json")
    compiled = [row for row in rows if row["compiled"] is True and row["expected"] != "none"]
    print(f"{len(tests)} tests, {len(compiled)} compiled with a verdict of their own")
    passing = [row for row in compiled if row["expected"] == "pass"]
    good = [row for row in passing if _is_proved(row)]
    print(f"pass: {len(passing)}, race and divergence proved: {len(good)} ({_share(good, passing)})")
    wrong = [row for row in passing if any(one.split()[0] in row["wanted"] for one in row["refuted"])]
    print(f"pass, but refuted: {len(wrong)}: {[row['name'] for row in wrong]}")
    for kind in ("race", "bounds", "null", "divergence", "assert", "?"):
        named = [row for row in compiled if row["expected"] == "fail" and row["kind"] == kind]
        empty = [row for row in named if not any(row["answers"].values())]
        failing = [row for row in named if row not in empty and row["name"] not in GONE]
        refuted = [row for row in failing if _is_refuted(row)]
        proved = [
            row["name"] for row in failing if kind in PROPERTIES and _is_proved({**row, "wanted": _get_wanted(row)})
        ]
        print(
            f"fail, {kind}: {len(named)}; {len(empty)} without accesses and barriers, {len(named) - len(empty) - len(failing)} "
            f"without the fault; of {len(failing)} refuted: {len(refuted)} ({_share(refuted, failing)}), proved: {len(proved)} {proved}"
        )
    times = sorted(row["seconds"] for row in compiled)
    if times:
        print(f"CPU seconds a test: median {statistics.median(times):.2f}, greatest {times[-1]:.1f}")
    others = [row for row in compiled if not (_is_proved(row) if row["expected"] == "pass" else _is_refuted(row))]
    reasons = Counter((row["expected"], _reason_without_lines(row)) for row in others)
    print("neither proved nor refuted, by reason:")
    for (expected, reason), count in reasons.most_common():
        print(f"| {count} | {expected} | {reason} |")
    for row in others if table else ():
        print(f"| {row['name']} | {row['expected']} {row['kind']} | {_counts(row)} | {_reason(row)} |")


def _reason(row: dict[str, Any]) -> str:
    if row["expected"] == "fail" and row["name"] in GONE:
        return GONE[row["name"]]
    if row["expected"] == "fail" and not any(row["answers"].values()):
        return "the compiler has left neither accesses nor barriers"
    wanted = _get_wanted(row) if row["expected"] == "fail" else tuple(row["wanted"])
    about = "about an assertion" if row["kind"] in ("assert", "?") and row["expected"] == "fail" else ""
    return about or next((one for one in row["reasons"] if one.startswith(wanted)), "")


def _reason_without_lines(row: dict[str, Any]) -> str:
    """Return the reason of a test without lines, the property and what another launch would need, so that equal ones are equal."""
    reason = re.sub(r"^\w+ \d+: |; with --assume .*| (?:of|at) line \d+", "", _reason(row))
    return re.sub(r"\bline \d+", "a line", reason)


def _counts(row: dict[str, Any]) -> str:
    counts = ((p, answer, n) for p, answers in row["answers"].items() for answer, n in answers.items())
    return ", ".join(f"{n} {p} {answer}" for p, answer, n in counts)


def _get_wanted(row: dict[str, Any]) -> tuple[str, ...]:
    """Return the properties that can show the fault of a test."""
    kind = "bounds" if row["kind"] == "null" else row["kind"]
    return (kind,) if kind in PROPERTIES else PROPERTIES


def _is_refuted(row: dict[str, Any]) -> bool:
    return any(one.startswith(_get_wanted(row)) for one in row["refuted"])


def _is_proved(row: dict[str, Any]) -> bool:
    return all(set(row["answers"].get(p, {})) <= {"proved"} for p in row["wanted"])


def _share(part: list[Any], whole: list[Any]) -> str:
    return f"{100 * len(part) / len(whole):.0f} %" if whole else "-"


def corpus(only: str, jobs: int, seconds: float, *, table: bool) -> None:
    """Print what the kernels of the corpus get."""
    files = sorted((CORPUS / "run").glob("*/*/*.visaasm"))
    files = [path for path in files if only in str(path) and "Void_Program" not in path.name]

    def prove(path: Path) -> tuple[Path, list[ProofResult], float]:
        began = time.monotonic()
        return path, prove_text(path, path.read_bytes(), [], seconds), time.monotonic() - began

    answers: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    times = []
    with ThreadPoolExecutor(jobs) as pool:
        for path, results, took in pool.map(prove, files):
            times.append(took)
            counts = Counter(f"{one.property} {one.answer}" for one in results)
            answers.update(counts)
            for property_ in PROPERTIES:
                mine = {one.answer for one in results if one.property == property_}
                if mine:
                    word = "refuted" if "refuted" in mine else "proved" if mine == {"proved"} else "unknown"
                    whole[f"{property_} {word}"] += 1
            if table:
                reasons = {f"{o.property} {o.line} {o.answer}: {o.reason}" for o in results if o.answer != "proved"}
                name = f"{path.parent.parent.name}/{path.parent.name}/{path.stem}"
                print(f"{name} {took:.1f}s", dict(counts), *sorted(reasons)[:8], sep="\n      ", flush=True)
    print("accesses:", dict(sorted(answers.items())))
    print("kernels:", dict(sorted(whole.items())))
    print(f"seconds a kernel: median {statistics.median(times):.1f}, greatest {max(times):.1f}")


def main() -> None:
    """Run the benchmarks that the options name."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpuverify", type=Path)
    parser.add_argument(
        "--standard", action="store_true", help="the kernels that people try first, and twins with faults"
    )
    parser.add_argument("--read", action="store_true", help="texts of kernels and twins drawn by chance, for a reader")
    parser.add_argument("--corpus", action="store_true")
    parser.add_argument("--random", type=int, default=0, metavar="KERNELS")
    parser.add_argument("--launches", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=int, default=0, metavar="NUMBER", help="of the first random kernel")
    parser.add_argument(
        "--mutants", type=int, default=0, help="of each random kernel, of its source and of its text in turn"
    )
    parser.add_argument("--newer", metavar="OCLOC", help="a second compiler for the random kernels: today's ocloc")
    parser.add_argument("--only", default="")
    parser.add_argument(
        "--jobs", type=int, default=2, help="at once; times of processors are those of each test with one"
    )
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--table", action="store_true")
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="keep compiled tests there, and use those of a run before"
    )
    args = parser.parse_args()
    if args.gpuverify:
        gpuverify(args.gpuverify, args.only, args.jobs, args.timeout, args.keep, table=args.table)
    if args.standard or args.read:
        folder = args.keep or Path(tempfile.mkdtemp(prefix="standard-"))
        folder.mkdir(exist_ok=True)
        if args.read:
            print_for_readers(args.seed, args.timeout, folder)
        else:
            prove_standard(args.only, args.timeout, folder, table=args.table)
    if args.corpus:
        corpus(args.only, args.jobs, args.timeout, table=args.table)
    if args.random:
        limits = args.mutants, args.jobs, args.timeout, args.newer, args.start
        random_kernels(args.random, args.launches, args.seed, *limits)


if __name__ == "__main__":
    main()
