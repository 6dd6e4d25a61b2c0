"""What happened before what: vector clocks of the threads of a group, barriers, fences and atomics as the edges.

A thread's clock counts its own releases: arrivals at barriers and fences. An arrival gives all it knows to the round of its
barrier, and leaving that round takes all that was given. An atomic after a fence gives what was known at the fence to its
place in memory; an atomic at the same place takes it (seed 001 "Memory Model"). Groups run one after another here, but only
such places order them. Memory is bounded: beyond the limits everything counts as ordered, and ``gave_up`` says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from visa_lsp.sim.group import Barrier

Array = np.ndarray[Any, np.dtype[Any]]
Place = tuple[int, int]  # a buffer and an offset in it

MOST_PLACES: Final = 1 << 16
MOST_THREADS: Final = 4096  # of a group: their clocks take 64 MiB
_ROUNDS: Final = 4


class Clocks:
    """The clocks of the group that runs, and what earlier groups have given away."""

    def __init__(self) -> None:
        self.gave_up = False
        self._group = -1
        self._known: Array = np.zeros((0, 0), np.int32)
        self._rounds: dict[int, dict[int, Array]] = {}
        self._leaving: dict[int, list[tuple[int, int]]] = {}  # thread -> rounds of barriers that it waits for
        self._fenced: dict[int, Array] = {}
        self._given: dict[Place, dict[int, Array]] = {}  # place -> group -> what its threads knew
        self._taken: dict[int, set[Place]] = {}  # thread -> places
        self._before: dict[tuple[Place, int], frozenset[Place]] = {}  # what a giver had taken itself
        self._count = 0

    def group(self, number: int) -> None:
        """Another group runs."""
        self._group = number
        self._known = np.zeros((0, 0), np.int32)
        for table in (self._rounds, self._leaving, self._fenced, self._taken):
            table.clear()

    def of(self, thread: int, threads: int) -> Array:
        """What a thread knows: per thread of its group, how many of its releases happened before."""
        if not self._known.size:
            self.gave_up |= threads > MOST_THREADS
            self._known = np.zeros((min(threads, MOST_THREADS),) * 2, np.int32)
            np.fill_diagonal(self._known, 1)
        known = self._known[min(thread, MOST_THREADS - 1)]
        for barrier, generation in self._leaving.pop(thread, ()):
            given = self._rounds.get(barrier, {}).get(generation)
            if given is not None:
                np.maximum(known, given, out=known)
        return np.asarray(known)

    def clock(self, thread: int, threads: int) -> int:
        """How often a thread has released so far, and once more."""
        known = self.of(thread, threads)
        return int(known[min(thread, known.size - 1)])

    def arrive(self, thread: int, threads: int, barrier: Barrier) -> None:
        """A thread gives what it knows to the round of a barrier that is open."""
        known = self.of(thread, threads)
        rounds = self._rounds.setdefault(id(barrier), {})
        given = rounds.get(barrier.generation)
        rounds[barrier.generation] = known.copy() if given is None else np.maximum(given, known)
        rounds.pop(barrier.generation - _ROUNDS, None)
        self._step(thread, known)

    def leave(self, thread: int, barrier: Barrier, generation: int) -> None:
        """A thread waits for a round: whatever it does next happens after."""
        self._leaving.setdefault(thread, []).append((id(barrier), generation))

    def fence(self, thread: int, threads: int) -> None:
        """What a thread did so far may be given away by its atomics."""
        known = self.of(thread, threads)
        self._fenced[thread] = known.copy()
        self._step(thread, known)

    def _step(self, thread: int, known: Array) -> None:
        if thread < known.size:
            known[thread] += 1

    def atomic(self, thread: int, threads: int, places: list[Place]) -> None:
        """Take what was given at some places, then give."""
        fenced = self._fenced.get(thread)
        if not self._given and fenced is None:
            return
        known = self.of(thread, threads)
        for place in places:
            groups = self._given.get(place)
            if groups:
                self._taken.setdefault(thread, set()).add(place)
                mine = groups.get(self._group)
                if mine is not None and mine.size == known.size:
                    np.maximum(known, mine, out=known)
            if fenced is not None:
                self._give(place, thread, fenced)

    def _give(self, place: Place, thread: int, fenced: Array) -> None:
        groups = self._given.setdefault(place, {})
        given = groups.get(self._group)
        if given is None:
            self._count += 1
            if self._count > MOST_PLACES:
                self.gave_up = True
                return
            groups[self._group] = fenced.copy()
        else:
            np.maximum(given, fenced, out=given)
        taken = self._taken.get(thread)
        if taken:
            key = (place, self._group)
            self._before[key] = self._before.get(key, frozenset()) | taken

    def ordered(self, group: int, other: int, clock: int, thread: int) -> bool:
        """Whether an access of another group's thread happened before what ``thread`` does now."""
        if self.gave_up:
            return True
        seen: set[Place] = set()
        todo = list(self._taken.get(thread, ()))
        while todo:
            place = todo.pop()
            if place in seen:
                continue
            seen.add(place)
            for giver, given in self._given.get(place, {}).items():
                if giver == group and other < given.size and given[other] >= clock:
                    return True
                todo.extend(self._before.get((place, giver), ()))
        return False
