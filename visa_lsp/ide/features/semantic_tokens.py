"""Semantic tokens: the meaning of each word, for colouring.

Types and modifiers are words of our own; the caller maps them to the protocol's legend. Tokens are in text order, without
overlaps. Lines are coloured by templates: lines whose words have the same declarations get the same colours, so only the
first of them is bound. Invariant: a template holds positions relative to words, never a name or a column.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.ide.features.token_legend import MODIFIERS, TYPES
from visa_lsp.ide.index.focus import WHOLE, Focus, focus
from visa_lsp.ide.index.line_keys import keys_of, kind_of, pieces_in, version_of
from visa_lsp.ide.index.text_index import index_of
from visa_lsp.ide.index.token_at import bound_at, statement_of, symbol_of
from visa_lsp.ide.index.tokens import Token, TokenKind, tokens_of
from visa_lsp.isa.model import Role
from visa_lsp.sema.model import SymbolKind
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.sema.model import Body, Bound

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
_MAX_CACHED_LINES: Final = 200_000
# Filling that many templates takes as long as making one.
_FILLS: Final = 32


@dataclass(frozen=True, slots=True)
class SemanticToken:
    """One coloured word; ``span`` counts from the start of the line."""

    line: int
    span: Span
    type: str
    modifiers: tuple[str, ...] = ()


class TemplateToken(NamedTuple):
    """A token of a template: it starts ``skip`` after the start of piece ``piece`` and ends so at ``end_piece``."""

    piece: int
    skip: int
    end_piece: int
    end_skip: int
    type: int
    modifiers: int


@dataclass(slots=True)
class LineTemplates:
    """Caches of lines under one ``.version``: templates by key without lengths, packed tokens by whole key."""

    templates: dict[str, tuple[TemplateToken, ...] | None] = field(default_factory=dict)
    packed: dict[str, bytes] = field(default_factory=lambda: {"": b""})


_templates: dict[str, LineTemplates] = {}


def semantic_tokens(analysis: Analysis, first: int = 0, last: int | None = None) -> Iterator[SemanticToken]:
    """Yield the tokens of lines ``first`` to ``last``, both included; to the end where ``last`` is None."""
    document = analysis.document
    end = document.line_count - 1 if last is None else min(last, document.line_count - 1)
    if not coloured_by_chunk(analysis):
        for line in range(max(0, first), end + 1):
            yield from _of_line(analysis, line)
        return
    for at in range(document.chunk_at(max(0, first)), document.chunk_at(max(0, end)) + 1):
        base = document.line_of(at)
        for line, tokens in enumerate(chunk_lines(analysis, at, range(first - base, end + 1 - base)), base):
            if tokens and first <= line <= end:
                for start, length, type_, bits in unpacked(tokens):
                    words = tuple(word for number, word in enumerate(MODIFIERS) if bits >> number & 1)
                    yield SemanticToken(line, Span(start, start + length), TYPES[type_], words)


def coloured_by_chunk(analysis: Analysis) -> bool:
    """Return whether a text is coloured by templates; short ones, and those with scopes, are bound whole."""
    document = analysis.document
    return not (isinstance(analysis, Focus) or document.line_count < WHOLE or index_of(document).scopes)


def packed(tokens: Iterable[tuple[int, int, int, int]]) -> bytes:
    """Return the (column, length, type, modifier bits) of a line's tokens in the protocol's form, as text.

    The line distance of the first token is left out, because it depends on the lines before.
    """
    out, column = [], 0
    for start, length, type_, bits in tokens:
        out.append(b"%d,%d,%d,%d" % (start - column, length, type_, bits))
        column = start
    return b",0,".join(out)


def unpacked(line: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Yield the tokens of a ``packed`` text."""
    numbers = [0, *map(int, line.split(b","))]
    column = 0
    for at in range(1, len(numbers), 5):
        column += numbers[at]
        yield column, numbers[at + 1], numbers[at + 2], numbers[at + 3]


def chunk_lines(analysis: Analysis, at: int, inside: range | None = None) -> list[bytes]:
    """Return the ``packed`` tokens of every line of a chunk, columns in code points; lines outside of ``inside`` may lack them."""
    found = some_lines(analysis, at, inside=inside)
    assert found is not None
    return found


def some_lines(analysis: Analysis, at: int, most: int | None = None, inside: range | None = None) -> list[bytes] | None:
    """Return ``chunk_lines``, or None after making ``most`` missing templates, when some are still missing.

    Filling known templates counts as work too, and can end with None as well.
    """
    index = index_of(analysis.document)
    part = index.parts[at]
    wanted = range(part.chunk.count) if inside is None else inside
    keys = keys_of(analysis, at)
    if keys is None:
        bound = _bound_lines(analysis, at, [i for i in range(part.chunk.count) if i in wanted])
        return [bound.get(i, b"") for i in range(part.chunk.count)]
    known = _templates_of(version_of(index))
    try:
        return list(map(known.packed.__getitem__, keys))
    except KeyError:  # a line of a new key, or of one made only for lines outside of ``inside``
        pass
    lines = part.code.split("\n")[1:]
    missing = {key: i for i, key in enumerate(keys) if i in wanted and key not in known.packed}
    kinds = {key: kind_of(key) for key in missing}
    fresh = {kind: missing[key] for key, kind in kinds.items() if kind not in known.templates}
    base = analysis.document.line_of(at)
    chosen = dict(list(fresh.items())[:most])
    if chosen:
        view = focus(analysis, [base + i for i in chosen.values()])
        for kind, i in chosen.items():
            tokens = list(map(_plain, _of_line(view, base + i)))
            known.templates[kind] = _template(pieces_in(lines[i].rstrip()), tokens)
    if len(chosen) < len(fresh):
        return None
    able = [(key, i, marks) for key, i in missing.items() if (marks := known.templates[kinds[key]]) is not None]
    some = able if most is None else able[: most * _FILLS]
    for key, i, marks in some:
        known.packed[key] = _filled(marks, pieces_in(lines[i].rstrip()))
    if len(some) < len(able):
        return None
    odd = [i for i, key in enumerate(keys) if i in wanted and key not in known.packed]
    bound = _bound_lines(analysis, at, odd)
    return [bound.get(i, known.packed.get(key, b"")) for i, key in enumerate(keys)]


def _filled(marks: tuple[TemplateToken, ...], pieces: Sequence[str]) -> bytes:
    """Return the tokens of a line from its template."""
    starts = [0, *accumulate(map(len, pieces))]
    spans = [(starts[m.piece] + m.skip, starts[m.end_piece] + m.end_skip, m) for m in marks]
    return packed((start, end - start, m.type, m.modifiers) for start, end, m in spans)


def _bound_lines(analysis: Analysis, at: int, chosen: Sequence[int]) -> dict[int, bytes]:
    """Bind some lines of a chunk, and return their packed tokens."""
    if not chosen:
        return {}
    base = analysis.document.line_of(at)
    view = focus(analysis, [base + i for i in chosen])
    return {i: packed(map(_plain, _of_line(view, base + i))) for i in chosen}


def _templates_of(version: str) -> LineTemplates:
    known = _templates.get(version)
    if known is None or len(known.packed) > _MAX_CACHED_LINES:
        if len(_templates) > 16:
            _templates.clear()
        known = _templates[version] = LineTemplates()
    return known


def _template(pieces: Sequence[str], tokens: Sequence[tuple[int, int, int, int]]) -> tuple[TemplateToken, ...] | None:
    starts = [0]
    for piece in pieces:
        starts.append(starts[-1] + len(piece))
    marks = []
    for start, length, type_, bits in tokens:
        begin, end = _locate(pieces, starts, start), _locate(pieces, starts, start + length)
        if begin is None or end is None:
            return None
        marks.append(TemplateToken(*begin, *end, type_, bits))
    return tuple(marks)


def _locate(pieces: Sequence[str], starts: Sequence[int], column: int) -> tuple[int, int] | None:
    """Return a column as a piece and a distance into it; None inside a piece whose length may differ."""
    for number, piece in enumerate(pieces):
        if column == starts[number]:
            return number, 0
        if column < starts[number] + len(piece):
            return (number, column - starts[number]) if not number & 1 else None
    return (len(pieces), 0) if column == starts[-1] else None


def _plain(token: SemanticToken) -> tuple[int, int, int, int]:
    bits = sum(1 << MODIFIERS.index(word) for word in token.modifiers)
    return token.span.start, token.span.end - token.span.start, TYPES.index(token.type), bits


def _of_line(analysis: Analysis, line: int) -> Iterator[SemanticToken]:
    body, bound = bound_at(analysis, line)
    statement = statement_of(analysis, line, bound)
    if statement is None:
        return
    for token in tokens_of(statement, bound):
        coloured = _token(line, token, body, bound)
        if coloured is not None:
            yield coloured


def _token(line: int, token: Token, body: Body | None, bound: Bound | None) -> SemanticToken | None:
    if token.span.end <= token.span.start:
        return None
    if token.kind is not TokenKind.VARIABLE:
        modifiers = ("declaration",) if token.definition else ()
        return SemanticToken(line, token.span, _TYPE[token.kind], modifiers)
    symbol = symbol_of(body, line, token) if body else None
    if symbol is None:
        return SemanticToken(line, token.span, "variable")
    if symbol.kind in (SymbolKind.LABEL, SymbolKind.SUBROUTINE):
        return SemanticToken(line, token.span, "label")
    words = ["declaration"] if token.definition else []
    if symbol.predefined:
        words.append("defaultLibrary")
    slot = next((b.slot for b in bound.operands if b.node is token.operand), None) if bound else None
    if slot is not None and slot.role in (Role.WRITE, Role.READ_WRITE):
        words.append("modification")
    if symbol.kind in _CLASS:
        words.append(_CLASS[symbol.kind])
    kind = "parameter" if symbol.input is not None else "variable"
    return SemanticToken(line, token.span, kind, tuple(words))
