"""Requests about the whole text: symbols, folding, semantic tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lsprotocol import types

from visa_lsp.ide.folding import FoldKind, folding_ranges
from visa_lsp.ide.semantic_tokens import MODIFIERS, TYPES, semantic_tokens
from visa_lsp.ide.symbols import Outline, OutlineKind, document_symbols, workspace_symbols
from visa_lsp.lsp.convert import line_range, range_of, to_span
from visa_lsp.lsp.session import guarded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.ide.semantic_tokens import SemanticToken
    from visa_lsp.ide.workspace import OpenDocument
    from visa_lsp.lsp.session import VisaServer

LEGEND: Final = types.SemanticTokensLegend(list(TYPES), list(MODIFIERS))
_SYMBOL: Final = {
    OutlineKind.KERNEL: types.SymbolKind.Module,
    OutlineKind.FUNCTION: types.SymbolKind.Function,
    OutlineKind.SUBROUTINE: types.SymbolKind.Method,
    OutlineKind.LABEL: types.SymbolKind.Key,
    OutlineKind.VARIABLE: types.SymbolKind.Variable,
    OutlineKind.ADDRESS: types.SymbolKind.Variable,
    OutlineKind.PREDICATE: types.SymbolKind.Boolean,
    OutlineKind.HANDLE: types.SymbolKind.Object,
}


def register(server: VisaServer) -> None:
    """Declare the handlers of this module."""
    server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)(on_document_symbol)
    server.feature(types.WORKSPACE_SYMBOL)(on_workspace_symbol)
    server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)(on_folding_range)
    server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, LEGEND)(on_tokens)
    server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, LEGEND)(on_tokens_range)


def _symbol(ls: VisaServer, opened: OpenDocument, entry: Outline) -> types.DocumentSymbol:
    document = opened.analysis.document
    return types.DocumentSymbol(
        name=entry.name,
        kind=_SYMBOL[entry.kind],
        range=range_of(document, entry.span, ls.encoding),
        selection_range=range_of(document, entry.name_span, ls.encoding),
        detail=entry.detail,
        children=[_symbol(ls, opened, child) for child in entry.children] or None,
    )


@guarded
async def on_document_symbol(
    ls: VisaServer, params: types.DocumentSymbolParams
) -> list[types.DocumentSymbol] | list[types.SymbolInformation] | None:
    """List the outline; flat for clients that know no tree."""
    opened = ls.opened(params.text_document)
    if opened is None:
        return None
    entries = document_symbols(opened.analysis)
    text = ls.client_capabilities.text_document
    known = text.document_symbol if text else None
    if known and known.hierarchical_document_symbol_support:
        return [_symbol(ls, opened, entry) for entry in entries]
    return [
        _information(ls, opened, entry, holder)
        for body in entries
        for entry, holder in ((body, ""), *((child, body.name) for child in body.children))
    ]


def _information(ls: VisaServer, opened: OpenDocument, entry: Outline, holder: str) -> types.SymbolInformation:
    place = types.Location(opened.key, range_of(opened.analysis.document, entry.name_span, ls.encoding))
    return types.SymbolInformation(place, entry.name, _SYMBOL[entry.kind], container_name=holder or None)


@guarded
async def on_workspace_symbol(ls: VisaServer, params: types.WorkspaceSymbolParams) -> list[types.SymbolInformation] | None:
    """List the names of every open document that fit a query."""
    return [
        _information(ls, opened, entry, holder)
        for opened in ls.documents
        for entry, holder in workspace_symbols(opened.analysis, params.query)
    ]


@guarded
async def on_folding_range(ls: VisaServer, params: types.FoldingRangeParams) -> list[types.FoldingRange] | None:
    """List what can be folded."""
    opened = ls.opened(params.text_document)
    if opened is None:
        return None
    kinds = {FoldKind.REGION: types.FoldingRangeKind.Region, FoldKind.COMMENT: types.FoldingRangeKind.Comment}
    return [types.FoldingRange(f.first, f.last, kind=kinds[f.kind]) for f in folding_ranges(opened.analysis)]


@guarded
async def on_tokens(ls: VisaServer, params: types.SemanticTokensParams) -> types.SemanticTokens | None:
    """Colour the whole text."""
    opened = ls.opened(params.text_document)
    return types.SemanticTokens(_packed(ls, opened, semantic_tokens(opened.analysis))) if opened else None


@guarded
async def on_tokens_range(ls: VisaServer, params: types.SemanticTokensRangeParams) -> types.SemanticTokens | None:
    """Colour the lines that are seen."""
    opened = ls.opened(params.text_document)
    if opened is None:
        return None
    document = opened.analysis.document
    span = to_span(document, params.range, ls.encoding)
    first, last = document.position(span.start)[0], document.position(span.end)[0]
    return types.SemanticTokens(_packed(ls, opened, semantic_tokens(opened.analysis, first, last)))


def _packed(ls: VisaServer, opened: OpenDocument, tokens: Iterable[SemanticToken]) -> list[int]:
    """Five numbers a token, each place relative to the one before."""
    data: list[int] = []
    line = column = 0
    for token in tokens:
        place = line_range(opened.analysis.document, token.line, token.span, ls.encoding)
        start, length = place.start.character, place.end.character - place.start.character
        bits = sum(1 << MODIFIERS.index(word) for word in token.modifiers)
        data += (token.line - line, start - (column if token.line == line else 0), length, TYPES.index(token.type), bits)
        line, column = token.line, start
    return data
