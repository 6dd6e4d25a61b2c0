"""Builds the language server: its object and the handlers of every module, by an explicit list."""

from __future__ import annotations

from typing import Final

from visa_lsp.lsp.handlers import blocks, commands, diagnostics, editing, hierarchy, hints, language, structure, sync
from visa_lsp.lsp.session import VisaServer

HANDLERS: Final = (sync, diagnostics, language, structure, editing, hierarchy, hints, commands, blocks)


def create_server(version: str) -> VisaServer:
    """Return a server with all handlers; ``start_io`` or ``start_tcp`` starts it."""
    server = VisaServer(version)
    for module in HANDLERS:
        module.register(server)
    return server
