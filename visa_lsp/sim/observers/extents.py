"""The observer of extents: the end of the accesses to each buffer, from which the size of a buffer is derived.

Knows memory, not arguments. Invariant: bytes outside of a buffer do not count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.sim.observers.hooks import MemoryAccess, Observer
from visa_lsp.sim.observers.races import split

if TYPE_CHECKING:
    from visa_lsp.sim.memory import Buffer


class ExtentObserver(Observer):
    """Records the end of the last accessed byte of each buffer."""

    wants_unread = False

    def __init__(self) -> None:
        self._ends: dict[int, int] = {}
        self._loaded: set[int] = set()
        self._stored: set[int] = set()
        self._counted: set[int] = set()  # by atomics

    @property
    def has_updates(self) -> bool:
        """True if the run has both loaded from and stored to one buffer, or to shared local memory."""
        return not self._loaded.isdisjoint(self._stored)

    def end(self, buffer: Buffer) -> int:
        """Return the end offset of the accesses to a buffer; 0 if there are none."""
        return self._ends.get(id(buffer.whole), 0)

    def is_output(self, buffer: Buffer) -> bool:
        """Return whether the run has stored to a buffer and never loaded from it; an atomic does both."""
        return id(buffer.whole) in self._stored - self._loaded - self._counted

    def on_read(self, access: MemoryAccess) -> None:
        """Record the end of a load."""
        self._keep(access, self._loaded)

    def on_write(self, access: MemoryAccess) -> None:
        """Record the end of a store; atomics load and store in one step."""
        self._keep(access, self._counted if access.kind == "atomic" else self._stored)

    def _keep(self, access: MemoryAccess, buffer_ids: set[int]) -> None:
        if access.space is None or not access.places.size:
            return
        for buffer, offsets, _ in split(access.space, access.places, access.size):
            if offsets.size:
                end = int(offsets.max()) + access.size
                self._ends[id(buffer.whole)] = max(end, self.end(buffer))
                buffer_ids.add(id(buffer.whole))
