"""``initialize`` answered from memory, while the server is still being loaded.

What a server answers to ``initialize`` follows from what the client says it can do. The answer to a client that said the
same before is on disk: it is sent at once, and the server, once there, gets the message and finds its own answer sent.
Everything that came behind the message waits in the pipe. Knows nothing of what is in an answer.
Invariant: each ``initialize`` is answered once; a remembered answer that the server would not give is replaced.
"""

from __future__ import annotations

import io
import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import msgspec

from visa_lsp.kept import kept_for_user

if TYPE_CHECKING:
    from typing import BinaryIO

    from visa_lsp.kept import Kept

_LENGTH: Final = re.compile(rb"\s*content-length\s*:\s*([0-9]{1,7})\s*", re.IGNORECASE)
_HEADERS: Final = 16
_HEADER: Final = 1000
_LONGEST: Final = 1 << 20
# A text of ten million lines; what is announced as longer ends the conversation as the end of the stream does.
_MOST: Final = 1 << 30
# Where the client is and what it has open has no part in the answer.
_ITS_OWN: Final = frozenset({"processId", "rootPath", "rootUri", "workspaceFolders", "trace", "workDoneToken"})
_log = logging.getLogger(__name__)


def answers_of_user() -> Kept | None:
    """The answers that this installation gave this user's clients."""
    here = Path(__file__).parent
    return kept_for_user("initialize", [*sorted(here.glob("*.py")), *sorted(here.glob("handlers/*.py"))])


def greet(stdin: BinaryIO, stdout: BinaryIO, kept: Kept | None) -> tuple[BinaryIO, BinaryIO]:
    """Read the first message, answer it if that can be done from memory, and give the streams for the server."""
    raw, body = _first_message(stdin) if kept is not None else (b"", b"")
    replay = cast("BinaryIO", _Replay(raw, stdin))
    plain = cast("BinaryIO", _Answered(stdout))
    if kept is None:
        return replay, plain
    try:
        message = msgspec.json.decode(body)
    except (ValueError, RecursionError):
        return replay, plain
    match message:
        case {"jsonrpc": "2.0", "method": "initialize", "id": (int() | str()) as number, "params": dict(params)} if (
            not isinstance(number, bool)
        ):
            key = msgspec.json.encode({k: v for k, v in params.items() if k not in _ITS_OWN}, order="sorted").decode()
        case _:
            return replay, plain
    known = kept.get(key)
    if isinstance(known, dict):
        _send(stdout, msgspec.json.encode({"id": number, "jsonrpc": "2.0", "result": known}))
    answered = _Answered(stdout, _Asked(kept, key, number, known if isinstance(known, dict) else None))
    return replay, cast("BinaryIO", answered)


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


# Neither of the two is an ``io`` class: those close what they stand before when they are forgotten.
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
        if size is not None and size > _MOST:
            _log.error("a message of %d bytes is not read; at most %d are", size, _MOST)
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


class _Asked(NamedTuple):
    """A message that was read before the server was there."""

    kept: Kept
    key: str
    number: int | str
    sent: dict[str, object] | None  # what was answered


class _Answered:
    """Standard output; takes the server's own answer to ``initialize`` out where the client has it already."""

    def __init__(self, stream: BinaryIO, asked: _Asked | None = None) -> None:
        self._stream = stream
        self._asked = asked

    def write(self, data: bytes) -> int:
        """Pass one message on."""
        asked = self._asked
        if asked is not None and _answers(data, asked):
            self._asked = None
            if asked.sent is not None:
                return len(data)
        return self._stream.write(data)

    def flush(self) -> None:
        """Flush the stream."""
        self._stream.flush()

    def close(self) -> None:
        """Flush the stream: it is the process's, not the server's."""
        self._stream.flush()


def _answers(data: bytes, asked: _Asked) -> bool:
    """Whether this is the server's answer; keeps it if it is news."""
    try:
        message = msgspec.json.decode(bytes(data).partition(b"\r\n\r\n")[2])
    except (ValueError, RecursionError):
        return False
    match message:
        case {"id": number, "result": {"capabilities": dict()} as result} if number == asked.number:
            if result != asked.sent:
                if asked.sent is not None:
                    _log.warning("the answer to initialize came from an older server: restart the server once")
                asked.kept.put(asked.key, result)
                asked.kept.flush()
            return True
    return False
