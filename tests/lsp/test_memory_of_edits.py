"""The server's memory does not grow with the number of edits of a text that ends as it was."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from benchmarks.client import Client

EXAMPLE = Path(__file__).parents[2] / "examples/mandelbrot.visaasm"
PIECES = ("V7", "0x3", " ", "\n", "// c", "    add (M1, 16) V33(0,0)<1> V33(0,0)<1;1,0> 0x1:d\n")
PAIRS = 3_000
MOST_GROWTH = 1.1  # a server that kept 4 KB of each pair grew by a fifth


@pytest.mark.full
@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is read from /proc")
def test_pairs_of_edits_leave_nothing():
    lines, draw = EXAMPLE.read_text("utf-8").split("\n"), random.Random(1)
    with Client() as client:
        client.initialize()
        client.open("\n".join(lines))

        def edit_and_undo() -> float:
            for _ in range(PAIRS):
                number, piece = draw.randrange(len(lines)), draw.choice(PIECES)
                start = number, draw.randrange(len(lines[number]) + 1)
                rows = piece.split("\n")
                end = (number + len(rows) - 1, len(rows[-1]) + (start[1] if len(rows) == 1 else 0))
                client.change(start, start, piece)
                client.change(start, end, "")
            return client.resident_mb()

        edit_and_undo()  # fills bounded caches
        first, second = edit_and_undo(), edit_and_undo()
    assert second < MOST_GROWTH * first, f"{first:.0f} MB, then {second:.0f} MB"
