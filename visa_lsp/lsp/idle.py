"""Prepares likely answers in idle time.

One timer without a task, so that the end of the server waits for nothing. A slice is short, and a message stops the
work until the next idle period, so that a keystroke waits for one slice at most.
"""

from __future__ import annotations

import asyncio
import logging
import time
from itertools import chain
from typing import TYPE_CHECKING, Final

from visa_lsp.ide.readiness import prepare
from visa_lsp.ide.workspace import Language

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.ide.workspace import Workspace
    from visa_lsp.lsp.transport.protocol import Protocol

logger = logging.getLogger(__name__)

# Seconds without a message before work begins, of a slice of work, and of the pause after it.
_QUIET: Final = 0.4
_SLICE: Final = 0.001
_REST: Final = 0.002


class Idle:
    """The idle-time work of one server."""

    def __init__(self, protocol: Protocol, documents: Workspace) -> None:
        self._protocol = protocol
        self._documents = documents
        self._timer: asyncio.TimerHandle | None = None
        self._steps: Iterator[None] | None = None
        self._serials: tuple[int, ...] = ()

    def poke(self) -> None:
        """Schedule work for the next idle time, after a change."""
        if self._timer is None:
            self._again(_QUIET)

    def _again(self, seconds: float) -> None:
        try:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._tick)
        except RuntimeError:  # without an event loop there is no server, as in tests of single handlers
            self._timer = None

    def _tick(self) -> None:
        self._timer = None
        protocol = self._protocol
        if protocol.ending:
            return
        quiet = time.monotonic() - protocol.heard
        if quiet < _QUIET:
            self._again(_QUIET - quiet)
            return
        if protocol.answering:
            self._again(_QUIET)
            return
        opened = [d for d in self._documents if d.language is Language.VISA]
        serials = tuple(d.serial for d in opened)
        if self._steps is None or serials != self._serials:
            self._serials = serials
            text = protocol.client_capabilities.text_document
            tokens = text is not None and text.semantic_tokens is not None
            self._steps = chain.from_iterable(prepare(d.analysis, protocol.encoding, tokens=tokens) for d in opened)
        until = time.monotonic() + _SLICE
        try:
            while time.monotonic() < until:
                next(self._steps)
        except StopIteration:
            self._steps = None
            return
        except Exception:
            logger.exception("idle work failed")
            self._steps = None
            return
        self._again(_REST)
