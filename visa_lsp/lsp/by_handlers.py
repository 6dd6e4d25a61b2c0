"""What the library offers a client for the handlers that a server has, without any options.

``offered`` has it for a client that says nothing of itself, in a form that needs no library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lsprotocol import types
from lsprotocol.converters import get_converter
from pygls.capabilities import ServerCapabilitiesBuilder

if TYPE_CHECKING:
    from visa_lsp.lsp.session import VisaServer


def offers_of(server: VisaServer, client: types.ClientCapabilities) -> dict[str, Any]:
    """The capabilities that follow from the methods and commands that are handled, as JSON has them."""
    methods = server.protocol.fm
    built = ServerCapabilitiesBuilder(  # type: ignore[no-untyped-call]  # pygls annotates nothing here
        client,
        {*methods.features, *methods.builtin_features},
        {},
        list(methods.commands),
        types.TextDocumentSyncKind.Incremental,
        None,
        ServerCapabilitiesBuilder.choose_position_encoding(client),
    ).build()
    found: dict[str, Any] = get_converter().unstructure(built)
    return found


def plain_offers(server: VisaServer) -> dict[str, Any]:
    """What every client is offered; the encoding of positions is an answer to what the client says."""
    offers = offers_of(server, types.ClientCapabilities())
    return {name: offers[name] for name in sorted(offers) if name != "positionEncoding"}
