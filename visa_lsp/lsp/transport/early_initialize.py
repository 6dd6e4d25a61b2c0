"""Answers ``initialize`` while the server is still being loaded.

Loading takes several times as long as an editor should wait. The answer depends on the message only (``capabilities``),
so that it is sent at once; after loading, the server also gets the message, marked as answered. Later messages wait in
the pipe. Loads only the interpreter's own modules. Invariant: a malformed ``initialize`` is left to the server.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, BinaryIO, Final

from visa_lsp.lsp.capabilities import initialize_result, is_greeting

if TYPE_CHECKING:
    from visa_lsp.lsp.transport.input_stream import Inflow

_MAX_BODY_BYTES: Final = 1 << 20


def greet(inflow: Inflow, stdout: BinaryIO, version: str) -> int | str | None:
    """Answer the first message if it is ``initialize``, and return its id. The server gets the message as well."""
    body = inflow.next()
    if body is None:
        return None
    inflow.unread(body)
    if len(body) > _MAX_BODY_BYTES:
        return None
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return None
    match message:
        case {"jsonrpc": "2.0", "method": "initialize", "id": (int() | str()) as ident, "params": params} if (
            not isinstance(ident, bool) and is_greeting(params)
        ):
            answer = {"id": ident, "jsonrpc": "2.0", "result": initialize_result(params, version)}
            _send(stdout, json.dumps(answer).encode())
            return ident
    return None


def _send(stdout: BinaryIO, body: bytes) -> None:
    stdout.write(
        b"Content-Length: %d\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n%s" % (len(body), body)
    )
    stdout.flush()
