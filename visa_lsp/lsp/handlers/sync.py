"""Documents: opened, edited, closed; settings.

An edit is applied to *our* previous snapshot, change by change, as the message arrives: these handlers are plain
functions, so that a request that follows always sees the text that its sender saw.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from visa_lsp.ide.workspace import settings_of
from visa_lsp.lsp.convert import to_span
from visa_lsp.lsp.handlers.diagnostics import clear, refresh, schedule

if TYPE_CHECKING:
    from visa_lsp.lsp.session import VisaServer


def register(server: VisaServer) -> None:
    """Declare the handlers of this module."""
    server.feature(types.TEXT_DOCUMENT_DID_OPEN)(did_open)
    server.feature(types.TEXT_DOCUMENT_DID_CHANGE)(did_change)
    server.feature(types.TEXT_DOCUMENT_DID_CLOSE)(did_close)
    server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)(did_change_configuration)
    server.feature(types.INITIALIZED)(initialized)


def did_open(ls: VisaServer, params: types.DidOpenTextDocumentParams) -> None:
    """Take in a document."""
    item = params.text_document
    ls.documents.open(item.uri, item.version, item.text)
    schedule(ls, item.uri)


def did_change(ls: VisaServer, params: types.DidChangeTextDocumentParams) -> None:
    """Apply edits in their order; each counts on the result of the one before."""
    opened = ls.opened(params.text_document)
    if opened is None:
        return
    version = params.text_document.version
    analysis = opened.analysis
    for change in params.content_changes:
        if isinstance(change, types.TextDocumentContentChangePartial):
            span = to_span(analysis.document, change.range, ls.encoding)
            analysis = analysis.edited(span.start, span.end, change.text)
        else:
            analysis = ls.documents.open(opened.key, version, change.text).analysis
    ls.documents.update(opened.key, version, analysis.document)
    schedule(ls, opened.key)


def did_close(ls: VisaServer, params: types.DidCloseTextDocumentParams) -> None:
    """Forget a document and clear its findings."""
    ls.documents.close(params.text_document.uri)
    clear(ls, params.text_document.uri)


def did_change_configuration(ls: VisaServer, params: types.DidChangeConfigurationParams) -> None:
    """Take new settings from clients that send them."""
    if ls.documents.configure(settings_of(params.settings)):
        refresh(ls)


async def initialized(ls: VisaServer, _params: types.InitializedParams) -> None:
    """Ask for settings where the client keeps them for us."""
    workspace = ls.client_capabilities.workspace
    if workspace is None or not workspace.configuration:
        return
    item = types.ConfigurationItem(section="visa")
    values = await ls.workspace_configuration_async(types.ConfigurationParams([item]))
    if values and ls.documents.configure(settings_of(values[0])):
        refresh(ls)
