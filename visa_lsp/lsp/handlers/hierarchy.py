"""Requests about a place and its surroundings: call hierarchy, selection ranges, linked editing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types

from visa_lsp.ide.features.call_hierarchy import Call, Callable, find, find_callees, find_callers, prepare
from visa_lsp.ide.features.linked_editing import PATTERN, find_linked_places
from visa_lsp.ide.features.selection_range import selection_ranges
from visa_lsp.lsp.convert import line_range, range_of, to_offset
from visa_lsp.lsp.handlers.language import place
from visa_lsp.lsp.visa_server import VisaServer, handles

if TYPE_CHECKING:
    from visa_lsp.ide.workspace import OpenDocument

_KIND: Final = {
    "kernel": types.SymbolKind.Module,
    "function": types.SymbolKind.Function,
    "subroutine": types.SymbolKind.Method,
}


def _item(ls: VisaServer, opened: OpenDocument, entry: Callable) -> types.CallHierarchyItem:
    document = opened.analysis.document
    last = max(entry.line, min(entry.end, document.line_count) - 1)
    name = line_range(document, entry.line, entry.name_span, ls.encoding)
    end = line_range(document, last, type(entry.name_span)(0, len(document.line_text(last))), ls.encoding).end
    return types.CallHierarchyItem(
        name=entry.name,
        kind=_KIND[entry.kind],
        uri=opened.key,
        range=types.Range(types.Position(min(entry.first_line, entry.line), 0), end),
        selection_range=name,
        detail=f"{entry.kind} of {entry.body}" if entry.subroutine else entry.kind,
        data={"body": entry.body, "subroutine": entry.subroutine},
    )


@handles(types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY)
async def on_prepare_calls(
    ls: VisaServer, params: types.CallHierarchyPrepareParams
) -> list[types.CallHierarchyItem] | None:
    """Return the caller or callee at the cursor."""
    spot = place(ls, params)
    entry = prepare(spot[0].analysis, spot[1]) if spot else None
    return [_item(ls, spot[0], entry)] if spot and entry else None


def _find_callable(ls: VisaServer, item: types.CallHierarchyItem) -> tuple[OpenDocument, Callable] | None:
    opened = ls.find_open(types.TextDocumentIdentifier(item.uri))
    data: Any = item.data
    if opened is None or not isinstance(data, dict):
        return None
    entry = find(opened.analysis, str(data.get("body")), str(data.get("subroutine")))
    return (opened, entry) if entry is not None else None


def _ranges(ls: VisaServer, opened: OpenDocument, call: Call) -> list[types.Range]:
    return [line_range(opened.analysis.document, line, span, ls.encoding) for line, span in call.places]


@handles(types.CALL_HIERARCHY_INCOMING_CALLS)
async def on_incoming(
    ls: VisaServer, params: types.CallHierarchyIncomingCallsParams
) -> list[types.CallHierarchyIncomingCall] | None:
    """Return the callers of a function in all open texts, or of a subroutine in its text."""
    named = _find_callable(ls, params.item)
    if named is None:
        return None
    opened, callee = named
    incoming = []
    for document in ls.documents if not callee.subroutine else (opened,):
        same = ls.find_open(types.TextDocumentIdentifier(document.key))
        if same is not None and (document is opened or find(document.analysis, callee.body, "") is None):
            calls = find_callers(document.analysis, callee)
            incoming += [
                types.CallHierarchyIncomingCall(_item(ls, document, c.partner), _ranges(ls, document, c)) for c in calls
            ]
    return incoming


@handles(types.CALL_HIERARCHY_OUTGOING_CALLS)
async def on_outgoing(
    ls: VisaServer, params: types.CallHierarchyOutgoingCallsParams
) -> list[types.CallHierarchyOutgoingCall] | None:
    """Return the callees of a body or subroutine."""
    named = _find_callable(ls, params.item)
    if named is None:
        return None
    opened, caller = named
    return [
        types.CallHierarchyOutgoingCall(_item(ls, opened, call.partner), _ranges(ls, opened, call))
        for call in find_callees(opened.analysis, caller)
    ]


@handles(types.TEXT_DOCUMENT_SELECTION_RANGE)
async def on_selection_range(ls: VisaServer, params: types.SelectionRangeParams) -> list[types.SelectionRange] | None:
    """Return the ranges around each place; one result for each place, as the protocol requires."""
    opened = ls.find_open(params.text_document)
    if opened is None:
        return None
    document = opened.analysis.document
    ranges = []
    for where in params.positions:
        current: types.SelectionRange | None = None
        for span in reversed(selection_ranges(opened.analysis, to_offset(document, where, ls.encoding))):
            current = types.SelectionRange(range_of(document, span, ls.encoding), current)
        ranges.append(current or types.SelectionRange(types.Range(where, where)))
    return ranges


@handles(types.TEXT_DOCUMENT_LINKED_EDITING_RANGE)
async def on_linked_editing(ls: VisaServer, params: types.LinkedEditingRangeParams) -> types.LinkedEditingRanges | None:
    """Return the places that are edited together."""
    spot = place(ls, params)
    spans = find_linked_places(spot[0].analysis, spot[1]) if spot else ()
    if spot is None or not spans:
        return None
    return types.LinkedEditingRanges([range_of(spot[0].analysis.document, s, ls.encoding) for s in spans], PATTERN)
