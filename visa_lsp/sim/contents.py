"""Snapshots of a launch's memory, restored before another run, or when an engine starts again.

Knows buffers only. Invariant: after ``restore`` a run sees the same memory as the first one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.sim.dispatch import Dispatch
    from visa_lsp.sim.memory import Array, Buffer


class Contents:
    """A snapshot of memory before a run, without the buffers that ``changes`` says the run does not change."""

    def __init__(self, dispatch: Dispatch, changes: Callable[[Buffer], bool] = lambda _: True) -> None:
        self._kept = [(buffer, buffer.data.copy(), buffer.written) for buffer in dispatch.buffers if changes(buffer)]

    def restore(self) -> None:
        """Restore the snapshot."""
        for buffer, data, written in self._kept:
            buffer.data[:] = data
            buffer.written = written

    def of(self, buffer: Buffer, offset: int, size: int) -> Array:
        """Return the saved bytes of a buffer; for any other memory, the present bytes."""
        kept = next((data for owner, data, _ in self._kept if owner.whole is buffer.whole), buffer.data)
        return kept[offset : offset + size]
