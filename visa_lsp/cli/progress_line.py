"""A progress line on a terminal, with counts instead of bars; erased when the work is done.

Written to standard error, and only if that is a terminal that can erase a line, NO_COLOR is not set, and the work takes
longer than a second.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Final, Self

from visa_lsp.app.errors import printable
from visa_lsp.cli.streams import steer

_DELAY_SECONDS: Final = 1.0
_UPDATE_SECONDS: Final = 0.1


class Progress:
    """A context manager that shows the progress, at most every 0.1 s, and erases it at the end."""

    def __init__(self, *, wanted: bool = True) -> None:
        self.wanted = wanted and sys.stderr.isatty() and not os.environ.get("NO_COLOR") and _can_erase()
        self._shown = False
        self._next = time.monotonic() + _DELAY_SECONDS

    def __enter__(self) -> Self:
        return self

    def is_due(self) -> bool:
        """Return whether the line is due for an update; cheap enough for inner loops."""
        return self.wanted and time.monotonic() >= self._next

    def show(self, words: str) -> None:
        """Replace the line by ``words``."""
        self._next = time.monotonic() + _UPDATE_SECONDS
        self._shown = True
        line = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in printable(words))
        from shutil import get_terminal_size  # loads archive modules, which most checks do not need

        # Cut to the width because a wrapped line cannot be erased.
        steer(sys.stderr, f"\r{line[: get_terminal_size().columns - 1]}\033[K")

    def __exit__(self, *_: object) -> None:
        if self._shown:
            steer(sys.stderr, "\r\033[K")


def _can_erase() -> bool:
    return os.environ.get("TERM", "") != "dumb"
