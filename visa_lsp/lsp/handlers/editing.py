"""Requests that help to write and to change text: completion, signatures, rename, formatting, fixes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from visa_lsp.ide.code_actions import code_actions, fix_all
from visa_lsp.ide.completion import Item, ItemKind, documentation, offers
from visa_lsp.ide.formatting import format_chunk, format_on_type, format_text
from visa_lsp.ide.rename import RenameRefused, prepare_rename, rename
from visa_lsp.ide.signature import signature_help
from visa_lsp.lsp.convert import diagnostic, range_of, text_edits, to_offset, to_span
from visa_lsp.lsp.handlers import info
from visa_lsp.lsp.handlers.diagnostics import findings
from visa_lsp.lsp.handlers.language import place
from visa_lsp.lsp.progress import working
from visa_lsp.lsp.session import guarded

if TYPE_CHECKING:
    from visa_lsp.ide.workspace import OpenDocument
    from visa_lsp.lsp.session import VisaServer

_ITEM: Final = {
    ItemKind.MNEMONIC: types.CompletionItemKind.Function,
    ItemKind.DIRECTIVE: types.CompletionItemKind.Keyword,
    ItemKind.MODIFIER: types.CompletionItemKind.EnumMember,
    ItemKind.VARIABLE: types.CompletionItemKind.Variable,
    ItemKind.LABEL: types.CompletionItemKind.Reference,
    ItemKind.TYPE: types.CompletionItemKind.TypeParameter,
    ItemKind.VALUE: types.CompletionItemKind.Value,
    ItemKind.PROPERTY: types.CompletionItemKind.Property,
    ItemKind.SNIPPET: types.CompletionItemKind.Snippet,
}
_PLACEHOLDER: Final = re.compile(r"\$\{\d+(?::([^}]*)|\|([^,|]*)[^}]*)?\}")


def register(server: VisaServer) -> None:
    """Declare the handlers of this module."""
    triggers = types.CompletionOptions(trigger_characters=[".", "(", "<", ":", "%", "=", "{"], resolve_provider=True)
    server.feature(types.TEXT_DOCUMENT_COMPLETION, triggers)(on_completion)
    server.feature(types.COMPLETION_ITEM_RESOLVE)(on_resolve)
    signatures = types.SignatureHelpOptions(trigger_characters=[" ", "("], retrigger_characters=[" ", ","])
    server.feature(types.TEXT_DOCUMENT_SIGNATURE_HELP, signatures)(on_signature)
    server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)(on_prepare_rename)
    server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))(on_rename)
    server.feature(types.TEXT_DOCUMENT_FORMATTING)(on_formatting)
    server.feature(types.TEXT_DOCUMENT_RANGE_FORMATTING)(on_range_formatting)
    typed = types.DocumentOnTypeFormattingOptions("\n", more_trigger_character=[":", "}"])
    server.feature(types.TEXT_DOCUMENT_ON_TYPE_FORMATTING, typed)(on_type_formatting)
    kinds = types.CodeActionOptions(
        code_action_kinds=[types.CodeActionKind.QuickFix, types.CodeActionKind.SourceFixAll]
    )
    server.feature(types.TEXT_DOCUMENT_CODE_ACTION, kinds)(on_code_action)


@guarded
async def on_completion(ls: VisaServer, params: types.CompletionParams) -> types.CompletionList | None:
    """Offer what may be written here."""
    described = info.info_of(ls, params.text_document)
    if described is not None:
        offset = to_offset(described[0].analysis.document, params.position, ls.encoding)
        return info.completion_items(ls, *described, offset)
    at = place(ls, params)
    if at is None:
        return None
    text = ls.client_capabilities.text_document
    known = text.completion.completion_item if text and text.completion else None
    snippets = bool(known and known.snippet_support)
    found, cut = offers(at[0].analysis, at[1])
    items = [_completion(ls, at[0], item, params.position.line, snippets=snippets) for item in found]
    return types.CompletionList(is_incomplete=cut, items=items)


def _completion(ls: VisaServer, opened: OpenDocument, item: Item, line: int, *, snippets: bool) -> types.CompletionItem:
    insert, form = item.insert, types.InsertTextFormat.PlainText
    if item.snippet and snippets:
        form = types.InsertTextFormat.Snippet
    elif item.snippet:
        insert = item.label if item.kind is ItemKind.MNEMONIC else _PLACEHOLDER.sub(r"\1\2", insert)
    return types.CompletionItem(
        label=item.label,
        kind=_ITEM[item.kind],
        detail=item.detail or None,
        sort_text=f"{item.rank:02}{item.label}",
        filter_text=item.label,
        insert_text_format=form,
        text_edit=types.TextEdit(range_of(opened.analysis.document, item.span, ls.encoding), insert),
        data={"uri": opened.key, "kind": item.kind.value, "line": line},
    )


@guarded
async def on_resolve(ls: VisaServer, item: types.CompletionItem) -> types.CompletionItem | None:
    """Add the page of an offer that is looked at."""
    data = item.data if isinstance(item.data, dict) else {}
    opened = ls.documents.get(str(data.get("uri")))
    kinds = {kind.value: kind for kind in ItemKind}
    kind = kinds.get(str(data.get("kind")))
    line = data.get("line")
    if opened is not None and kind is not None and isinstance(line, int):
        text = documentation(opened.analysis, kind, item.label, line)
        if text:
            item.documentation = types.MarkupContent(types.MarkupKind.Markdown, text)
    return item


@guarded
async def on_signature(ls: VisaServer, params: types.SignatureHelpParams) -> types.SignatureHelp | None:
    """Show the syntax of the instruction being written."""
    at = place(ls, params)
    found = signature_help(at[0].analysis, at[1]) if at else None
    if found is None:
        return None
    signatures = [
        types.SignatureInformation(
            s.label,
            documentation=s.doc,
            parameters=[types.ParameterInformation((p.span.start, p.span.end), p.doc) for p in s.parameters],
        )
        for s in found.signatures
    ]
    # Past the last operand nothing is marked: an index beyond the list says so in every version of the protocol.
    active = found.parameter if found.parameter is not None else len(found.signatures[found.active].parameters)
    return types.SignatureHelp(signatures, found.active, active)


@guarded
async def on_prepare_rename(ls: VisaServer, params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
    """Say which name would be renamed."""
    at = place(ls, params)
    found = prepare_rename(at[0].analysis, at[1]) if at else None
    if at is None or found is None:
        return None
    return types.PrepareRenamePlaceholder(range_of(at[0].analysis.document, found[0], ls.encoding), found[1])


async def on_rename(ls: VisaServer, params: types.RenameParams) -> types.WorkspaceEdit | None:
    """Rename; a refusal is an error that the editor shows."""
    at = place(ls, params)
    if at is None:
        return None
    try:
        edits = rename(at[0].analysis, at[1], params.new_name)
    except RenameRefused as refusal:
        raise JsonRpcInvalidParams(str(refusal)) from refusal
    return types.WorkspaceEdit(changes={at[0].key: text_edits(at[0].analysis.document, edits, ls.encoding)})


@guarded
async def on_formatting(ls: VisaServer, params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
    """Bring the whole text into shape."""
    opened = ls.opened(params.text_document)
    if opened is None:
        return None
    document = opened.analysis.document
    found: list[types.TextEdit] = []
    async with working(ls, "vISA: formatting", params.work_done_token) as work:
        for at in range(len(document.chunks)):
            found += text_edits(document, format_chunk(opened.analysis, at, 0, document.line_count), ls.encoding)
            await work.step("formatting", at, len(document.chunks))
    return found


@guarded
async def on_range_formatting(
    ls: VisaServer, params: types.DocumentRangeFormattingParams
) -> list[types.TextEdit] | None:
    """Bring some lines into shape."""
    opened = ls.opened(params.text_document)
    if opened is None:
        return None
    last = params.range.end.line - (params.range.end.character == 0 and params.range.end.line > params.range.start.line)
    return text_edits(
        opened.analysis.document, format_text(opened.analysis, params.range.start.line, last), ls.encoding
    )


@guarded
async def on_type_formatting(
    ls: VisaServer, params: types.DocumentOnTypeFormattingParams
) -> list[types.TextEdit] | None:
    """Bring what was just finished into shape."""
    opened = ls.opened(params.text_document)
    if opened is None:
        return None
    edits = format_on_type(opened.analysis, params.position.line, params.ch)
    return text_edits(opened.analysis.document, edits, ls.encoding)


@guarded
async def on_code_action(ls: VisaServer, params: types.CodeActionParams) -> list[types.CodeAction] | None:
    """Offer the fixes of findings in a range."""
    opened = ls.opened(params.text_document)
    only = params.context.only
    if opened is None:
        described = info.info_of(ls, params.text_document)
        if described is None:
            return None
        opened, shown = described[0], described[1].diagnostics
    else:
        shown = findings(ls, opened.key, opened.analysis)
    document = opened.analysis.document
    wanted = [str(getattr(kind, "value", kind)) for kind in only or ["quickfix"]]
    actions: list[types.CodeAction] = []
    if any("source.fixAll".startswith(kind) and kind for kind in wanted) or any(
        k.startswith("source.fixAll") for k in wanted
    ):
        edits = fix_all(shown)
        if edits:
            change = types.WorkspaceEdit(changes={opened.key: text_edits(document, edits, ls.encoding)})
            actions.append(types.CodeAction("Apply every safe fix", types.CodeActionKind.SourceFixAll, edit=change))
    if not any(kind == "" or "quickfix".startswith(kind) for kind in wanted):
        return actions
    return actions + [
        types.CodeAction(
            title=action.title,
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[diagnostic(document, opened.key, action.diagnostic, ls.encoding)]
            if action.diagnostic
            else None,
            is_preferred=action.preferred or None,
            edit=types.WorkspaceEdit(changes={opened.key: text_edits(document, action.edits, ls.encoding)}),
        )
        for action in code_actions(shown, to_span(document, params.range, ls.encoding))
    ]
