"""The cost of a start and a check of two checkouts, time and memory, measured alternately.

The other is a folder with a ``visa_lsp`` in it, such as ``git worktree add ../before COMMIT`` makes. Both run on the Python
that runs this. ``first`` keeps nothing on disk, ``later`` finds what an earlier run of the same checkout left.
Usage: python -m benchmarks.checkouts FOLDER [ROUNDS]
"""

from __future__ import annotations

import argparse
import compileall
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import visa_lsp
from benchmarks.inputs import CORPUS, kernel
from benchmarks.measure import PRODUCT, Cost, Machine, folder, measure_in_turns, run, table

if TYPE_CHECKING:
    from collections.abc import Callable

_HERE = Path(visa_lsp.__file__).parent.parent
_SERVER = """
import sys
sys.path.insert(0, sys.argv[2])
from benchmarks.client import Client
with Client() as client:
    client.initialize()
    client.open(open(sys.argv[1], encoding="utf-8").read())
    client.finish()
"""


def main(other: Path, rounds: int) -> None:
    sides = {"before": other.resolve(), "now": _HERE}
    for home in sides.values():
        compileall.compile_dir(str(home / "visa_lsp"), quiet=1)
    texts = sorted(str(path) for path in CORPUS.glob("dev*/*/*.visaasm"))
    with folder() as name:
        room = Path(name)
        small, large = room / "small.visaasm", room / "large.visaasm"
        lines = kernel(2_000).split("\n")
        decls = [line for line in lines if line.startswith((".version", ".kernel ", ".decl"))][:45]
        small.write_text("\n".join([*decls, "    ret (M1, 1)", ""]), encoding="utf-8")
        large.write_text(kernel(200_000), encoding="utf-8")
        works = {
            "--version": ["--version"],
            "check of 50 lines": ["check", str(small)],
            "check of 200,000 lines": ["check", str(large)],
            f"check of the corpus, {len(texts)} texts": ["check", "--jobs", "1", *texts],
        }
        machine = Machine()
        rows = []
        for work, arguments in works.items():
            if not texts and "corpus" in work:
                continue
            for when in ("first", "later"):
                jobs = {side: _job(home, arguments, room, side, when) for side, home in sides.items()}
                if when == "later":
                    for job in jobs.values():
                        job()
                costs = measure_in_turns(jobs, rounds)
                rows.append(_row(f"{work}, {when}", costs))
        jobs = {side: _server(home, large, room) for side, home in sides.items()}
        rows.append(_row("server, 200,000 lines opened", measure_in_turns(jobs, rounds)))
        head = ["", "CPU s before", "now", "ratio", "wall ratio", "peak MB before", "now", "ratio"]
        table(f"before and now, medians of {rounds} ({machine.words()})", head, rows)


def _row(work: str, costs: dict[str, Cost]) -> list[object]:
    before, now = costs["before"], costs["now"]
    memory = [before.peak_mb, now.peak_mb, now.peak_mb / before.peak_mb]
    return [work, before.cpu, now.cpu, now.cpu / before.cpu, now.wall / before.wall, *memory]


def _job(home: Path, arguments: list[str], room: Path, side: str, when: str) -> Callable[[], Cost]:
    kept = "off" if when == "first" else str(room / f"kept-{side}")
    return lambda: _in(home, [*PRODUCT, *arguments], kept)


def _server(home: Path, text: Path, room: Path) -> Callable[[], Cost]:
    # The client is this checkout's for both: what differs is the server that it starts.
    return lambda: _in(home, [sys.executable, "-c", _SERVER, str(text), str(_HERE)], str(room / "none"))


def _in(home: Path, command: list[str], kept: str) -> Cost:
    os.environ["PYTHONPATH"] = str(home)
    try:
        return run(command, home, kept)
    finally:
        del os.environ["PYTHONPATH"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.checkouts",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("other", type=Path, metavar="FOLDER")
    parser.add_argument("rounds", type=int, nargs="?", default=5)
    asked = parser.parse_args()
    main(asked.other, asked.rounds)
