"""The protocol for progress of long work."""

from __future__ import annotations

from typing import Protocol


class ProgressLine(Protocol):
    """A line that shows progress; ``is_due`` is cheap."""

    def is_due(self) -> bool:
        """Return whether it is time for another line."""

    def show(self, words: str) -> None:
        """Replace the line."""
