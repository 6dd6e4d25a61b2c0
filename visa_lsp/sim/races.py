"""The checker of data races: two threads at the same bytes, nothing between them, one writing, not both atomically.

Threads of one group are ordered by their barriers; threads of different groups by nothing, so that any meeting of them
is a race. Per byte of a buffer the last writer and up to two readers are kept, which finds every race between two
barriers. A write that changes nothing is none: compilers let all threads store the same value. Buffers beyond the limit
are not watched. Invariant: a party is named by group, thread and source line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from visa_lsp.sim.faults import FaultKind
from visa_lsp.sim.memory import Buffer, Memory
from visa_lsp.sim.observers import Checker

if TYPE_CHECKING:
    from visa_lsp.sim.interp import Thread
    from visa_lsp.sim.observers import Access

Array = np.ndarray[Any, np.dtype[Any]]

WATCHED_BYTES: Final = 1 << 26  # three numbers are kept for each byte
_NOBODY: Final = -1


class _Party(NamedTuple):
    """Who touched memory: ``round`` numbers what lies between two barriers of a group."""

    group: int
    round: int
    thread: int
    atomic: bool
    text: str


class _Shadow:
    """Per byte of a buffer: numbers of the parties that wrote and read last."""

    def __init__(self, size: int) -> None:
        self.writer: Array = np.full(size, _NOBODY, np.int32)
        self.reader: Array = np.full(size, _NOBODY, np.int32)
        self.second: Array = np.full(size, _NOBODY, np.int32)


class RaceChecker(Checker):
    """Races on shared local memory and on buffers."""

    kinds = frozenset({FaultKind.RACE})

    def __init__(self) -> None:
        super().__init__()
        self._shadows: dict[int, tuple[Buffer, _Shadow]] = {}
        self._numbers: dict[tuple[int, int, int, int, int, bool], int] = {}
        self._parties: list[_Party] = []
        self._columns: Array = np.zeros((4, 64), np.int64)  # group, round, thread, atomic of each party
        self._group = -1

    def group(self, number: tuple[int, int, int]) -> None:
        """A new group: its shared local memory is another."""
        del number
        self._group += 1
        for key in [key for key, (buffer, _) in self._shadows.items() if not buffer.address]:
            del self._shadows[key]

    def read(self, access: Access) -> None:
        """Someone else may have written there."""
        for shadow, at, lanes in self._watched(access):
            me = self._party(access)
            bad = self._meets(shadow.writer[at], me)
            if bad.any():
                self._race(access, at, lanes, bad, shadow.writer[at], "reads what was written by")
            # Two readers of different threads are enough for any writer to meet one that is not itself.
            first = shadow.reader[at]
            free = (first == _NOBODY) | self._stale(first, me)
            shadow.reader[at] = np.where(free, me, first)
            shadow.second[at[~free]] = me

    def write(self, access: Access) -> None:
        """Someone else may have read or written there."""
        for shadow, at, lanes in self._watched(access):
            me = self._party(access)
            for others, verb in (
                (shadow.writer[at], "writes what was written by"),
                (shadow.reader[at], "writes what was read by"),
                (shadow.second[at], "writes what was read by"),
            ):
                bad = self._meets(others, me)
                if bad.any():
                    self._race(access, at, lanes, bad, others, verb)
                    break
            shadow.writer[at] = me

    def _party(self, access: Access) -> int:
        thread, atomic = access.thread, access.kind == "atomic"
        group = thread.group
        round_ = group.barrier.generation + sum(named.generation for named in group.named.values())
        frame = thread.frame
        key = (self._group, round_, thread.number, id(frame.code), frame.pc, atomic)
        found = self._numbers.get(key)
        if found is not None:
            return found
        number = self._numbers[key] = len(self._parties)
        self._parties.append(_Party(self._group, round_, thread.number, atomic, _where(thread)))
        if number >= self._columns.shape[1]:
            self._columns = np.concatenate([self._columns, np.zeros_like(self._columns)], axis=1)
        self._columns[:, number] = (self._group, round_, thread.number, atomic)
        return number

    def _meets(self, others: Array, me: int) -> Array:
        """Which parties race with this one."""
        group, round_, thread, atomic = self._columns[:, others]
        mine = self._parties[me]
        near = (group == mine.group) & (round_ == mine.round) & (thread != mine.thread)
        bad = near | (group != mine.group)
        if mine.atomic:
            bad &= atomic == 0
        return np.asarray(bad & (others != _NOBODY))

    def _stale(self, others: Array, me: int) -> Array:
        """Which parties are this thread itself, or before its group's last barrier."""
        group, round_, thread, _ = self._columns[:, others]
        mine = self._parties[me]
        return np.asarray((group == mine.group) & ((round_ != mine.round) | (thread == mine.thread)))

    def _watched(self, access: Access) -> list[tuple[_Shadow, Array, Array]]:
        """The shadows of the buffers that a message touches, with the bytes in each and their lanes."""
        space = access.space
        if space is None or not access.at.size:
            return []
        found = []
        for buffer, offsets, rows in _split(space, access.at, access.size):
            if buffer.private or buffer.size > WATCHED_BYTES:
                continue
            known = self._shadows.get(id(buffer))
            if known is None:
                known = self._shadows[id(buffer)] = (buffer, _Shadow(buffer.size))
            at = (offsets[:, None] + np.arange(access.size)).reshape(-1)
            lanes = np.repeat(access.lanes[np.minimum(rows, access.lanes.size - 1)], access.size)
            if access.values is not None:
                changed = buffer.data[at] != access.values[rows].reshape(-1)
                at, lanes = at[changed], lanes[changed]
            if at.size:
                found.append((known[1], at, lanes))
        return found

    def _race(self, access: Access, at: Array, lanes: Array, bad: Array, others: Array, verb: str) -> None:
        first = int(np.flatnonzero(bad)[0])
        name = access.space.name if access.space is not None else "memory"
        if isinstance(access.space, Memory):
            buffer = access.space.find(int(access.at[0]))
            name = buffer[0].name if buffer else name
        other = self._parties[int(others[first])]
        near = other.group == self._group
        since = "another thread since the last barrier" if near else "a thread of another group"
        self._find(
            FaultKind.RACE,
            access.thread,
            f"{verb} {since}, at byte {int(at[first])} of {name}",
            lane=int(lanes[first]),
            address=int(at[first]),
            other=other.text,
        )


def _split(space: Buffer | Memory, at: Array, size: int) -> list[tuple[Buffer, Array, Array]]:
    """The buffers that hold accesses, with offsets and the numbers of the accesses."""
    rows = np.arange(at.size)
    if isinstance(space, Buffer):
        inside = (at >= 0) & (at <= space.size - size)
        return [(space, at[inside], rows[inside])]
    found = []
    while rows.size:
        home = space.find(int(at[rows[0]]))
        if home is None:
            rows = rows[1:]
            continue
        buffer = home[0]
        offsets = at[rows] - buffer.address
        inside = (offsets >= 0) & (offsets <= buffer.size - size)
        if not inside[0]:
            rows = rows[1:]
            continue
        found.append((buffer, offsets[inside], rows[inside]))
        rows = rows[~inside]
    return found


def _where(thread: Thread) -> str:
    frame = thread.frame
    instructions = frame.code.kernel.instructions
    line = instructions[frame.pc].line if frame.pc < len(instructions) else -1
    at = f", line {line + 1}" if line >= 0 else ""
    return f"group {thread.group.id}, thread {thread.number}, instruction {frame.pc}{at}"
