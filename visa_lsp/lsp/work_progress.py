"""Long work: its progress, its partial results, and the handling of other messages meanwhile.

Progress is shown with the token of the request, or with a new one if the client supports that.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from concurrent.futures import Future
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from visa_lsp.lsp.encode import encode_json

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from visa_lsp.lsp.visa_server import VisaServer

logger = logging.getLogger(__name__)

_SLICE: Final = 0.02
_PATIENCE: Final = 2.0


class Work:
    """A piece of work. ``step`` is called often; at intervals it lets other messages be handled."""

    def __init__(self, ls: VisaServer, token: types.ProgressToken | None) -> None:
        self._ls = ls
        self._token = token
        self._slice = time.monotonic()
        self._last_report = 0.0

    async def step(self, words: str = "", done: int = 0, of: int = 0) -> None:
        """At the end of a time slice, let other messages be handled and report the progress."""
        now = time.monotonic()
        if now - self._slice < _SLICE:
            return
        if self._token is not None and words and now - self._last_report > 0.1:
            self._last_report = now
            percentage = min(100, done * 100 // of) if of else None
            self._send(types.WorkDoneProgressReport(message=words, percentage=percentage))
        await asyncio.sleep(0)
        self._slice = time.monotonic()

    def _send(self, value: Any) -> None:
        if self._token is not None:
            self._ls.protocol.notify(types.PROGRESS, types.ProgressParams(self._token, value))


@asynccontextmanager
async def show_progress(
    ls: VisaServer, title: str, token: types.ProgressToken | None = None, *, own: bool = False
) -> AsyncIterator[Work]:
    """Show progress until the end of the block. ``own`` shows it even if the client sent no token.

    A client that cancels the progress cancels the request.
    """
    window = ls.client_capabilities.window
    if token is None and own and window is not None and window.work_done_progress:
        token = str(uuid.uuid4())
        try:
            # Not ``wait_for``, because before Python 3.12 it loses a cancellation that arrives together with the answer.
            async with asyncio.timeout(_PATIENCE):
                await ls.window_work_done_progress_create_async(types.WorkDoneProgressCreateParams(token))
        except (JsonRpcException, TimeoutError):  # no progress for a client that does not answer, or refuses
            logger.info("the client refused a progress token")
            token = None
    work = Work(ls, token)
    if token is not None:
        ls.protocol.progress.tokens[token] = _make_cancelling(asyncio.current_task())
    work._send(types.WorkDoneProgressBegin(title=title, cancellable=True))  # noqa: SLF001 - its own module
    try:
        yield work
    finally:
        if token is not None:
            ls.protocol.progress.tokens.pop(token, None)
        work._send(types.WorkDoneProgressEnd())  # noqa: SLF001 - its own module


def _make_cancelling(task: asyncio.Task[Any] | None) -> Future[None]:
    """Return a future for pygls; cancelling it cancels a task."""
    waiting: Future[None] = Future()
    if task is not None:
        waiting.add_done_callback(lambda _: task.cancel())
    return waiting


def send_partial(ls: VisaServer, token: types.ProgressToken, value: Any) -> None:
    """Send a part of an answer, a JSON value, in advance."""
    ls.protocol.tell(types.PROGRESS, [encode_json({"token": token, "value": value})])
