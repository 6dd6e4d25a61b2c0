"""From a keystroke to published findings, over stdio with the real server, at three sizes.

Every edit is followed by its undo, which is measured too. Wall is what a client waits; CPU is the server's, of all edits
of a kind together. Usage: python -m benchmarks.edit [TIMES] [LINES ...]
"""

from __future__ import annotations

import random
import re
import statistics
import sys
import time
from collections import Counter, defaultdict
from itertools import pairwise

from benchmarks.client import Client
from benchmarks.inputs import kernel
from benchmarks.measure import percentile, table

_VARIABLE = re.compile(r"\b[VPA][0-9]+\b")


class Session:
    """One server, one text, and the times by kind of edit."""

    def __init__(self, client: Client, text: str) -> None:
        self.client = client
        self.lines = text.split("\n")
        self.walls: dict[str, list[float]] = defaultdict(list)
        self.cpus: dict[str, float] = defaultdict(float)
        self.code = next(i for i, line in enumerate(self.lines) if line.startswith("    "))
        decls = [i for i, line in enumerate(self.lines) if line.startswith(".decl")]
        self.decls = range(decls[0], decls[-1])

    def edit(self, kind: str, start: tuple[int, int], end: tuple[int, int], new: str) -> None:
        """Replace a range, and put the old text back."""
        first, last = start[0], end[0]
        old = "\n".join(self.lines[first : last + 1])
        tail = len(old) - len(self.lines[last]) + end[1]
        old = old[start[1] : tail]
        rows = new.split("\n")
        behind = (first + len(rows) - 1, len(rows[-1]) + (start[1] if len(rows) == 1 else 0))
        for where, what in (((start, end), new), ((start, behind), old)):
            cpu, at = self.client.cpu(), time.perf_counter()
            self.client.change(*where, what)
            self.walls[kind].append((time.perf_counter() - at) * 1e3)
            self.cpus[kind] += self.client.cpu() - cpu


def edits(session: Session, times: int, pick: random.Random) -> None:
    """All kinds of edits, in turns."""
    lines = session.lines
    for _ in range(times):
        at = pick.randrange(session.code, len(lines) - 2)
        line = lines[at] or lines[at - 1]
        at = at if lines[at] else at - 1
        column = pick.randrange(len(line))
        session.edit("instruction: type a character", (at, column), (at, column), pick.choice("x1V,(."))
        session.edit("instruction: delete a character", (at, column), (at, column + 1), "")
        session.edit("instruction: comment", (at, len(line)), (at, len(line)), "/")
        session.edit("instruction: new line", (at, len(line)), (at, len(line)), "\n")
        session.edit("instruction: delete the line", (at, 0), (at + 1, 0), "")
        session.edit("instruction: repeat the line", (at, 0), (at, 0), line + "\n")
        at = pick.choice(session.decls)
        line = lines[at]
        column = pick.randrange(len(line))
        session.edit("declaration: type a character", (at, column), (at, column), pick.choice("x1V,("))
        count = line.index("num_elts=") + 9
        session.edit("declaration: change the size", (at, count), (at, count), "1")
        session.edit("declaration: delete the line", (at, 0), (at + 1, 0), "")
        session.edit(
            "declaration: a new one", (at, 0), (at, 0), ".decl V999999 v_type=G type=d num_elts=8 align=dword\n"
        )
    for _ in range(max(2, times // 20)):
        if len(lines) - session.code > 600:
            at = pick.randrange(session.code, len(lines) - 550)
            session.edit("paste and cut 500 lines", (at, 0), (at, 0), "\n".join(lines[at : at + 500]) + "\n")
    uses = Counter(_VARIABLE.findall("\n".join(lines[session.code :])))
    declared = {lines[i].split()[1]: i for i in session.decls if lines[i].startswith(".decl")}
    at = next(declared[name] for name, _ in uses.most_common() if name in declared)
    for _ in range(max(2, times // 20)):
        session.edit("remove the most used declaration", (at, 0), (at + 1, 0), "")


def main(times: int, sizes: list[int]) -> None:
    medians: dict[int, dict[str, float]] = {}
    for size in sizes:
        text = kernel(size)
        with Client() as client:
            client.initialize()
            client.open(text)
            session = Session(client, text)
            edits(session, 2, random.Random(0))
            session.walls.clear()
            session.cpus.clear()
            edits(session, times, random.Random(1))
        rows = [
            [kind, len(walls), statistics.median(walls), percentile(walls, 0.99), 1e3 * session.cpus[kind] / len(walls)]
            for kind, walls in session.walls.items()
        ]
        for group in ("instruction", "declaration"):
            walls = [wall for kind, some in session.walls.items() if kind.startswith(group) for wall in some]
            cpu = sum(cpu for kind, cpu in session.cpus.items() if kind.startswith(group))
            rows.append(
                [f"all: {group}", len(walls), statistics.median(walls), percentile(walls, 0.99), 1e3 * cpu / len(walls)]
            )
        head = ["", "edits", "median ms", "p99 ms", "CPU ms"]
        table(f"edits in a text of {len(session.lines)} lines", head, rows)
        medians[len(session.lines)] = {kind: statistics.median(walls) for kind, walls in session.walls.items()}
    known = sorted(medians)
    for small, large in pairwise(known):
        ratios = [medians[large][kind] / medians[small][kind] for kind in medians[small] if kind in medians[large]]
        print(f"growth of an edit from {small} to {large} lines: median {statistics.median(ratios):.2f}x")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 50, [int(a) for a in sys.argv[2:]] or [2_000, 20_000, 200_000])
