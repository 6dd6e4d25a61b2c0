"""A progress line on a terminal, with counts or the time instead of bars; erased when the work is done.

Written to standard error, and only if that is a terminal that can erase a line, NO_COLOR is not set, and the work takes
longer than two seconds.
"""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Final, Self

from visa_lsp.app.errors import printable
from visa_lsp.cli.streams import steer

if TYPE_CHECKING:
    import threading

_DELAY_SECONDS: Final = 2.0
_UPDATE_SECONDS: Final = 0.1
_CLOCK_SECONDS: Final = 1.0  # between two updates of the time


class Progress:
    """A context manager that shows the progress, at most every 0.1 s, and erases it at the end.

    ``words`` are for work that counts nothing: they are shown with the time that has passed, until ``show`` replaces them.
    """

    def __init__(self, words: str = "", *, wanted: bool = True) -> None:
        self.wanted = wanted and sys.stderr.isatty() and not os.environ.get("NO_COLOR") and _can_erase()
        self._shown = False
        self._start = time.monotonic()
        self._next = self._start + _DELAY_SECONDS
        self._words = words
        self._clock: tuple[threading.Event, threading.Thread] | None = None

    def __enter__(self) -> Self:
        if self._words and self.wanted:
            import threading

            ended = threading.Event()
            self._clock = ended, threading.Thread(target=self._tick, args=(ended,), daemon=True)
            self._clock[1].start()
        return self

    def _tick(self, ended: threading.Event) -> None:
        wait = _DELAY_SECONDS
        while not ended.wait(wait) and self._words:
            self._write(f"{self._words}, {time.monotonic() - self._start:.0f} s")
            wait = _CLOCK_SECONDS

    def is_due(self) -> bool:
        """Return whether the line is due for an update; cheap enough for inner loops."""
        return self.wanted and time.monotonic() >= self._next

    def show(self, words: str) -> None:
        """Replace the line by ``words``."""
        self._next = time.monotonic() + _UPDATE_SECONDS
        self._words = ""
        self._write(words)

    def _write(self, words: str) -> None:
        self._shown = True
        line = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in printable(words))
        from shutil import get_terminal_size  # loads archive modules, which most checks do not need

        # Cut to the width because a wrapped line cannot be erased.
        steer(sys.stderr, f"\r{line[: get_terminal_size().columns - 1]}\033[K")

    def __exit__(self, *_: object) -> None:
        if self._clock is not None:
            ended, thread = self._clock
            ended.set()
            thread.join()
        if self._shown:
            steer(sys.stderr, "\r\033[K")


def _can_erase() -> bool:
    return os.environ.get("TERM", "") != "dumb"
