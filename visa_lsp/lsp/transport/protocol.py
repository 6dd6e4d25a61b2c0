"""JSON-RPC validation: every request is answered exactly once.

pygls drops messages that it cannot read, and messages at the wrong time; here such requests get an error. Large answers
that are JSON text (``Encoded``) bypass its converter. Invariant: only ``exit`` ends the
server.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types
from pygls.capabilities import ServerCapabilitiesBuilder
from pygls.exceptions import JsonRpcException, JsonRpcInternalError, JsonRpcInvalidParams
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.workspace import Workspace

from visa_lsp.lsp.capabilities import NAME, OPTIONS, is_greeting, position_encoding

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from concurrent.futures import Future

    from visa_lsp.text import Encoding

    Handled = Generator[Any, Any, Any]

logger = logging.getLogger(__name__)

_INVALID: Final = -32600
_UNKNOWN: Final = -32601
_PARAMS: Final = -32602
_TOO_EARLY: Final = -32002


@dataclass(frozen=True, slots=True)
class Encoded:
    """A result that is already JSON text, in pieces to be joined."""

    pieces: list[bytes]

    @staticmethod
    def of(value: Any) -> Encoded:
        """Return the result of a JSON value."""
        return Encoded([json.dumps(value).encode()])


class Protocol(LanguageServerProtocol):
    """pygls' protocol with validation of every message."""

    exit_code = 1

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._asked: set[Any] = set()
        self._greeted = False
        self.encoding: Encoding = "utf-16"

    # ---- incoming ----

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Return each JSON object unchanged, because ``handle_message`` converts whole messages."""
        return data

    def handle_message(self, message: Any) -> None:
        """Validate a whole message, then pass it on; a request that cannot be handled is answered with an error."""
        if isinstance(message, list) and message:
            for item in message:
                self.handle_message(item)
            return
        if not isinstance(message, dict):
            self._refuse(None, _INVALID, "a message must be an object")
            return
        ident, method = message.get("id"), message.get("method")
        is_request = "id" in message and "method" in message
        if is_request and (isinstance(ident, bool) or not isinstance(ident, (int, str))):
            self._refuse(None, _INVALID, "an id must be a number or a string")
            return
        if message.get("jsonrpc") != self.VERSION or ("method" in message and not isinstance(method, str)):
            if is_request:
                self._refuse(ident, _INVALID, "a message must have jsonrpc 2.0 and a method name")
            elif "method" not in message and "id" not in message:
                self._refuse(None, _INVALID, "the message is neither a request nor a response")
            return
        if "method" not in message:
            self._take_answer(message)
        elif is_request:
            self._request(message, str(method))
        else:
            self._notification(message, str(method))

    def _request(self, message: dict[str, Any], method: str) -> None:
        ident = message["id"]
        self._trace(f"Received request '{method} - ({ident})'.", message.get("params"))
        if self._shutdown:
            self._refuse(ident, _INVALID, "the server is shutting down")
        elif method == types.INITIALIZE and self._greeted:
            self._refuse(ident, _INVALID, "the server was initialized already")
        elif method != types.INITIALIZE and not self._greeted:
            self._refuse(ident, _TOO_EARLY, "the server is not initialized")
        elif ident in self._request_futures:
            self._refuse(ident, _INVALID, "a request with this id is not answered yet")
        elif method not in self.fm.builtin_features and method not in self.fm.features:
            self._refuse(ident, _UNKNOWN, f"unknown method {method}")
        elif (wrong := _wrong_token(message.get("params"))) is not None:
            self._refuse(ident, _PARAMS, f"`{wrong}` must be a number or a string")
        else:
            whole = self._read_greeting(message) if method == types.INITIALIZE else self._read(message)
            if whole is None:
                self._refuse(ident, _PARAMS, f"invalid parameters of {method}")
                return
            if method == types.INITIALIZE:
                self._greeted = True
                self.encoding = position_encoding(message["params"])
                trace = getattr(whole.params, "trace", None)
                if isinstance(trace, types.TraceValue):
                    self.trace = trace
            super().handle_message(whole)

    def _notification(self, message: dict[str, Any], method: str) -> None:
        if method == types.EXIT:
            self.exit_code = 0 if self._shutdown else 1
        elif not self._greeted or self._shutdown:
            return
        elif method == types.CANCEL_REQUEST:
            params = message.get("params")
            ident = params.get("id") if isinstance(params, dict) else None
            if isinstance(ident, (int, str)) and ident not in self._asked and ident in self._request_futures:
                self._handle_cancel_notification(ident)
            return
        elif method == types.WINDOW_WORK_DONE_PROGRESS_CANCEL and _wrong_token(message.get("params")) is not None:
            return
        self._trace(f"Received notification '{method}'.", message.get("params"))
        if method not in self.fm.builtin_features and method not in self.fm.features:
            return
        whole = self._read(message)
        if whole is not None:
            super().handle_message(whole)

    def _take_answer(self, message: dict[str, Any]) -> None:
        """Handle the answer to a request of the server; unknown ids are ignored."""
        ident = message.get("id")
        if isinstance(ident, bool) or not isinstance(ident, (int, str)) or ident not in self._asked:
            return
        self._asked.discard(ident)
        future = self._request_futures.pop(ident, None)
        if future is None or future.done():
            return
        error = message.get("error")
        whole = None if error is not None else self._read(message)
        if whole is None:
            said = error.get("message") if isinstance(error, dict) else "an answer that cannot be read"
            future.set_exception(JsonRpcException(str(said)))
        else:
            future.set_result(whole.result)

    def _read(self, message: dict[str, Any]) -> Any:
        """Convert a message to a value of its type; None if it is malformed."""
        try:
            if "method" in message and "params" not in message:
                message = {**message, "params": None} if self.get_message_type(message["method"]) is None else message
            return super().structure_message(message)
        except JsonRpcException:
            logger.info("a message of %s cannot be read", message.get("method"))
            return None

    def _read_greeting(self, message: dict[str, Any]) -> Any:
        """Return ``initialize`` as a value, without members of unknown types; None if nothing is left.

        So a client that is newer than the library, or wrong in one of a hundred capabilities, is still served.
        """
        params = message.get("params")
        if not is_greeting(params):
            return None

        def reads(members: dict[str, Any]) -> bool:
            try:
                self._converter.structure({"capabilities": {}, **members}, types.InitializeParams)
            except Exception:  # noqa: BLE001 - the converter of the library raises any exception
                return False
            return True

        if not reads(params):
            logger.warning("ignored malformed client capabilities")
            params = {"capabilities": {}, **_readable(params, reads)}
        return self._read({**message, "params": params})

    def _refuse(self, ident: Any, code: int, words: str) -> None:
        self._send_data({"jsonrpc": self.VERSION, "id": ident, "error": {"code": code, "message": words}})

    def _trace(self, words: str, params: Any) -> None:
        if self.trace is types.TraceValue.Off:
            return
        value: dict[str, Any] = {"message": words}
        if self.trace is types.TraceValue.Verbose and params is not None:
            value["verbose"] = f"Params: {params!r}"[:10_000]
        self._send_data({"jsonrpc": self.VERSION, "method": types.LOG_TRACE, "params": value})

    # ---- outgoing ----

    def send_request(
        self,
        method: str,
        params: Any | None = None,
        callback: Callable[[Any], None] | None = None,
        msg_id: str | int | None = None,
    ) -> Future[Any]:
        """Send a request to the client, and remember it."""
        ident = msg_id if msg_id is not None else str(uuid.uuid4())
        self._asked.add(ident)
        return super().send_request(method, params, callback, ident)

    def _send_response(self, msg_id: Any, result: Any = None, error: Any = None) -> None:
        if error is None and isinstance(result, Encoded):
            self._result_types.pop(msg_id, None)
            head = f'{{"jsonrpc": "{self.VERSION}", "id": {json.dumps(msg_id)}, "result": '
            self._send_pieces(head.encode(), result.pieces)
        else:
            super()._send_response(msg_id, result, error)
        if self.trace is not types.TraceValue.Off:
            self._trace(f"Sending response '({msg_id})'.", None)

    def tell(self, method: str, pieces: list[bytes]) -> None:
        """Send a notification whose parameters are JSON text."""
        self._send_pieces(f'{{"jsonrpc": "{self.VERSION}", "method": "{method}", "params": '.encode(), pieces)

    def _send_pieces(self, head: bytes, pieces: list[bytes]) -> None:
        """Send JSON text, like ``_send_data``, but without a second copy as characters."""
        if self.writer is None:
            logger.error("Unable to send data, no available transport!")
            return
        size = len(head) + sum(map(len, pieces)) + 1
        logger.info("Sending %d bytes", size)
        header = f"Content-Length: {size}\r\nContent-Type: {self.CONTENT_TYPE}; charset={self.CHARSET}\r\n\r\n".encode()
        message = b"".join([header if self._include_headers else b"", head, *pieces, b"}"])
        try:
            waiting = self.writer.write(message)
            if inspect.isawaitable(waiting):
                asyncio.ensure_future(waiting)  # noqa: RUF006 - as in pygls; the writer keeps the task
        except BrokenPipeError:
            logger.exception("the client is gone")
            raise
        except Exception as failure:
            logger.exception("a message cannot be sent")
            self._server._report_server_error(failure, JsonRpcInternalError)  # noqa: SLF001 - as in pygls

    def _execute_handler(
        self,
        msg_id: Any,
        handler: Any,
        callback: Callable[[Any], None],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> None:
        """Run a handler, and forget its future at its end, because pygls keeps those of notifications."""

        def end(future: Any) -> None:
            self._request_futures.pop(msg_id, None)
            callback(future)

        super()._execute_handler(msg_id, handler, end, args, kwargs)

    def _send_handler_result(self, future: Any, *, msg_id: Any) -> None:
        """Answer a request; a refusal with a message is not logged as an error."""
        if not future.cancelled() and isinstance(future.exception(), JsonRpcInvalidParams):
            self._request_futures.pop(msg_id, None)
            self._send_response(msg_id, error=future.exception().to_response_error())
            return
        super()._send_handler_result(future, msg_id=msg_id)

    # ---- documents and commands ----

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Handled:
        """Begin a session with the answer of this server; only the folders of the library's workspace are used."""
        self._server.process_id = params.process_id
        self.client_capabilities = params.capabilities
        self._workspace = Workspace(None, workspace_folders=params.workspace_folders or [])
        yield from self._pass_on(types.INITIALIZE, params)
        methods = {*self.fm.features, *self.fm.builtin_features}
        builder = ServerCapabilitiesBuilder(
            self.client_capabilities, methods, {}, list(self.fm.commands), types.TextDocumentSyncKind.Incremental,
            position_encoding=self.encoding,
        )  # fmt: skip
        offered = builder.build()  # type: ignore[no-untyped-call]  # pygls annotates nothing here
        capabilities = {**self._converter.unstructure(offered), **OPTIONS}
        return Encoded.of({"capabilities": capabilities, "serverInfo": {"name": NAME, "version": self._server.version}})

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *_args: Any) -> Handled:
        """End all running work, with an answer for each request; after this only ``exit`` is accepted."""
        current = self.msg_id
        for ident, future in list(self._request_futures.items()):
            if ident != current and not future.done():
                future.cancel()
        self._shutdown = True
        yield from ()

    def _pass_on(self, method: str, params: object) -> Handled:
        handler = self.fm.features.get(method)
        if handler is not None:
            yield handler, (params,), None

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> Handled:
        """Pass an opened document to the handlers."""
        yield from self._pass_on(types.TEXT_DOCUMENT_DID_OPEN, params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> Handled:
        """Pass an edit to the handlers."""
        yield from self._pass_on(types.TEXT_DOCUMENT_DID_CHANGE, params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> Handled:
        """Pass a closed document to the handlers."""
        yield from self._pass_on(types.TEXT_DOCUMENT_DID_CLOSE, params)

    # A coroutine, unlike the generator in pygls, because only a coroutine can be cancelled.
    @lsp_method(types.WORKSPACE_EXECUTE_COMMAND)
    async def lsp_workspace__execute_command(self, params: types.ExecuteCommandParams) -> Any:  # type: ignore[override]
        """Call a command with its arguments as one list of JSON values; a cancelled request ends the command too."""
        handler = self.fm.commands.get(params.command)
        if handler is None:
            raise JsonRpcInvalidParams.of(ValueError(f"unknown command {params.command!r}"))
        return await handler(list(params.arguments or []), params.work_done_token)


def _wrong_token(params: Any) -> str | None:
    """Return the first invalid token in the parameters, because the library accepts any value there."""
    if not isinstance(params, dict):
        return None
    for name in ("workDoneToken", "partialResultToken", "token"):
        token = params.get(name)
        if token is not None and (isinstance(token, bool) or not isinstance(token, (int, str))):
            return name
    return None


def _readable(value: dict[str, Any], reads: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Return the members of an object that can be read; unreadable members keep their readable members."""
    kept: dict[str, Any] = {}
    for key, part in value.items():
        if reads({**kept, key: part}):
            kept[key] = part
        elif isinstance(part, dict):

            def inside(members: dict[str, Any], key: str = key) -> bool:
                return reads({**kept, key: members})

            inner = _readable(part, inside)
            if reads({**kept, key: inner}):
                kept[key] = inner
    return kept


async def pause() -> None:
    """Handle other messages, which may cancel this work."""
    await asyncio.sleep(0)
