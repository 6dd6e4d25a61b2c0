"""The search for garbage waits until there is nothing to do: no message is kept waiting for it."""

from __future__ import annotations

import asyncio
import gc
import io
import json
import os
from threading import Event, Thread
from typing import Any

import pytest

from visa_lsp.lsp.transport.input_stream import Inflow, inflow_of
from visa_lsp.lsp.transport.wire import serve_stdio


class Wasteful:
    """A server whose every message leaves garbage behind, and that tells when it is looked for."""

    def __init__(self) -> None:
        self.protocol = self
        self.busy = False
        self.over = Event()
        self.searches: list[bool] = []

    def set_writer(self, writer: object) -> None:
        """Nothing is written."""

    def handle_message(self, message: Any) -> None:
        self.busy = True
        for _ in range(2_000):
            ring: list[Any] = []
            ring.append(ring)
        # What a message begins is not over with it: findings are published behind an edit.
        asyncio.get_running_loop().call_soon(self._over)

    def _over(self) -> None:
        self.busy = False
        self.over.set()

    def searched(self, phase: str, _info: dict[str, int]) -> None:
        if phase == "start":
            self.searches.append(self.busy)


@pytest.mark.parametrize("threaded", [False, True], ids=["told by the loop", "read by a thread"])
def test_no_message_waits_for_a_search_for_garbage(threaded: bool) -> None:
    server: Any = Wasteful()
    reads, writes = os.pipe()
    body = json.dumps({"jsonrpc": "2.0", "method": "x"}).encode()

    def client() -> None:
        for _ in range(40):
            server.over.clear()
            os.write(writes, b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            assert server.over.wait(60)
        os.close(writes)

    before = gc.get_threshold()
    gc.callbacks.append(server.searched)
    try:
        with os.fdopen(reads, "rb") as stream:
            inflow = Inflow(lambda size: os.read(reads, size)) if threaded else inflow_of(stream)
            sender = Thread(target=client)
            sender.start()
            serve_stdio(server, Event(), inflow, io.BytesIO())
            sender.join()
    finally:
        gc.callbacks.remove(server.searched)
        gc.set_threshold(*before)
    assert len(server.searches) > 10
    assert not any(server.searches)
