"""Findings of open documents and of files in the folders: pushed after each change, or pulled by clients that can.

A client that pulls gets no pushed findings, because it would show them twice. Results for an older version are dropped.
Invariant: at most one pending publication per document.
"""

from __future__ import annotations

import asyncio
import logging
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types

from visa_lsp.analysis.analysis import CLASSIFIED_FROM_LINES, Analysis
from visa_lsp.ide.deferred_findings import MAX_UNDEFERRED_LINES, find_deferred, keep_deferred
from visa_lsp.ide.suppressions import visible
from visa_lsp.ide.workspace import Language, OpenDocument
from visa_lsp.lsp.deferred_findings import find_in_subprocess
from visa_lsp.lsp.encode import MAX_FINDINGS, FindingView, count_value, encode_json, finding_value, finding_values
from visa_lsp.lsp.handlers.info import info_of, text_at
from visa_lsp.lsp.transport.protocol import Encoded
from visa_lsp.lsp.visa_server import VisaServer, handles
from visa_lsp.lsp.work_progress import send_partial, show_progress
from visa_lsp.syntax.memo import Key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from visa_lsp.diagnostics import Diagnostic
    from visa_lsp.lsp.jobs.model import FileRules
    from visa_lsp.syntax.document import Document

logger = logging.getLogger(__name__)

# Seconds without typing before a process is started for deferred findings.
_PAUSE: Final = 0.4
_DEPENDENT: Final = {Language.VISA: (Language.ZEINFO, Language.LAUNCH), Language.ZEINFO: (Language.LAUNCH,)}
Value = dict[str, Any]


def pulls(ls: VisaServer) -> bool:
    """Return whether the client requests findings itself."""
    text = ls.client_capabilities.text_document
    return text is not None and text.diagnostic is not None


def findings(ls: VisaServer, uri: str, analysis: Analysis) -> tuple[Diagnostic, ...]:
    """Return the visible findings of a vISA text, as ``check`` reports them with the same settings."""
    rules = ls.rules_for(uri)
    if _has_deferred(rules, analysis):
        # Deferred findings never delay the findings after a keystroke.
        shown = find_deferred(analysis, rules.extra) or visible(analysis)
    else:
        shown = visible(analysis, rules.extra)
    return tuple(d for d in shown if rules.shows(d.rule))


def findings_in_host(ls: VisaServer, opened: OpenDocument) -> tuple[Diagnostic, ...]:
    """Return the visible findings of the vISA in a document of another language."""
    host = ls.host(types.TextDocumentIdentifier(opened.key))
    if host is None:
        return ()
    from visa_lsp.embed.host_findings import findings

    rules = ls.rules_for(opened.key)
    return tuple(d for d in findings(host[1], rules.extra) if rules.shows(d.rule))


def _has_deferred(rules: FileRules, analysis: Analysis) -> bool:
    """Return whether some rules take too long to run while a request waits."""
    return bool(rules.extra) and analysis.document.line_count > MAX_UNDEFERRED_LINES


def _waits_for_deferred(ls: VisaServer, opened: OpenDocument) -> bool:
    """Return whether deferred findings of a document are still missing."""
    rules = ls.rules_for(opened.key)
    if opened.language is not Language.VISA or not _has_deferred(rules, opened.analysis):
        return False
    return find_deferred(opened.analysis, rules.extra) is None


async def _find_deferred(ls: VisaServer, opened: OpenDocument) -> bool:
    """Compute the deferred findings after a pause in typing; return whether there are new ones. Cancelled with its task."""
    if not _waits_for_deferred(ls, opened):
        return False
    rules = ls.rules_for(opened.key)
    await asyncio.sleep(_PAUSE)
    try:
        deferred = await find_in_subprocess(opened.analysis, rules.extra)
    except Exception:
        logger.exception("deferred findings of %s failed", opened.key)
        return False
    if deferred is None:
        logger.error("the process for deferred findings of %s gave no answer", opened.key)
        return False
    keep_deferred(opened.analysis, rules.extra, deferred)
    return ls.documents.get(opened.key) is opened


def _of_open(ls: VisaServer, opened: OpenDocument) -> tuple[Diagnostic, ...]:
    if opened.language is Language.VISA:
        # An empty file has a finding, as in ``check``; an empty unsaved document has none, because it is new.
        unbegun = ls.files.path_of(opened.key) is None and _is_blank(opened.analysis)
        return () if unbegun else findings(ls, opened.key, opened.analysis)
    if opened.language is Language.HOST:
        return findings_in_host(ls, opened)
    info = info_of(ls, types.TextDocumentIdentifier(opened.key))
    if info is None:
        return ()
    rules = ls.rules_for(opened.key)
    return tuple(d for d in info[1].diagnostics if rules.shows(d.rule))


def _is_blank(analysis: Analysis) -> bool:
    return all(not chunk.text or chunk.text.isspace() for chunk in analysis.document.chunks)


def _takes_related(ls: VisaServer) -> bool:
    text = ls.client_capabilities.text_document
    publish = text.publish_diagnostics if text else None
    return bool(publish and publish.related_information) or pulls(ls)


def _items(ls: VisaServer, uri: str, document: Document, all_findings: Sequence[Diagnostic]) -> list[Value]:
    """Return findings as JSON values; those beyond the limit are only counted."""
    related, other = _takes_related(ls), cache(partial(text_at, ls))
    shown = all_findings[:MAX_FINDINGS]
    items = [finding_value(document, uri, d, ls.encoding, related=related, other=other) for d in shown]
    return [*items, count_value(document, len(all_findings) - len(shown))] if len(all_findings) > len(shown) else items


def _items_of_open(ls: VisaServer, opened: OpenDocument) -> list[Value]:
    """Return the findings of an open document as JSON values."""
    analysis, rules = opened.analysis, ls.rules_for(opened.key)
    if (
        opened.language is Language.VISA
        and analysis.document.line_count >= CLASSIFIED_FROM_LINES
        and not analysis.document.marked  # because suppressions read every finding
        and not (rules.extra and not _waits_for_deferred(ls, opened))
        and not (ls.files.path_of(opened.key) is None and _is_blank(analysis))
        and len(analysis.findings) <= MAX_FINDINGS
    ):
        return finding_values(analysis.findings, FindingView(opened.key, ls.encoding, _takes_related(ls), rules.shows))
    return _items(ls, opened.key, opened.document, _of_open(ls, opened))


def _publish_values(ls: VisaServer, uri: str, version: int | None, items: list[Value]) -> None:
    """Send findings."""
    number = b"" if version is None else b', "version": %d' % version
    # The version comes first, because a client may search for it before it reads the rest.
    head = b'{"uri": %b%b, "diagnostics": ' % (encode_json(uri), number)
    ls.protocol.tell(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, [head, encode_json(items), b"}"])


def schedule(ls: VisaServer, uri: str, before: OpenDocument | None = None) -> None:
    """Publish the findings of a document soon; replaces an earlier plan for it.

    ``before`` is the old document; it is released after publishing, because freeing a snapshot can take longer than the
    edit.
    """
    if pulls(ls):
        return
    waiting = ls.pending.pop(uri, None)
    if waiting is not None:
        waiting.cancel()
    # A timer instead of a task, because making and ending a task costs time at each keystroke.
    ls.pending[uri] = asyncio.get_running_loop().call_soon(_publish, ls, uri, before)


def _publish(ls: VisaServer, uri: str, _before: OpenDocument | None = None) -> None:
    ls.pending.pop(uri, None)
    opened = ls.documents.get(uri)
    if opened is None:
        return
    try:
        items = _items_of_open(ls, opened)
    except Exception:
        logger.exception("findings of %s failed", uri)
        items = []
    if ls.documents.get(uri) is opened:
        _publish_values(ls, uri, opened.version, items)
    schedule_beside(ls, opened)
    if _waits_for_deferred(ls, opened):
        ls.pending[uri] = asyncio.get_running_loop().create_task(_publish_deferred(ls, opened))


def schedule_beside(ls: VisaServer, opened: OpenDocument) -> None:
    """Republish the findings that depend on an open document: ze_info on texts, launch files on both."""
    dependent = _DEPENDENT.get(opened.language, ())
    folder = opened.key.rpartition("/")[0]
    for beside in ls.documents if dependent else ():
        if beside.language in dependent and beside.key.rpartition("/")[0] == folder:
            schedule(ls, beside.key)


async def _publish_deferred(ls: VisaServer, opened: OpenDocument) -> None:
    if await _find_deferred(ls, opened):
        items = _items(ls, opened.key, opened.analysis.document, _of_open(ls, opened))
        _publish_values(ls, opened.key, opened.version, items)


def clear(ls: VisaServer, uri: str) -> None:
    """Clear the published findings of a document."""
    waiting = ls.pending.pop(uri, None)
    if waiting is not None:
        waiting.cancel()
    if not pulls(ls):
        _publish_values(ls, uri, None, [])


def refresh(ls: VisaServer) -> None:
    """Refresh findings, hints, lenses and folds of every open document."""
    ls.refresh("inlay_hint", "code_lens", "folding_range")
    _refresh_findings(ls, *Language)


def refresh_launches(ls: VisaServer) -> None:
    """Refresh the findings of open launch files, because files that they name were created or deleted."""
    _refresh_findings(ls, Language.LAUNCH)


def _refresh_findings(ls: VisaServer, *languages: Language) -> None:
    if pulls(ls):
        ls.refresh("diagnostics")
        return
    for opened in ls.documents:
        if opened.language in languages:
            schedule(ls, opened.key)


def _result_id(ls: VisaServer, opened: OpenDocument) -> str:
    """Return an id of a document's findings; those of ze_info depend on the texts beside it."""
    if opened.language is Language.ZEINFO:
        return "-".join([f"{opened.serial}", *(str(d.serial) for d in ls.documents if d.language is Language.VISA)])
    if opened.language is Language.LAUNCH:  # those of launch files depend also on files that are not open
        return f"{opened.serial}-{hash(_of_open(ls, opened)) & 0xFFFFFFFF:x}"
    deferred = find_deferred(opened.analysis, ls.rules_for(opened.key).extra) is not None
    return f"{opened.serial}{'-deferred' if deferred else ''}"


async def _pull_again(ls: VisaServer, opened: OpenDocument) -> None:
    """Make the client request findings again once deferred ones are ready."""
    if ls.can_refresh("diagnostics") and await _find_deferred(ls, opened):
        ls.refresh("diagnostics")


@handles(types.TEXT_DOCUMENT_DIAGNOSTIC)
async def pull(ls: VisaServer, params: types.DocumentDiagnosticParams) -> Any:
    """Answer with all findings, or that nothing has changed since the last answer."""
    opened = ls.documents.get(params.text_document.uri)
    if opened is None:
        return types.RelatedFullDocumentDiagnosticReport(items=[])
    result_id = _result_id(ls, opened)
    if params.previous_result_id == result_id:
        return types.RelatedUnchangedDocumentDiagnosticReport(result_id=result_id)
    items = _items_of_open(ls, opened)
    waiting = ls.pending.pop(opened.key, None)
    if waiting is not None:
        waiting.cancel()
    ls.pending[opened.key] = asyncio.get_running_loop().create_task(_pull_again(ls, opened))
    return Encoded([encode_json({"kind": "full", "resultId": result_id, "items": items})])


@handles(types.WORKSPACE_DIAGNOSTIC, is_guarded=False)
async def pull_workspace(ls: VisaServer, params: types.WorkspaceDiagnosticParams) -> Encoded:
    """Answer with the findings of every text of the folders, in parts if the client accepts parts."""
    # The library converts any value to text here.
    before = {p.uri: p.value for p in params.previous_result_ids if isinstance(p.uri, str)}
    token = params.partial_result_token
    reports: list[Value] = []
    async with show_progress(ls, "vISA: checking the workspace", params.work_done_token) as work:
        for report in _open_reports(ls, before):
            reports.append(report)
            await work.step()
        if ls.documents.settings.workspace_diagnostics:
            paths = list(ls.files.visa_files())
            for number, path in enumerate(paths):
                try:
                    file_report = _file_report(ls, path, before)
                except Exception:
                    logger.exception("findings of %s failed", path)
                    continue
                if file_report is not None:
                    reports.append(file_report)
                if token is not None and len(reports) >= 8:
                    send_partial(ls, token, {"items": reports})
                    reports = []
                await work.step(path.name, number, len(paths))
    if token is not None and reports:
        send_partial(ls, token, {"items": reports})
        reports = []
    return Encoded([encode_json({"items": reports})])


def _report(uri: str, version: int | None, result_id: str, items: list[Value] | None) -> Value:
    """Return the report on a document; without ``items`` nothing has changed."""
    content = {"kind": "unchanged"} if items is None else {"kind": "full", "items": items}
    return {"uri": uri, "version": version, "resultId": result_id, **content}


def _open_reports(ls: VisaServer, before: dict[str, str]) -> Iterable[Value]:
    for opened in ls.documents:
        if opened.language is not Language.OTHER:
            result_id = _result_id(ls, opened)
            is_known = before.get(opened.key) == result_id
            items = None if is_known else _items(ls, opened.key, opened.document, _of_open(ls, opened))
            yield _report(opened.key, opened.version, result_id, items)


# The findings of a file that is not open, for a state of the file, its settings and its platform, which the id of the
# report contains.
_REPORT: Final = Key[list[Value] | None]()


def _file_report(ls: VisaServer, path: Path, before: dict[str, str]) -> Value | None:
    """Return the findings of a file that is not open; None for an open or unreadable file."""
    if ls.files.find_open(path) is not None:
        return None
    uri, stamp = ls.files.uri_of(path), ls.files.stamp(path)
    if stamp is None:
        return None
    settings = ls.documents.settings_for(uri)
    result_id = f"{stamp[0]:x}.{stamp[1]:x}.{hash((settings, ls.documents.platform_name(uri))) & 0xFFFFFFFF:x}"
    if before.get(uri) == result_id:
        return _report(uri, None, result_id, None)

    def compute() -> list[Value] | None:
        analysis = ls.files.analysis(path)
        return None if analysis is None else _items(ls, uri, analysis.document, findings(ls, uri, analysis))

    items = ls.files.memo(uri).fact(_REPORT, compute, result_id)
    return None if items is None else _report(uri, None, result_id, items)
