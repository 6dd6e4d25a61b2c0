"""The observer of stores to chosen elements of one buffer or image, and the first store that differs between two runs.

Knows memory, but no arguments and no reports. Invariant: the value of a store is that of the element after the
instruction, so that atomics, and lanes at one place, count with their final value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.sim.memory import Buffer, Memory
from visa_lsp.sim.observers.hooks import MemoryAccess, Observer

if TYPE_CHECKING:
    from visa_lsp.sim.interp import Thread
    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]

MAX_STORES: Final = 200_000


@dataclass(frozen=True, slots=True)
class ElementStore:
    """A store: its thread and place, ``line`` from 0 or -1, and the bytes of the element after it. ``order`` counts stores.

    ``lane`` is None if an instruction stores for the whole thread.
    """

    order: int
    kernel: str
    group: tuple[int, int, int]
    thread: int
    lane: int | None
    instruction: int
    line: int
    value: bytes


class StoreRecorder(Observer):
    """A recorder of all stores to ``elements`` (flat indexes) of a buffer whose elements have ``size`` bytes."""

    wants_instructions = True

    def __init__(self, buffer: Buffer, elements: Array, size: int) -> None:
        self._buffer = buffer
        self._elements = np.sort(elements)
        self._size = size
        self._waiting: list[tuple[int, int | None]] = []
        self._count = 0
        self.stores: dict[int, list[ElementStore]] = {int(element): [] for element in elements}

    def on_write(self, access: MemoryAccess) -> None:
        """Record the elements and lanes that a message is about to write."""
        space, buffer = access.space, self._buffer
        offsets = access.places.astype(np.int64)
        if isinstance(space, Memory):
            offsets = offsets - buffer.address
        elif space is None or space.whole is not buffer.whole:
            return
        low, high = offsets // self._size, (offsets + access.size - 1) // self._size
        starts, ends = np.searchsorted(self._elements, low), np.searchsorted(self._elements, high, "right")
        for row in np.flatnonzero(starts < ends).tolist():
            lane = access.thread.lane(int(access.lanes[min(row, access.lanes.size - 1)]))
            self._waiting += [(int(element), lane) for element in self._elements[starts[row] : ends[row]]]

    def after_instruction(self, thread: Thread, frame: Frame, pc: int) -> None:
        """Record the values of the elements after the instruction."""
        if not self._waiting:
            return
        inst = frame.code.kernel.instructions[pc]
        for element, lane in self._waiting:
            if self._count < MAX_STORES:
                value = self._buffer.data[element * self._size : (element + 1) * self._size].tobytes()
                place = (frame.code.kernel.name, thread.group.id, thread.number, lane, pc, inst.line)
                self.stores[element].append(ElementStore(self._count, *place, value))
                self._count += 1
        self._waiting.clear()


def first_difference(a: StoreRecorder, b: StoreRecorder) -> tuple[int, ElementStore | None, ElementStore | None] | None:
    """Return the first element with different stores, and the first differing store of each run; None if all stores are equal.

    A run with fewer stores has None. Of several elements, the one with the earliest store in ``a`` counts.
    """
    differences = []
    for element, left in a.stores.items():
        right = b.stores.get(element, [])
        index = next((n for n, (x, y) in enumerate(zip(left, right, strict=False)) if x.value != y.value), -1)
        if index < 0 and len(left) == len(right):
            continue
        index = min(len(left), len(right)) if index < 0 else index
        left_store, right_store = (stores[index] if index < len(stores) else None for stores in (left, right))
        store = left_store or right_store
        assert store is not None
        differences.append(((left_store is None, store.order), element, left_store, right_store))
    return min(differences, key=lambda entry: entry[0])[1:] if differences else None
