"""Undefined values in memory that a launch does not fill: shared local, scratch, private memory, undefined buffers.

Handles the accesses of one message at a time. After a message, loaded origins are set in its destination. Stored
origins are kept here, or reported if other threads see the memory. Knows instructions by their plans only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from visa_lsp.sim.memory import Buffer, Memory
from visa_lsp.sim.observers.origins import STORED, Origins
from visa_lsp.sim.observers.shadow import MAX_PAGES, UNWRITTEN, MemoryShadow, RegisterShadow

if TYPE_CHECKING:
    from visa_lsp.sim.observers.definedness_plan import DefinednessPlan
    from visa_lsp.sim.observers.hooks import MemoryAccess

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class _LoadOrigins:
    """The origins that one access of a message loaded: ``rows`` of ``size`` bytes for ``lanes``."""

    number: int  # number of the access in its message
    start: int  # bytes that the message has moved before
    rows: Array
    lanes: Array
    cells: Array
    fresh: Array
    size: int


class MemoryFollower:
    """The shadows of memory, and the current message."""

    def __init__(self, origins: Origins) -> None:
        self._origins = origins
        self._pages = [MAX_PAGES]
        self._shared: MemoryShadow | None = None
        self._scratch: dict[int, MemoryShadow] = {}
        self._private: dict[int, MemoryShadow] = {}
        self._plan: DefinednessPlan | None = None
        self._data: list[Array] = []
        self._loaded: list[_LoadOrigins] = []
        self._partly: set[int] = set()  # lanes with a defined loaded byte
        self._number = 0
        self._cursor = 0

    def group(self) -> None:
        """Free the shared local memory and the scratch of the group before."""
        for shadow in (self._shared, *self._scratch.values()):
            if shadow is not None:
                shadow.free()
        self._shared = None
        self._scratch.clear()

    @property
    def full(self) -> bool:
        """True if some memory exceeds the limit of pages."""
        return self._pages[0] <= 0

    def begin(self, plan: DefinednessPlan, data: list[Array]) -> None:
        """Start a message; ``data`` are the origins of its data operands, cell by cell."""
        self._plan, self._data, self._number, self._cursor = plan, data, 0, 0
        self._loaded.clear()
        self._partly.clear()

    def end(self, shadow: RegisterShadow) -> None:
        """Finish the instruction: set the loaded origins in its destination."""
        if self._plan is not None and self._loaded:
            for load in self._loaded:
                padding = load.fresh & np.isin(load.lanes, list(self._partly))[:, None]
                for number in np.unique(load.cells[padding]).tolist():
                    load.cells[padding & (load.cells == number)] = self._origins.quiet(number)
            _land(self._plan, shadow, self._loaded)
        self._plan = None

    def read(self, access: MemoryAccess) -> None:
        """Keep the origins of the loaded bytes."""
        if self._plan is None:
            return
        for shadow, offsets, rows in self._memories(access):
            self._load(access, shadow, offsets, rows)
        self._number += 1
        self._cursor += access.places.size * access.size

    def write(self, access: MemoryAccess) -> None:
        """Store origins in the shadow of memory that only the group sees; report origins stored elsewhere."""
        plan = self._plan
        if plan is None or not access.places.size:
            return
        carried = self._find_stored_origins(plan, access)
        outside = np.ones(access.places.size, bool)
        for shadow, offsets, rows in self._memories(access):
            outside[rows] = shadow.is_seen
            if access.kind == "atomic":
                self._load(access, shadow, offsets, rows)
                if not plan.replaces:
                    continue
            cells = np.zeros((rows.size, access.size), np.uint16) if carried is None else carried[rows]
            shadow.put((offsets[:, None] + np.arange(access.size)).reshape(-1), cells.reshape(-1))
        self._number += 1
        self._cursor += access.places.size * access.size
        if carried is not None and access.space is not None:
            # Only completely undefined cells are reported, because a partly defined cell may contain padding.
            whole = carried[outside & (carried != 0).all(axis=1)]
            for number in np.unique(whole).tolist():
                self._origins.report(access.thread, number, STORED)

    def _load(self, access: MemoryAccess, shadow: MemoryShadow, offsets: Array, rows: Array) -> None:
        cells = shadow.get((offsets[:, None] + np.arange(access.size)).reshape(-1)).reshape(offsets.size, access.size)
        fresh = cells == UNWRITTEN
        if fresh.any():
            index = int(np.flatnonzero(fresh.any(axis=1))[0])
            row = int(rows[index])
            place = int(access.places[row]) if isinstance(access.space, Buffer) else int(offsets[index])
            cells[fresh] = self._origins.of_memory(access, place, row)
        lanes = access.lanes[np.minimum(rows, access.lanes.size - 1)]
        self._partly.update(lanes[(cells == 0).any(axis=1)].tolist())
        if cells.any():
            self._loaded.append(_LoadOrigins(self._number, self._cursor, rows, lanes, cells, fresh, access.size))

    def _find_stored_origins(self, plan: DefinednessPlan, access: MemoryAccess) -> Array | None:
        """Return the origins of the bytes of each row of a store; None if all are defined."""
        if not any(cells.any() for cells in self._data):
            return None
        out = np.zeros((access.places.size, access.size), np.uint16)
        for cells in self._data:
            if cells.shape[0] % plan.lanes == 0 and plan.lanes > 1:
                rows = cells.reshape(-1, plan.lanes, cells.shape[1])
                if access.kind == "atomic" or plan.together:
                    row = rows.max(axis=0)[access.lanes].max(axis=1, keepdims=True)
                else:
                    row = rows[min(self._number, rows.shape[0] - 1)][access.lanes][:, : access.size]
                out = np.maximum(out, row)
                continue
            flat = cells.reshape(-1)
            need = access.places.size * access.size
            if self._cursor + need <= flat.size:
                out = np.maximum(out, flat[self._cursor : self._cursor + need].reshape(out.shape))
        return out

    def _memories(self, access: MemoryAccess) -> list[tuple[MemoryShadow, Array, Array]]:
        """Return the shadows of initially undefined memory that a message touches, with offsets and rows of the access."""
        space, thread = access.space, access.thread
        if space is None:
            return []
        rows = np.arange(access.places.size)
        if isinstance(space, Memory):
            shadows = []
            for buffer in space.buffers:
                if buffer.private or buffer.undefined:
                    offsets = access.places - buffer.address
                    inside = (offsets >= 0) & (offsets <= buffer.size - access.size)
                    if inside.any():
                        shadows.append((self._of_private(buffer), offsets[inside], rows[inside]))
            return shadows
        if space is thread.group.slm:
            if self._shared is None:
                self._shared = MemoryShadow(self._pages)
            shadow = self._shared
        elif space is thread.scratch:
            shadow = self._scratch.setdefault(thread.number, MemoryShadow(self._pages))
        elif space.private or space.whole.undefined:
            shadow = self._of_private(space.whole)
        else:
            return []
        inside = (access.places >= 0) & (access.places <= space.size - access.size)
        start = space.data.ctypes.data - space.whole.data.ctypes.data if space.whole is not space else 0
        return [(shadow, access.places[inside] + start, rows[inside])]

    def _of_private(self, buffer: Buffer) -> MemoryShadow:
        return self._private.setdefault(id(buffer), MemoryShadow(self._pages, buffer.defined))


def _land(plan: DefinednessPlan, shadow: RegisterShadow, loaded: list[_LoadOrigins]) -> None:
    """Set loaded origins in the destination: row by row and lane by lane, or byte by byte in order."""
    for target in plan.targets:
        if target.places is None:
            continue
        places = target.places
        by_lane = plan.lanes > 1 and places.shape[0] % plan.lanes == 0
        grid = places.reshape(-1, plan.lanes, places.shape[1]) if by_lane else places
        for load in loaded:
            if not by_lane:
                flat = places.reshape(-1)
                positions = load.start + (load.rows[:, None] * load.size + np.arange(load.size)).reshape(-1)
                fits = positions < flat.size
                shadow.put(flat[positions[fits]], load.cells.reshape(-1)[fits])
                continue
            for row in range(grid.shape[0]) if plan.together else (min(load.number, grid.shape[0] - 1),):
                into = grid[row][load.lanes]
                if plan.together or load.size > into.shape[1]:
                    shadow.put(into, np.broadcast_to(load.cells.max(axis=1, keepdims=True), into.shape))
                else:
                    shadow.put(into[:, : load.size], load.cells)
