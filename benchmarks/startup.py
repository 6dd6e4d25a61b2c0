"""How long until something is said: the answer to ``initialize``, and ``--check`` of a text of 50 lines.

Usage: python -m benchmarks.startup [ROUNDS]
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

from benchmarks.client import Client
from benchmarks.inputs import kernel
from benchmarks.measure import folder, interleaved, product, run, table


def main(rounds: int) -> None:
    with folder() as name:
        text = Path(name) / "k.visaasm"
        lines = kernel(2_000).split("\n")
        decls = [line for line in lines if line.startswith((".version", ".kernel ", ".decl"))][:45]
        text.write_text("\n".join([*decls, "    ret (M1, 1)", ""]), encoding="utf-8")
        jobs = {
            "python -c pass": lambda: run([sys.executable, "-c", "pass"]),
            "--version": lambda: run(product("--version")),
            "--check of 50 lines": lambda: run(product("--check", str(text))),
        }
        costs = interleaved(jobs, rounds)
        rows: list[list[object]] = [[job, c.cpu * 1e3, c.wall * 1e3, c.peak_mb] for job, c in costs.items()]
        waits, cpus = [], []
        for _ in range(rounds):
            with Client() as client:
                waits.append(client.initialize() * 1e3)
                cpus.append(client.cpu() * 1e3)
        rows.append(["initialize answered", statistics.median(cpus), statistics.median(waits), "-"])
    table("startup", ["", "CPU ms", "wall ms", "peak MB"], rows)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 11)
