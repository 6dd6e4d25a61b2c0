"""Reads messages from a stream.

An incomplete message is stored. Loads only the interpreter's own modules, because the first message is read before the
server is loaded. Invariant: messages are returned in the order of arrival, each once.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable
from functools import partial
from typing import BinaryIO, Final

_LENGTH: Final = re.compile(rb"\s*content-length\s*:\s*([0-9]+)\s*", re.IGNORECASE)
# A text of ten million lines; a longer message ends the session, like the end of the stream.
MAX_MESSAGE_BYTES: Final = 1 << 30
_PIECE: Final = 1 << 20
_DIGITS: Final = 20
_PIPE_BYTES: Final = 1 << 20


class Inflow:
    """The input side of a stream.

    ``ended`` is true once the other side has closed it. ``read`` returns at most the requested number of bytes, and
    none at the end; ``fd`` is the descriptor of a stream that may be one that does not block, else None.
    """

    def __init__(self, read: Callable[[int], bytes], fd: int | None = None) -> None:
        self.fd = fd
        self.ended = False
        self._read = read
        self._held = bytearray()
        self._looked = 0  # there is no newline before this place
        self._length = 0  # length of the message whose header is being read
        self._in_body = False

    def fill(self) -> None:
        """Read and store available bytes. Raises BlockingIOError if there are none and waiting is not allowed."""
        data = self._read(_PIECE)
        self._held += data
        self.ended = not data

    def next(self) -> bytes | None:
        """Wait for the next message and return its body; None at the end."""
        while (body := self.message()) is None and not self.ended:
            try:
                self.fill()
            except BlockingIOError:  # because the parent process made the pipe non-blocking
                from select import select

                assert self.fd is not None  # only a descriptor can raise BlockingIOError
                select([self.fd], [], [])
        return body

    def unread(self, body: bytes) -> None:
        """Put back the last returned message."""
        self._held[:0] = b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
        self._looked = 0

    def _take(self, size: int) -> bytes:
        taken = bytes(self._held[:size])
        del self._held[:size]
        self._looked = 0
        return taken

    def message(self) -> bytes | None:
        """Return the body of the next message, if it is complete; of the last message, the available part."""
        while not self._in_body:
            line_end = self._held.find(b"\n", self._looked)
            if line_end < 0:
                if len(self._held) > _PIECE:  # because no header is that long
                    self._held.clear()
                self._looked = len(self._held)
                return None
            line = self._take(line_end + 1)
            match = _LENGTH.fullmatch(line)
            if match is not None:
                # More digits mean only that the message is too long, and Python refuses to convert thousands of digits.
                self._length = int(match.group(1).lstrip(b"0")[:_DIGITS] or b"0")
            elif self._length and not line.strip():
                self._in_body = True
        if self._length > MAX_MESSAGE_BYTES:
            _too_long(self._length)
            self.ended, self._length = True, 0
            self._held.clear()
        if len(self._held) < self._length and not self.ended:
            return None
        body, self._length, self._in_body = self._take(self._length), 0, False
        return body or None


def _too_long(size: int) -> None:
    """Log that a message is not read because of its length."""
    from logging import getLogger

    getLogger(__name__).error("a message of %d bytes is not read; at most %d are", size, MAX_MESSAGE_BYTES)


def inflow_of(stream: BinaryIO) -> Inflow:
    """Return an unread stream as an ``Inflow``, with its descriptor if it may be one that does not block."""
    if os.name == "posix":
        try:
            fd = stream.fileno()
        except (OSError, ValueError):
            pass
        else:
            return Inflow(partial(os.read, fd), fd)
    read = getattr(stream, "read1", None)
    return Inflow(read if read is not None else lambda _: stream.read(1))


def widen_pipe(stream: BinaryIO) -> None:
    """Enlarge the buffer of a pipe, because each time it fills costs a process switch."""
    with contextlib.suppress(ImportError, AttributeError, OSError, ValueError):
        import fcntl

        fcntl.fcntl(stream.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
