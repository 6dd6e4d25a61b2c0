"""The base protocol of the Debug Adapter Protocol: messages as JSON objects, read and written.

Knows no request.
"""

from __future__ import annotations

import json
import select
import threading
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import msgspec

from visa_lsp.message_frames import BrokenFrame

if TYPE_CHECKING:
    Message = dict[str, Any]

MAX_MESSAGE_BYTES: Final = 64 << 20


def parse_message(body: bytes) -> Message:
    """Return the message of a frame. Raises BrokenFrame for anything but a JSON object."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        raise BrokenFrame("the message is not JSON") from None
    if not isinstance(message, dict):
        raise BrokenFrame("the message is not a JSON object")
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
