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
    objects,
    runs,
    structure,
    tools,
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
    objects,
    runs,
    tools,
    commands,
    embedded_blocks,
)


def create_server(version: str) -> VisaServer:
    """Return a server with all handlers; ``start_io`` or ``start_tcp`` starts it."""
    server = VisaServer(version)
    for module in HANDLERS:
        for handler in vars(module).values():
            if getattr(handler, "__module__", "") != module.__name__:
                continue  # imported from another module
            if method := getattr(handler, "method", None):
                server.feature(method)(handler)
            elif command := getattr(handler, "command", None):
                server.command(command)(handler)
    return server
