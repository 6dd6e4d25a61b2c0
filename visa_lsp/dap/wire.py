"""The base protocol of the Debug Adapter Protocol: messages with a Content-Length, read and written.

Knows no request. Invariant: each message read is a JSON object of bounded size, or a ``BrokenMessage`` with its fault; the
reader continues after a broken message as long as it can find the start of the next.
"""

from __future__ import annotations

import json
import select
import threading
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import msgspec

if TYPE_CHECKING:
    from io import RawIOBase

    Message = dict[str, Any]

MAX_MESSAGE_BYTES: Final = 64 << 20
_MAX_HEADER_BYTES: Final = 1 << 14
_PART: Final = 1 << 16


class BrokenMessage(Exception):  # noqa: N818 - the peer's mistake, which the session reports and survives
    """A malformed message; the next one can be read."""


class MessageReader:
    """Messages from an unbuffered stream.

    It has its own buffer, because a thread that waits in a buffered Python stream holds a lock that the end of the process
    needs.
    """

    def __init__(self, stream: RawIOBase) -> None:
        self._stream = stream
        self._held = bytearray()

    def _more(self) -> bool:
        """Append the bytes that have arrived; return False at the end of input."""
        data = self._stream.read(_PART)
        self._held += data or b""
        return bool(data)

    def _take(self, size: int) -> bytes:
        taken = bytes(self._held[:size])
        del self._held[:size]
        return taken

    def _skip(self, size: int) -> None:
        """Read past a message."""
        while size > 0 and (self._held or self._more()):
            size -= len(self._take(min(size, len(self._held))))

    def _line(self) -> bytes | None:
        """Return the next line of a header; None at the end of input. Raises BrokenMessage for one too long."""
        searched = 0
        while (end := self._held.find(b"\n", searched)) < 0:
            searched = len(self._held)
            if searched > _MAX_HEADER_BYTES:
                self._held.clear()
                raise BrokenMessage(f"a header has more than {_MAX_HEADER_BYTES} bytes")
            if not self._more():
                return None
        return self._take(end + 1)

    def _length(self) -> int | None:
        """Return the length that the next header names; None at the end of input.

        Raises BrokenMessage for a header without one.
        """
        length, seen = -1, 0
        while True:
            line = self._line()
            if line is None:
                return None
            seen += len(line)
            if not line.strip():
                if length >= 0:
                    return length
                if seen > len(line):
                    raise BrokenMessage("a header has no Content-Length")
                seen = 0  # an empty line between messages
                continue
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                digits = value.strip()
                if not digits.isdigit() or len(digits) > 12:
                    raise BrokenMessage("Content-Length is not a number")
                length = int(digits)

    def read(self) -> Message | None:
        """Return the next message; None at the end of input. Raises BrokenMessage for anything but a JSON object."""
        length = self._length()
        if length is None:
            return None
        if length > MAX_MESSAGE_BYTES:
            self._skip(length)
            raise BrokenMessage(f"a message has more than {MAX_MESSAGE_BYTES} bytes")
        while len(self._held) < length:
            if not self._more():
                return None
        data = self._take(length)
        try:
            message = json.loads(data)
        except (ValueError, RecursionError):
            raise BrokenMessage("the message is not JSON") from None
        if not isinstance(message, dict):
            raise BrokenMessage("the message is not a JSON object")
        return message


def _encode(message: Message) -> bytes:
    try:
        return msgspec.json.encode(message)
    except (OverflowError, UnicodeEncodeError):  # a number or text of the client, returned to it
        return json.dumps(message, ensure_ascii=False).encode("utf-8", "backslashreplace")


class MessageWriter:
    """Writes messages with increasing numbers, from any thread."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._seq = 0

    def send(self, message: Message) -> None:
        """Send a message; a closed connection is ignored."""
        with self._lock:
            self._seq += 1
            data = _encode({"seq": self._seq, **message})
            try:
                self._stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
                self._stream.flush()
            except (OSError, ValueError):
                pass

    def wait_until_unread(self) -> bool:
        """Wait until the reader has closed the output; return False at once where the system cannot report it."""
        if not hasattr(select, "poll"):
            return False
        watch = select.poll()
        watch.register(self._stream.fileno(), 0)  # errors only, such as a closed pipe
        watch.poll()
        return True

    def event(self, event: str, body: Message | None = None) -> None:
        """Send an event."""
        self.send({"type": "event", "event": event, **({} if body is None else {"body": body})})
