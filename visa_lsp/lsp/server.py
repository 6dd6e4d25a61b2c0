"""Builds the language server: its object and the handlers of every module, by an explicit list."""

from __future__ import annotations

from typing import Final

from visa_lsp.lsp.handlers import (
    commands,
    diagnostics,
    document_sync,
    editing,
    embedded_blocks,
    hierarchy,
    hints,
    language,
    structure,
)
from visa_lsp.lsp.visa_server import VisaServer

HANDLERS: Final = (
    document_sync,
    diagnostics,
    language,
    structure,
    editing,
    hierarchy,
    hints,
    commands,
    embedded_blocks,
)


def create_server(version: str) -> VisaServer:
    """Return a server with all handlers; ``start_io`` or ``start_tcp`` starts it."""
    server = VisaServer(version)
    for module in HANDLERS:
        module.register(server)
    return server
