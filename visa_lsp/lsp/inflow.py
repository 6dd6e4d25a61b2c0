"""A pipe's messages, read with and without waiting, so that a loop can be told when there is something to read.

What was read and not used is held. Loads nothing but the interpreter's own modules: the first message is read before
the server is loaded. Invariant: bytes are given out in the order in which they came, each once.
"""

from __future__ import annotations

import os
import re
from importlib import import_module
from typing import Final

LENGTH: Final = re.compile(rb"\s*content-length\s*:\s*([0-9]+)\s*", re.IGNORECASE)
# A text of ten million lines; what is announced as longer ends the conversation as the end of the stream does.
MOST: Final = 1 << 30
_PIECE: Final = 1 << 20
_DIGITS: Final = 20


class Inflow:
    """What can be read from a file descriptor. ``ended`` is true once the other side has closed it."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.ended = False
        self._held = bytearray()
        self._looked = 0  # no newline is before this place
        self._length = 0  # of the message whose header is being read
        self._in_body = False

    def fill(self) -> None:
        """Hold what there is to read; BlockingIOError where there is nothing and nobody may wait."""
        data = os.read(self.fd, _PIECE)
        self._held += data
        self.ended = not data

    def _wait(self) -> None:
        try:
            self.fill()
        except BlockingIOError:  # whoever gave us the pipe wanted it so
            import_module("select").select([self.fd], [], [])

    def _take(self, size: int) -> bytes:
        taken = bytes(self._held[:size])
        del self._held[:size]
        self._looked = 0
        return taken

    def unread(self, data: bytes) -> None:
        """Take back what came before everything that is held."""
        self._held[:0] = data
        self._looked = 0

    # ---- as a stream ----

    def readline(self, size: int | None = -1, /) -> bytes:
        """A line with its end, or ``size`` bytes of it; waits for it."""
        most = -1 if size is None else size
        while (at := self._held.find(b"\n", self._looked)) < 0 and not self.ended and not 0 <= most <= len(self._held):
            self._looked = len(self._held)
            self._wait()
        end = at + 1 if at >= 0 else len(self._held)
        return self._take(end if most < 0 else min(end, most))

    def read(self, size: int | None = -1, /) -> bytes:
        """``size`` bytes, or everything; waits for them."""
        most = -1 if size is None else size
        while not self.ended and not 0 <= most <= len(self._held):
            self._wait()
        return self._take(len(self._held) if most < 0 else most)

    def close(self) -> None:
        """The file descriptor is the process's: nothing to do."""

    # ---- as messages ----

    def message(self) -> bytes | None:
        """The body of the next message, if all of it is held; of the last one what there is of it."""
        while not self._in_body:
            at = self._held.find(b"\n", self._looked)
            if at < 0:
                self._looked = len(self._held)
                return None
            line = self._take(at + 1)
            match = LENGTH.fullmatch(line)
            if match is not None:
                # More digits than these say no more than that it is too long, and Python refuses to read thousands.
                self._length = int(match.group(1).lstrip(b"0")[:_DIGITS] or b"0")
            elif self._length and not line.strip():
                self._in_body = True
        if self._length > MOST:
            too_long(self._length)
            self.ended, self._length = True, 0
            self._held.clear()
        if len(self._held) < self._length and not self.ended:
            return None
        body, self._length, self._in_body = self._take(self._length), 0, False
        return body or None


def too_long(size: int) -> None:
    """Log that a message is not read because of its length."""
    log = import_module("logging").getLogger(__name__)
    log.error("a message of %d bytes is not read; at most %d are", size, MOST)


def inflow_of(stream: object) -> Inflow | None:
    """A stream that nobody has read from yet as an ``Inflow``; None where it has no file descriptor of that kind."""
    if os.name != "posix":
        return None
    try:
        return Inflow(stream.fileno())  # type: ignore[attr-defined]
    except (AttributeError, OSError, ValueError):
        return None
