"""Semantic tokens: words coloured by their meaning.

Types and modifiers are words of this package; the rim maps them to the protocol's legend. Tokens are ordered line by
line, without overlaps. Lines with the same key (``line_keys``) have equally declared words in the same columns, so that
only the first of them is bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from visa_lsp.ide.features.token_legend import MODIFIERS, TYPES
from visa_lsp.ide.index.focus import WHOLE, Focus, focus
from visa_lsp.ide.index.line_keys import keys_of
from visa_lsp.ide.index.text_index import index_of
from visa_lsp.ide.index.token_at import find_bound, statement_of, symbol_of
from visa_lsp.ide.index.tokens import Token, TokenKind, tokens_of
from visa_lsp.isa.model import Role
from visa_lsp.sema.model import Body, Bound, SymbolKind
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from visa_lsp.analysis.analysis import Analysis

_TYPE: Final = {
    TokenKind.MNEMONIC: "keyword",
    TokenKind.MODIFIER: "modifier",
    TokenKind.MASK: "enumMember",
    TokenKind.EXEC_SIZE: "number",
    TokenKind.COMBINE: "modifier",
    TokenKind.LABEL: "label",
    TokenKind.FUNCTION: "function",
    TokenKind.DIRECTIVE: "macro",
    TokenKind.TYPE: "type",
    TokenKind.CLASS: "type",
    TokenKind.ALIGNMENT: "enumMember",
    TokenKind.ATTRIBUTE: "property",
    TokenKind.ATTRIBUTE_VALUE: "enumMember",
    TokenKind.NUMBER: "number",
    TokenKind.ORIGIN: "number",
    TokenKind.BYTE_OFFSET: "number",
    TokenKind.REGION: "operator",
    TokenKind.SOURCE_MODIFIER: "operator",
    TokenKind.ADDRESS_MODEL: "keyword",
    TokenKind.DATA_SHAPE: "type",
    TokenKind.STRING: "string",
    TokenKind.KEYWORD: "enumMember",
}
_CLASS: Final = {
    SymbolKind.ADDRESS: "address",
    SymbolKind.PREDICATE: "predicate",
    SymbolKind.SAMPLER: "handle",
    SymbolKind.SURFACE: "handle",
}
_MAX_KEYS: Final = 10_000


@dataclass(frozen=True, slots=True)
class SemanticToken:
    """A coloured word; ``span`` counts from the start of the line."""

    line: int
    span: Span
    type: str
    modifiers: tuple[str, ...] = ()


# The packed tokens of lines by key, for each ``.version``.
_packed: dict[str, dict[str, bytes]] = {}


def semantic_tokens(analysis: Analysis, first_line: int = 0, last_line: int | None = None) -> Iterator[SemanticToken]:
    """Yield the tokens of lines ``first_line`` to ``last_line``, both included; None is the end of the text."""
    for line, tokens in pack_lines(analysis, first_line, last_line):
        for start, length, type_, bits in unpack_tokens(tokens):
            words = tuple(word for number, word in enumerate(MODIFIERS) if bits >> number & 1)
            yield SemanticToken(line, Span(start, start + length), TYPES[type_], words)


def pack_lines(analysis: Analysis, first_line: int = 0, last_line: int | None = None) -> Iterator[tuple[int, bytes]]:
    """Yield each of these lines that has tokens, with its packed tokens, columns in code points."""
    document = analysis.document
    first_line = max(0, first_line)
    end = document.line_count - 1 if last_line is None else min(last_line, document.line_count - 1)
    if not is_coloured_by_chunk(analysis):
        lines = range(first_line, end + 1)
        view = focus(analysis, lines)
        yield from ((line, tokens) for line in lines if (tokens := _pack_line(view, line)))
        return
    for number in range(document.chunk_at(first_line), document.chunk_at(max(0, end)) + 1):
        base = document.line_of(number)
        for line, tokens in enumerate(chunk_lines(analysis, number, range(first_line - base, end + 1 - base)), base):
            if tokens and first_line <= line <= end:
                yield line, tokens


def is_coloured_by_chunk(analysis: Analysis) -> bool:
    """Return whether a text is coloured by line keys; the lines of short texts, and of texts with scopes, are bound."""
    document = analysis.document
    return not (isinstance(analysis, Focus) or document.line_count < WHOLE or index_of(document).scopes)


def pack_tokens(tokens: Iterable[tuple[int, int, int, int]]) -> bytes:
    """Return the (column, length, type, modifier bits) of a line's tokens in the form of the protocol, as text.

    The first token lacks its distance in lines, which depends on the lines before.
    """
    out, column = [], 0
    for start, length, type_, bits in tokens:
        out.append(b"%d,%d,%d,%d" % (start - column, length, type_, bits))
        column = start
    return b",0,".join(out)


def unpack_tokens(line: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Yield the tokens that ``pack_tokens`` packed."""
    numbers = [0, *map(int, line.split(b","))]
    column = 0
    for index in range(1, len(numbers), 5):
        column += numbers[index]
        yield column, numbers[index + 1], numbers[index + 2], numbers[index + 3]


def chunk_lines(analysis: Analysis, chunk_number: int, inside: range | None = None) -> list[bytes]:
    """Return the ``packed`` tokens of the lines of a chunk, columns in code points; lines outside of ``inside`` may have none."""
    index = index_of(analysis.document)
    part = index.parts[chunk_number]
    wanted = range(part.chunk.count) if inside is None else inside
    keys = keys_of(analysis, chunk_number)
    if keys is None:
        bound = _bind_lines(analysis, chunk_number, [i for i in range(part.chunk.count) if i in wanted])
        return [bound.get(i, b"") for i in range(part.chunk.count)]
    tokens_by_key = _get_packed(index.version)
    try:
        return list(map(tokens_by_key.__getitem__, keys))
    except KeyError:  # a line with a new key, or with a key whose tokens were not computed earlier
        pass
    missing = {key: i for i, key in enumerate(keys) if i in wanted and key not in tokens_by_key}
    bound = _bind_lines(analysis, chunk_number, list(missing.values()))
    tokens_by_key.update({key: bound[i] for key, i in missing.items()})
    return [tokens_by_key.get(key, b"") for key in keys]


def _bind_lines(analysis: Analysis, chunk_number: int, chosen: Sequence[int]) -> dict[int, bytes]:
    """Return the packed tokens of lines of a chunk, by binding the lines."""
    if not chosen:
        return {}
    base = analysis.document.line_of(chunk_number)
    view = focus(analysis, [base + i for i in chosen])
    return {i: _pack_line(view, base + i) for i in chosen}


def _get_packed(version: str) -> dict[str, bytes]:
    tokens_by_key = _packed.get(version)
    if tokens_by_key is None or len(tokens_by_key) > _MAX_KEYS:
        if len(_packed) > 16:
            _packed.clear()
        tokens_by_key = _packed[version] = {"": b""}
    return tokens_by_key


def _pack_line(analysis: Analysis, line: int) -> bytes:
    """Return the packed tokens of a line, which may be one of several of its statement."""
    document = analysis.document
    first_line = document.first_line_of(line)
    body, bound = find_bound(analysis, first_line)
    statement = statement_of(analysis, first_line, bound)
    before = document.line_start(line) - document.line_start(first_line)
    columns = Span(before, before + len(document.line_text(line)))
    tokens = []
    for token in tokens_of(statement, bound) if statement is not None else ():
        start, end = token.span.start, token.span.end
        if columns.start <= start < columns.end and start < end:
            type_, words = _colour(first_line, token, body, bound)
            bits = sum(1 << MODIFIERS.index(word) for word in words)
            tokens.append((start - before, end - start, TYPES.index(type_), bits))
    return pack_tokens(tokens)


def _colour(line: int, token: Token, body: Body | None, bound: Bound | None) -> tuple[str, Sequence[str]]:
    """Return the type of a token, and its modifiers."""
    words = ["declaration"] if token.definition else []
    if token.kind is not TokenKind.VARIABLE:
        return _TYPE[token.kind], words
    symbol = symbol_of(body, line, token) if body else None
    if symbol is None:
        return "variable", ()
    if symbol.kind in (SymbolKind.LABEL, SymbolKind.SUBROUTINE):
        return "label", ()
    if symbol.predefined:
        words.append("defaultLibrary")
    slot = next((b.slot for b in bound.operands if b.node is token.operand), None) if bound else None
    if slot is not None and slot.role in (Role.WRITE, Role.READ_WRITE):
        words.append("modification")
    if symbol.kind in _CLASS:
        words.append(_CLASS[symbol.kind])
    return "parameter" if symbol.input is not None else "variable", words
