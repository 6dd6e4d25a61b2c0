"""The server object that handlers get: pygls' server with our documents instead of its own.

pygls would keep a second copy of each text and rebuild it at each keystroke; the protocol class here hands document
messages on to our handlers only. Invariant: ``documents`` is changed by the ``sync`` handlers alone, in message order.
"""

from __future__ import annotations

import functools
import logging
from typing import TYPE_CHECKING, Any, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from visa_lsp.ide.workspace import Workspace

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Generator

    from visa_lsp.ide.workspace import OpenDocument
    from visa_lsp.lsp.services import Services
    from visa_lsp.text import Encoding

    Handled = Generator[Any, Any, Any]

logger = logging.getLogger(__name__)
P = TypeVar("P")
R = TypeVar("R")


class Protocol(LanguageServerProtocol):
    """Document messages go to our handlers without passing through pygls' workspace."""

    def _pass_on(self, method: str, params: object) -> Handled:
        handler = self.fm.features.get(method)
        if handler is not None:
            yield handler, (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> Handled:
        """Hand on an opened document."""
        yield from self._pass_on(types.TEXT_DOCUMENT_DID_OPEN, params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Handled:
        """Hand on an edit."""
        yield from self._pass_on(types.TEXT_DOCUMENT_DID_CHANGE, params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> Handled:
        """Hand on a closed document."""
        yield from self._pass_on(types.TEXT_DOCUMENT_DID_CLOSE, params)

    @lsp_method(types.WORKSPACE_EXECUTE_COMMAND)
    def lsp_workspace__execute_command(self, params: types.ExecuteCommandParams) -> Handled:
        """Call a command with its arguments as one list of JSON values."""
        handler = self.fm.commands.get(params.command)
        if handler is None:
            raise JsonRpcInvalidParams.of(ValueError(f"there is no command {params.command!r}"))
        return (yield handler, (list(params.arguments or []),), None)


class VisaServer(LanguageServer):
    """The language server: documents, settings, services."""

    def __init__(self, services: Services, version: str) -> None:
        super().__init__("visa-lsp", version, protocol_cls=Protocol)
        self.services = services
        self.documents = Workspace()
        self.pending: dict[str, asyncio.Task[None]] = {}

    @property
    def encoding(self) -> Encoding:
        """The units that the client counts columns in."""
        chosen = self.workspace.position_encoding
        match chosen.value if isinstance(chosen, types.PositionEncodingKind) else chosen:
            case "utf-8":
                return "utf-8"
            case "utf-32":
                return "utf-32"
            case _:
                return "utf-16"

    def opened(self, identifier: types.TextDocumentIdentifier | types.VersionedTextDocumentIdentifier) -> OpenDocument | None:
        """The open document that a request is about."""
        return self.documents.get(identifier.uri)


def guarded(handler: Callable[[VisaServer, P], Awaitable[R | None]]) -> Callable[[VisaServer, P], Awaitable[R | None]]:
    """A handler that answers nothing where it meets a bug of ours, and logs it."""

    @functools.wraps(handler)
    async def guard(ls: VisaServer, params: P) -> R | None:
        try:
            return await handler(ls, params)
        except Exception:
            logger.exception("%s failed", handler.__name__)
            return None

    return guard
