"""Compare the verdicts of the finalizer and ``--check`` on a few thousand broken real lines.

A finding of severity error is our rejection; warnings and less are none. Texts on which the finalizer crashes or hangs
have no verdict. Usage: python -m benchmarks.mutants [COUNT [SEED]] [--show N]; exit status 1 below 96 %.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.inputs import CORPUS
from benchmarks.measure import PEER
from benchmarks.mutation import Mutant, mutants
from visa_lsp.analysis.analysis import Analysis
from visa_lsp.diagnostics import Severity

if TYPE_CHECKING:
    from visa_lsp.diagnostics import Diagnostic

_LIMIT = 10.0  # seconds for one call of the finalizer
_WANTED = 0.96


@dataclass(frozen=True, slots=True)
class Verdict:
    """The finalizer's verdict: ``rejected`` is None where it gives none."""

    rejected: bool | None
    message: str


def judge(mutant: Mutant) -> Verdict:
    """Run the finalizer in its own folder and return its verdict."""
    assert PEER is not None
    with tempfile.TemporaryDirectory(prefix="visa-mutant-") as name:
        room = Path(name)
        (room / "x.visaasm").write_text(mutant.text, encoding="utf-8")
        command = [PEER, "x.visaasm", "-platform", mutant.platform, "-dumpvisa", "-stopafter", "CFG"]
        try:
            done = subprocess.run(
                [*command, "-outputCisaBinaryName", "x.isa"],
                cwd=room, capture_output=True, timeout=_LIMIT, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Verdict(None, "hangs")
        if done.returncode not in (0, 1, 2):
            return Verdict(None, f"crashes ({done.returncode})")
        return Verdict(done.returncode != 0, _message(room, done.stderr.decode(errors="replace")))


def _message(room: Path, stderr: str) -> str:
    found = [line for line in stderr.splitlines() if "near" in line][:1]
    for path in room.glob("*.errors.txt"):
        lines = path.read_text(errors="replace").splitlines()
        found += [line.split(":", 1)[1].strip() for line in lines if "Error Message:" in line] or lines[:3]
    return " ".join(found)[:110]


def errors(mutant: Mutant) -> list[Diagnostic]:
    """Return our findings that reject the text."""
    found = Analysis.of(mutant.text, mutant.platform).diagnostics
    return [d for d in found if d.severity is Severity.ERROR]


def main(count: int, seed: int, show: int) -> int:
    """Run the comparison and print it; gives the exit status."""
    if PEER is None or not CORPUS.is_dir():
        print("GenX_IR (apt-get install libigc-tools) or the corpus is missing: nothing to compare")
        return 0
    start = time.perf_counter()
    made = mutants(count, seed)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = list(pool.map(judge, made))
    kinds: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    missed: dict[str, list[str]] = defaultdict(list)
    false: dict[str, list[str]] = defaultdict(list)
    silent: dict[str, list[str]] = defaultdict(list)
    warned = rejected = 0
    for mutant, verdict in zip(made, verdicts, strict=True):
        ours = errors(mutant)
        where = f"{mutant.platform} {mutant.kind}: {mutant.line}"
        if verdict.rejected is None:
            silent[verdict.message].append(where)
            continue
        kinds[mutant.kind][0] += 1
        rejected += verdict.rejected
        if bool(ours) == verdict.rejected:
            kinds[mutant.kind][1] += 1
            warned += not ours and bool(Analysis.of(mutant.text, mutant.platform).diagnostics)
        elif ours:
            false[f"{ours[0].name}: {ours[0].message[:70]}"].append(where)
        else:
            missed[f"{mutant.line.split()[0].split('.')[0]}: {verdict.message}"].append(where)
    judged, agreed = (sum(column) for column in zip(*kinds.values(), strict=True))
    print(
        f"seed {seed}: {len(made)} mutants, {judged} judged ({rejected} rejected) in {time.perf_counter() - start:.0f} s"
    )
    for kind, (all_of, same) in sorted(kinds.items()):
        print(f"  {kind:24} {same}/{all_of} {same / all_of:.2%}")
    _classes("the finalizer rejects, we accept", missed, show)
    _classes("we reject, the finalizer accepts", false, show)
    _classes("the finalizer has no verdict", silent, show and 1)
    print(f"accepted by both, with a remark or warning of ours: {warned}")
    print(f"agreement: {agreed}/{judged} = {agreed / judged:.2%}")
    return 0 if agreed / judged >= _WANTED else 1


def _classes(title: str, classes: dict[str, list[str]], show: int) -> None:
    print(f"{title}: {sum(map(len, classes.values()))} in {len(classes)} classes")
    for name, some in sorted(classes.items(), key=lambda item: (-len(item[1]), item[0])):
        print(f"  {len(some):4} {name}")
        for line in some[:show]:
            print(f"         {line}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants")
    parser.add_argument("count", nargs="?", type=int, default=6000)
    parser.add_argument("seed", nargs="?", type=int, default=1)
    parser.add_argument("--show", type=int, default=1, metavar="N", help="examples of each class of disagreement")
    given = parser.parse_args()
    raise SystemExit(main(given.count, given.seed, given.show))
