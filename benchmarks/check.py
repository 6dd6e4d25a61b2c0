"""``--check`` against the finalizer: one text of three sizes, and the corpus as it is.

``parse only`` is the finalizer on a text with a syntax error as its last line: it reads everything and stops. ``CFG`` is
the finalizer parsing, verifying and stopping before code generation. ``check`` is with every rule, ``names`` with the rules
about syntax and names alone (0xx and 1xx); ``first`` keeps nothing on disk, ``later`` finds there what an earlier check of
the same texts left, but for whole verdicts. Usage: python -m benchmarks.check [ROUNDS]
"""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

from benchmarks.inputs import CORPUS, broken_at_the_end, kernel
from benchmarks.measure import (
    PEER,
    Cost,
    Machine,
    compile_package,
    folder,
    measure_in_turns,
    peer,
    product,
    read_number,
    run,
    table,
)

SIZES = (2_000, 20_000, 200_000)
_NAMES = """
import gc
gc.set_threshold(100_000, 50, 100)
from visa_lsp.checks import run as checks
checks.CHECKS = tuple(check for check in checks.CHECKS if check.rule.code[1] in "01")
from visa_lsp.cli.main import main
raise SystemExit(main())
"""


def main(rounds: int) -> None:
    if PEER is None:
        print("GenX_IR is not installed (apt-get install libigc-tools): no ratios")
    compile_package()
    with folder() as name:
        room = Path(name)
        kept = str(room / "kept")
        rows, machine = [], Machine()
        for size in SIZES:
            text = kernel(size)
            clean, broken = room / f"k{size}.visaasm", room / f"e{size}.visaasm"
            clean.write_text(text, encoding="utf-8")
            broken.write_text(broken_at_the_end(text), encoding="utf-8")
            jobs = {
                "check, first": lambda path=clean: run(product("check", "--no-cache", str(path)), kept="off"),
                "check, later": lambda path=clean: run(product("check", "--no-cache", str(path)), kept=kept),
                "names, first": lambda path=clean: run([sys.executable, "-c", _NAMES, "check", str(path)], kept="off"),
            }
            jobs["check, later"]()
            if PEER:
                jobs["parse only"] = lambda path=broken: run(peer(path, room), room)
                jobs["CFG"] = lambda path=clean: run(peer(path, room), room)
            costs = measure_in_turns(jobs, rounds)
            first, later = costs["check, first"], costs["check, later"]
            lines = text.count("\n")
            for job, cost in costs.items():
                ratios = first.cpu / cost.cpu, later.cpu / cost.cpu, first.peak_mb / cost.peak_mb
                rows.append([f"{lines} lines, {job}", cost.cpu, cost.wall, cost.peak_mb, cost.status, *ratios])
        table(
            f"one text ({machine.words()})",
            ["", "CPU s", "wall s", "peak MB", "exit", "first CPU", "later CPU", "our peak"],
            rows,
        )
        corpus(room, rounds)
        measure_unchanged(room, rounds)


def corpus(room: Path, rounds: int) -> None:
    """Check all texts of the corpus that have an object: one process of ours, one finalizer per text."""
    paths = sorted(p for p in CORPUS.glob("dev/[A-Z]*/*.visaasm") if p.with_suffix(".isa").exists())
    if not paths or PEER is None:
        print("no corpus or no finalizer: the corpus is left out")
        return

    def finalizer() -> Cost:
        start = time.perf_counter()
        costs = [run(peer(path, room), room) for path in paths]
        return Cost(sum(c.cpu for c in costs), time.perf_counter() - start, max(c.peak_mb for c in costs), 0)

    names = [str(path) for path in paths]
    kept = str(room / "kept")
    jobs = {
        "check, first, 1 process": lambda: run(product("check", "--no-cache", "--jobs", "1", *names), kept="off"),
        "check, first, all cores": lambda: run(product("check", "--no-cache", *names), kept="off"),
        "check, later, 1 process": lambda: run(product("check", "--no-cache", "--jobs", "1", *names), kept=kept),
        "check, later, all cores": lambda: run(product("check", "--no-cache", *names), kept=kept),
        "CFG, a process per text": finalizer,
    }
    jobs["check, later, 1 process"]()
    machine = Machine()
    costs = measure_in_turns(jobs, rounds)
    base = costs["CFG, a process per text"]
    rows = [[job, c.cpu, c.wall, c.peak_mb, c.status, c.cpu / base.cpu, c.wall / base.wall] for job, c in costs.items()]
    title = f"corpus of {len(paths)} texts ({machine.words()})"
    table(title, ["", "CPU s", "wall s", "peak MB", "exit", "CPU ratio", "wall ratio"], rows)


def measure_unchanged(room: Path, rounds: int) -> None:
    """Check all texts of the corpus: without a cache, with an empty one, with a filled one."""
    paths = sorted(CORPUS.rglob("*.visaasm"))
    words = product("check", "--exit-zero", "--jobs", "1", *map(str, paths))

    def first() -> Cost:
        shutil.rmtree(room / "empty", ignore_errors=True)
        return run(words, kept=str(room / "empty"))

    jobs = {
        "nothing kept": lambda: run(words, kept="off"),
        "first run": first,
        "second run": lambda: run(words, kept=str(room / "second")),
    }
    jobs["second run"]()
    machine = Machine()
    costs = measure_in_turns(jobs, rounds)
    rows = [[job, c.cpu, c.wall, c.peak_mb, c.status, c.cpu / costs["nothing kept"].cpu] for job, c in costs.items()]
    title = f"{len(paths)} texts that do not change, 1 process ({machine.words()})"
    table(title, ["", "CPU s", "wall s", "peak MB", "exit", "CPU ratio"], rows)


if __name__ == "__main__":
    main(int(read_number(__doc__, "rounds", 5)))
