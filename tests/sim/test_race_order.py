"""What orders two threads, and the limits of what the race checker remembers: bounded, told, and the latest is kept."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from visa_lsp.cli.launchfile import parse_launch
from visa_lsp.cli.launchrun import RunOptions, run_text
from visa_lsp.sim import happened, races
from visa_lsp.sim.group import Barrier
from visa_lsp.sim.happened import Clocks

CASES = Path(__file__).parent / "cases"


def report(name, extra=""):
    path = CASES / f"{name}.visaasm"
    text = path.read_text()
    launch = "\n".join(line[3:].strip() for line in text.splitlines() if line.startswith("//@"))
    return run_text(
        text, parse_launch(launch + extra, path), RunOptions(path, engine="interp", checks="races", budget=10_000)
    )


def test_a_barrier_orders_its_threads_and_no_other():
    clocks, barrier = Clocks(), Barrier(2)
    clocks.group(0)
    start = [clocks.clock(t, 3) for t in range(3)]
    for thread in (0, 1):
        clocks.arrive(thread, 3, barrier)
        clocks.leave(thread, 3, barrier, 0)
    assert clocks.of(1, 3)[0] >= start[0]
    assert clocks.of(0, 3)[1] >= start[1]
    assert clocks.of(2, 3)[:2].tolist() == [0, 0]
    assert clocks.clock(0, 3) == start[0] + 1


def test_only_what_a_fence_has_covered_is_given_away():
    clocks, place = Clocks(), (1, 64)
    clocks.group(0)
    clocks.fence(0, 2)
    later = clocks.clock(0, 2)
    clocks.atomic(0, 2, [place])
    clocks.atomic(1, 2, [place])
    assert clocks.of(1, 2)[0] == later - 1


def test_places_order_groups_and_chains_of_them():
    clocks, first, second = Clocks(), (1, 0), (1, 4)
    clocks.group(0)
    clock = clocks.clock(0, 1)
    clocks.fence(0, 1)
    clocks.atomic(0, 1, [first])
    clocks.group(1)
    clocks.atomic(0, 1, [first])
    assert clocks.ordered(0, 0, clock, 0)
    clocks.fence(0, 1)
    clocks.atomic(0, 1, [second])
    clocks.group(2)
    assert not clocks.ordered(0, 0, clock, 0)
    clocks.atomic(0, 1, [second])
    assert clocks.ordered(0, 0, clock, 0)


def test_beyond_the_limit_of_places_everything_counts_as_ordered(monkeypatch):
    monkeypatch.setattr(happened, "MOST_PLACES", 2)
    clocks = Clocks()
    clocks.group(0)
    clocks.fence(0, 2)
    clocks.atomic(0, 2, [(1, i) for i in range(3)])
    assert clocks.gave_up
    assert clocks.ordered(5, 0, 1, 1)


@pytest.mark.parametrize(("limit", "value"), [("MAX_PAGES", 1), ("MOST_PARTIES", 2)])
def test_what_was_forgotten_is_told(monkeypatch, limit, value):
    monkeypatch.setattr(races, limit, value)
    text = (CASES / "race_far.visaasm").read_text()
    assert "0x5000000:ud" in text
    near = "    scatter4_scaled.R (M1, 16) out 0x0:ud at.0 value.0\n"
    both = text.replace("    ret (M1, 1)", near + "    ret (M1, 1)")
    path = CASES / "race_far.visaasm"
    launch = "\n".join(line[3:].strip() for line in text.splitlines() if line.startswith("//@"))
    found = run_text(both, parse_launch(launch, path), RunOptions(path, engine="interp", checks="races"))
    assert [note for note in found.notes if note.startswith("races: at most")]
    monkeypatch.undo()
    assert report("race_far").notes == ()


def test_memory_of_the_checker_does_not_grow_with_the_buffer():
    checker = races.RaceChecker()
    from visa_lsp.sim.memory import Buffer

    buffer = Buffer("big", np.zeros(1 << 28, np.uint8))
    for at in (0, 1 << 20, (1 << 28) - 4):
        checker._page(buffer, at >> races.PAGE_BITS)
    assert len(checker._pages) == 3
