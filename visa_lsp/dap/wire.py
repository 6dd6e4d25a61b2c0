"""The base protocol of the Debug Adapter Protocol: messages with a Content-Length, read and written.

Knows no request. Invariant: what is read is a JSON object of bounded size, or one word about what is wrong with it; a
reader goes on behind a broken message as long as it can tell where the next begins.
"""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from typing import BinaryIO

    Message = dict[str, Any]

MOST_BYTES: Final = 64 << 20
_MOST_HEADER: Final = 1 << 14


class BrokenMessage(Exception):  # noqa: N818 - the peer's mistake, told and survived
    """A message that is none; the next one can be read."""


def read_message(stream: BinaryIO) -> Message | None:
    """The next message; None at the end of input. Raises BrokenMessage for one that is no JSON object."""
    length, seen = -1, 0
    while True:
        line = stream.readline(_MOST_HEADER)
        if not line:
            return None
        seen += len(line)
        if seen > _MOST_HEADER:
            raise BrokenMessage(f"a header has more than {_MOST_HEADER} bytes")
        if not line.strip():
            if length < 0:
                if seen == len(line):
                    seen = 0
                    continue  # an empty line between messages
                raise BrokenMessage("a header without Content-Length")
            break
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            digits = value.strip()
            if not digits.isdigit() or len(digits) > 12:
                raise BrokenMessage("Content-Length is no number")
            length = int(digits)
    if length > MOST_BYTES:
        while length > 0 and (part := stream.read(min(length, 1 << 20))):
            length -= len(part)
        raise BrokenMessage(f"a message has more than {MOST_BYTES} bytes")
    data = stream.read(length)
    if len(data) < length:
        return None
    try:
        message = json.loads(data)
    except (ValueError, RecursionError):
        raise BrokenMessage("the message is no JSON") from None
    if not isinstance(message, dict):
        raise BrokenMessage("the message is no JSON object")
    return message


class MessageWriter:
    """Writes messages with rising numbers, from any thread."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._lock = threading.Lock()
        self._seq = 0

    def send(self, message: Message) -> None:
        """Send a message; a peer that is gone is none of our trouble."""
        with self._lock:
            self._seq += 1
            data = json.dumps({"seq": self._seq, **message}, ensure_ascii=False).encode("utf-8", "backslashreplace")
            try:
                self._stream.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
                self._stream.flush()
            except (OSError, ValueError):
                pass

    def event(self, event: str, body: Message | None = None) -> None:
        """Send an event."""
        self.send({"type": "event", "event": event, **({} if body is None else {"body": body})})
