"""Requests about the whole text: symbols, folding, semantic tokens.

Long answers are JSON values made here (``Raw``): converting them object by object would take longer than finding them.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types

from visa_lsp.ide.folding import FoldKind, folding_ranges
from visa_lsp.ide.semantic_tokens import (
    MODIFIERS,
    TYPES,
    chunk_tokens,
    coloured_by_chunk,
    colours_depend_on,
    semantic_tokens,
)
from visa_lsp.ide.symbols import Outline, OutlineKind, document_symbols, pattern_of, workspace_symbols
from visa_lsp.ide.workspace import Language
from visa_lsp.lsp.convert import line_range, to_span
from visa_lsp.lsp.handlers import info
from visa_lsp.lsp.progress import send_partial, working
from visa_lsp.lsp.protocol import Raw, pause
from visa_lsp.lsp.session import guarded
from visa_lsp.text import units

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from visa_lsp.ide.workspace import OpenDocument
    from visa_lsp.lsp.convert import Text
    from visa_lsp.lsp.session import VisaServer

LEGEND: Final = types.SemanticTokensLegend(list(TYPES), list(MODIFIERS))
_MOST_SYMBOLS: Final = 2000
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
}


def register(server: VisaServer) -> None:
    """Declare the handlers of this module."""
    server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)(on_document_symbol)
    server.feature(types.WORKSPACE_SYMBOL)(on_workspace_symbol)
    server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)(on_folding_range)
    server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, LEGEND)(on_tokens)
    server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA, LEGEND)(on_tokens_delta)
    server.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, LEGEND)(on_tokens_range)


# ---- symbols ----


def _name_range(ls: VisaServer, document: Text, entry: Outline) -> dict[str, Any]:
    line, start, end = entry.line, entry.name_span.start, entry.name_span.end
    text = document.line_text(line)
    if not text.isascii():
        start, end = units(text[:start], ls.encoding), units(text[:end], ls.encoding)
    return {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}


def _symbol(ls: VisaServer, document: Text, entry: Outline) -> dict[str, Any]:
    name = _name_range(ls, document, entry)
    value: dict[str, Any] = {
        "name": entry.name,
        "detail": entry.detail,
        "kind": _SYMBOL[entry.kind].value,
        "range": {"start": {"line": entry.first, "character": 0}, "end": name["end"]},
        "selectionRange": name,
    }
    if entry.last > entry.line:
        end = units(document.line_text(entry.last), ls.encoding)
        value["range"] = {"start": {"line": entry.first, "character": 0}, "end": {"line": entry.last, "character": end}}
    if entry.children:
        value["children"] = [_symbol(ls, document, child) for child in entry.children]
    return value


@guarded
async def on_document_symbol(ls: VisaServer, params: types.DocumentSymbolParams) -> Any:
    """List the outline; flat for clients that know no tree."""
    described = info.info_of(ls, params.text_document)
    if described is not None:
        return info.document_symbols(ls, *described)
    opened = ls.opened(params.text_document)
    if opened is None:
        return None
    entries = document_symbols(opened.analysis)
    document = opened.analysis.document
    text = ls.client_capabilities.text_document
    known = text.document_symbol if text else None
    if known and known.hierarchical_document_symbol_support:
        return Raw([_symbol(ls, document, entry) for entry in entries])
    return Raw(
        [
            _information(ls, opened.key, document, entry, holder)
            for body in entries
            for entry, holder in ((body, ""), *((child, body.name) for child in body.children))
        ]
    )


def _information(ls: VisaServer, uri: str, document: Text, entry: Outline, holder: str) -> dict[str, Any]:
    value: dict[str, Any] = {
        "name": entry.name,
        "kind": _SYMBOL[entry.kind].value,
        "location": {"uri": uri, "range": _name_range(ls, document, entry)},
    }
    if holder:
        value["containerName"] = holder
    return value


async def on_workspace_symbol(ls: VisaServer, params: types.WorkspaceSymbolParams) -> Any:
    """List the names that fit a query, of every open document and of every text in the folders."""
    token = params.partial_result_token
    found: list[dict[str, Any]] = []
    total = 0
    async with working(ls, "vISA: searching", params.work_done_token) as work:
        sources = itertools.chain(_open_symbols(ls, params.query), _file_symbols(ls, params.query))
        for part in sources:
            kept = part[: _MOST_SYMBOLS - total]
            total += len(kept)
            found += kept
            if token is not None and len(found) >= 200:
                send_partial(ls, token, [_structured(v) for v in found])
                found = []
            await work.step()
            if total >= _MOST_SYMBOLS:
                break
    if token is not None and found:
        send_partial(ls, token, [_structured(v) for v in found])
        found = []
    return Raw(found)


def _structured(value: dict[str, Any]) -> types.SymbolInformation:
    """A symbol as a value of the library, for partial results, which pass its converter."""
    place = value["location"]["range"]
    start, end = (types.Position(place[side]["line"], place[side]["character"]) for side in ("start", "end"))
    location = types.Location(value["location"]["uri"], types.Range(start, end))
    return types.SymbolInformation(
        location, value["name"], types.SymbolKind(value["kind"]), container_name=value.get("containerName")
    )


def _open_symbols(ls: VisaServer, query: str) -> Iterator[list[dict[str, Any]]]:
    for opened in ls.documents:
        if opened.language is Language.VISA:
            document = opened.analysis.document
            entries = workspace_symbols(opened.analysis, query)
            yield [_information(ls, opened.key, document, entry, holder) for entry, holder in entries]


def _file_symbols(ls: VisaServer, query: str) -> Iterator[list[dict[str, Any]]]:
    wanted = pattern_of(query)
    for path in ls.files.visa_files():
        if ls.files.opened_at(path) is None:
            yield [value for value in _symbols_of(ls, path) if wanted.search(value["name"])]


def _symbols_of(ls: VisaServer, path: Path) -> list[dict[str, Any]]:
    """All symbols of a file that is not open."""
    uri, stamp = ls.files.uri_of(path), ls.files.stamp(path)
    if stamp is None:
        return []
    known = ls.files.kept(uri + "#symbols", stamp, ls.encoding)
    if not isinstance(known, list):
        analysis = ls.files.analysis(path)
        entries = workspace_symbols(analysis, "") if analysis is not None else ()
        known = (
            [_information(ls, uri, analysis.document, entry, holder) for entry, holder in entries] if analysis else []
        )
        ls.files.keep(uri + "#symbols", stamp, ls.encoding, known)
    return known


# ---- folding ----


@guarded
async def on_folding_range(ls: VisaServer, params: types.FoldingRangeParams) -> Any:
    """List what can be folded."""
    opened = ls.opened(params.text_document)
    if opened is None:
        return None
    text = ls.client_capabilities.text_document
    most = text.folding_range.range_limit if text and text.folding_range else None
    folds = folding_ranges(opened.analysis)
    if most is not None and len(folds) > most:
        # The longest folds are the most useful ones.
        folds = tuple(sorted(sorted(folds, key=lambda f: f.first - f.last)[:most]))
    kinds = {FoldKind.REGION: "region", FoldKind.COMMENT: "comment"}
    return Raw([{"startLine": f.first, "endLine": f.last, "kind": kinds[f.kind]} for f in folds])


# ---- semantic tokens ----


@dataclass(frozen=True, slots=True)
class Piece:
    """The packed tokens of a chunk; the first one's line counts from the chunk. ``tail`` lines follow its last token."""

    data: list[int]
    depends: object
    lead: int
    tail: int


@dataclass(frozen=True, slots=True)
class Sent:
    """What a result id stands for: pieces, each with the line distance of its first token as it was sent."""

    pieces: tuple[tuple[Piece, int], ...]


_ids = itertools.count(1)


@guarded
async def on_tokens(ls: VisaServer, params: types.SemanticTokensParams) -> Any:
    """Colour the whole text."""
    opened = ls.opened(params.text_document)
    if opened is None:
        return None
    sent = await _tokens(ls, opened)
    return Raw({"resultId": _remember(ls, opened.key, sent), "data": _joined(sent.pieces)})


@guarded
async def on_tokens_delta(ls: VisaServer, params: types.SemanticTokensDeltaParams) -> Any:
    """Colour the whole text by what is different from the last time."""
    opened = ls.opened(params.text_document)
    if opened is None:
        return None
    known = ls.sent_tokens.get(params.previous_result_id)
    sent = await _tokens(ls, opened)
    result_id = _remember(ls, opened.key, sent)
    if known is None or known[0] != opened.key:
        return Raw({"resultId": result_id, "data": _joined(sent.pieces)})
    return Raw({"resultId": result_id, "edits": _edits(known[1].pieces, sent.pieces)})


def _remember(ls: VisaServer, uri: str, sent: Sent) -> str:
    result_id = str(next(_ids))
    ls.sent_tokens[result_id] = (uri, sent)
    while len(ls.sent_tokens) > _KEPT_TOKENS:
        ls.sent_tokens.popitem(last=False)
    return result_id


def _edits(old: tuple[tuple[Piece, int], ...], new: tuple[tuple[Piece, int], ...]) -> list[dict[str, Any]]:
    """One edit from the first difference to the last; equal pieces are the same objects."""
    head = tail = 0
    most = min(len(old), len(new))
    while head < most and old[head][0] is new[head][0] and old[head][1] == new[head][1]:
        head += 1
    while tail < most - head and old[-1 - tail][0] is new[-1 - tail][0] and old[-1 - tail][1] == new[-1 - tail][1]:
        tail += 1
    start = sum(len(piece.data) for piece, _ in old[:head])
    before, after = _joined(old[head : len(old) - tail]), _joined(new[head : len(new) - tail])
    same = 0
    most = min(len(before), len(after))
    while same + 5 <= most and before[same : same + 5] == after[same : same + 5]:
        same += 5
    end = 0
    while (
        end + 5 <= most - same
        and before[len(before) - end - 5 : len(before) - end] == after[len(after) - end - 5 : len(after) - end]
    ):
        end += 5
    if same == len(before) == len(after):
        return []
    return [{"start": start + same, "deleteCount": len(before) - same - end, "data": after[same : len(after) - end]}]


def _joined(pieces: tuple[tuple[Piece, int], ...]) -> list[int]:
    data: list[int] = []
    for piece, first in pieces:
        if piece.data:
            at = len(data)
            data += piece.data
            data[at] = first
    return data


async def _tokens(ls: VisaServer, opened: OpenDocument) -> Sent:
    """The tokens of a text, chunk by chunk; what an earlier request made of an untouched chunk is used again."""
    analysis = opened.analysis
    document = analysis.document
    if not coloured_by_chunk(analysis):
        piece = Piece(_packed(ls, opened, 0, None), None, 0, 0)
        return Sent(((piece, piece.data[0] if piece.data else 0),))
    key = ("tokens", ls.encoding)
    old: dict[int, tuple[object, Piece]] = document.lineage.get(key, {})  # type: ignore[assignment]
    new: dict[int, tuple[object, Piece]] = {}
    pieces = []
    distance = 0
    for at, chunk in enumerate(document.chunks):
        depends = colours_depend_on(analysis, at)
        known = old.get(id(chunk))
        if known is not None and known[0] is chunk and known[1].depends == depends:
            piece = known[1]
        else:
            piece = _piece(ls, opened, at, depends)
            await pause()
        new[id(chunk)] = (chunk, piece)
        if piece.data:
            pieces.append((piece, distance + piece.lead))
            distance = piece.tail
        else:
            distance += chunk.count
    document.lineage[key] = new
    return Sent(tuple(pieces))


def _piece(ls: VisaServer, opened: OpenDocument, at: int, depends: object) -> Piece:
    document = opened.analysis.document
    chunk = document.chunks[at]
    ascii_only = chunk.text.isascii()
    base = document.line_of(at)
    data: list[int] = []
    line = column = 0
    for here, start, length, type_, bits in chunk_tokens(opened.analysis, at):
        begin, size = start, length
        if not ascii_only:
            text = document.line_text(base + here)
            begin = units(text[:start], ls.encoding)
            size = units(text[: start + length], ls.encoding) - begin
        data += (here - line, begin - (column if here == line else 0), size, type_, bits)
        line, column = here, begin
    return Piece(data, depends, data[0] if data else 0, chunk.count - line)


@guarded
async def on_tokens_range(ls: VisaServer, params: types.SemanticTokensRangeParams) -> Any:
    """Colour the lines that are seen."""
    opened = ls.opened(params.text_document)
    if opened is None:
        return None
    document = opened.analysis.document
    span = to_span(document, params.range, ls.encoding)
    first, last = document.position(span.start)[0], document.position(span.end)[0]
    return Raw({"data": _packed(ls, opened, first, last)})


def _packed(ls: VisaServer, opened: OpenDocument, first: int, last: int | None) -> list[int]:
    """Five numbers a token, each place relative to the one before."""
    data: list[int] = []
    line = column = 0
    for token in semantic_tokens(opened.analysis, first, last):
        place = line_range(opened.analysis.document, token.line, token.span, ls.encoding)
        start, length = place.start.character, place.end.character - place.start.character
        bits = sum(1 << MODIFIERS.index(word) for word in token.modifiers)
        data += (
            token.line - line,
            start - (column if token.line == line else 0),
            length,
            TYPES.index(token.type),
            bits,
        )
        line, column = token.line, start
    return data
