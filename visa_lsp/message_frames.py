"""Reads messages with a ``Content-Length``, the frames of the language server protocol and of the debug adapter protocol.

The reader has its own buffer, because a thread that waits in a buffered Python stream holds a lock that the end of the
process needs. Invariant: messages are returned in the order of arrival, each once; after a ``BrokenFrame`` the reader
continues at the next header.
"""

from __future__ import annotations

import select
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from io import RawIOBase
    from typing import BinaryIO

_MAX_HEADER_BYTES: Final = 1 << 14
_MAX_LENGTH_DIGITS: Final = 12
_PIECE_BYTES: Final = 1 << 20


class BrokenFrame(Exception):  # noqa: N818 - the peer's mistake, which a session survives
    """A malformed frame; the next one can be read."""


class FrameReader:
    """The frames of an unread stream, each of at most ``max_bytes``."""

    def __init__(self, stream: BinaryIO | RawIOBase, max_bytes: int) -> None:
        self._raw = getattr(stream, "raw", stream)
        self._max_bytes = max_bytes
        self._held = bytearray()

    def next(self) -> bytes | None:
        """Wait for the next message and return its body; None at the end of input. Raises BrokenFrame."""
        length = self._length()
        if length is None:
            return None
        if length > self._max_bytes:
            self._skip(length)
            raise BrokenFrame(f"a message has more than {self._max_bytes} bytes")
        while len(self._held) < length:
            if not self._fill():
                return None
        return self._take(length)

    def _fill(self) -> bool:
        """Wait for more bytes and store them; return False at the end of input."""
        data = self._raw.read(_PIECE_BYTES)
        if data is None:  # because the parent process made the pipe non-blocking
            select.select([self._raw], [], [])
            return True
        self._held += data
        return bool(data)

    def _take(self, size: int) -> bytes:
        taken = bytes(self._held[:size])
        del self._held[:size]
        return taken

    def _skip(self, size: int) -> None:
        while size > 0 and (self._held or self._fill()):
            size -= len(self._take(min(size, len(self._held))))

    def _line(self) -> bytes | None:
        searched = 0
        while (end := self._held.find(b"\n", searched)) < 0:
            searched = len(self._held)
            if searched > _MAX_HEADER_BYTES:
                self._held.clear()
                raise BrokenFrame(f"a header has more than {_MAX_HEADER_BYTES} bytes")
            if not self._fill():
                return None
        return self._take(end + 1)

    def _length(self) -> int | None:
        """Return the length that the next header names; None at the end of input."""
        length, has_lines = -1, False
        while (line := self._line()) is not None:
            if not line.strip():
                if length >= 0:
                    return length
                if has_lines:
                    raise BrokenFrame("a header has no Content-Length")
                continue  # an empty line between messages
            has_lines = True
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                digits = value.strip()
                if not digits.isdigit() or len(digits) > _MAX_LENGTH_DIGITS:
                    raise BrokenFrame("Content-Length is not a number")
                length = int(digits)
        return None
