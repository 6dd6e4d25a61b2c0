"""What is made ready in quiet times: everything in the end, nothing while messages come."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from work import calls_of

from benchmarks.inputs import generate
from visa_lsp.ide.features.token_pieces import pieces_of
from visa_lsp.ide.index.text_index import index_of
from visa_lsp.lsp.server import create_server
from visa_lsp.lsp.transport.protocol import Protocol

if TYPE_CHECKING:
    from visa_lsp.lsp.visa_server import VisaServer

URI = "file:///quiet.visaasm"


class Sink:
    """A writer that keeps what is sent."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.sent.append(data)

    def close(self) -> None:
        """Nothing is open."""


def a_server(text: str, *, colours: bool) -> tuple[VisaServer, Protocol]:
    """Return a server that was greeted and has a document open."""
    server = create_server("0")
    protocol = server.protocol
    assert isinstance(protocol, Protocol)
    protocol.set_writer(Sink())
    tokens: dict[str, Any] = {"requests": {}, "tokenTypes": [], "tokenModifiers": [], "formats": []}
    about = {"diagnostic": {}, **({"semanticTokens": tokens} if colours else {})}
    hello = {"processId": None, "rootUri": None, "capabilities": {"textDocument": about}}
    item = {"uri": URI, "languageId": "visa", "version": 1, "text": text}
    for message in (
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "textDocument/didOpen", "params": {"textDocument": item}},
    ):
        protocol.handle_message({"jsonrpc": "2.0", **message})
    return server, protocol


def quiet(server: VisaServer, protocol: Protocol) -> int:
    """Let quiet times pass until there is nothing left to do; how many there were."""
    idle: Any = server.idle
    assert not protocol.answering
    for number in range(1, 10_000):
        protocol.heard = time.monotonic() - 60
        idle._tick()
        if idle._timer is not None:
            idle._timer.cancel()  # the loop is that of other tests too
        if idle._steps is None:
            return number
    raise AssertionError("the work of quiet times never ends")


async def test_a_quiet_time_makes_everything_ready() -> None:
    server, protocol = a_server(generate(1, 3000), colours=True)
    all_of_it = calls_of(lambda: quiet(server, protocol))
    opened = server.documents.get(URI)
    assert opened is not None
    document = opened.analysis.document
    kept, index = pieces_of(document), index_of(document)
    assert all(kept.get(index, at, "utf-16") is not None for at in range(len(document.chunks)))
    assert all(part.chunk.words and part.knows_decls for part in index.parts)
    # Once is enough: the next quiet time only finds that there is nothing left.
    assert calls_of(lambda: quiet(server, protocol)) < all_of_it / 20


async def test_colours_are_made_only_for_clients_that_show_them() -> None:
    server, protocol = a_server(generate(1, 1000), colours=False)
    quiet(server, protocol)
    opened = server.documents.get(URI)
    assert opened is not None
    assert not pieces_of(opened.analysis.document).kept


async def test_nothing_is_done_while_messages_come() -> None:
    server, protocol = a_server(generate(1, 1000), colours=True)
    idle: Any = server.idle
    protocol.heard = time.monotonic() + 60
    idle._tick()
    assert idle._steps is None
    opened = server.documents.get(URI)
    assert opened is not None
    assert not pieces_of(opened.analysis.document).kept


async def test_an_edit_starts_the_work_anew() -> None:
    server, protocol = a_server(generate(1, 1000), colours=True)
    idle: Any = server.idle
    protocol.heard = time.monotonic() - 60
    idle._tick()
    before = idle._serials
    place = {"line": 5, "character": 0}
    change = {"range": {"start": place, "end": place}, "text": "// new\n"}
    params = {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [change]}
    protocol.handle_message({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": params})
    quiet(server, protocol)
    assert idle._serials != before
    opened = server.documents.get(URI)
    assert opened is not None
    index = index_of(opened.analysis.document)
    kept = pieces_of(opened.analysis.document)
    assert all(kept.get(index, at, "utf-16") is not None for at in range(len(index.parts)))
