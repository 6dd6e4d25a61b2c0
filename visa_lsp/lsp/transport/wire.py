"""Reads standard input and writes standard output.

In pygls a thread passes a message on three times, line by line; here a thread reads whole messages and passes each on
once. Invariant: a message is read only after the previous one was handled, so that no thread waits in a read when the
client ends the server.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from threading import Event, Semaphore, Thread
from typing import TYPE_CHECKING, BinaryIO, Final

from pygls.exceptions import JsonRpcException

from visa_lsp.lsp.transport.input_stream import widen_pipe

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

    from visa_lsp.lsp.transport.input_stream import Inflow

logger = logging.getLogger(__name__)

_INTERRUPTED: Final = 130


class _Inbox:
    """Passes messages from the stream, or from the thread that reads it, to the loop that handles them."""

    def __init__(self, server: LanguageServer, inflow: Inflow, stop: Event) -> None:
        self._server, self._inflow, self._stop = server, inflow, stop
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._handled = Semaphore(0)
        self._engaged = True  # set with a message, because nothing is read until it is handled

    async def empty(self) -> None:
        """Handle messages until there are no more."""
        if not self._listens():
            Thread(target=self._read, name="stdin", daemon=True).start()
        await self._ended

    # ---- called by the loop ----

    def _listens(self) -> bool:
        """Return whether the loop can watch for new data; if so, it watches until the end.

        Stopping and starting this for each message would sometimes take as long as a keystroke.
        """
        fd = self._inflow.fd
        if fd is None:
            return False
        try:
            self._loop.add_reader(fd, self._receive)
        except (NotImplementedError, OSError, ValueError):
            return False
        self._ended.add_done_callback(lambda _: self._loop.remove_reader(fd))
        self._next()
        return True

    def _receive(self) -> None:
        if self._engaged:
            return  # the loop calls again
        inflow = self._inflow
        try:
            inflow.fill()
        except BlockingIOError:
            return
        except OSError:
            logger.warning("standard input cannot be read any more")
            inflow.ended = True
        body = inflow.message()
        if body is not None or inflow.ended:
            self._take(body)

    def _next(self) -> None:
        """Handle the next stored message, or wait for more data."""
        if self._ended.done():
            return
        body = self._inflow.message()
        if body is not None or self._inflow.ended:
            self._take(body)
        else:
            self._engaged = False

    def _take(self, body: bytes | None) -> None:
        self._engaged = True
        if body is None:
            self._end()
        elif self._handle(body):
            # Work that the message has started is done first.
            self._loop.call_soon(self._next)

    # ---- read by a thread ----

    def _read(self) -> None:
        try:
            while (body := self._inflow.next()) is not None:
                self._loop.call_soon_threadsafe(self._hand, body)
                self._handled.acquire()
        except (OSError, ValueError):
            logger.warning("standard input cannot be read any more")
        except RuntimeError:
            return  # the loop is closed
        try:
            self._loop.call_soon_threadsafe(self._end)
        except RuntimeError:
            return

    def _end(self, error: BaseException | None = None) -> None:
        if self._ended.done():
            return
        if error is None:
            self._ended.set_result(None)
        else:
            self._ended.set_exception(error)

    def _hand(self, body: bytes) -> None:
        if self._handle(body):
            # Work that the message started is done first, because the thread would take the interpreter's lock from it.
            self._loop.call_soon(self._handled.release)

    # ---- handled ----

    def _handle(self, body: bytes) -> bool:
        """Handle a message; return whether more may follow."""
        try:
            self._server.protocol.handle_message(json.loads(body))
        except (SystemExit, KeyboardInterrupt, BrokenPipeError):
            self._end()
            return False
        except Exception as error:
            logger.exception("a message cannot be handled")
            self._server.report_server_error(error, JsonRpcException)
        if self._stop.is_set():
            self._end()
            return False
        return True


class _Outbox:
    """Standard output for the library; it belongs to the process, so that the end of a session only flushes it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        widen_pipe(stream)  # else each 64 KiB of a thousand findings wait for the client to be given its turn

    def write(self, data: bytes) -> None:
        self._stream.write(data)
        self._stream.flush()

    def close(self) -> None:
        self._stream.flush()


def serve_stdio(server: LanguageServer, stop: Event, inflow: Inflow, stdout: BinaryIO | None = None) -> None:
    """Answer incoming messages on standard output, until the client ends the session."""

    async def serve() -> None:
        await _Inbox(server, inflow, stop).empty()

    server.protocol.set_writer(_Outbox(stdout or sys.stdout.buffer))
    try:
        asyncio.run(serve())
    except KeyboardInterrupt:
        # Exits directly, because the thread waits in a read, and the interpreter cannot take the stream from it.
        os._exit(_INTERRUPTED)
