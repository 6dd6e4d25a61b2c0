"""The happens-before order: vector clocks of the parties of a group; barriers, fences and atomics are the edges.

A party is a hardware thread, or one lane of it. Its clock counts its own releases: arrivals at barriers and fences. An
arrival merges the party's clocks into the round of its barrier, and leaving that round merges them into the party. An
atomic after a fence releases the clocks of the fence to its place in memory; an atomic at the same place acquires them
(seed 001 "Memory Model"). Besides the order itself, each party has clocks of the accesses that a fence preceded, for
shared local and for global memory. Groups run one after another here, but only acquired places order them; places of
shared local memory end with their group. Memory is bounded: beyond the limits everything counts as ordered, and
``gave_up`` is set.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from visa_lsp.sim.group import GLOBAL, SHARED, Barrier

Array = np.ndarray[Any, np.dtype[Any]]
Place = tuple[int, int]  # a buffer and an offset in it

EVERYTHING: Final = (SHARED, GLOBAL)

MAX_ATOMIC_PLACES: Final = 1 << 17  # some 80 MiB
MAX_GROUP_PARTIES: Final = 4096  # parties of a group, whose clocks take 192 MiB
MAX_SNAPSHOT_BYTES: Final = 1 << 28  # bytes of released snapshots
_KEPT_ROUNDS: Final = 4
_MAX_GIVERS: Final = 32  # number of snapshots after which they are merged into one array


class _Snapshot:
    """The clocks of a party at a fence: those of the last round that it left, which many parties share, and the differences."""

    __slots__ = ("at", "base", "counted", "values")

    def __init__(self, base: Array, clocks: Array) -> None:
        newer = np.flatnonzero(clocks.reshape(-1) > base.reshape(-1))
        self.base = base
        self.at: Array = newer.astype(np.int32)
        self.values: Array = clocks.reshape(-1)[newer]
        self.counted = False

    def join(self, into: Array) -> None:
        """Merge this into the clocks ``into``."""
        np.maximum(into, self.base, out=into)
        flat = into.reshape(-1)
        flat[self.at] = np.maximum(flat[self.at], self.values)

    def clock(self, party: int) -> int:
        """Return the clock of a party of the same group."""
        clock = int(self.base[0, party])
        own = np.flatnonzero(self.at == party)
        return max(clock, int(self.values[own[0]])) if own.size else clock


class _Past:
    """The places acquired by a party, and its earlier nodes; immutable after it is shared."""

    __slots__ = ("before", "places", "shared")

    def __init__(self) -> None:
        self.places: set[Place] = set()
        self.before: dict[int, _Past] = {}
        self.shared = False

    def __bool__(self) -> bool:
        return bool(self.places or self.before)


class _Given:
    """The snapshots that the parties of one group have released to one place."""

    __slots__ = ("givers", "joined", "past")

    def __init__(self) -> None:
        self.givers: dict[int, _Snapshot] = {}
        self.joined: Array | None = None
        self.past: _Past | None = None

    def add(self, party: int, snapshot: _Snapshot) -> int:
        """Add a snapshot; return its number of bytes."""
        if self.joined is not None:
            snapshot.join(self.joined)
            return 0
        self.givers[party] = snapshot  # because a later snapshot of a party covers its earlier ones
        if len(self.givers) <= _MAX_GIVERS:
            if snapshot.counted:
                return 0
            snapshot.counted = True
            return snapshot.at.nbytes + snapshot.values.nbytes
        self.joined = snapshot.base.copy()
        for given in self.givers.values():
            given.join(self.joined)
        self.givers.clear()
        return self.joined.nbytes

    def join(self, into: Array) -> None:
        """Merge all released snapshots into the clocks ``into``."""
        if self.joined is not None:
            np.maximum(into, self.joined, out=into)
        for snapshot in self.givers.values():
            snapshot.join(into)

    def clock(self, party: int) -> int:
        """Return the released clock of a party of the releasing group."""
        if self.joined is not None:
            return int(self.joined[0, party]) if party < self.joined.shape[1] else 0
        return max((s.clock(party) for s in self.givers.values() if party < s.base.shape[1]), default=0)


class _Reach:
    """The clocks of other groups that happened before a party, computed on demand."""

    __slots__ = ("clocks", "given", "last", "pasts", "places")

    def __init__(self) -> None:
        self.last: tuple[int, int, int] | None = None
        self.pasts: set[int] = set()
        self.places: set[Place] = set()
        self.given: dict[int, list[_Given]] = {}
        self.clocks: dict[tuple[int, int], int] = {}


class Clocks:
    """The clocks of the running group, and the releases of earlier groups. A thread is ``lanes`` parties."""

    def __init__(self, lanes: int = 1) -> None:
        self.gave_up = False
        self.lanes = lanes
        self._group = -1
        self.partial = False  # whether a barrier followed unfenced accesses of the group
        self._known: Array = np.zeros((0, 3, 0), np.int32)
        self._zeros: Array = np.zeros((3, 0), np.int32)
        self._rounds: dict[int, dict[int, tuple[Array, _Past]]] = {}
        self._leaving: dict[int, list[tuple[int, int, bool]]] = {}  # thread -> rounds of barriers that it waits for
        self._bases: dict[int, Array] = {}  # thread -> the round that it left last
        self._fences: dict[int, int] = {}  # thread -> bits of the memories fenced since its last barrier
        self._fenced: dict[int, _Snapshot] = {}
        self._old: set[int] = set()  # parties with a fence before the last barrier of the whole group
        self._own: dict[Place, _Given] = {}  # places of this group's shared local memory
        self._given: dict[Place, dict[int, _Given]] = {}  # place -> group
        self._pasts: dict[int, _Past] = {}
        self._reaches: dict[int, _Reach] = {}
        self._count = 0
        self._bytes = 0
        self._own_bytes = 0

    def group(self, number: int) -> None:
        """Start another group."""
        self._group = number
        self.partial = False
        self._known = np.zeros((0, 3, 0), np.int32)
        for table in (
            self._rounds, self._leaving, self._bases, self._fences, self._fenced, self._old, self._own, self._pasts,
            self._reaches,
        ):  # fmt: skip
            table.clear()
        self._own_bytes = 0

    def table(self, thread: int, threads: int) -> Array:
        """Return the clocks of all parties, (parties, 3, parties), up to date for ``thread``."""
        if not self._known.size:
            count = threads * self.lanes
            self.gave_up |= count > MAX_GROUP_PARTIES
            count = min(count, MAX_GROUP_PARTIES)
            self._known = np.zeros((count, 3, count), np.int32)
            each = np.arange(count)
            self._known[each, 0, each] = 1
            self._zeros = np.zeros((3, count), np.int32)
        for barrier, generation, whole in self._leaving.pop(thread, ()):
            barrier_round = self._rounds.get(barrier, {}).get(generation)
            if barrier_round is not None:
                given, past = barrier_round
                mine = self._known[self._rows(thread)]
                np.maximum(mine, given, out=mine)
                self._bases[thread] = given
                for party in range(*self._rows(thread).indices(len(self._known))):
                    if whole:
                        self._old.add(party)
                    if past:
                        past.shared = True
                        self._past(party).before[id(past)] = past
        return self._known

    def _rows(self, thread: int) -> slice:
        last = len(self._known) - self.lanes
        start = max(0, min(thread * self.lanes, last))
        return slice(start, start + self.lanes)

    def party(self, thread: int, lane: int = 0) -> int:
        """Return the number of a lane, or of the whole thread if that is the party."""
        return int(self._rows(thread).start) + (lane if self.lanes > 1 else 0)

    def of(self, thread: int, threads: int) -> Array:
        """Return the clocks of a thread: for each party of its group, the number of releases that happened before."""
        return np.asarray(self.table(thread, threads)[self.party(thread), 0])

    def clock(self, thread: int, threads: int, lane: int = 0) -> int:
        """Return the party's own clock: its releases so far, plus one."""
        table = self.table(thread, threads)
        party = self.party(thread, lane)
        return int(table[party, 0, party])

    def arrive(self, thread: int, threads: int, barrier: Barrier, *, orders_shared: bool = False) -> None:
        """Merge the clocks of a thread into the open round of a barrier.

        A barrier without any fence before it orders shared local memory, as does every barrier if ``orders_shared``.
        After a fence of global memory only, shared local memory is not ordered.
        """
        table = self.table(thread, threads)
        rows = self._rows(thread)
        each = np.arange(rows.start, rows.stop)
        if orders_shared or not self._fences.get(thread):
            table[each, SHARED, each] = table[each, 0, each]
        self._fences[thread] = 0
        self.partial = self.partial or bool((table[each, 1:, each] < table[each, 0, each][:, None]).any())
        rounds = self._rounds.setdefault(id(barrier), {})
        mine = table[rows].max(axis=0)
        barrier_round = rounds.get(barrier.generation)
        if barrier_round is None:
            barrier_round = rounds[barrier.generation] = (mine, _Past())
        else:
            np.maximum(barrier_round[0], mine, out=barrier_round[0])
        for party in each.tolist():
            past = self._pasts.get(party)
            if past:
                past.shared = True
                barrier_round[1].before[id(past)] = past
        rounds.pop(barrier.generation - _KEPT_ROUNDS, None)
        table[each, 0, each] += 1

    def leave(self, thread: int, threads: int, barrier: Barrier, generation: int) -> None:
        """Order the next accesses of a thread after a round of a barrier."""
        whole = min(barrier.expected, barrier.producers) >= threads
        self._leaving.setdefault(thread, []).append((id(barrier), generation, whole))

    def fence(
        self, thread: int, threads: int, memories: tuple[int, ...] = EVERYTHING, lanes: Iterable[int] = (0,)
    ) -> None:
        """Fence the accesses of a thread to ``memories``: later atomics may release them, barriers order them."""
        table = self.table(thread, threads)
        for memory in memories:
            self._fences[thread] = self._fences.get(thread, 0) | 1 << memory
        base = self._bases.get(thread, self._zeros)
        for lane in lanes:
            party = self.party(thread, lane)
            for memory in memories:
                table[party, memory, party] = table[party, 0, party]
            self._fenced[party] = _Snapshot(base, table[party])
            self._old.discard(party)
            table[party, 0, party] += 1

    def atomic(
        self, thread: int, threads: int, places: Iterable[Place], *, lane: int = 0, shared: bool = False
    ) -> None:
        """Acquire the clocks of ``places``, then release those of the party.

        ``shared``: the places are in shared local memory.
        """
        if not self._given and not self._own and not self._fenced:
            return
        table = self.table(thread, threads)
        party = self.party(thread, lane)
        fenced = self._fenced.get(party)
        # After a barrier of the whole group all its parties know the accesses that were fenced before it.
        useless = shared and party in self._old
        for place in places:
            if shared:
                given = self._own.get(place)
                if given is not None:
                    given.join(table[party])
            else:
                groups = self._given.get(place)
                if groups:
                    self._take(party, place, groups, table)
            if fenced is not None and not useless and not self.gave_up:
                self._give(place, party, fenced, shared=shared)

    def _take(self, party: int, place: Place, groups: dict[int, _Given], table: Array) -> None:
        mine = groups.get(self._group)
        if mine is not None:
            mine.join(table[party])
        if len(groups) > (mine is not None) and place not in self._past(party).places:
            self._past(party).places.add(place)
        if mine is not None and mine.past is not None and mine.past is not self._pasts.get(party):
            self._past(party).before[id(mine.past)] = mine.past

    def _past(self, party: int) -> _Past:
        """Return the mutable node of a party."""
        past = self._pasts.get(party)
        if past is None or past.shared:
            old, past = past, _Past()
            self._pasts[party] = past
            if old:
                past.before[id(old)] = old
        return past

    def _give(self, place: Place, party: int, fenced: _Snapshot, *, shared: bool) -> None:
        if shared:
            given = self._own.get(place)
            if given is None:
                given = self._own[place] = _Given()
            self._own_bytes += given.add(party, fenced)
        else:
            groups = self._given.setdefault(place, {})
            given = groups.get(self._group)
            if given is None:
                self._count += 1
                given = groups[self._group] = _Given()
            self._bytes += given.add(party, fenced)
            past = self._pasts.get(party)
            if past:  # it has just acquired this place, so that it covers the old value
                past.shared = True
                given.past = past
        if self._bytes + self._own_bytes > MAX_SNAPSHOT_BYTES or self._count + len(self._own) > MAX_ATOMIC_PLACES:
            self.gave_up = True

    def is_ordered(self, group: int, other: int, clock: int, party: int) -> bool:
        """Return whether an access by a party of another group happened before the present access of ``party``."""
        if self.gave_up:
            return True
        start = self._pasts.get(party)
        if not start:
            return False
        reach = self._reaches.setdefault(party, _Reach())
        state = (id(start), len(start.places), len(start.before))
        if reach.last != state:
            reach.last = state
            self._follow(start, reach)
        latest = reach.clocks.get((group, other))
        if latest is None:
            latest = max((given.clock(other) for given in reach.given.get(group, ())), default=0)
            reach.clocks[group, other] = latest
        return latest >= clock

    def _follow(self, start: _Past, reach: _Reach) -> None:
        """Collect the releases to all acquired places, directly and through other parties."""
        reach.clocks.clear()
        todo = [start]
        while todo:
            past = todo.pop()
            if id(past) in reach.pasts:
                continue
            if past.shared:  # because it is immutable
                reach.pasts.add(id(past))
            todo.extend(past.before.values())
            for place in past.places - reach.places:
                reach.places.add(place)
                for giver, given in self._given.get(place, {}).items():
                    if giver != self._group:
                        reach.given.setdefault(giver, []).append(given)
                        if given.past is not None:
                            todo.append(given.past)
