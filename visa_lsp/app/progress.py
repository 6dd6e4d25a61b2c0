"""How long work reports that it goes on."""

from __future__ import annotations

from typing import Protocol


class ProgressLine(Protocol):
    """A line that shows how far work is; ``is_due`` is cheap and says whether it is time for another."""

    def is_due(self) -> bool: ...

    def show(self, words: str) -> None: ...
