"""The messages between the layer and the server: numbers of 64 bits, and bytes after their length.

Knows no operation. Invariant: a damaged request raises WireError and nothing else.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import socket

_NUMBER: Final = struct.Struct("<Q")
_HEAD: Final = struct.Struct("<QQ")
_MAX_REQUEST_BYTES: Final = 1 << 31


class WireError(Exception):
    """A request that does not have the expected form, or the end of the connection."""


class Request:
    """A request of the layer: its operation, and what it holds, taken in order."""

    def __init__(self, operation: str, data: bytes) -> None:
        self.operation = operation
        self._data = data
        self._at = 0

    @property
    def is_at_end(self) -> bool:
        """True if all has been taken."""
        return self._at == len(self._data)

    def number(self) -> int:
        """Take a number."""
        return int(_NUMBER.unpack(self._take(8))[0])

    def numbers(self, count: int) -> tuple[int, ...]:
        """Take several numbers."""
        return struct.unpack(f"<{count}Q", self._take(8 * count))

    def data(self) -> bytes:
        """Take bytes."""
        return self._take(self.number())

    def text(self) -> str:
        """Take a text; bytes that are not UTF-8 are kept as surrogates."""
        return self.data().decode("utf-8", "surrogateescape")

    def letter(self) -> str:
        """Take a letter, which is sent as a number."""
        return chr(self.number() & 0x7F)

    def _take(self, size: int) -> bytes:
        end = self._at + size
        if end > len(self._data):
            raise WireError("the request ends too early")
        taken = self._data[self._at : end]
        self._at = end
        return taken


class Answer:
    """The answer to a request, written in order."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def number(self, *values: int) -> Answer:
        """Add numbers; negative ones as in C."""
        self._parts.append(struct.pack(f"<{len(values)}Q", *(value & (1 << 64) - 1 for value in values)))
        return self

    def data(self, value: bytes | str) -> Answer:
        """Add bytes."""
        raw = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
        self._parts += [_NUMBER.pack(len(raw)), raw]
        return self

    def facts(self, facts: dict[int, bytes]) -> Answer:
        """Add the answers to queries, by their number in OpenCL."""
        self.number(len(facts))
        for name, value in facts.items():
            self.number(name).data(value)
        return self

    def packed(self) -> bytes:
        """Return the bytes to send."""
        body = b"".join(self._parts)
        return _NUMBER.pack(len(body)) + body


def receive_request(connection: socket.socket) -> Request | None:
    """Return the next request; None at the end of the connection. Raises WireError for a damaged one."""
    head = _receive(connection, _HEAD.size)
    if not head:
        return None
    operation, size = _HEAD.unpack(head)
    if size > _MAX_REQUEST_BYTES:
        raise WireError(f"a request of {size} bytes")
    data = _receive(connection, size) if size else b""
    if len(data) < size:
        return None
    return Request(chr(operation & 0x7F), data)


def _receive(connection: socket.socket, size: int) -> bytes:
    """Return ``size`` bytes; fewer or none at the end of the connection."""
    parts: list[bytes] = []
    while size:
        part = connection.recv(min(size, 1 << 20))
        if not part:
            return b""
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
