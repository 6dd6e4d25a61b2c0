"""The checker of data races: two threads at the same bytes, nothing that orders them, one writing, not both atomically.

What orders threads is in ``happened``: barriers of all kinds, and fences with atomics. Per byte the last writer and up to
two readers are kept, by pages that are made when they are touched, so that the size of a buffer does not matter; of more
than ``MAX_PAGES`` pages the oldest are forgotten, and of parties beyond ``MOST_PARTIES`` all. Both is told as a limit. A
write that changes nothing races only with one that does: compilers let all threads store the same value. Lanes of one
message that store different values at one place are a race too.
Invariant: a party is named by group, thread, instruction and source line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.sim.faults import FaultKind
from visa_lsp.sim.happened import Clocks
from visa_lsp.sim.memory import Buffer, Memory
from visa_lsp.sim.observers import Checker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.sim.group import Barrier
    from visa_lsp.sim.interp import Code, Thread
    from visa_lsp.sim.observers import Access

Array = np.ndarray[Any, np.dtype[Any]]

PAGE_BITS: Final = 14
PAGE: Final = 1 << PAGE_BITS  # three numbers of four bytes are kept for each byte
MAX_PAGES: Final = 2048  # 32 MiB are watched at a time, which takes 384 MiB
MOST_PARTIES: Final = 1 << 21  # 48 MiB
_NOBODY: Final = -1
_GROUP, _THREAD, _CLOCK, _HOW, _CODE, _PC = range(6)
_PLAIN, _ATOMIC, _SILENT = range(3)  # how a party touches memory; silent: it stores what is there


class _Page:
    """Numbers of the parties that wrote and read the bytes of a page last."""

    __slots__ = ("reader", "second", "writer")

    def __init__(self) -> None:
        self.writer: Array = np.full(PAGE, _NOBODY, np.int32)
        self.reader: Array = np.full(PAGE, _NOBODY, np.int32)
        self.second: Array = np.full(PAGE, _NOBODY, np.int32)


class RaceChecker(Checker):
    """Races on shared local memory and on buffers."""

    kinds = frozenset({FaultKind.RACE})

    def __init__(self) -> None:
        super().__init__()
        self._pages: dict[tuple[int, int], _Page] = {}
        self._buffers: dict[int, Buffer] = {}  # kept alive, so that their ids stay theirs
        self._clocks = Clocks()
        self._codes: list[Code] = []
        self._numbers: dict[tuple[int, int], tuple[int, dict[tuple[int, int], int]]] = {}
        self._parties: Array = np.zeros((6, 64), np.int32)
        self._count = 0
        self._group = -1
        self._forgot = False

    def group(self, number: tuple[int, int, int]) -> None:
        """A new group: its shared local memory is another."""
        del number
        self._group += 1
        self._clocks.group(self._group)
        self._numbers.clear()
        gone = {key for key, buffer in self._buffers.items() if not buffer.address}
        if gone:
            self._pages = {key: page for key, page in self._pages.items() if key[0] not in gone}
            self._buffers = {key: buffer for key, buffer in self._buffers.items() if key not in gone}

    def limits(self) -> tuple[str, ...]:
        """What the checker could not see."""
        told = []
        if self._forgot:
            told.append(
                f"races: at most {MAX_PAGES * PAGE >> 20} MiB and {MOST_PARTIES} accesses are remembered; earlier ones were forgotten"
            )
        if self._clocks.gave_up:
            told.append("races: too many threads or places of atomics; what lies beyond counts as ordered")
        return tuple(told)

    # ---- what orders threads

    def arrived(self, thread: Thread, barrier: Barrier) -> None:
        """A thread arrives at a barrier."""
        self._clocks.arrive(thread.number, _threads(thread), barrier)

    def waits(self, thread: Thread, barrier: Barrier, generation: int) -> None:
        """A thread goes on after a round of a barrier."""
        self._clocks.leave(thread.number, barrier, generation)

    def fenced(self, thread: Thread) -> None:
        """A thread has fenced its accesses."""
        self._clocks.fence(thread.number, _threads(thread))

    # ---- accesses

    def read(self, access: Access) -> None:
        """Someone else may have written there."""
        me = self._party(access, _PLAIN)
        for buffer, page, base, at, lanes, _ in self._watched(access):
            writers = page.writer[at]
            bad = self._meets(writers, me, access.thread)
            if bad is not None:
                bad &= self._parties[_HOW, writers] != _SILENT
                if bad.any():
                    self._race(access, buffer, base, at, lanes, bad, writers, "reads what was written by")
            # Two readers of different threads are enough for any writer to meet one that is not itself.
            first = page.reader[at]
            if self._one(first, me):
                continue
            free = (first == _NOBODY) | ~self._near(first, me, access.thread)
            page.reader[at] = np.where(free, me, first)
            page.second[at[~free]] = me

    def write(self, access: Access) -> None:
        """Someone else may have read or written there."""
        atomic = access.kind == "atomic"
        if atomic:
            self._order(access)
        elif access.values is not None and access.at.size > 1 and not (access.at[1:] > access.at[:-1]).all():
            self._lanes(access, access.values)
        me = self._party(access, _ATOMIC if atomic else _PLAIN)
        for buffer, page, base, at, lanes, changed in self._watched(access):
            if changed is not None and not changed.all():
                self._silent(access, page, at[~changed])
                at, lanes = at[changed], lanes[changed]  # noqa: PLW2901
                if not at.size:
                    continue
            writers = page.writer[at]
            for others, verb in (
                (writers, "writes what was written by"),
                (page.reader[at], "writes what was read by"),
                (page.second[at], "writes what was read by"),
            ):
                bad = self._meets(others, me, access.thread)
                if bad is not None and bad.any():
                    self._race(access, buffer, base, at, lanes, bad, others, verb)
                    break
            if atomic:  # a plain write of the same thread stays: another's atomic still meets it
                column = self._parties
                keep = (writers != _NOBODY) & (column[_HOW, writers] == _PLAIN)
                keep &= (column[_THREAD, writers] == access.thread.number) & (column[_GROUP, writers] == self._group)
                page.writer[at[~(keep & (column[_CLOCK, writers] == column[_CLOCK, me]))]] = me
            else:
                page.writer[at] = me

    def _silent(self, access: Access, page: _Page, at: Array) -> None:
        """A write of what is there already: kept where no other writer is in the way."""
        me = self._party(access, _SILENT)
        writers = page.writer[at]
        free = (writers == _NOBODY) | ~self._near(writers, me, access.thread)
        mine = (self._parties[_THREAD, writers] == access.thread.number) & (
            self._parties[_GROUP, writers] == self._group
        )
        page.writer[at[free & ~(mine & (writers != _NOBODY))]] = me

    def _lanes(self, access: Access, values: Array) -> None:
        """Lanes of one message that store different values at one place: which stays is undefined (seed 001)."""
        order = np.argsort(access.at, kind="stable")
        at, rows = access.at[order], values[order]
        bad = np.flatnonzero((at[1:] == at[:-1]) & (rows[1:] != rows[:-1]).any(axis=1))
        if not bad.size or access.space is None:
            return
        first, second = (int(access.lanes[order[bad[0] + i]]) for i in (0, 1))
        found = _split(access.space, at[bad[:1]], access.size)
        if first == second or not found or found[0][0].private or not found[0][1].size:
            return
        buffer, offset = found[0][0], int(found[0][1][0])
        line = access.thread.frame.code.kernel.instructions[access.thread.frame.pc].line
        self._find(
            FaultKind.RACE,
            access.thread,
            f"writes another value than lane {first} of the same message, at byte {offset} of {buffer.name}",
            lane=second,
            address=offset,
            other=f"lane {first} of the same thread" + (f", line {line + 1}" if line >= 0 else ""),
            other_line=line,
        )

    def _order(self, access: Access) -> None:
        if access.space is None:
            return
        places = [
            (id(buffer), offset)
            for buffer, offsets, _ in _split(access.space, access.at, access.size)
            for offset in np.unique(offsets).tolist()
        ]
        self._clocks.atomic(access.thread.number, _threads(access.thread), places)

    def _party(self, access: Access, how: int) -> int:
        """The number of whoever makes an access."""
        thread = access.thread
        frame = thread.frame
        clock = self._clocks.clock(thread.number, _threads(thread))
        key = (thread.number, id(frame.code))
        found = self._numbers.get(key)
        if found is None or found[0] != clock:
            found = self._numbers[key] = (clock, {})
        number = found[1].get((frame.pc, how))
        if number is not None:
            return number
        if self._count >= MOST_PARTIES:
            self._forget()
            found = self._numbers[key] = (clock, {})
        number = found[1][frame.pc, how] = self._count
        if number >= self._parties.shape[1]:
            self._parties = np.concatenate([self._parties, np.zeros_like(self._parties)], axis=1)
        self._parties[:, number] = (self._group, thread.number, clock, how, self._code(frame.code), frame.pc)
        self._count += 1
        return number

    def _code(self, code: Code) -> int:
        for number, known in enumerate(self._codes):
            if known is code:
                return number
        self._codes.append(code)
        return len(self._codes) - 1

    def _forget(self) -> None:
        self._forgot = True
        self._pages.clear()
        self._numbers.clear()
        self._count = 0

    def _one(self, others: Array, me: int) -> bool:
        """Whether all parties are this one."""
        return bool(others[0] == me and (others == me).all())

    def _near(self, others: Array, me: int, thread: Thread) -> Array:
        """Which parties are not ordered with this one, as far as its own group knows."""
        column = self._parties
        known = self._clocks.of(thread.number, _threads(thread))
        theirs = column[_THREAD, others]
        same = column[_GROUP, others] == self._group
        ordered = column[_CLOCK, others] <= known[np.minimum(theirs, known.size - 1)]
        return np.asarray(~(same & ((theirs == column[_THREAD, me]) | ordered)))

    def _meets(self, others: Array, me: int, thread: Thread) -> Array | None:
        """Which parties race with this one; None where none does."""
        if self._one(others, me) or self._one(others, _NOBODY) or self._clocks.gave_up:
            return None
        column = self._parties
        bad = (others != _NOBODY) & self._near(others, me, thread)
        if column[_HOW, me] == _ATOMIC:
            bad &= column[_HOW, others] != _ATOMIC
        if not bad.any():
            return None
        for number in np.unique(others[bad]).tolist():
            group, other, clock = (int(column[i, number]) for i in (_GROUP, _THREAD, _CLOCK))
            if group != self._group and self._clocks.ordered(group, other, clock, thread.number):
                bad &= others != number
        return np.asarray(bad)

    def _watched(self, access: Access) -> Iterator[tuple[Buffer, _Page, int, Array, Array, Array | None]]:
        """Page by page the bytes of a message: buffer, page, its first offset, places, lanes, which are changed."""
        if access.space is None or not access.at.size:
            return
        for buffer, offsets, rows in _split(access.space, access.at, access.size):
            if buffer.private or not offsets.size:
                continue
            at = (offsets[:, None] + np.arange(access.size)).reshape(-1)
            lanes = np.repeat(access.lanes[np.minimum(rows, access.lanes.size - 1)], access.size)
            changed = None
            if access.values is not None:
                changed = buffer.data[at] != access.values[rows].reshape(-1)
            self._buffers[id(buffer)] = buffer
            numbers = at >> PAGE_BITS
            first = int(numbers[0])
            if (numbers == first).all():
                yield buffer, self._page(buffer, first), first << PAGE_BITS, at & PAGE - 1, lanes, changed
                continue
            for number in np.unique(numbers).tolist():
                here = numbers == number
                part = changed[here] if changed is not None else None
                yield buffer, self._page(buffer, number), number << PAGE_BITS, at[here] & PAGE - 1, lanes[here], part

    def _page(self, buffer: Buffer, number: int) -> _Page:
        key = (id(buffer), number)
        found = self._pages.get(key)
        if found is None:
            if len(self._pages) >= MAX_PAGES:
                self._forgot = True
                del self._pages[next(iter(self._pages))]
            found = self._pages[key] = _Page()
        return found

    def _race(
        self, access: Access, buffer: Buffer, base: int, at: Array, lanes: Array, bad: Array, others: Array, verb: str
    ) -> None:
        first = int(np.flatnonzero(bad)[0])
        column = self._parties[:, int(others[first])]
        group, other, _, _, code, pc = (int(n) for n in column)
        kernel = self._codes[code].kernel
        line = kernel.instructions[pc].line if pc < len(kernel.instructions) else -1
        name = self._group_id(access.thread, group)
        where = f", line {line + 1}" if line >= 0 else ""
        since = "another thread since the last barrier" if group == self._group else "a thread of another group"
        self._find(
            FaultKind.RACE,
            access.thread,
            f"{verb} {since}, at byte {base + int(at[first])} of {buffer.name}",
            lane=int(lanes[first]),
            address=base + int(at[first]),
            other=f"group {name}, thread {other}, instruction {pc}{where}",
            other_line=line,
            other_kernel=kernel.name,
        )

    def _group_id(self, thread: Thread, number: int) -> tuple[int, int, int]:
        """The id of a group by its place in the order of the run."""
        if number == self._group:
            return thread.group.id
        x, y, _ = thread.machine.dispatch.groups
        return number % x, number // x % y, number // (x * y)


def _threads(thread: Thread) -> int:
    return thread.machine.dispatch.threads_per_group


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
