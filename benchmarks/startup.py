"""The time of a start: to the answer to ``initialize``, and of ``--check`` of a text of 50 lines.

``first`` starts with nothing on disk, ``later`` finds what the one before left. Usage: python -m benchmarks.startup [ROUNDS]
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from pathlib import Path

from benchmarks.client import Client
from benchmarks.inputs import kernel
from benchmarks.measure import compile_package, folder, measure_in_turns, product, read_number, run, table


def main(rounds: int) -> None:
    compile_package()
    with folder() as name:
        text = Path(name) / "k.visaasm"
        lines = kernel(2_000).split("\n")
        decls = [line for line in lines if line.startswith((".version", ".kernel ", ".decl"))][:45]
        text.write_text("\n".join([*decls, "    ret (M1, 1)", ""]), encoding="utf-8")
        kept = str(Path(name) / "kept")
        check = product("--check", str(text))
        run(check, kept=kept)
        jobs = {
            "python -c pass": lambda: run([sys.executable, "-c", "pass"]),
            "--version": lambda: run(product("--version")),
            "--check of 50 lines, first": lambda: run(check, kept="off"),
            "--check of 50 lines, later": lambda: run(check, kept=kept),
        }
        costs = measure_in_turns(jobs, rounds)
        rows: list[list[object]] = [[job, c.cpu * 1e3, c.wall * 1e3, c.peak_mb] for job, c in costs.items()]
        for when in ("first", "later"):
            waits, cpus, shown = [], [], []
            for number in range(rounds + 1):
                os.environ["VISA_LSP_CACHE"] = kept if when == "later" else str(Path(name) / f"none{number}")
                with Client() as client:
                    waits.append(client.initialize() * 1e3)
                    cpus.append(client.cpu() * 1e3)
                    client.open(text.read_text(encoding="utf-8"))
                    shown.append((time.perf_counter() - client.started) * 1e3)
                    client.finish()
            # The first of the later ones had nothing to go by either.
            rows.append(
                [f"initialize answered, {when}", statistics.median(cpus[1:]), statistics.median(waits[1:]), "-"]
            )
            rows.append([f"its findings shown, {when}", "-", statistics.median(shown[1:]), "-"])
    table("startup", ["", "CPU ms", "wall ms", "peak MB"], rows)


if __name__ == "__main__":
    main(int(read_number(__doc__, "rounds", 11)))
