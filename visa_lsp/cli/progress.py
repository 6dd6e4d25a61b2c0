"""A line on a terminal that tells how far long work is: counts, no bars; erased when the work is done.

Goes to standard error, and only where a person sees it: nothing is written to a file or a pipe, to a dumb terminal, with
NO_COLOR set, or about work that takes no longer than a second.
"""

from __future__ import annotations

import os
import sys
import time
from typing import Final, Self

from visa_lsp.app.errors import printable
from visa_lsp.cli.streams import steer

_SLOW: Final = 1.0
_STEP: Final = 0.1


class Progress:
    """Shows ``words`` for as long as the block lasts, no more often than a person can read."""

    def __init__(self, *, wanted: bool = True) -> None:
        self.wanted = wanted and sys.stderr.isatty() and not os.environ.get("NO_COLOR") and _can_erase()
        self._shown = False
        self._next = time.monotonic() + _SLOW

    def __enter__(self) -> Self:
        return self

    def is_due(self) -> bool:
        """Return whether it is time to tell something; cheap, for what is called often."""
        return self.wanted and time.monotonic() >= self._next

    def show(self, words: str) -> None:
        """Put this in the place of what was told before."""
        self._next = time.monotonic() + _STEP
        self._shown = True
        line = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in printable(words))
        from shutil import get_terminal_size  # it loads what unpacks archives, and most checks show nothing

        # A line that is broken in two could not be erased.
        steer(sys.stderr, f"\r{line[: get_terminal_size().columns - 1]}\033[K")

    def __exit__(self, *_: object) -> None:
        if self._shown:
            steer(sys.stderr, "\r\033[K")


def _can_erase() -> bool:
    return os.environ.get("TERM", "") != "dumb"
