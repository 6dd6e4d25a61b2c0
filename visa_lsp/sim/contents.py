"""Snapshots of a launch's memory, restored before another run and where an engine starts over.

Knows buffers only. Invariant: after ``restore`` a run sees the same memory as the first one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from visa_lsp.sim.dispatch import Dispatch


class Contents:
    """A snapshot of memory before a run."""

    def __init__(self, dispatch: Dispatch) -> None:
        self._kept = [(buffer, buffer.data.copy(), buffer.written) for buffer in dispatch.buffers]

    def restore(self) -> None:
        """Restore the snapshot."""
        for buffer, data, written in self._kept:
            buffer.data[:] = data
            buffer.written = written
