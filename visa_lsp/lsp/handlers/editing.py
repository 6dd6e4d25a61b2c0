"""Requests about editing: completion, signatures, rename, formatting, fixes."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from visa_lsp.embed import requests
from visa_lsp.embed.formatting import block_around, format_blocks
from visa_lsp.ide.features.code_actions import code_actions, fix_all
from visa_lsp.ide.features.completion import CompletionOffer, ItemKind, documentation, offers
from visa_lsp.ide.features.formatting import format_on_type, format_runs, format_text
from visa_lsp.ide.features.rename import RenameRefused, prepare_rename, rename
from visa_lsp.ide.features.signature import signature_help
from visa_lsp.ide.index.text_index import index_of
from visa_lsp.lsp.convert import range_of, raw_edits, raw_range, to_offset, to_span
from visa_lsp.lsp.encode import encode_json, finding_value
from visa_lsp.lsp.handlers import info
from visa_lsp.lsp.handlers.diagnostics import findings, findings_in_host
from visa_lsp.lsp.handlers.language import answer_by_language
from visa_lsp.lsp.transport.protocol import Encoded
from visa_lsp.lsp.visa_server import VisaServer, handles
from visa_lsp.lsp.work_progress import show_progress
from visa_lsp.syntax.memo import Key
from visa_lsp.text import Encoding, units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.diagnostics import Edit
    from visa_lsp.ide.workspace import OpenDocument

_ITEM: Final = {
    ItemKind.MNEMONIC: types.CompletionItemKind.Function,
    ItemKind.DIRECTIVE: types.CompletionItemKind.Keyword,
    ItemKind.MODIFIER: types.CompletionItemKind.EnumMember,
    ItemKind.VARIABLE: types.CompletionItemKind.Variable,
    ItemKind.LABEL: types.CompletionItemKind.Reference,
    ItemKind.TYPE: types.CompletionItemKind.TypeParameter,
    ItemKind.VALUE: types.CompletionItemKind.Value,
    ItemKind.PROPERTY: types.CompletionItemKind.Property,
}
# The edits that format a chunk, for columns in certain units; cached, because a line's format depends on the line alone.
_EDITS: Final = Key[tuple[bytes, tuple[int, ...]]]()
_REWRITE: Final = types.CodeActionKind.RefactorRewrite.value
_PLACEHOLDER: Final = re.compile(r"\$\{\d+(?::([^}]*)|\|([^,|]*)[^}]*)?\}")


@handles(types.TEXT_DOCUMENT_COMPLETION)
async def on_completion(ls: VisaServer, params: types.CompletionParams) -> Any:
    """Return the completion items at a position."""
    described = info.info_of(ls, params.text_document)
    if described is not None:
        offset = to_offset(described[0].analysis.document, params.position, ls.encoding)
        return info.completion_items(ls, *described, offset)
    asked = answer_by_language(ls, params, offers, requests.complete)
    if asked is None:
        return None
    opened, (choices, cut) = asked
    text = ls.client_capabilities.text_document
    capability = text.completion.completion_item if text and text.completion else None
    snippets = bool(capability and capability.snippet_support)
    ranges = {span: raw_range(opened.document, span, ls.encoding) for span in {item.span for item in choices}}
    items = [_completion(opened.key, item, params.position, ranges[item.span], snippets=snippets) for item in choices]
    return Encoded.of({"isIncomplete": cut, "items": items})


def _completion(
    uri: str, item: CompletionOffer, position: types.Position, place: dict[str, Any], *, snippets: bool
) -> dict[str, Any]:
    """Return an offer as a JSON value, because there are hundreds at each keystroke."""
    insert, form = item.insert, types.InsertTextFormat.PlainText
    if item.snippet and snippets:
        form = types.InsertTextFormat.Snippet
    elif item.snippet:
        insert = item.label if item.kind is ItemKind.MNEMONIC else _PLACEHOLDER.sub(r"\1\2", insert)
    value: dict[str, Any] = {
        "label": item.label,
        "kind": _ITEM[item.kind].value,
        "sortText": f"{item.rank:02}{item.label}",
        "filterText": item.label,
        "insertTextFormat": form.value,
        "textEdit": {"range": place, "newText": insert},
        "data": {"uri": uri, "kind": item.kind.value, "line": position.line, "character": position.character},
    }
    if item.detail:
        value["detail"] = item.detail
    return value


@handles(types.COMPLETION_ITEM_RESOLVE)
async def on_resolve(ls: VisaServer, item: types.CompletionItem) -> types.CompletionItem | None:
    """Add the documentation of a selected offer."""
    data = item.data if isinstance(item.data, dict) else {}
    opened = ls.documents.get(str(data.get("uri")))
    kinds = {kind.value: kind for kind in ItemKind}
    kind = kinds.get(str(data.get("kind")))
    line = data.get("line")
    if opened is not None and kind is not None and isinstance(line, int):
        host = ls.host(types.TextDocumentIdentifier(opened.key))
        if host is not None:
            column = data.get("character")
            position = types.Position(line, column if isinstance(column, int) else 0)
            text = requests.documentation(host[1], kind, item.label, to_offset(opened.document, position, ls.encoding))
        else:
            text = documentation(opened.analysis, kind, item.label, line)
        if text:
            item.documentation = types.MarkupContent(types.MarkupKind.Markdown, text)
    return item


@handles(types.TEXT_DOCUMENT_SIGNATURE_HELP)
async def on_signature(ls: VisaServer, params: types.SignatureHelpParams) -> types.SignatureHelp | None:
    """Return the syntax of the instruction at the cursor."""
    asked = answer_by_language(ls, params, signature_help, requests.signature_help)
    if asked is None or asked[1] is None:
        return None
    syntax = asked[1]
    signatures = [
        types.SignatureInformation(
            s.label,
            documentation=s.doc,
            parameters=[types.ParameterInformation((p.span.start, p.span.end), p.doc) for p in s.parameters],
        )
        for s in syntax.signatures
    ]
    # Past the last operand none is marked; every version of the protocol reads an index beyond the list in this way.
    active = syntax.parameter if syntax.parameter is not None else len(syntax.signatures[syntax.active].parameters)
    return types.SignatureHelp(signatures, syntax.active, active)


@handles(types.TEXT_DOCUMENT_PREPARE_RENAME)
async def on_prepare_rename(ls: VisaServer, params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
    """Return the range of the name that would be renamed."""
    asked = answer_by_language(ls, params, prepare_rename, requests.prepare_rename)
    if asked is None or asked[1] is None:
        return None
    opened, (span, name) = asked[0], asked[1]
    return types.PrepareRenamePlaceholder(range_of(opened.document, span, ls.encoding), name)


@handles(types.TEXT_DOCUMENT_RENAME, is_guarded=False)
async def on_rename(ls: VisaServer, params: types.RenameParams) -> Any:
    """Return the edits of a rename. Raises JsonRpcInvalidParams, which the editor shows, if the rename is refused."""
    try:
        asked = answer_by_language(ls, params, rename, requests.rename, params.new_name)
    except RenameRefused as refusal:
        raise JsonRpcInvalidParams(str(refusal)) from refusal
    if asked is None:
        return None
    opened, edits = asked
    return Encoded.of({"changes": {opened.key: raw_edits(opened.document, edits, ls.encoding)}})


@handles(types.TEXT_DOCUMENT_FORMATTING)
async def on_formatting(ls: VisaServer, params: types.DocumentFormattingParams) -> Any:
    """Return the edits that format the whole text; adjacent changed lines are one edit."""
    opened = ls.find_open(params.text_document)
    if opened is None:
        return None
    document = opened.analysis.document
    pieces: list[bytes] = []
    async with show_progress(ls, "vISA: formatting", params.work_done_token) as work:
        for number in range(len(document.chunks)):
            edits = chunk_edits(opened.analysis, number, ls.encoding)
            if edits:
                pieces.append(b"," + edits if pieces else edits)
            await work.step("formatting", number, len(document.chunks))
    return Encoded([b"[", *pieces, b"]"])


def chunk_edits(analysis: Analysis, chunk_number: int, encoding: Encoding) -> bytes:
    """Return the edits that format a chunk, as JSON text."""
    memo = index_of(analysis.document).parts[chunk_number].memo
    form, lines = memo.fact(_EDITS, partial(_edits_form, analysis, chunk_number, encoding), encoding)
    base = analysis.document.line_of(chunk_number)
    return form % tuple([base + line for line in lines])


def _edits_form(analysis: Analysis, chunk_number: int, encoding: Encoding) -> tuple[bytes, tuple[int, ...]]:
    """Return the edits with ``%d`` for each line, and the lines from the first of the chunk."""
    document = analysis.document
    base = document.line_of(chunk_number)
    out: list[bytes] = []
    lines: list[int] = []
    for run in format_runs(analysis, chunk_number):
        end = run.end
        if not document.chunks[chunk_number].text.isascii():
            end = units(document.line_text(base + run.last_line), encoding)
        text = json.dumps(run.text).encode().replace(b"%", b"%%")
        out.append(
            b'{"range": {"start": {"line": %%d, "character": 0}, "end": {"line": %%d, "character": %d}}, "newText": %b}'
            % (end, text)
        )
        lines += [run.first_line, run.last_line]
    return b",".join(out), tuple(lines)


@handles(types.TEXT_DOCUMENT_RANGE_FORMATTING)
async def on_range_formatting(ls: VisaServer, params: types.DocumentRangeFormattingParams) -> Any:
    """Return the edits that format lines; in a host, only lines of vISA in its strings."""
    return _format_ranges(ls, params.text_document, [params.range])


@handles(types.TEXT_DOCUMENT_RANGES_FORMATTING)
async def on_ranges_formatting(ls: VisaServer, params: types.DocumentRangesFormattingParams) -> Any:
    """Return the edits that format several ranges, such as those that differ from the last commit."""
    return _format_ranges(ls, params.text_document, params.ranges)


def _format_ranges(ls: VisaServer, identifier: types.TextDocumentIdentifier, ranges: Sequence[types.Range]) -> Any:
    """Return the edits of ranges, which may touch and overlap: each edit once, in text order."""
    host = ls.host(identifier)
    opened = host[0] if host is not None else ls.find_open(identifier)
    if opened is None:
        return None
    edits: set[Edit] = set()
    for part in ranges:
        if host is not None:
            edits.update(format_blocks(host[1], to_span(host[0].document, part, ls.encoding)))
        else:
            last = part.end.line - (part.end.character == 0 and part.end.line > part.start.line)
            edits.update(format_text(opened.analysis, part.start.line, last))
    document = host[0].document if host is not None else opened.analysis.document
    return Encoded.of(raw_edits(document, sorted(edits, key=lambda edit: edit.span), ls.encoding))


@handles(types.TEXT_DOCUMENT_ON_TYPE_FORMATTING)
async def on_type_formatting(ls: VisaServer, params: types.DocumentOnTypeFormattingParams) -> Any:
    """Return the edits that format the line just finished."""
    opened = ls.find_open(params.text_document)
    if opened is None:
        return None
    edits = format_on_type(opened.analysis, params.position.line, params.ch)
    return Encoded.of(raw_edits(opened.analysis.document, edits, ls.encoding))


@handles(types.TEXT_DOCUMENT_CODE_ACTION)
async def on_code_action(ls: VisaServer, params: types.CodeActionParams) -> Any:
    """Return the fixes of findings in a range, and the formatting of a block of vISA in a host."""
    opened = ls.find_open(params.text_document)
    only = params.context.only
    host = ls.host(params.text_document)
    if host is not None:
        opened, shown = host[0], findings_in_host(ls, host[0])
    elif opened is None:
        described = info.info_of(ls, params.text_document)
        if described is None:
            return None
        opened, shown = described[0], described[1].diagnostics
    else:
        shown = findings(ls, opened.key, opened.analysis)
    document = opened.document
    wanted = [str(getattr(kind, "value", kind)) for kind in only or ["quickfix"]]
    actions: list[str] = []
    if any("source.fixAll".startswith(kind) and kind for kind in wanted) or any(
        k.startswith("source.fixAll") for k in wanted
    ):
        edits = fix_all(shown)
        if edits:
            actions.append(
                _action("Apply every safe fix", types.CodeActionKind.SourceFixAll, opened, edits, ls.encoding)
            )
    if any(kind == "" or "quickfix".startswith(kind) for kind in wanted):
        for action in code_actions(shown, to_span(document, params.range, ls.encoding)):
            members = ', "isPreferred": true' if action.preferred else ""
            if action.diagnostic:
                value = finding_value(document, opened.key, action.diagnostic, ls.encoding)
                members += f', "diagnostics": [{encode_json(value).decode()}]'
            actions.append(
                _action(action.title, types.CodeActionKind.QuickFix, opened, action.edits, ls.encoding, members)
            )
    if host is not None and (only is None or any(_REWRITE.startswith(kind) for kind in wanted)):
        block = block_around(host[1], to_span(document, params.range, ls.encoding))
        edits = format_blocks(host[1], block) if block is not None else ()
        if edits:
            kind = types.CodeActionKind.RefactorRewrite
            actions.append(_action("Format this vISA block", kind, opened, edits, ls.encoding))
    return Encoded([b"[", ", ".join(actions).encode(), b"]"])


def _action(
    title: str,
    kind: types.CodeActionKind,
    opened: OpenDocument,
    edits: tuple[Edit, ...],
    encoding: Encoding,
    members: str = "",
) -> str:
    """Return the JSON text of an offer with these further ``members``."""
    changes = {opened.key: raw_edits(opened.document, edits, encoding)}
    return f'{{"title": {json.dumps(title)}, "kind": "{kind.value}", "edit": {{"changes": {json.dumps(changes)}}}{members}}}'
