"""Findings: pushed after each change, or pulled by clients that can.

A client that pulls gets nothing pushed, lest it show everything twice. What was computed for an older version is dropped.
Invariant: at most one pending publication per document.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from lsprotocol import types

from visa_lsp.lsp.convert import diagnostic
from visa_lsp.lsp.session import guarded

if TYPE_CHECKING:
    from visa_lsp.ide.workspace import OpenDocument
    from visa_lsp.lsp.session import VisaServer

logger = logging.getLogger(__name__)

# A small text is checked at once; a large one waits for a pause in typing.
_LARGE: Final = 5000
_PAUSE: Final = 0.2


def register(server: VisaServer) -> None:
    """Declare the handlers of this module."""
    options = types.DiagnosticOptions(inter_file_dependencies=False, workspace_diagnostics=False, identifier="visa-lsp")
    server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, options)(pull)


def pulls(ls: VisaServer) -> bool:
    """Whether the client asks for findings itself."""
    text = ls.client_capabilities.text_document
    return text is not None and text.diagnostic is not None


def _items(ls: VisaServer, opened: OpenDocument) -> list[types.Diagnostic]:
    text = ls.client_capabilities.text_document
    publish = text.publish_diagnostics if text else None
    related = bool(publish and publish.related_information) or pulls(ls)
    document = opened.analysis.document
    return [
        diagnostic(document, opened.key, found, ls.encoding, related=related) for found in opened.analysis.diagnostics
    ]


def schedule(ls: VisaServer, uri: str) -> None:
    """Publish the findings of a document soon; an earlier plan for it is given up."""
    if pulls(ls):
        return
    waiting = ls.pending.pop(uri, None)
    if waiting is not None:
        waiting.cancel()
    task = asyncio.get_running_loop().create_task(_publish(ls, uri))
    ls.pending[uri] = task
    task.add_done_callback(lambda done: ls.pending.pop(uri, None) if ls.pending.get(uri) is done else None)


async def _publish(ls: VisaServer, uri: str) -> None:
    opened = ls.documents.get(uri)
    if opened is None:
        return
    if opened.analysis.document.line_count > _LARGE:
        await asyncio.sleep(_PAUSE)
    try:
        items = _items(ls, opened)
    except Exception:
        logger.exception("findings of %s failed", uri)
        items = []
    if ls.documents.get(uri) is opened:
        ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, items, opened.version))


def clear(ls: VisaServer, uri: str) -> None:
    """Take back what was published about a document."""
    waiting = ls.pending.pop(uri, None)
    if waiting is not None:
        waiting.cancel()
    if not pulls(ls):
        ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))


def refresh(ls: VisaServer) -> None:
    """Findings of every open document may have changed."""
    workspace = ls.client_capabilities.workspace
    if pulls(ls):
        if workspace and workspace.diagnostics and workspace.diagnostics.refresh_support:
            ls.workspace_diagnostic_refresh(None)
        return
    for opened in ls.documents:
        schedule(ls, opened.key)


@guarded
async def pull(ls: VisaServer, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport | None:
    """Answer with all findings, or that nothing has changed since the last answer."""
    opened = ls.opened(params.text_document)
    if opened is None:
        return types.RelatedFullDocumentDiagnosticReport(items=[])
    result_id = f"{opened.version}:{ls.documents.settings.platform}"
    if params.previous_result_id == result_id:
        return types.RelatedUnchangedDocumentDiagnosticReport(result_id=result_id)
    return types.RelatedFullDocumentDiagnosticReport(items=_items(ls, opened), result_id=result_id)
