"""The layout of a thread's first register bytes: r0, local ids, and then the arguments.

Knows offsets and sizes, not arguments' meanings; ``program.payload_layout`` has the rules.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Final

import numpy as np

from visa_lsp.program.payload_layout import PayloadLayout, id_block, registers, up
from visa_lsp.sim.launch.config import LOCAL_SIZE, MAX_GROUP_REGISTER_BYTES, Array, LaunchError, Triple

if TYPE_CHECKING:
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.program.model import Kernel
    from visa_lsp.program.payload import KernelInfo

MAX_GROUP_ITEMS: Final = 65536
MAX_PAYLOAD_BYTES: Final = 1 << 16  # of one thread; a real one has 32 KB of registers


@dataclass(frozen=True, slots=True)
class Geometry:
    """The distribution of a launch's work items over groups, threads and lanes."""

    simd: int
    grf_bytes: int
    groups: Triple
    local_size: Triple
    global_offset: Triple = (0, 0, 0)
    walk_order: Triple = (0, 1, 2)
    global_size: Triple | None = None  # if the last groups may be partial
    enqueued: Triple | None = None  # in a partial group: the size of the full ones
    given_dimensions: int = 0  # 0 counts those with several work items

    @property
    def totals(self) -> Triple:
        """The work items of the launch in each dimension."""
        x, y, z = (g * s for g, s in zip(self.groups, self.enqueued or self.local_size, strict=True))
        return self.global_size or (x, y, z)

    @property
    def dimensions(self) -> int:
        """The number of dimensions of the launch: the given ones, and all with several work items."""
        return max([self.given_dimensions, 1, *(axis for axis, total in enumerate(self.totals, 1) if total > 1)])

    def edges(self) -> tuple[Geometry, ...]:
        """Return the geometries of partial groups."""
        if self.global_size is None:
            return ()
        sizes = [
            {local, total - (groups - 1) * local}
            for total, groups, local in zip(self.global_size, self.groups, self.local_size, strict=True)
        ]
        found = {(x, y, z) for x in sizes[0] for y in sizes[1] for z in sizes[2]} - {self.local_size}
        return tuple(replace(self, local_size=size, enqueued=self.local_size) for size in sorted(found))

    def size_of(self, group: Triple) -> Triple:
        """Return the work items of one group."""
        if self.global_size is None:
            return self.local_size
        x, y, z = (
            min(local, total - at * local)
            for at, local, total in zip(group, self.local_size, self.global_size, strict=True)
        )
        return x, y, z

    @property
    def items(self) -> int:
        """The number of work items of a group."""
        return self.local_size[0] * self.local_size[1] * self.local_size[2]

    @property
    def threads(self) -> int:
        """The number of hardware threads of a group; the last may be partial."""
        return -(-self.items // self.simd)

    @property
    def id_stride(self) -> int:
        """The size in bytes of the local ids of one dimension in the register file."""
        return id_block(self.simd, self.grf_bytes)

    def lanes(self, thread: int) -> int:
        """Return the mask of lanes with a work item."""
        left = self.items - thread * self.simd
        return (1 << max(0, min(self.simd, left))) - 1

    def local_ids(self) -> Array:
        """Return the ids as 16-bit words of shape (threads, 3, simd), not to be changed; those of absent lanes are zero.

        Raises LaunchError if a group has more than ``MAX_GROUP_ITEMS`` work items.
        """
        if self.items > MAX_GROUP_ITEMS:
            raise LaunchError(
                f"a group of {self.items} work items is too large; at most {MAX_GROUP_ITEMS} are allowed", LOCAL_SIZE
            )
        return _local_ids(self.local_size, self.simd, self.walk_order)

    def item(self, group: Triple, thread: int, lane: int) -> tuple[Triple, Triple] | None:
        """Return the global and the local id of a lane of a thread; None for one without a work item."""
        size = self.size_of(group)
        number = thread * self.simd + lane
        if not 0 <= lane < self.simd or number >= size[0] * size[1] * size[2]:
            return None
        local = [0, 0, 0]
        for dimension in walked_axes(self.walk_order):
            number, local[dimension] = divmod(number, size[dimension])
        first = [o + g * s for o, g, s in zip(self.global_offset, group, self.local_size, strict=True)]
        x, y, z = (f + n for f, n in zip(first, local, strict=True))
        return (x, y, z), (local[0], local[1], local[2])


@lru_cache(maxsize=8)
def _local_ids(local_size: Triple, simd: int, walk_order: Triple) -> Array:
    items = prod(local_size)
    ids = np.zeros((3, -(-items // simd) * simd), np.uint16)
    number = np.arange(items)
    for dimension in walked_axes(walk_order):
        number, ids[dimension, :items] = np.divmod(number, local_size[dimension])
    ids = np.ascontiguousarray(ids.reshape(3, -1, simd).transpose(1, 0, 2))
    ids.flags.writeable = False
    return ids


def walked_axes(order: Triple) -> list[int]:
    """Return each dimension once, the fastest first: [1, 0, 0] is y, x, z."""
    return list(dict.fromkeys((*order, 0, 1, 2)))


@dataclass(frozen=True, slots=True)
class LaunchLayout:
    """The places of per-thread and cross-thread data of a launch."""

    geometry: Geometry
    payload: PayloadLayout

    @staticmethod
    def of(info: KernelInfo, geometry: Geometry, platform: Platform) -> LaunchLayout:
        """Return the layout of a kernel's ze_info, for the SIMD width of the text.

        The two may differ, because the compiler prints the texts of all attempted widths under one name.
        """
        payload = PayloadLayout.of(
            registers(geometry.grf_bytes, platform.generation),
            max((a.offset + a.size for a in info.per_thread), default=0),
            sum(a.size for a in info.per_thread if a.arg_type == "local_id"),
            info.env.simd_size,
            geometry.simd,
            info.env.inline_data_payload_size,
        )
        return LaunchLayout(geometry, payload)

    def holds(self, kernel: Kernel, info: KernelInfo) -> bool:
        """Return whether every input of a text lies at a payload argument of this layout, or before all of them."""
        header = {"global_id_offset", "local_size"}
        places = [
            (self.payload.place(a.offset), self.payload.place(a.offset) + a.size, a.arg_type) for a in info.payload
        ]
        for entry in kernel.arguments:
            end = entry.offset + entry.size
            if entry.offset < self.payload.cross_start:
                if entry.offset < self.geometry.grf_bytes or end > self.payload.cross_start:
                    return False
                continue
            hits = [kind for start, stop, kind in places if start < end and stop > entry.offset]
            if len(hits) != 1 and (entry.offset != self.payload.cross_start or not header.issuperset(hits)):
                return False
        return True


class GroupPayload:
    """The first register bytes of all threads of a group: one row of bytes for each thread.

    The constructor raises LaunchError where a row would have more than ``MAX_PAYLOAD_BYTES`` bytes.
    """

    def __init__(self, geometry: Geometry, size: int) -> None:
        self.geometry = geometry
        if size > MAX_PAYLOAD_BYTES or size * geometry.threads > MAX_GROUP_REGISTER_BYTES:
            raise LaunchError(
                f"the arguments and ids of a thread take {size} bytes; at most {MAX_PAYLOAD_BYTES} are allowed, and "
                f"{MAX_GROUP_REGISTER_BYTES} for all threads of a group"
            )
        self._rows = np.zeros((geometry.threads, up(size, geometry.grf_bytes)), np.uint8)
        self._words: Array = self._rows.view(np.uint32)
        # Element 2 holds the thread's number in its group in its low byte, as barriers and sub-group ids expect it.
        self._words[:, 2] = np.arange(geometry.threads) & 0xFF

    def of(self, geometry: Geometry) -> GroupPayload:
        """Return a block for another number of threads, with the data that all threads share."""
        block = GroupPayload(geometry, self.size)
        block._rows[:, :] = self._rows[0]
        block._words[:, 2] = np.arange(geometry.threads) & 0xFF
        return block

    @property
    def size(self) -> int:
        """The size of a row in bytes."""
        return int(self._rows.shape[1])

    def put(self, offset: int, data: bytes) -> None:
        """Write the same bytes for every thread, from byte ``offset`` of the registers on.

        Raises LaunchError if they do not lie inside the payload.
        """
        if offset < 0 or offset + len(data) > self.size:
            raise LaunchError(f"{len(data)} bytes at offset {offset} lie outside of the payload of {self.size} bytes")
        self._rows[:, offset : offset + len(data)] = np.frombuffer(data, np.uint8)

    def put_rows(self, offset: int, rows: Array) -> None:
        """Write different bytes for each thread: an array (threads, anything).

        ``offset`` is in bytes. Raises LaunchError if they do not lie inside the payload.
        """
        raw = np.ascontiguousarray(rows).reshape(self.geometry.threads, -1).view(np.uint8)
        if offset < 0 or offset + raw.shape[1] > self.size:
            raise LaunchError(
                f"{raw.shape[1]} bytes at offset {offset} lie outside of the payload of {self.size} bytes"
            )
        self._rows[:, offset : offset + raw.shape[1]] = raw

    def put_local_ids(self, offset: int, dimensions: int) -> None:
        """Write local ids of the first dimensions, each padded to whole GRF rows."""
        ids = self.geometry.local_ids()
        for dimension in range(dimensions):
            self.put_rows(offset + dimension * self.geometry.id_stride, ids[:, dimension, :])

    def payload(self, group: Triple, thread: int) -> bytes:
        """Return the first register bytes of one thread."""
        row = self._rows[thread].copy()
        words = row.view(np.uint32)
        words[1], words[6], words[7] = group
        words[2] = thread & 0xFF  # of the group: from Xe2 on, compilers read the number of a sub-group there
        return bytes(row.tobytes())
