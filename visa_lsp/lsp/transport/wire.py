"""Reads standard input and writes standard output.

In pygls a thread passes a message on three times, line by line; here a thread reads whole messages and passes each on
once. Invariant: a message is read only after the previous one was handled, so that no thread waits in a read when the
client ends the server.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import sys
from threading import Event, Semaphore, Thread
from typing import TYPE_CHECKING, BinaryIO, Final

from pygls.exceptions import JsonRpcException

from visa_lsp.message_frames import BrokenFrame, FrameReader

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

logger = logging.getLogger(__name__)

_INTERRUPTED: Final = 130
MAX_MESSAGE_BYTES: Final = 1 << 30  # a text of ten million lines
_PIPE_BYTES: Final = 1 << 20


class _Inbox:
    """Passes messages from the thread that reads the stream to the loop that handles them."""

    def __init__(self, server: LanguageServer, frames: FrameReader, stop: Event) -> None:
        self._server, self._frames, self._stop = server, frames, stop
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._handled = Semaphore(0)

    async def empty(self) -> None:
        """Handle messages until there are no more."""
        Thread(target=self._read, name="stdin", daemon=True).start()
        await self._ended

    def _read(self) -> None:
        """Read messages on the thread."""
        try:
            while (body := self._next()) is not None:
                self._loop.call_soon_threadsafe(self._handle, body)
                self._handled.acquire()
        except (OSError, ValueError):
            logger.warning("standard input cannot be read any more")
        except RuntimeError:
            return  # the loop is closed
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._end)

    def _next(self) -> bytes | None:
        """Return the next message, without broken ones; None at the end of input."""
        while True:
            try:
                return self._frames.next()
            except BrokenFrame as error:
                logger.warning("cannot read a message: %s", error)

    def _end(self) -> None:
        if not self._ended.done():
            self._ended.set_result(None)

    def _handle(self, body: bytes) -> None:
        """Handle a message on the loop."""
        try:
            self._server.protocol.handle_message(json.loads(body))
        except (SystemExit, KeyboardInterrupt, BrokenPipeError):
            self._end()
            return
        except Exception as error:
            logger.exception("a message cannot be handled")
            self._server.report_server_error(error, JsonRpcException)
        if self._stop.is_set():
            self._end()
            return
        # Work that the message started is done first, because the thread would take the interpreter's lock from it.
        self._loop.call_soon(self._handled.release)


class _Outbox:
    """Standard output for the library; it belongs to the process, so that the end of a session only flushes it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        # Else each 64 KiB of a thousand findings wait for the client to be given its turn.
        with contextlib.suppress(ImportError, AttributeError, OSError, ValueError):
            import fcntl

            fcntl.fcntl(stream.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)

    def write(self, data: bytes) -> None:
        self._stream.write(data)
        self._stream.flush()

    def close(self) -> None:
        self._stream.flush()


def serve_stdio(server: LanguageServer, stop: Event, stdin: BinaryIO, stdout: BinaryIO | None = None) -> None:
    """Answer incoming messages on standard output, until the client ends the session."""

    async def serve() -> None:
        await _Inbox(server, FrameReader(stdin, MAX_MESSAGE_BYTES), stop).empty()

    server.protocol.set_writer(_Outbox(stdout or sys.stdout.buffer))
    try:
        asyncio.run(serve())
    except KeyboardInterrupt:
        # Exits directly, because the thread waits in a read, and the interpreter cannot take the stream from it.
        os._exit(_INTERRUPTED)
