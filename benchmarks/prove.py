"""Answers of `prove` on GPUVerify's test suite, on the kernels of the corpus, and on kernels with planted faults.

--gpuverify FOLDER: a checkout of mc-imperial/gpuverify (its OpenCL tests are compiled by ocloc; nothing of them is kept). The first line
of a test says whether it passes, the second the sizes; a fault that a header names is compared with what was refuted. --corpus: every
kernel of the launches of the corpus. --planted: right kernels of the tests, and 30 faults planted in them. --random N: proofs of random
kernels, and of mutants of them, against launches that keep the assumptions. Usage: python -m benchmarks.prove [--gpuverify FOLDER]
[--corpus] [--planted] [--random N] [--launches N] [--mutants N] [--seed N] [--only WORD] [--jobs N] [--timeout S] [--table].
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))

from planted_faults import RIGHT

from benchmarks.inputs import CORPUS
from benchmarks.prove_random import random_kernels
from visa_lsp.app.compile.build import build_source, device_of, read_source
from visa_lsp.app.errors import UserError
from visa_lsp.app.prove.document import ProofOptions, prove_data

if TYPE_CHECKING:
    from visa_lsp.app.prove.document import ProofResult

_ANNOTATIONS = """\
#define __assert(...)
#define __requires(...)
#define __ensures(...)
#define __invariant(...)
#define __candidate_invariant(...)
#define __global_invariant(...)
#define __function_wide_invariant(...)
#define __function_wide_candidate_invariant(...)
#define __global_requires(...)
#define __global_ensures(...)
#define __global_assert(...)
#define __assume(...)
#define __reads_from(...)
#define __writes_to(...)
#define __requires_fresh_array(...)
#define __barrier_invariant(...)
#define __barrier_invariant_1(...)
#define __non_temporal(x) x
"""


def sizes(words: str, name: str) -> list[int]:
    """Return the numbers of an option, ``--local_size=64`` or ``[8,8]``."""
    found = re.search(rf"--{name}=(\[[\d, ]+\]|\d+)", words)
    return [int(one) for one in re.findall(r"\d+", found[1])] if found else []


def assumptions(source: str) -> list[str]:
    """Return the sizes of a test, and its preconditions as far as they are ones of launches."""
    words = " ".join(source.splitlines()[:2])
    local, groups, total = (sizes(words, name) for name in ("local_size", "num_groups", "global_size"))
    local = local or [64]
    if total and not groups:
        groups = [-(-one // size) for one, size in zip(total, local, strict=False)]
    found = []
    for axis in range(3):
        found.append(f"local_size_{'xyz'[axis]} == {local[axis] if axis < len(local) else 1}")
        if groups or axis:
            found.append(f"groups_{'xyz'[axis]} <= {groups[axis] if axis < len(groups) else 1}")
    conditions = re.findall(r"__requires\(([^;]*)\);", source)
    return [*found, *("?" + one.replace("&&", " and ").replace("||", " or ") for one in conditions)]


def read_verdict(source: str) -> tuple[str, str]:
    """Return ``pass`` or ``fail``, and the kind of fault that the header names."""
    head = "\n".join(line for line in source.splitlines()[:12] if line.startswith("//"))
    first = source.splitlines()[0].lower()
    if first.startswith("//pass"):
        return "pass", "bounds" if "--check-array-bounds" in head else ""
    if "not_all_verified" not in first:
        return "none", ""
    for word, kind in (
        ("race", "race"),
        ("divergence", "divergence"),
        ("bounds", "bounds"),
        ("assert", "assert"),
        ("invariant", "assert"),
        ("postcondition", "assert"),
        ("precondition", "assert"),
    ):
        if re.search(word, head.partition("\n")[2], re.IGNORECASE):
            return "fail", kind
    return "fail", "?"


def prove_text(path: Path, text: bytes, assume: list[str], seconds: float) -> list[ProofResult]:
    """Return the answers for a text, without the preconditions that are none of launches."""
    kept = list(assume)
    while True:
        options = ProofOptions(("race", "bounds", "divergence"), tuple(one.removeprefix("?") for one in kept), seconds)
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
    verdict, kind = read_verdict(source)
    row: dict[str, Any] = {"name": name, "expected": verdict, "kind": kind, "answers": {}, "seconds": 0.0}
    place = folder / name.replace("/", "+")
    place.mkdir(exist_ok=True)
    full = place / "kernel.cl"
    full.write_text(_ANNOTATIONS + source)
    try:
        made = build_source(read_source(str(full)), device_of(None, None))
    except Exception as error:  # noqa: BLE001 - a test that does not compile
        row["compiled"] = f"{type(error).__name__}: {error}"
        return row
    if made.program is None or not made.texts:
        row["compiled"] = made.findings[0].message if made.findings else "no program"
        return row
    row["compiled"] = True
    (place / "kernel.zebin").write_bytes(made.program)
    began = time.monotonic()
    results: list[ProofResult] = []
    for text in made.texts:
        if not text.is_kernel or text.name == "Intel_Symbol_Table_Void_Program":
            continue
        file = place / f"{text.name}.visaasm"
        file.write_text(text.text)
        results += prove_text(file, file.read_bytes(), assumptions(source), seconds)
    row["seconds"] = time.monotonic() - began
    row["answers"] = {
        p: dict(Counter(r.answer for r in results if r.property == p)) for p in ("race", "bounds", "divergence")
    }
    row["reasons"] = sorted({f"{r.property} {r.line}: {r.reason}" for r in results if r.reason})[:6]
    row["refuted"] = [f"{r.property} {r.line}" for r in results if r.answer == "refuted"]
    return row


def gpuverify(root: Path, only: str, marked: str, jobs: int, seconds: float, *, table: bool) -> None:
    """Print what GPUVerify's tests say and what is answered."""
    tests = [path for path in sorted(root.rglob("*.cl")) if only in str(path)]
    tests = [path for path in tests if marked in read_verdict(path.read_text(errors="replace"))[0]]
    folder = Path(tempfile.mkdtemp(prefix="prove-"))
    with ThreadPoolExecutor(jobs) as pool:
        rows = list(pool.map(lambda path: one_test(path, root, folder, seconds), tests))
    (folder / "rows.json").write_text(json.dumps(rows, indent=1))
    print("rows:", folder / "rows.json")
    compiled = [row for row in rows if row.get("compiled") is True and row["expected"] != "none"]
    print(f"{len(tests)} tests, {len(compiled)} compiled with a verdict of their own")
    passing = [row for row in compiled if row["expected"] == "pass"]
    good = [row for row in passing if _is_proved(row)]
    print(f"pass: {len(passing)}, race and divergence proved: {len(good)} ({_share(good, passing)})")
    wrong = [row for row in passing if any(one.startswith(("race", "divergence")) for one in row["refuted"])]
    print(f"pass, but refuted: {len(wrong)}: {[row['name'] for row in wrong]}")
    for kind in ("race", "bounds", "divergence", "assert", "?"):
        named = [row for row in compiled if row["expected"] == "fail" and row["kind"] == kind]
        failing = [row for row in named if not _is_empty(row)]
        found = [row for row in failing if any(one.startswith(kind) for one in row["refuted"])]
        proved = [row["name"] for row in failing if _is_proved(row)]
        print(
            f"fail, {kind}: {len(named)}, with accesses or barriers left: {len(failing)}, refuted: {len(found)} ({_share(found, failing)}), all proved: {len(proved)}"
        )
        if kind in ("race", "bounds", "divergence"):
            print("   proved although marked:", proved)
    times = sorted(row["seconds"] for row in compiled)
    if times:
        print(f"seconds a test: median {statistics.median(times):.1f}, greatest {times[-1]:.1f}")
    if table:
        for row in compiled:
            if (row["expected"] == "pass") != _is_proved(row):
                print(
                    f"| {row['name']} | {row['expected']} {row['kind']} | {row['answers']} | {row['reasons'][:2]} {row['refuted'][:2]} |"
                )


def _is_proved(row: dict[str, Any]) -> bool:
    wanted = ("race", "divergence", "bounds") if row["kind"] == "bounds" else ("race", "divergence")
    return all(set(row["answers"].get(p, {})) <= {"proved"} for p in wanted)


def _is_empty(row: dict[str, Any]) -> bool:
    """Return whether the compiler has left nothing that could have the fault."""
    return not any(row["answers"].get(p) for p in ("race", "bounds", "divergence"))


def _share(part: list[Any], whole: list[Any]) -> str:
    return f"{100 * len(part) / len(whole):.0f} %" if whole else "-"


def corpus(only: str, jobs: int, seconds: float, *, table: bool) -> None:
    """Print what the kernels of the corpus get."""
    files = [
        path
        for path in sorted((CORPUS / "run").glob("*/*/*.visaasm"))
        if only in str(path) and "Void_Program" not in path.name
    ]

    def prove(path: Path) -> tuple[Path, list[ProofResult], float]:
        began = time.monotonic()
        return path, prove_text(path, path.read_bytes(), [], seconds), time.monotonic() - began

    answers: Counter[tuple[str, str]] = Counter()
    whole: Counter[str] = Counter()
    times = []
    with ThreadPoolExecutor(jobs) as pool:
        for path, results, took in pool.map(prove, files):
            times.append(took)
            answers.update((one.property, one.answer) for one in results)
            for property_ in ("race", "bounds", "divergence"):
                mine = [one for one in results if one.property == property_]
                if mine:
                    whole[
                        f"{property_} {'refuted' if any(o.answer == 'refuted' for o in mine) else 'proved' if all(o.answer == 'proved' for o in mine) else 'unknown'}"
                    ] += 1
            if table:
                print(
                    f"{path.parent.parent.name}/{path.parent.name}/{path.stem} {took:.1f}s",
                    dict(Counter(f"{o.property} {o.answer}" for o in results)),
                )
                for reason in sorted(
                    {f"{o.property} {o.line} {o.answer}: {o.reason}" for o in results if o.answer != "proved"}
                )[:8]:
                    print("     ", reason)
                sys.stdout.flush()
    print("accesses:", dict(sorted((" ".join(key), n) for key, n in answers.items())))
    print("kernels:", dict(sorted(whole.items())))
    print(f"seconds a kernel: median {statistics.median(times):.1f}, greatest {max(times):.1f}")


def prove_planted(seconds: float) -> None:
    """Print how many planted faults are refuted, and how many of the right kernels are proved."""

    def answers(text: str, assume: tuple[str, ...], properties: tuple[str, ...]) -> set[str]:
        results = prove_data("k.visaasm", None, text.encode(), ProofOptions(properties, assume, seconds)).results
        return {one.answer for one in results}

    proved = refuted = wrong = 0
    for name, right in RIGHT.items():
        is_proved = answers(right.text, right.assume, right.properties) == {"proved"}
        proved += is_proved
        if not is_proved:
            print(f"not proved: {name}")
        for fault, (property_, _, _) in right.faults.items():
            found = answers(right.faulty(fault), right.assume, (property_,))
            refuted += "refuted" in found
            wrong += found == {"proved"}
            if "refuted" not in found:
                print(f"not refuted: {name}, {fault}: {', '.join(sorted(found))}")
    count = sum(len(right.faults) for right in RIGHT.values())
    print(f"{proved} of {len(RIGHT)} right kernels proved; {refuted} of {count} planted faults refuted, {wrong} proved")


def main() -> None:
    """Run the benchmarks that the options name."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpuverify", type=Path)
    parser.add_argument("--corpus", action="store_true")
    parser.add_argument("--planted", action="store_true")
    parser.add_argument("--random", type=int, default=0, metavar="KERNELS")
    parser.add_argument("--launches", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--mutants", type=int, default=0, help="mutants of each random kernel's source, and of its text"
    )
    parser.add_argument("--only", default="")
    parser.add_argument("--marked", choices=("pass", "fail", ""), default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    if args.gpuverify:
        gpuverify(args.gpuverify, args.only, args.marked, args.jobs, args.timeout, table=args.table)
    if args.corpus:
        corpus(args.only, args.jobs, args.timeout, table=args.table)
    if args.planted:
        prove_planted(args.timeout)
    if args.random:
        random_kernels(args.random, args.launches, args.seed, args.mutants, args.jobs, args.timeout)


if __name__ == "__main__":
    main()
