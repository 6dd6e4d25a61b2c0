"""Opening a text: in the server over stdio until its findings are there, and in the process alone; growth and memory.

Memory is what the process holds more after opening than before, by line: resident, and as counted by tracemalloc.
Usage: python -m benchmarks.open [ROUNDS]
"""

from __future__ import annotations

import gc
import statistics
import time
import tracemalloc
from itertools import pairwise

from benchmarks.client import Client
from benchmarks.inputs import kernel
from benchmarks.measure import read_number, table
from visa_lsp.analysis.analysis import Analysis

SIZES = (2_000, 20_000, 200_000)


def measure_memory(text: str) -> float:
    """Return bytes that an opened and checked text keeps, the text itself included."""
    Analysis.of(kernel(2_000)).incremental_diagnostics()
    gc.collect()
    tracemalloc.start()
    analysis = Analysis.of(text)
    assert analysis.incremental_diagnostics() is not None
    gc.collect()
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return size


def main(rounds: int) -> None:
    rows: list[list[object]] = []
    middles: list[list[float]] = []
    for size in SIZES:
        text = kernel(size)
        lines = text.count("\n")
        walls, cpus, held, alone = [], [], [], []
        for _ in range(rounds):
            with Client() as client:
                client.initialize()
                before, cpu, start = client.resident_mb(), client.cpu(), time.perf_counter()
                client.open(text)
                walls.append(time.perf_counter() - start)
                cpus.append(client.cpu() - cpu)
                held.append((client.resident_mb() - before) * 1e6 / lines)
            start = time.process_time()
            Analysis.of(text).incremental_diagnostics()
            alone.append(time.process_time() - start)
        middle = [statistics.median(some) for some in (walls, cpus, alone)]
        middles.append(middle)
        rows.append(
            [f"{lines} lines", *middle, middle[1] / lines * 1e6, statistics.median(held), measure_memory(text) / lines]
        )
    head = ["", "wall s", "server CPU s", "engine CPU s", "CPU us/line", "resident B/line", "kept B/line"]
    table("opening", head, rows)
    for small, large in pairwise(range(len(SIZES))):
        wall, cpu, alone_cpu = [more / less for less, more in zip(middles[small], middles[large], strict=True)]
        print(
            f"{rows[small][0]} to {rows[large][0]}: wall {wall:.1f}x, server CPU {cpu:.1f}x, engine CPU {alone_cpu:.1f}x"
        )


if __name__ == "__main__":
    main(int(read_number(__doc__, "rounds", 3)))
