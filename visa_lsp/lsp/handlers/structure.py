"""Requests about the whole text: symbols, folding, semantic tokens.

Long answers are made here as JSON text (``Encoded``), because converting them object by object would take longer than
computing them.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from lsprotocol import types

from visa_lsp.embed import requests
from visa_lsp.ide.features.folding import Fold, FoldKind, folding_ranges
from visa_lsp.ide.features.outline import leaves, outline
from visa_lsp.ide.features.semantic_tokens import is_coloured_by_chunk
from visa_lsp.ide.features.symbols import OutlineEntry, OutlineKind, pattern_of, workspace_symbols
from visa_lsp.ide.features.token_pieces import Piece, encode_pieces, lines_of, piece_of
from visa_lsp.ide.workspace import Language, OpenDocument
from visa_lsp.lsp.convert import to_span
from visa_lsp.lsp.encode import encode_json
from visa_lsp.lsp.handlers import info
from visa_lsp.lsp.transport.protocol import Encoded, pause
from visa_lsp.lsp.visa_server import VisaServer, handles
from visa_lsp.lsp.work_progress import send_partial, show_progress
from visa_lsp.syntax.document import Document, common
from visa_lsp.syntax.memo import Key
from visa_lsp.text import units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Columns: TypeAlias = Callable[[int, int], int] | None

_MAX_SYMBOLS: Final = 1500
_KEPT_TOKENS: Final = 16
_SYMBOL: Final = {
    OutlineKind.KERNEL: types.SymbolKind.Module,
    OutlineKind.FUNCTION: types.SymbolKind.Function,
    OutlineKind.SUBROUTINE: types.SymbolKind.Method,
    OutlineKind.LABEL: types.SymbolKind.Key,
    OutlineKind.VARIABLE: types.SymbolKind.Variable,
    OutlineKind.ADDRESS: types.SymbolKind.Variable,
    OutlineKind.PREDICATE: types.SymbolKind.Boolean,
    OutlineKind.HANDLE: types.SymbolKind.Object,
    OutlineKind.INPUT: types.SymbolKind.Field,
    OutlineKind.GROUP: types.SymbolKind.Namespace,
}


# ---- symbols ----


def _name_range(ls: VisaServer, document: Document, entry: OutlineEntry) -> dict[str, Any]:
    line, start, end = entry.line, entry.name_span.start, entry.name_span.end
    text = document.line_text(line)
    if not text.isascii():
        start, end = units(text[:start], ls.encoding), units(text[:end], ls.encoding)
    return {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}


def _symbol(ls: VisaServer, document: Document, entry: OutlineEntry) -> dict[str, Any]:
    """Return an entry of the outline with its children."""
    name = _name_range(ls, document, entry)
    end = {"line": entry.last_line, "character": units(document.line_text(entry.last_line), ls.encoding)}
    value: dict[str, Any] = {
        "name": entry.name,
        "detail": entry.detail,
        "kind": _SYMBOL[entry.kind].value,
        "range": {
            "start": {"line": entry.first_line, "character": 0},
            "end": name["end"] if entry.last_line == entry.line else end,
        },
        "selectionRange": name,
    }
    if entry.children:
        value["children"] = [_symbol(ls, document, child) for child in entry.children]
    return value


@handles(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
async def on_document_symbol(ls: VisaServer, params: types.DocumentSymbolParams) -> Any:
    """Return the outline; flat for clients without trees."""
    described = info.info_of(ls, params.text_document)
    if described is not None:
        return info.document_symbols(ls, *described)
    opened = ls.find_open(params.text_document)
    if opened is None:
        return None
    document = opened.analysis.document
    text = ls.client_capabilities.text_document
    capability = text.document_symbol if text else None
    bodies = outline(opened.analysis, info.input_labels(ls, opened))
    if capability and capability.hierarchical_document_symbol_support:
        return Encoded([encode_json([_symbol(ls, document, body) for body in bodies])])
    return Encoded.of(
        [
            _information(ls, opened.key, document, entry, holder)
            for body in bodies
            for entry, holder in ((body, ""), *((leaf, body.name) for leaf in leaves(body)))
        ]
    )


def _information(ls: VisaServer, uri: str, document: Document, entry: OutlineEntry, holder: str) -> dict[str, Any]:
    value: dict[str, Any] = {
        "name": entry.name,
        "kind": _SYMBOL[entry.kind].value,
        "location": {"uri": uri, "range": _name_range(ls, document, entry)},
    }
    if holder:
        value["containerName"] = holder
    return value


@handles(types.WORKSPACE_SYMBOL, is_guarded=False)
async def on_workspace_symbol(ls: VisaServer, params: types.WorkspaceSymbolParams) -> Any:
    """Return the names that match a query, in all open documents and all texts of the folders."""
    token = params.partial_result_token
    symbols: list[dict[str, Any]] = []
    total = 0
    async with show_progress(ls, "vISA: searching", params.work_done_token) as work:
        for part in itertools.chain(_open_symbols(ls, params.query), _file_symbols(ls, params.query)):
            kept = part[: _MAX_SYMBOLS - total]
            total += len(kept)
            symbols += kept
            if token is not None and len(symbols) >= 200:
                send_partial(ls, token, symbols)
                symbols = []
            await work.step()
            if total >= _MAX_SYMBOLS:
                break
    if token is not None and symbols:
        send_partial(ls, token, symbols)
        symbols = []
    return Encoded([encode_json(symbols)])


def _open_symbols(ls: VisaServer, query: str) -> Iterator[list[dict[str, Any]]]:
    for opened in ls.documents:
        if opened.language is Language.VISA:
            document = opened.analysis.document
            entries = workspace_symbols(opened.analysis, query, _MAX_SYMBOLS)
            yield [_information(ls, opened.key, document, entry, holder) for entry, holder in entries]


def _file_symbols(ls: VisaServer, query: str) -> Iterator[list[dict[str, Any]]]:
    wanted = pattern_of(query)
    for path in ls.files.visa_files():
        if ls.files.find_open(path) is None:
            yield [value for value in _symbols_of(ls, path) if wanted.search(value["name"])]


# The symbols of a file that is not open, for a state of the file and units of columns.
_SYMBOLS: Final = Key[list[dict[str, Any]]]()


def _symbols_of(ls: VisaServer, path: Path) -> list[dict[str, Any]]:
    """Return all symbols of a file that is not open."""
    uri, stamp = ls.files.uri_of(path), ls.files.stamp(path)
    if stamp is None:
        return []

    def compute() -> list[dict[str, Any]]:
        analysis = ls.files.analysis(path)
        if analysis is None:
            return []
        symbols = workspace_symbols(analysis, "")
        return [_information(ls, uri, analysis.document, entry, holder) for entry, holder in symbols]

    return ls.files.memo(uri).fact(_SYMBOLS, compute, (stamp, ls.encoding))


# ---- folding ----


@handles(types.TEXT_DOCUMENT_FOLDING_RANGE)
async def on_folding_range(ls: VisaServer, params: types.FoldingRangeParams) -> Any:
    """Return the folding ranges."""
    host = ls.host(params.text_document)
    opened = host[0] if host is not None else ls.find_open(params.text_document)
    if opened is None:
        return None
    text = ls.client_capabilities.text_document
    most = text.folding_range.range_limit if text and text.folding_range else None
    folds = requests.folds(host[1]) if host is not None else folding_ranges(opened.analysis)
    if most is not None and len(folds) > most:
        # Initially folded ones, then the longest, are the most useful.
        folds = tuple(sorted(sorted(folds, key=lambda f: (not f.header, f.first_line - f.last_line))[:most]))
    closed = ls.documents.settings_for(opened.key).fold_header
    return Encoded.of([_folding_range(fold, closed=closed) for fold in folds])


def _folding_range(fold: Fold, *, closed: bool) -> dict[str, Any]:
    """Return a fold as a JSON value; an initially folded one has the kind that editors fold when a text opens."""
    value: dict[str, Any] = {"startLine": fold.first_line, "endLine": fold.last_line}
    if fold.header and closed:
        value["kind"] = types.FoldingRangeKind.Imports.value
    elif fold.kind is not FoldKind.CODE:
        value["kind"] = fold.kind.value
    return value


# ---- semantic tokens ----


@dataclass(frozen=True, slots=True)
class SentTokens:
    """The tokens of a result id: pieces, each with the sent line distance of its first token."""

    pieces: tuple[tuple[Piece, int], ...]


_ids = itertools.count(1)
# Other messages are answered after that many lines, which are bound in some 50 ms.
_MAX_BOUND_LINES: Final = 400


@handles(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL)
async def on_tokens(ls: VisaServer, params: types.SemanticTokensParams) -> Any:
    """Return the colours of the whole text."""
    opened = _find_coloured(ls, params.text_document)
    if opened is None:
        return None
    sent = await _tokens(ls, opened)
    return _whole(_remember(ls, opened.key, sent), sent)


def _find_coloured(ls: VisaServer, identifier: types.TextDocumentIdentifier) -> OpenDocument | None:
    """Return the open document if it has colours: a vISA text, or a text of another language with vISA inside."""
    host = ls.host(identifier)
    return host[0] if host is not None else ls.find_open(identifier)


def _whole(result_id: str, sent: SentTokens) -> Encoded:
    return Encoded([f'{{"resultId": "{result_id}", "data": ['.encode(), *encode_pieces(sent.pieces), b"]}"])


@handles(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA)
async def on_tokens_delta(ls: VisaServer, params: types.SemanticTokensDeltaParams) -> Any:
    """Return the colours of the whole text as the difference to the previous result."""
    opened = _find_coloured(ls, params.text_document)
    if opened is None:
        return None
    previous = ls.sent_tokens.get(params.previous_result_id)
    sent = await _tokens(ls, opened)
    result_id = _remember(ls, opened.key, sent)
    if previous is None or previous[0] != opened.key:
        return _whole(result_id, sent)
    edit = _edit(previous[1].pieces, sent.pieces)
    return Encoded([f'{{"resultId": "{result_id}", "edits": ['.encode(), *edit, b"]}"])


def _remember(ls: VisaServer, uri: str, sent: SentTokens) -> str:
    result_id = str(next(_ids))
    ls.sent_tokens[result_id] = (uri, sent)
    while len(ls.sent_tokens) > _KEPT_TOKENS:
        ls.sent_tokens.popitem(last=False)
    return result_id


def _edit(old: tuple[tuple[Piece, int], ...], new: tuple[tuple[Piece, int], ...]) -> list[bytes]:
    """Return one edit from the first different piece to the last, if any."""
    before, after = ([(piece.body, distance) for piece, distance in side] for side in (old, new))
    head, tail = common(before, after)
    gone, come = old[head : len(old) - tail], new[head : len(new) - tail]
    if not gone and not come:
        return []
    start, count = (sum(piece.numbers for piece, _ in pieces) for pieces in (old[:head], gone))
    return [b'{"start": %d, "deleteCount": %d, "data": [' % (start, count), *encode_pieces(come), b"]}"]


async def _tokens(ls: VisaServer, opened: OpenDocument) -> SentTokens:
    """Return the tokens of a text, chunk by chunk; pieces of unchanged chunks are reused."""
    host = ls.host(types.TextDocumentIdentifier(opened.key))
    if host is not None:
        inside = requests.tokens(host[1], ls.encoding)
        return SentTokens(((inside, inside.lead),) if inside.body else ())
    analysis = opened.analysis
    document = analysis.document
    chunk_pieces: list[tuple[Piece, int]] = []  # with the number of its lines
    if not is_coloured_by_chunk(analysis):
        for start in range(0, document.line_count, _MAX_BOUND_LINES):
            chunk_pieces.append(
                (lines_of(analysis, start, start + _MAX_BOUND_LINES - 1, ls.encoding), _MAX_BOUND_LINES)
            )
            await pause()
    else:
        for number, chunk in enumerate(document.chunks):
            piece, is_kept = piece_of(analysis, number, ls.encoding)
            if not is_kept:
                await pause()
            chunk_pieces.append((piece, chunk.count))
    pieces = []
    distance = 0
    for piece, lines in chunk_pieces:
        if piece.body:
            pieces.append((piece, distance + piece.lead))
            distance = piece.tail
        else:
            distance += lines
    return SentTokens(tuple(pieces))


@handles(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE)
async def on_tokens_range(ls: VisaServer, params: types.SemanticTokensRangeParams) -> Any:
    """Return the colours of the visible lines; for another language with vISA inside, those of the whole text."""
    host = ls.host(params.text_document)
    if host is not None:
        piece = requests.tokens(host[1], ls.encoding)
        return Encoded([b'{"data": [', *(encode_pieces([(piece, piece.lead)]) if piece.body else ()), b"]}"])
    opened = ls.find_open(params.text_document)
    if opened is None:
        return None
    document = opened.analysis.document
    span = to_span(document, params.range, ls.encoding)
    first_line, last_line = document.position(span.start)[0], document.position(span.end)[0]
    piece = lines_of(opened.analysis, first_line, last_line, ls.encoding)
    return Encoded([b'{"data": [', *(encode_pieces([(piece, first_line + piece.lead)]) if piece.body else ()), b"]}"])
