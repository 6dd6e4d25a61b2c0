"""What orders two threads, and the limits of what the race checker remembers: bounded, told, and the latest is kept."""

from __future__ import annotations

import gc
import tracemalloc
import weakref

import numpy as np
import pytest

from tests.sim.case_files import read_case
from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.runner import RunOptions, run_text
from visa_lsp.sim import group as group_module
from visa_lsp.sim.group import Barrier
from visa_lsp.sim.memory import Buffer
from visa_lsp.sim.observers import happens_before, races
from visa_lsp.sim.observers.happens_before import Clocks


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
    assert clocks.is_ordered(0, 0, clock, 0)
    clocks.fence(0, 1)
    clocks.atomic(0, 1, [second])
    clocks.group(2)
    assert not clocks.is_ordered(0, 0, clock, 0)
    clocks.atomic(0, 1, [second])
    assert clocks.is_ordered(0, 0, clock, 0)


def test_beyond_the_limit_of_places_everything_counts_as_ordered(monkeypatch):
    monkeypatch.setattr(happens_before, "MAX_ATOMIC_PLACES", 2)
    clocks = Clocks()
    clocks.group(0)
    clocks.fence(0, 2)
    clocks.atomic(0, 2, [(1, i) for i in range(3)])
    assert clocks.gave_up
    assert clocks.is_ordered(5, 0, 1, 1)


@pytest.mark.parametrize(("limit", "value"), [("MAX_PAGES", 1), ("MAX_ACCESSES", 2)])
def test_what_was_forgotten_is_told(monkeypatch, limit, value):
    monkeypatch.setattr(races, limit, value)
    path, text, launch = read_case("race_far")
    # A second page is enough here: 4 MiB from the start, not 80.
    text = text.replace("20971536", "1048592").replace("0x5000000:ud", "0x400000:ud")
    near = "    scatter4_scaled.R (M1, 16) out 0x0:ud at.0 value.0\n"
    both = text.replace("    ret (M1, 1)", near + "    ret (M1, 1)")
    launch = launch.replace("20971536", "1048592")
    options = RunOptions(path, engine="interp", checks="races")
    found = run_text(both, parse_launch(launch, path), options)
    assert [note for note in found.notes if note.startswith("races: at most")]
    monkeypatch.undo()
    found = run_text(both, parse_launch(launch, path), options)
    assert found.faults
    assert [note for note in found.notes if note.startswith("races: at most")] == []


def test_memory_of_the_checker_does_not_grow_with_the_buffer():
    checker = races.RaceChecker()
    buffer = Buffer("big", np.zeros(1 << 28, np.uint8))
    for at in (0, 1 << 20, (1 << 28) - 4):
        checker._page(buffer, at >> races.PAGE_BITS)
    assert len(checker._pages) == 3


def test_a_fence_is_told_by_the_memory_that_it_is_for():
    clocks, barrier = Clocks(), Barrier(2)
    clocks.group(0)
    clock = clocks.clock(0, 2)
    clocks.fence(0, 2, (happens_before.GLOBAL,))
    for thread in (0, 1):
        clocks.arrive(thread, 2, barrier)
        clocks.leave(thread, 2, barrier, 0)
    known = clocks.table(1, 2)[1, :, 0]
    assert known[0] >= clock
    assert known[happens_before.GLOBAL] >= clock
    assert known[happens_before.SHARED] < clock


@pytest.mark.parametrize("ordered", [False, True])
def test_a_barrier_without_any_fence_orders_shared_memory_and_where_it_always_does(ordered):
    clocks, barrier = Clocks(), Barrier(2)
    clocks.group(0)
    clock = clocks.clock(0, 2)
    if ordered:
        clocks.fence(0, 2, (happens_before.GLOBAL,))
    for thread in (0, 1):
        clocks.arrive(thread, 2, barrier, orders_shared=ordered)
        clocks.leave(thread, 2, barrier, 0)
    assert clocks.table(1, 2)[1, happens_before.SHARED, 0] >= clock


def test_what_one_thread_takes_of_another_group_its_barrier_hands_on():
    clocks, barrier, place = Clocks(), Barrier(2), (1, 0)
    clocks.group(0)
    clock = clocks.clock(0, 2)
    clocks.fence(0, 2)
    clocks.atomic(0, 2, [place])
    clocks.group(1)
    clocks.atomic(0, 2, [place])
    assert not clocks.is_ordered(0, 0, clock, 1)
    for thread in (0, 1):
        clocks.arrive(thread, 2, barrier)
        clocks.leave(thread, 2, barrier, 0)
    clocks.table(1, 2)
    assert clocks.is_ordered(0, 0, clock, 1)


def test_places_of_many_givers_are_joined_and_lose_nothing():
    clocks, place, threads = Clocks(), (1, 0), 100
    clocks.group(0)
    before = []
    for thread in range(threads - 1):
        before.append(clocks.clock(thread, threads))
        clocks.fence(thread, threads)
        clocks.atomic(thread, threads, [place], shared=True)
    clocks.atomic(threads - 1, threads, [place], shared=True)
    assert (clocks.of(threads - 1, threads)[:-1] >= before).all()


def peak_of_atomics(groups, steps, threads, *, shared):
    """Most memory that steps of atomics take, each of 16 items of every thread on 15,000 places, with a fence now and then."""
    clocks = Clocks()
    tracemalloc.start()
    try:
        for group in range(groups):
            clocks.group(group)
            for step in range(steps):
                for thread in range(threads):
                    if step % 8 == 0:
                        clocks.fence(thread, threads)
                    places = [(1, (thread * 960 + lane * 60 + step) * 2654435761 % 15000) for lane in range(16)]
                    clocks.atomic(thread, threads, places, shared=shared)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert not clocks.gave_up
    return peak


@pytest.mark.parametrize("shared", [True, False])
def test_memory_of_atomics_is_linear_in_their_number(shared):
    assert peak_of_atomics(2, 48, 8, shared=shared) < 2.5 * peak_of_atomics(2, 24, 8, shared=shared)


@pytest.mark.full
@pytest.mark.parametrize(("shared", "limit"), [(True, 60 << 20), (False, 200 << 20)])
def test_memory_of_many_atomics(shared, limit):
    assert peak_of_atomics(3, 60, 64, shared=shared) < limit


@pytest.mark.parametrize("checks", ["none", "all"])
def test_shared_memory_of_a_group_ends_with_it(monkeypatch, checks):
    alive: list[weakref.ref[Buffer]] = []
    most = []

    class Counted(group_module.Buffer):
        def __init__(self, name, data):
            super().__init__(name, data)
            alive.append(weakref.ref(self))
            most.append(sum(each() is not None for each in alive))

    monkeypatch.setattr(group_module, "Buffer", Counted)
    path, text, launch = read_case("clean_barrier")
    gc.collect()
    gc.disable()
    try:
        found = run_text(
            text,
            parse_launch(launch.replace("groups: [1, 1, 1]", "groups: [20, 1, 1]"), path),
            RunOptions(path, engine="interp", checks=checks),
        )
    finally:
        gc.enable()
    assert found.ok
    assert len(alive) == 20 + (checks == "all")  # the first group runs once more, for races within a thread
    assert max(most) <= 2  # the group that starts, and the one before
