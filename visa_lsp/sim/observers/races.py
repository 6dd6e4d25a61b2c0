"""The checkers of data races: unordered accesses of two parties to the same bytes.

A party is a hardware thread (``races``), or one work item (``item-races``): lanes of a thread run in step, which orders
them at this SIMD width only. ``happens_before`` computes the order from barriers of all kinds, and from fences with
atomics. Accesses that a barrier orders without a fence of that memory before it are a note. Per byte the last plain
writer, up to two readers and up to two atomics are kept, by pages allocated on first touch, so that the size of a
buffer does not matter. Beyond ``MAX_TABLES`` tables the oldest pages are forgotten, beyond ``MAX_ACCESSES`` accesses
all; ``limits`` reports both. A write that changes nothing races only with one that does: compilers let all threads
store the same value. The first write of a byte of shared local memory changes it. An atomic that changes nothing only
reads. A plain load that a compare-exchange of its party checks afterwards, at the same place and with the loaded value,
is a guess: racing with other compare-exchanges it is a note. Lanes of one message that store different values in one
byte are a race too. Invariant: a party is named by group, thread, instruction and source line.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.isa.lsc_codes import COMPARING
from visa_lsp.isa.types import ExecControl
from visa_lsp.program.message import update_of
from visa_lsp.sim.faults import Fault, FaultKind, WorkItem, thread_fault
from visa_lsp.sim.group import GLOBAL, SHARED, Barrier
from visa_lsp.sim.memory import Buffer, Memory
from visa_lsp.sim.observers.happens_before import Clocks
from visa_lsp.sim.observers.hooks import Checker, MemoryAccess, is_after_its_round

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.program.model import Inst
    from visa_lsp.sim.interp import Code, Thread

Array = np.ndarray[Any, np.dtype[Any]]

PAGE_BITS: Final = 14
PAGE: Final = 1 << PAGE_BITS
MAX_TABLES: Final = 6144  # 384 MiB, because a table has a number of four bytes for each byte of a page
MAX_PAGES: Final = MAX_TABLES // 3  # 32 MiB, without atomics
MAX_ACCESSES: Final = 1 << 21  # 56 MiB
MAX_GUESSED_PLACES: Final = 1 << 16
_NO_PARTY: Final = -1
_GROUP, _THREAD, _CLOCK, _HOW, _CODE, _PC, _ALL = range(7)
# The kinds of accesses. Silent: a store of the present value. Tried: an atomic that changes nothing. Guess: see above.
_PLAIN, _ATOMIC, _SILENT, _READ, _TRIED, _GUESS = range(6)
_GUESSED_BYTES: Final = 8


def _any_of(*hows: int) -> Array:
    return np.isin(np.arange(6), hows)


_CHANGED: Final = _any_of(_PLAIN)
_STORED: Final = _any_of(_PLAIN, _SILENT)
_EXCHANGED: Final = _any_of(_ATOMIC)
_LOOKED: Final = _any_of(_READ, _TRIED)
_READERS: Final = _any_of(_READ, _TRIED, _GUESS)
_PLAIN_READERS: Final = _any_of(_READ, _GUESS)
LAST_WITH_ORDERED_SHARED: Final = 109  # generations below Gen11 need no fence of shared local memory


class _Page:
    """The numbers of the parties that last wrote and read the bytes of a page."""

    __slots__ = ("atomic", "other_atomic", "reader", "second", "writer")

    def __init__(self) -> None:
        self.writer: Array = np.full(PAGE, _NO_PARTY, np.int32)
        self.reader: Array = np.full(PAGE, _NO_PARTY, np.int32)
        self.second: Array = np.full(PAGE, _NO_PARTY, np.int32)
        self.atomic: Array | None = None
        self.other_atomic: Array | None = None

    @property
    def tables(self) -> int:
        return 3 if self.atomic is None else 5

    def atomics(self) -> tuple[Array, Array]:
        if self.atomic is None or self.other_atomic is None:
            self.atomic = np.full(PAGE, _NO_PARTY, np.int32)
            self.other_atomic = np.full(PAGE, _NO_PARTY, np.int32)
        return self.atomic, self.other_atomic


@dataclass(slots=True, eq=False)
class _Part:
    """The bytes of a message in one page: the places in it, and the number of the access of each."""

    buffer: Buffer
    page: _Page
    base: int
    places: Array
    rows: Array
    lanes: Array

    def of(self, chosen: Array) -> _Part:
        return _Part(self.buffer, self.page, self.base, self.places[chosen], self.rows[chosen], self.lanes[chosen])


class RaceChecker(Checker):
    """Finds races on shared local memory and on buffers."""

    kinds = frozenset({FaultKind.RACE})
    items = False  # whether lanes are parties

    def __init__(self) -> None:
        super().__init__()
        self._pages: dict[tuple[int, int], _Page] = {}
        self._buffers: dict[int, Buffer] = {}  # kept alive, so that their ids are not reused
        self._tables = 0
        self._clocks = Clocks()
        self._codes: list[Code] = []
        self._numbers: dict[tuple[int, int], tuple[int, dict[tuple[int, int, bool], int]]] = {}
        self._parties: Array = np.zeros((7, 64), np.int32)
        self._count = 0
        self._group = -1
        self._forgot = False
        self._guessing: bool | None = None  # whether the program has a compare-exchange
        self._loaded: dict[tuple[int, int, int], bytes] = {}  # (party, buffer, offset) -> the bytes it has loaded
        # (party, buffer, offset) -> another party that stores the same value there.
        self._joined: dict[tuple[int, int, int], int] = {}
        self._waiting: dict[tuple[int, int, int], list[Fault]] = {}  # races of loads that may prove to be guesses
        self._stored: list[tuple[Array, Array, Array]] = []  # places, lanes and values of a message's elements so far

    def on_group(self, number: tuple[int, int, int]) -> None:
        """Drop the shared local memory of the previous group."""
        del number
        self._end_group()
        self._group += 1
        self._clocks.group(self._group)

    def on_end(self) -> None:
        """Report the races that no compare-exchange has turned into guesses."""
        self._end_group()

    def _end_group(self) -> None:
        for faults in self._waiting.values():
            self._found.extend(faults)
        self._waiting.clear()
        self._loaded.clear()
        self._joined.clear()
        self._numbers.clear()
        gone = {key for key, buffer in self._buffers.items() if not buffer.address}
        if gone:
            self._pages = {key: page for key, page in self._pages.items() if key[0] not in gone}
            self._buffers = {key: buffer for key, buffer in self._buffers.items() if key not in gone}
            self._tables = sum(page.tables for page in self._pages.values())

    def limits(self) -> tuple[str, ...]:
        """Return sentences about dropped accesses and a full order."""
        lines = []
        name = "item-races" if self.items else "races"
        if self._forgot:
            lines.append(
                f"{name}: at most {MAX_PAGES * PAGE >> 20} MiB and {MAX_ACCESSES} accesses are remembered; earlier ones were forgotten"
            )
        if self._clocks.gave_up:
            lines.append(
                f"{name}: too many threads or addresses of atomics; from there on all accesses count as ordered"
            )
        return tuple(lines)

    # ---- order

    def on_arrival(self, thread: Thread, barrier: Barrier) -> None:
        """Add the arrival of a thread at a barrier to the order."""
        self._clocks_of(thread)
        ordered = thread.machine.dispatch.platform.generation <= LAST_WITH_ORDERED_SHARED
        self._clocks.arrive(thread.number, _threads(thread), barrier, orders_shared=ordered)

    def on_wait(self, thread: Thread, barrier: Barrier, generation: int) -> None:
        """Add the end of a barrier's round to the order."""
        self._clocks_of(thread)
        self._clocks.leave(thread.number, thread.group.threads, barrier, generation)

    def on_fence(self, thread: Thread, memories: tuple[int, ...]) -> None:
        """Add a fence to the order."""
        self._clocks_of(thread)
        lanes = [n for n in range(self._clocks.lanes) if thread.frame.emask >> n & 1] if self.items else [0]
        self._clocks.fence(thread.number, _threads(thread), memories, lanes)

    def _clocks_of(self, thread: Thread) -> Clocks:
        if self.items and self._clocks.lanes == 1 and thread.machine.dispatch.simd > 1:
            self._clocks = Clocks(thread.machine.dispatch.simd)
            self._clocks.group(self._group)
        return self._clocks

    # ---- accesses

    def on_read(self, access: MemoryAccess) -> None:
        """Compare a load with the writers of its bytes, and record it."""
        if access.space is None or not access.places.size:
            return
        mine = self._party(access, _READ)
        if self._guesses(access.thread):
            self._remember(access, mine)
        for part, _ in self._split_by_page(access):
            self._read(access, part, _chosen(mine, part.rows), tried=False)

    def _read(self, access: MemoryAccess, part: _Part, me: Any, *, tried: bool) -> None:
        page, places = part.page, part.places
        self._compare(access, part, me, page.writer[places], "reads bytes written by", _CHANGED)
        if page.atomic is not None and page.other_atomic is not None and not tried:
            for table in (page.atomic, page.other_atomic):
                self._compare(access, part, me, table[places], "reads bytes written by", _EXCHANGED)
        # Two readers of different parties suffice, because any writer then finds one that is not itself.
        readers, how = page.reader[places], self._parties[_HOW]
        if self._one(readers, me):
            return
        free = (readers == _NO_PARTY) | ~self._near(readers, me, access.thread)
        if tried:  # because a plain read races with more accesses
            second = page.second[places]
            plain = how[readers] == _READ
            mine = self._parties[_THREAD, readers] == self._parties[_THREAD, me]
            page.reader[places] = np.where(free & ~(plain & mine), me, readers)
            left = ~free & ((second == _NO_PARTY) | (how[second] == _TRIED) | ~self._near(second, me, access.thread))
            page.second[places[left]] = _chosen(me, left)
            return
        free |= how[readers] == _TRIED
        _keep(page.reader, page.second, places, me, np.where(free, me, readers))

    def on_write(self, access: MemoryAccess) -> None:
        """Compare a store with the readers and writers of its bytes, and record it."""
        if access.space is None or not access.places.size:
            return
        if access.kind == "atomic":
            self._atomic(access)
            return
        if access.values is not None:
            self._lanes(access, access.values)
        mine = self._party(access, _PLAIN)
        for part, changed in self._split_by_page(access):
            if changed is not None and not changed.all():
                self._silent(access, part.of(~changed))
                part = part.of(changed)  # noqa: PLW2901
                if not part.places.size:
                    continue
            me = _chosen(mine, part.rows)
            self._compare_plain(access, part, me, _STORED, _READERS)
            if part.page.atomic is not None and part.page.other_atomic is not None:
                for table in (part.page.atomic, part.page.other_atomic):
                    self._compare(access, part, me, table[part.places], "writes bytes written by", _EXCHANGED)
            part.page.writer[part.places] = me

    def _compare_plain(self, access: MemoryAccess, part: _Part, me: Any, writers: Array, readers: Array) -> None:
        """Compare an atomic with the plain accesses of its bytes, and record it."""
        for table, verb, hows in (
            (part.page.writer, "writes bytes written by", writers),
            (part.page.reader, "writes bytes read by", readers),
            (part.page.second, "writes bytes read by", readers),
        ):
            if self._compare(access, part, me, table[part.places], verb, hows):
                break

    def _atomic(self, access: MemoryAccess) -> None:
        wrote, tried = self._party(access, _ATOMIC), self._party(access, _TRIED)
        for part, changed in self._split_by_page(access):
            if changed is not None and not changed.all():
                still = part.of(~changed)
                self._read(access, still, _chosen(tried, still.rows), tried=True)
                part = part.of(changed)  # noqa: PLW2901
                if not part.places.size:
                    continue
            me = _chosen(wrote, part.rows)
            self._compare_plain(access, part, me, _STORED, _PLAIN_READERS)
            atomics, other_atomics = self._atomics(part.page)
            parties = atomics[part.places]
            free = (parties == _NO_PARTY) | ~self._near(parties, me, access.thread)
            _keep(atomics, other_atomics, part.places, me, np.where(free, me, parties))
        if access.compared is not None:
            self._check_guesses(access, access.compared, wrote)
        self._order(access)  # because the acquired order applies to later accesses, not to the atomic itself

    def _atomics(self, page: _Page) -> tuple[Array, Array]:
        self._tables -= page.tables
        tables = page.atomics()
        self._tables += page.tables
        return tables

    def _silent(self, access: MemoryAccess, part: _Part) -> None:
        """Record a write that changes nothing, unless it would replace another writer."""
        me = _chosen(self._party(access, _SILENT), part.rows)
        page, places = part.page, part.places
        writers = page.writer[places]
        free = (writers == _NO_PARTY) | ~self._near(writers, me, access.thread)
        mine = (self._parties[_THREAD, writers] == self._parties[_THREAD, me]) & (
            self._parties[_GROUP, writers] == self._group
        )
        kept = free & ~(mine & (writers != _NO_PARTY))
        page.writer[places[kept]] = _chosen(me, kept)
        # If another party stores the same value without an order, a later read may also get the party's own value.
        for n in np.flatnonzero(~kept & (writers != _NO_PARTY) & ~mine).tolist():
            if len(self._joined) >= MAX_GUESSED_PLACES:
                del self._joined[next(iter(self._joined))]
            owner = int(self._parties[_THREAD, me if np.ndim(me) == 0 else me[n]])
            self._joined[owner, id(part.buffer), part.base + int(places[n])] = int(writers[n])

    def _lanes(self, access: MemoryAccess, values: Array) -> None:
        """Report lanes of one message that store different values at one place: the result is undefined (seed 001)."""
        if access.lanes.size < access.places.size:
            return  # because the thread stores a block
        if not access.element:
            self._stored.clear()
        self._stored.append((access.places, access.lanes, values))
        places, lanes, rows = map(np.concatenate, zip(*self._stored, strict=True))
        if places.size == 1 or (places[1:] >= places[:-1] + access.size).all():
            return
        order, size = np.argsort(places, kind="stable"), access.size
        starts, lanes, rows = places[order], lanes[order], rows[order]
        # Elements have one size, so that of all elements that overlap some neighbours do, and differ if any do.
        for n in np.flatnonzero((starts[1:] < starts[:-1] + size) & (lanes[1:] != lanes[:-1])).tolist():
            common = size - int(starts[n + 1] - starts[n])
            if (rows[n, size - common :] == rows[n + 1, :common]).all() or access.space is None:
                continue
            parts = split(access.space, starts[n + 1 : n + 2], common)
            if not parts or parts[0][0].private or not parts[0][1].size:
                continue
            lane, offset = int(lanes[n + 1]), int(parts[0][1][0])
            other_lane = access.thread.lane(int(lanes[n]))
            line = access.thread.frame.code.kernel.instructions[access.thread.frame.pc].line
            self._find(
                FaultKind.RACE,
                access.thread,
                f"writes another value than lane {other_lane} of the same message: {parts[0][0].span_text(offset, common)}",
                lane=lane,
                address=offset,
                other=f"lane {other_lane} of the same thread" + (f", line {line + 1}" if line >= 0 else ""),
                other_line=line,
                other_items=access.thread.work_items([other_lane]) if other_lane is not None else (),
            )
            return

    def _order(self, access: MemoryAccess) -> None:
        if access.space is None:
            return
        thread, clocks = access.thread, self._clocks_of(access.thread)
        lanes, whole = self._item_lanes(access) if self.items else (None, False)
        together = [n for n in range(clocks.lanes) if thread.frame.emask >> n & 1] if whole else []
        for buffer, offsets, rows in split(access.space, access.places, access.size):
            shared = _is_shared(thread, buffer)
            if lanes is None:
                places = [(id(buffer), offset) for offset in np.unique(offsets).tolist()]
                clocks.atomic(thread.number, _threads(thread), places, shared=shared)
                continue
            for offset, row in zip(offsets.tolist(), rows.tolist(), strict=True):
                place = [(id(buffer), offset)]
                for lane in together or [int(lanes[row])]:
                    clocks.atomic(thread.number, _threads(thread), place, lane=lane, shared=shared)

    # ---- guesses

    def _guesses(self, thread: Thread) -> bool:
        if self._guessing is None:
            dispatch = thread.machine.dispatch
            self._guessing = any(
                any(compares(inst) for inst in body.instructions)
                for body in (dispatch.kernel, *dispatch.functions.values())
            )
        return self._guessing

    def _remember(self, access: MemoryAccess, mine: Any) -> None:
        """Record the bytes of a load, which may prove to be a guess."""
        if access.space is None or access.size > _GUESSED_BYTES:
            return
        for buffer, offsets, rows in split(access.space, access.places, access.size):
            if buffer.private:
                continue
            for offset, row in zip(offsets.tolist(), rows.tolist(), strict=True):
                if len(self._loaded) >= MAX_GUESSED_PLACES:
                    del self._loaded[next(iter(self._loaded))]
                key = (self._owner(mine, row), id(buffer), offset)
                self._loaded[key] = buffer.data[offset : offset + access.size].tobytes()

    def _owner(self, mine: Any, row: int) -> int:
        number = mine if np.ndim(mine) == 0 else mine[row]
        return int(self._parties[_THREAD, int(number)])

    def _check_guesses(self, access: MemoryAccess, compared: Array, mine: Any) -> None:
        """Mark as guesses the party's loads whose values a compare-exchange compares with."""
        if access.space is None:
            return
        loads: dict[tuple[int, int, int], bytes | None] = {}  # because only the next exchange after a load checks it
        for buffer, offsets, rows in split(access.space, access.places, access.size):
            for offset, row in zip(offsets.tolist(), rows.tolist(), strict=True):
                owner = self._owner(mine, row)
                key = (owner, id(buffer), offset)
                if key not in loads:
                    loads[key] = self._loaded.pop(key, None)
                if loads[key] != compared[row].tobytes():
                    continue
                for fault in self._waiting.pop(key, ()):
                    self._guess(access.thread, fault)
                self._mark(buffer, np.arange(offset, offset + access.size), owner)

    def _guess(self, thread: Thread, fault: Fault) -> None:
        thread.machine.has_findings = True
        self._found.append(
            replace(fault, note=True, message=f"{fault.message}; a compare-exchange checks the loaded value")
        )

    def _mark(self, buffer: Buffer, places: Array, owner: int) -> None:
        """Mark the loads of bytes by a party as guesses."""
        for number in np.unique(places >> PAGE_BITS).tolist():
            page = self._pages.get((id(buffer), number))
            if page is None:
                continue
            cells = places[places >> PAGE_BITS == number] & PAGE - 1
            for table in (page.reader, page.second):
                for party in np.unique(table[cells]).tolist():
                    group, thread, _, how, code, pc, all_ = self._parties[:, party].tolist()
                    if party == _NO_PARTY or (group, thread, how) != (self._group, owner, _READ):
                        continue
                    guess = self._number(owner, self._codes[code], pc, _GUESS, int(self._parties[_CLOCK, party]), all_)
                    table[cells] = np.where(table[cells] == party, guess, table[cells])

    # ---- parties

    def _item_lanes(self, access: MemoryAccess) -> tuple[Array, bool]:
        """Return the lane of each access, and whether one message serves all lanes of its thread."""
        thread = access.thread
        frame = thread.frame
        simd = self._clocks_of(thread).lanes
        control = frame.code.kernel.instructions[frame.pc].get("exec")
        active = frame.emask & (1 << simd) - 1
        if not isinstance(control, ExecControl) or control.no_mask:
            lane = (active & -active).bit_length() - 1 if active else 0
            return np.full(access.places.size, lane), bool(active & active - 1)
        lanes = access.lanes[np.minimum(np.arange(access.places.size), access.lanes.size - 1)] + control.mask_offset
        return np.minimum(lanes, simd - 1), False

    def _party(self, access: MemoryAccess, how: int) -> Any:
        """Return the number of an access's party; if lanes are parties, one for each access."""
        thread = access.thread
        frame = thread.frame
        clocks = self._clocks_of(thread)
        if not self.items:
            clock = clocks.clock(thread.number, _threads(thread))
            return self._number(thread.number, frame.code, frame.pc, how, clock, 0)
        lanes, whole = self._item_lanes(access)
        together = np.zeros(lanes.size, bool)
        if access.kind == "write" and lanes.size > 1:  # `_lanes` reports different values
            order = np.argsort(access.places, kind="stable")
            close = np.diff(access.places[order]) < access.size
            together[order[1:]] = close
            together[order[:-1]] |= close
        chosen, places = np.unique(2 * lanes + together, return_inverse=True)
        numbers = []
        for number in chosen.tolist():
            lane, several = divmod(number, 2)
            clock = clocks.clock(thread.number, _threads(thread), lane)
            item = thread.number * clocks.lanes + lane
            numbers.append(self._number(item, frame.code, frame.pc, how, clock, int(whole or several)))
        return np.array(numbers, np.int32)[places.reshape(-1)]

    def _number(self, party: int, code: Code, pc: int, how: int, clock: int, whole: int) -> int:
        key = (party, id(code))
        entry = self._numbers.get(key)
        if entry is None or entry[0] != clock:
            entry = self._numbers[key] = (clock, {})
        number = entry[1].get((pc, how, bool(whole)))
        if number is not None:
            return number
        if self._count >= MAX_ACCESSES:
            self._forget()
            entry = self._numbers[key] = (clock, {})
        number = entry[1][pc, how, bool(whole)] = self._count
        if number >= self._parties.shape[1]:
            self._parties = np.concatenate([self._parties, np.zeros_like(self._parties)], axis=1)
        self._parties[:, number] = (self._group, party, clock, how, self._code(code), pc, whole)
        self._count += 1
        return number

    def _code(self, code: Code) -> int:
        for number, other in enumerate(self._codes):
            if other is code:
                return number
        self._codes.append(code)
        return len(self._codes) - 1

    def _forget(self) -> None:
        self._forgot = True
        self._pages.clear()
        self._tables = 0
        self._numbers.clear()
        self._count = 0

    # ---- comparing parties

    def _one(self, others: Array, me: Any) -> bool:
        """Return whether all parties are ``me``."""
        return bool((others == me).all())

    def _near(self, others: Array, me: Any, thread: Thread) -> Array:
        """Return the mask of parties that are not ordered with ``me``, within its own group."""
        column = self._parties
        same = column[_GROUP, others] == self._group
        ordered = column[_CLOCK, others] <= self._read_known_clocks(others, me, thread, 0)
        return np.asarray(~(same & (self._own(others, me) | ordered)))

    def _read_known_clocks(self, others: Array, me: Any, thread: Thread, row: int) -> Array:
        """Return the clocks of other parties of the group that ``me`` knows: a row of the table."""
        column = self._parties
        table = self._clocks.table(thread.number, _threads(thread))
        mine, theirs = column[_THREAD, me], column[_THREAD, others]
        if self.items:
            # One lane represents all lanes together; a neighbour lane knows what all lanes know of it.
            mine = np.where((mine == theirs) & ((column[_ALL, others] | column[_ALL, me]) == 1), theirs ^ 1, mine)
        last = len(table) - 1
        return np.asarray(table[np.minimum(mine, last), row, np.minimum(theirs, last)])

    def _own(self, others: Array, me: Any) -> Array:
        """Return the mask of parties that are ``me``, whose accesses are in program order."""
        column = self._parties
        if not self.items:
            return np.asarray(column[_THREAD, others] == column[_THREAD, me])
        lanes = self._clocks.lanes
        own = (column[_THREAD, others] == column[_THREAD, me]) & (column[_ALL, others] == 0) & (column[_ALL, me] == 0)
        # Lanes that store one value each read their own. A load of all lanes counts as one by each lane.
        thread = column[_THREAD, others] // lanes == column[_THREAD, me] // lanes
        stored = (column[_ALL, others] == 1) & _STORED[column[_HOW, others]]
        reads = _LOOKED[column[_HOW, me]]
        return np.asarray(own | (thread & stored & reads))

    def _compare(self, access: MemoryAccess, part: _Part, me: Any, others: Array, verb: str, hows: Array) -> bool:
        """Report the parties that race with ``me``; return whether there are any."""
        if self._clocks.gave_up or self._one(others, _NO_PARTY) or (not self.items and self._one(others, me)):
            return False
        column = self._parties
        met = (others != _NO_PARTY) & hows[column[_HOW, others]]
        if not met.any():
            return False
        bad = met & self._near(others, me, access.thread)
        if not bad.any():
            return self._clocks.partial and self._note_unfenced(access, part, me, others, verb, met)
        thread = access.thread
        far = bad & (column[_GROUP, others] != self._group)
        if far.any():
            pairs = np.unique(np.stack([others[far], np.broadcast_to(me, others.shape)[far]]), axis=1)
            for other, own in pairs.T.tolist():
                group, who, clock = (int(column[i, other]) for i in (_GROUP, _THREAD, _CLOCK))
                if self._clocks.is_ordered(group, who, clock, int(column[_THREAD, own])):
                    bad &= ~((others == other) & (np.broadcast_to(me, others.shape) == own))
            if not bad.any():
                return False
        if self._joined and access.kind == "read":
            for n in np.flatnonzero(bad).tolist():
                owner = int(column[_THREAD, int(np.broadcast_to(me, others.shape)[n])])
                place = (owner, id(part.buffer), part.base + int(part.places[n]))
                bad[n] = self._joined.get(place) != int(others[n])
            if not bad.any():
                return False
        index = int(np.flatnonzero(bad)[0])
        other, own = int(others[index]), int(np.broadcast_to(me, others.shape)[index])
        since = f"another thread since the last barrier{self._in_another_round(thread, other)}"
        if int(column[_GROUP, other]) != self._group:
            since = "a thread of another group"
        elif self.items and column[_THREAD, other] // self._clocks.lanes == thread.number:
            since = "another lane of the same thread"
        self._race(access, part, bad & (others == other), other, own, f"{verb} {since}")
        return True

    def _in_another_round(self, thread: Thread, other: int) -> str:
        """Return words for an access before or after this one in the next round of a loop; empty if it is in this round."""
        code, pc = int(self._parties[_CODE, other]), int(self._parties[_PC, other])
        if self._codes[code] is not thread.frame.code:
            return ""
        earlier, later = sorted((pc, thread.frame.pc))
        if not is_after_its_round(thread.frame.code, earlier, later):
            return ""
        return f", in the {'next' if pc == earlier else 'previous'} round of a loop that no barrier ends"

    def _note_unfenced(self, access: MemoryAccess, part: _Part, me: Any, others: Array, verb: str, met: Array) -> bool:
        """Add a note for accesses that a barrier orders without a fence of that memory; return whether there are any."""
        column, thread = self._parties, access.thread
        memory = SHARED if _is_shared(thread, part.buffer) else GLOBAL
        seen = column[_CLOCK, others] <= self._read_known_clocks(others, me, thread, memory)
        bad = met & (column[_GROUP, others] == self._group) & ~self._own(others, me) & ~seen
        if not bad.any():
            return False
        index = int(np.flatnonzero(bad)[0])
        other, own = int(others[index]), int(np.broadcast_to(me, others.shape)[index])
        what = "shared local memory" if memory == SHARED else "global memory"
        text = f"{verb} another {'item' if self.items else 'thread'} before a barrier, without a fence of {what} before that barrier"
        self._race(access, part, bad & (others == other), other, own, text, note=True)
        return True

    def _race(
        self, access: MemoryAccess, part: _Part, bad: Array, number: int, own: int, what: str, *, note: bool = False
    ) -> None:
        """Report that the party ``own`` races with the party ``number`` at the bytes ``bad`` of a part."""
        thread = access.thread
        index = int(np.flatnonzero(bad)[0])
        offset, size = _span(access, part, bad)
        group, other, _, how, code, pc, all_ = (int(n) for n in self._parties[:, number])
        kernel = self._codes[code].kernel
        line = kernel.instructions[pc].line if pc < len(kernel.instructions) else -1
        where = f", line {line + 1}" if line >= 0 else ""
        there, items = self._group_id(thread, group), tuple[WorkItem, ...]()
        if self.items:
            other, lane = divmod(other, self._clocks.lanes)
            ids = None if all_ else thread.machine.dispatch.item(there, other, lane)
            items = () if ids is None else (WorkItem(lane, *ids),)
            where = f", instruction {pc}{where}" if all_ else f", lane {lane}, instruction {pc}{where}"
        else:
            where = f", instruction {pc}{where}"
        fault = thread_fault(
            thread, FaultKind.RACE, f"{what}: {part.buffer.span_text(offset, size)}",
            lane=thread.lane(int(part.lanes[index])), address=offset,
            other=f"group {there}, thread {other}{where}", other_line=line, other_kernel=kernel.name, other_items=items,
        )  # fmt: skip
        if note:
            self._found.append(replace(fault, note=True))
            thread.machine.has_findings = True
            return
        mine = thread.frame.code.kernel.instructions[thread.frame.pc]
        theirs = kernel.instructions[pc] if pc < len(kernel.instructions) else None
        if how == _GUESS and compares(mine):
            self._guess(thread, fault)
            return
        if how == _ATOMIC and access.kind == "read" and theirs is not None and compares(theirs):
            key = (int(self._parties[_THREAD, own]), id(part.buffer), offset)
        elif how == _READ and compares(mine) and group == self._group:
            key = (int(self._parties[_THREAD, number]), id(part.buffer), offset)
        else:
            self._found.append(fault)
            thread.machine.has_findings = True
            return
        self._waiting.setdefault(key, []).append(fault)

    # ---- places

    def _split_by_page(self, access: MemoryAccess) -> Iterator[tuple[_Part, Array | None]]:
        """Yield the bytes of a message page by page, with a mask of the changed ones (None: unknown, all)."""
        if access.space is None or not access.places.size:
            return
        for buffer, offsets, rows in split(access.space, access.places, access.size):
            if buffer.private or not offsets.size:
                continue
            places = (offsets[:, None] + np.arange(access.size)).reshape(-1)
            each = np.repeat(rows, access.size)
            lanes = access.lanes[np.minimum(each, access.lanes.size - 1)]
            changed = None
            if access.values is not None:
                changed = buffer.data[places] != access.values[rows].reshape(-1)
            elif access.changes is not None:
                changed = access.changes[each]
            self._buffers[id(buffer)] = buffer
            numbers = places >> PAGE_BITS
            for number in np.unique(numbers).tolist():
                here = numbers == number
                part = _Part(
                    buffer,
                    self._page(buffer, number),
                    number << PAGE_BITS,
                    places[here] & PAGE - 1,
                    each[here],
                    lanes[here],
                )
                moved = changed[here] if changed is not None else None
                if moved is not None and access.values is not None and _is_shared(access.thread, buffer):
                    # Undefined until a first store, whatever its value is; the simulator's zeros are one possibility.
                    moved = moved | (part.page.writer[part.places] == _NO_PARTY)
                yield part, moved

    def _page(self, buffer: Buffer, number: int) -> _Page:
        key = (id(buffer), number)
        page = self._pages.get(key)
        if page is None:
            while self._pages and (self._tables >= MAX_TABLES or len(self._pages) >= MAX_PAGES):
                self._forgot = True
                self._tables -= self._pages.pop(next(iter(self._pages))).tables
            page = self._pages[key] = _Page()
            self._tables += page.tables
        return page

    def _group_id(self, thread: Thread, number: int) -> tuple[int, int, int]:
        """Return the id of a group by its place in the order of the run."""
        if number == self._group:
            return thread.group.id
        return thread.machine.dispatch.group_id(number)


class ItemRaceChecker(RaceChecker):
    """Races between work items, also of one thread: lanes in step are not ordered at another SIMD width."""

    items = True


def compares(inst: Inst) -> bool:
    """Return whether an instruction is a compare-exchange."""
    return update_of(inst) in COMPARING


def _chosen(party: Any, where: Array) -> Any:
    """Return the parties of the rows ``where``; a single party stands for all rows."""
    return party if np.ndim(party) == 0 else party[where]


def _keep(table: Array, other_table: Array, places: Array, me: Any, parties: Array) -> None:
    """Store parties in two tables; parties displaced from the first are moved to the second."""
    table[places] = parties
    lost = table[places] != me
    other_table[places[lost]] = _chosen(me, lost)


def _span(access: MemoryAccess, part: _Part, bad: Array) -> tuple[int, int]:
    """Return offset and size of the access with the bytes ``bad``; for a block of the whole thread, of the first run."""
    rows = np.unique(part.rows[bad])
    starts = access.places[rows] - (part.buffer.address if isinstance(access.space, Memory) else 0)
    frame = access.thread.frame
    count = 1
    if frame.code.lane(frame.pc, 0) is None:
        breaks = np.flatnonzero(np.diff(starts) != access.size)
        count = int(breaks[0]) + 1 if breaks.size else starts.size
    return int(starts[0]), count * access.size


def _is_shared(thread: Thread, buffer: Buffer) -> bool:
    return buffer is thread.group.slm


def _threads(thread: Thread) -> int:
    return thread.machine.dispatch.threads_per_group


def split(space: Buffer | Memory, addresses: Array, size: int) -> list[tuple[Buffer, Array, Array]]:
    """Return the buffers that hold accesses, with offsets and the numbers of the accesses."""
    rows = np.arange(addresses.size)
    if isinstance(space, Buffer):
        inside = (addresses >= 0) & (addresses <= space.size - size)
        return [(space, addresses[inside], rows[inside])]
    parts = []
    while rows.size:
        home = space.find(int(addresses[rows[0]]))
        if home is None:
            rows = rows[1:]
            continue
        buffer = home[0]
        offsets = addresses[rows] - buffer.address
        inside = (offsets >= 0) & (offsets <= buffer.size - size)
        if not inside[0]:
            rows = rows[1:]
            continue
        parts.append((buffer, offsets[inside], rows[inside]))
        rows = rows[~inside]
    return parts
