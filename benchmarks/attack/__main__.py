"""Hostile and odd input for every door of the product: ``python -m benchmarks.attack [--count N] [--target NAME]``.

Each target makes its inputs itself, from the seed alone. Exit status 0 when nothing failed; each failure is printed
with the command that repeats it: ``--target NAME --seed N --only K``; ``--keep FOLDER`` writes the inputs that failed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.attack.arrays import Arrays
from benchmarks.attack.captures import Captures
from benchmarks.attack.core import Failure, limit_memory, memory_bytes, try_case
from benchmarks.attack.hosts import Hosts
from benchmarks.attack.launches import Launches
from benchmarks.attack.messages import Messages
from benchmarks.attack.objects import Objects
from benchmarks.attack.opencl_kernels import OpenclKernels
from benchmarks.attack.processes import Processes
from benchmarks.attack.programs import Programs
from benchmarks.attack.texts import Texts
from benchmarks.attack.zebins import Zebins
from benchmarks.attack.zeinfos import ZeInfos
from visa_lsp.analysis.analysis import VERIFY

if TYPE_CHECKING:
    from benchmarks.attack.core import Target

TARGETS: dict[str, type[Target]] = {
    t.name: t
    for t in (
        Texts,
        Objects,
        Launches,
        Arrays,
        ZeInfos,
        Zebins,
        Messages,
        Programs,
        OpenclKernels,
        Hosts,
        Captures,
        Processes,
    )
}
_SHOWN = 20


def run(name: str, numbers: range, seed: int, seconds: float, keep: Path | None) -> list[Failure]:
    """Try some cases of a target, print failures at once and return them."""
    target = TARGETS[name]()
    outcomes: Counter[str] = Counter()
    failures: list[Failure] = []
    started, resident = time.monotonic(), list[str]()
    try:
        for done, number in enumerate(numbers):
            if done % -(-len(numbers) // 5) == 0:
                resident.append(f"{memory_bytes()[1] >> 20}")
            outcome, failure = try_case(target, seed, number, seconds, keep)
            outcomes[outcome] += 1
            if failure is not None:
                failures.append(failure)
                if len(failures) <= _SHOWN:
                    print(failure, flush=True)
    finally:
        target.close()
    taken = time.monotonic() - started
    rest = ", ".join(f"{count} {what}" for what, count in sorted(outcomes.items()) if what != "failed")
    print(
        f"{name}: {len(numbers)} tried, {len(failures)} failed ({rest or 'nothing else'}) in {taken:.0f} s", flush=True
    )
    print(f"resident memory in MB, at the start and after each fifth: {', '.join(resident)}, {memory_bytes()[1] >> 20}")
    if covered := target.describe_cases():
        print(covered, flush=True)
    return failures


def main(words: list[str] | None = None) -> int:
    """Do what the command line says; gives the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attack", description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000, help="cases of each target (1000)")
    parser.add_argument("--target", action="append", choices=tuple(TARGETS), help="run only this target (repeatable)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the cases (1)")
    parser.add_argument("--only", type=int, metavar="K", help="run only case K")
    parser.add_argument("--seconds", type=float, default=20.0, help="CPU time that one case may take (20)")
    parser.add_argument("--megabytes", type=int, default=2048, help="memory that a target may take (2048)")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="write failing inputs to FOLDER")
    args = parser.parse_args(words)
    # Every look at a text, also that of a server in this process, is compared with a full one.
    os.environ[VERIFY] = "1"
    if args.megabytes:
        limit_memory(args.megabytes)
    numbers = range(args.count) if args.only is None else range(args.only, args.only + 1)
    failures = []
    for name in args.target or TARGETS:
        failures += run(name, numbers, args.seed, args.seconds, args.keep)
    print(f"seed {args.seed}: {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
