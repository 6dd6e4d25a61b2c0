"""What the memory of a launch held before a run, to be put back: before a further run, and where an engine starts anew.

Knows buffers only. Invariant: after ``restore`` a run sees what the first one saw.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from visa_lsp.sim.dispatch import Dispatch


class Contents:
    """What memory held before a run."""

    def __init__(self, dispatch: Dispatch) -> None:
        self._kept = [(buffer, buffer.data.copy(), buffer.written) for buffer in dispatch.buffers]

    def restore(self) -> None:
        """Let it hold the same again."""
        for buffer, data, written in self._kept:
            buffer.data[:] = data
            buffer.written = written
