"""``initialize`` answered while the server is still being loaded.

Loading takes several times as long as an editor should wait. The answer follows from the message alone
(``capabilities``): it is sent at once, and the server, once there, gets the message too and knows that it is answered.
Everything that came behind the message waits in the pipe. Loads nothing but the interpreter's own modules.
Invariant: a greeting that is odd in any way is left to the server.
"""

from __future__ import annotations

import io
import json
import re
from typing import TYPE_CHECKING, Final, cast

from visa_lsp.lsp.capabilities import initialize_result, is_greeting
from visa_lsp.lsp.inflow import MOST, Inflow, too_long

if TYPE_CHECKING:
    from typing import BinaryIO

_LENGTH: Final = re.compile(rb"\s*content-length\s*:\s*([0-9]{1,7})\s*", re.IGNORECASE)
_HEADERS: Final = 16
_HEADER: Final = 1000
_LONGEST: Final = 1 << 20


def greet(stdin: BinaryIO, stdout: BinaryIO, version: str) -> tuple[BinaryIO, int | str | None]:
    """Read the first message, and answer it if it is ``initialize``: the stream for the server, and what was answered."""
    raw, body = _first_message(stdin)
    replay = stdin
    if isinstance(stdin, Inflow):
        stdin.unread(raw)
    else:
        replay = cast("BinaryIO", _Replay(raw, stdin))
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return replay, None
    match message:
        case {"jsonrpc": "2.0", "method": "initialize", "id": (int() | str()) as ident, "params": params} if (
            not isinstance(ident, bool) and is_greeting(params)
        ):
            answer = {"id": ident, "jsonrpc": "2.0", "result": initialize_result(params, version)}
            _send(stdout, json.dumps(answer).encode())
            return replay, ident
    return replay, None


def _send(stdout: BinaryIO, body: bytes) -> None:
    stdout.write(
        b"Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n%s" % (len(body), body)
    )
    stdout.flush()


def _first_message(stdin: BinaryIO) -> tuple[bytes, bytes]:
    """(everything read, the body of the message); the body is empty where the stream does not start with a message."""
    raw, length = b"", 0
    for _ in range(_HEADERS):
        line = stdin.readline(_HEADER)
        raw += line
        match = _LENGTH.fullmatch(line)
        if match is not None:
            length = int(match.group(1))
        if not line.strip() or not line.endswith(b"\n"):
            break
    if not raw.endswith(b"\n\r\n") or not 0 < length <= _LONGEST:
        return raw, b""
    body = stdin.read(length)
    return raw + body, body


# No ``io`` class: those close what they stand before when they are forgotten.
class _Replay:
    """What was read already, then the stream itself."""

    def __init__(self, raw: bytes, stream: BinaryIO) -> None:
        self._raw = io.BytesIO(raw)
        self._stream = stream
        self._left = len(raw)

    def readline(self, size: int | None = -1, /) -> bytes:
        """A line; of what was read already only a whole one."""
        if not self._left:
            return self._stream.readline(-1 if size is None else size)
        line = self._raw.readline(-1 if size is None else size)
        self._left -= len(line)
        if not line.endswith(b"\n") and not self._left:
            line += self._stream.readline()
        return line

    def read(self, size: int | None = -1, /) -> bytes:
        """``size`` bytes, or everything."""
        if size is not None and size > MOST:
            too_long(size)
            return b""
        if not self._left:
            return self._stream.read(-1 if size is None else size)
        data = self._raw.read(size)
        self._left -= len(data)
        if size is None or size < 0:
            return data + self._stream.read()
        return data + self._stream.read(size - len(data)) if len(data) < size else data

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()
