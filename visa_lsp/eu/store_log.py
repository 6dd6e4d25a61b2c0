"""The stores of each thread in order, of a run of a text or of machine code, its loads, and the first difference of two runs.

Stores are compared byte by byte: for each thread and each byte of memory the sequence of stored values, so that a message may be
split or joined, and stores to different places may change their order, as the finalizer is allowed to do. Private and scratch memory
is left out, because the finalizer lays it out anew. Messages whose values are not announced (atomics, texels) count with
their places; the contents of memory after the run show their values. Machine code may leave out a load that nothing needs, but loads no
byte that the text's thread does not load.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.sim.memory import FIRST_ADDRESS, Buffer, Memory
from visa_lsp.sim.observers.hooks import Observer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from visa_lsp.sim.observers.hooks import MemoryAccess

Array = np.ndarray[Any, np.dtype[Any]]
ThreadKey = tuple[tuple[int, int, int], int]

MAX_LOGGED_BYTES: Final = 1 << 25
SHARED_BASE: Final = 1 << 62  # of addresses in shared local memory
_NONE: Final = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class StoreRecord:
    """The stores of one message: an address and a row of bytes for each lane; ``values`` is None if not announced."""

    instruction: int
    at: Array
    size: int
    lanes: Array
    values: Array | None


@dataclass(frozen=True, slots=True)
class StoreSide:
    """A store in a difference: the instruction, its lane (None for the thread), the address, and the element's bytes."""

    instruction: int
    lane: int | None
    address: int
    value: bytes | None


@dataclass(frozen=True, slots=True)
class StoreDifference:
    """The first differing store of a thread; a side is None if that run has no such store. ``byte`` is the address of a byte."""

    group: tuple[int, int, int]
    thread: int
    byte: int
    text: StoreSide | None
    code: StoreSide | None


class StoreLog(Observer):
    """A recorder of the stores of every thread. ``is_full`` after ``MAX_LOGGED_BYTES``; ``is_wild`` after an access below all buffers."""

    def __init__(self, private: Iterable[Buffer]) -> None:
        self.threads: dict[ThreadKey, list[StoreRecord]] = {}
        self.loads: dict[ThreadKey, list[StoreRecord]] = {}
        self.is_full = self.is_wild = False
        self._bytes = 0
        # Below all buffers is what an invalid pointer to private memory names, which has no addresses in texts.
        self._private = [(0, FIRST_ADDRESS), *((b.address, b.address + b.size) for b in private)]
        self._private_buffers = {id(b) for b in private}

    def on_read(self, access: MemoryAccess) -> None:
        """Record the loads of a message."""
        self._record(self.loads, access)

    def on_write(self, access: MemoryAccess) -> None:
        """Record the stores of a message."""
        self._record(self.threads, access)

    def _record(self, records: dict[ThreadKey, list[StoreRecord]], access: MemoryAccess) -> None:
        space = access.space
        if space is None or self.is_full:
            return
        places = access.places.astype(np.int64)
        lanes, values = access.lanes, access.values
        if isinstance(space, Memory):
            self.is_wild |= bool((places < FIRST_ADDRESS).any())
            for start, end in self._private:
                outside = (places < start) | (places >= end)
                if not outside.all():
                    places, lanes = places[outside], lanes[outside] if lanes.size == outside.size else lanes
                    values = values[outside] if values is not None else None
        elif space.whole is access.thread.group.slm.whole:
            places = places + SHARED_BASE
        elif id(space.whole) in self._private_buffers or not space.whole.address:
            return
        else:
            places = places + space.whole.address
        if not places.size:
            return
        self._bytes += places.size * access.size
        self.is_full = self._bytes > MAX_LOGGED_BYTES
        thread = access.thread
        frame = thread.frame
        numbers = np.array(
            [-1 if (n := frame.code.lane(frame.pc, int(lane))) is None else n for lane in lanes.tolist()]
        )
        record = StoreRecord(frame.pc, places, access.size, numbers, None if values is None else values.copy())
        records.setdefault((thread.group.id, thread.number), []).append(record)

    def last_at(self, address: int) -> tuple[ThreadKey, StoreSide] | None:
        """Return the last recorded message to a byte, with its thread."""
        for key in reversed(self.threads):
            for record in reversed(self.threads[key]):
                rows = np.flatnonzero((record.at <= address) & (address < record.at + record.size))
                if rows.size:
                    return key, _side_of(record, int(rows[-1]))
        return None


def find_difference(text: StoreLog, code: StoreLog, undefined: Sequence[StoreLog] = ()) -> StoreDifference | None:
    """Return the first difference of two runs in the order of threads; None if every thread stores the same.

    What the text stores otherwise in a run with ``undefined`` values does not count.
    """
    for key in dict.fromkeys((*text.threads, *code.threads)):
        left, right = text.threads.get(key, []), code.threads.get(key, [])
        again = [log.threads.get(key, []) for log in undefined]
        difference = _difference_of_thread(key, left, right, again)
        if difference is not None:
            return difference
    return None


def find_load(text: StoreLog, code: StoreLog) -> StoreDifference | None:
    """Return the first load of the code of a byte that the text's thread neither loads nor stores; None if there is none.

    With ``-debug`` the finalizer of 2026 loads the bytes of each store of PVC ahead of it.
    """
    for key, records in code.loads.items():
        loaded = _by_byte((*text.loads.get(key, []), *text.threads.get(key, [])))[0]
        for record in records:
            places = (record.at[:, None] + np.arange(record.size)).reshape(-1)
            surplus = np.flatnonzero(~np.isin(places, loaded))
            if surplus.size:
                index = int(surplus[0])
                return StoreDifference(*key, int(places[index]), None, _side_of(record, index // record.size))
    return None


def _difference_of_thread(
    key: ThreadKey, left: Sequence[StoreRecord], right: Sequence[StoreRecord], again: Sequence[Sequence[StoreRecord]]
) -> StoreDifference | None:
    a, b = _by_byte(left), _by_byte(right)
    undefined = [_by_byte(records) for records in again]
    if a[0].size == b[0].size and np.array_equal(a[0], b[0]) and np.array_equal(a[1], b[1]):
        return None
    best: tuple[int, int, int, int, int] | None = None
    places = np.unique(np.concatenate((a[0], b[0])))
    start_a, end_a = np.searchsorted(a[0], places), np.searchsorted(a[0], places, "right")
    start_b, end_b = np.searchsorted(b[0], places), np.searchsorted(b[0], places, "right")
    for place, la, ha, lb, hb in zip(*(x.tolist() for x in (places, start_a, end_a, start_b, end_b)), strict=True):
        if ha - la == hb - lb and np.array_equal(a[1][la:ha], b[1][lb:hb]):
            continue
        if not all(np.array_equal(a[1][la:ha], c[1][c[0] == place]) for c in undefined):
            continue
        same = 0
        while la + same < ha and lb + same < hb and a[1][la + same] == b[1][lb + same]:
            same += 1
        in_a = la + same if la + same < ha else -1
        in_b = lb + same if lb + same < hb else -1
        rank = (int(a[2][in_a]) if in_a >= 0 else 1 << 60, int(b[2][in_b]) if in_b >= 0 else 1 << 60, place, in_a, in_b)
        best = rank if best is None or rank < best else best
    if best is None:
        return None
    _, _, place, in_a, in_b = best
    return StoreDifference(
        *key, place, _side(left, a, in_a) if in_a >= 0 else None, _side(right, b, in_b) if in_b >= 0 else None
    )


def _by_byte(records: Sequence[StoreRecord]) -> tuple[Array, Array, Array, Array]:
    """Return address, value (-1 if unknown), record and row of every stored byte, in the order of addresses, then of time."""
    places, values, owners, rows = [_NONE], [_NONE], [_NONE], [_NONE]
    for number, record in enumerate(records):
        places.append((record.at[:, None] + np.arange(record.size)).reshape(-1))
        count = places[-1].size
        values.append(np.full(count, -1) if record.values is None else record.values.reshape(-1).astype(np.int64))
        owners.append(np.full(count, number))
        rows.append(np.repeat(np.arange(record.at.size), record.size))
    joined = [np.concatenate(parts) for parts in (places, values, owners, rows)]
    order = np.argsort(joined[0], kind="stable")
    return joined[0][order], joined[1][order], joined[2][order], joined[3][order]


def _side(records: Sequence[StoreRecord], bytes_: tuple[Array, Array, Array, Array], index: int) -> StoreSide:
    return _side_of(records[int(bytes_[2][index])], int(bytes_[3][index]))


def _side_of(record: StoreRecord, row: int) -> StoreSide:
    lane = int(record.lanes[row]) if row < record.lanes.size else -1
    value = None if record.values is None else record.values[row].tobytes()
    return StoreSide(record.instruction, lane if lane >= 0 else None, int(record.at[row]), value)
