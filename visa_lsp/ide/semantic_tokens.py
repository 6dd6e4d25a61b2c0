"""Semantic tokens: what each word means, for colours that the eye can trust.

Types and modifiers are words of our own; the rim maps them to the protocol's legend. Tokens come line by line, in order,
without overlaps. Lines are coloured by templates: two lines whose words are declared alike get the same colours, so only
the first of them is bound. Invariant: a template holds places relative to words, never a name or a column.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.ide.focus import WHOLE, Focus, focus
from visa_lsp.ide.index import index_of
from visa_lsp.ide.token_at import bound_at, statement_of, symbol_of
from visa_lsp.ide.tokens import Token, TokenKind, tokens_of
from visa_lsp.isa.model import Role
from visa_lsp.sema.model import SymbolKind
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from visa_lsp.ide.analysis import Analysis
    from visa_lsp.ide.index import Group, Index, Part
    from visa_lsp.sema.model import Body, Bound

TYPES: Final = (
    "keyword", "modifier", "variable", "parameter", "label", "function", "macro", "type", "property", "number",
    "operator", "string", "enumMember",
)  # fmt: skip
MODIFIERS: Final = ("declaration", "readonly", "defaultLibrary", "modification", "address", "predicate", "handle")

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
_PIECE: Final = re.compile(r"(%?[A-Za-z_$@?][A-Za-z0-9_$@?]*|[0-9][A-Za-z0-9_]*)")
_MOST_TEMPLATES: Final = 100_000


@dataclass(frozen=True, slots=True)
class SemanticToken:
    """One coloured word; ``span`` counts from the start of the line."""

    line: int
    span: Span
    type: str
    modifiers: tuple[str, ...] = ()


class Mark(NamedTuple):
    """A token of a template: it starts ``skip`` behind the start of piece ``piece`` and ends so at ``end_piece``."""

    piece: int
    skip: int
    end_piece: int
    end_skip: int
    type: int
    modifiers: int


_templates: dict[str, tuple[Mark, ...] | None] = {}


def semantic_tokens(analysis: Analysis, first: int = 0, last: int | None = None) -> Iterator[SemanticToken]:
    """The tokens of lines ``first`` to ``last``, both included; to the end where ``last`` is None."""
    document = analysis.document
    end = document.line_count - 1 if last is None else min(last, document.line_count - 1)
    if not coloured_by_chunk(analysis):
        for line in range(max(0, first), end + 1):
            yield from _of_line(analysis, line)
        return
    for at in range(document.chunk_at(max(0, first)), document.chunk_at(max(0, end)) + 1):
        base = document.line_of(at)
        inside = range(max(0, first - base), end + 1 - base)
        for line, start, length, type_, bits in chunk_tokens(analysis, at, inside):
            words = tuple(word for number, word in enumerate(MODIFIERS) if bits >> number & 1)
            yield SemanticToken(base + line, Span(start, start + length), TYPES[type_], words)


def coloured_by_chunk(analysis: Analysis) -> bool:
    """Whether a text is coloured by templates; short ones, and those with scopes, are bound whole."""
    document = analysis.document
    return not (isinstance(analysis, Focus) or document.line_count < WHOLE or index_of(document).scopes)


def chunk_tokens(analysis: Analysis, at: int, inside: range | None = None) -> list[tuple[int, int, int, int, int]]:
    """(line, column, length, type, modifier bits) of the tokens of a chunk; lines and ``inside`` count from its first."""
    index = index_of(analysis.document)
    part = index.parts[at]
    group = index.group_at(analysis.document.line_of(at))
    classes = _classes(index, group)
    codes = part.code.split("\n")[1 : part.chunk.count + 1]
    chosen = range(len(codes)) if inside is None else range(inside.start, min(inside.stop, len(codes)))
    version = _version(index)
    lines = []
    missing: dict[str, int] = {}
    for i in chosen:
        code = codes[i].rstrip()
        if not code:
            continue
        pieces = _PIECE.split(code)
        key = version + "".join([_word(p, classes) if n & 1 else p for n, p in enumerate(pieces)])
        lines.append((i, key, pieces))
        if key not in _templates:
            missing.setdefault(key, i)
    if missing:
        _learn(analysis, at, missing)
    found: list[tuple[int, int, int, int, int]] = []
    for i, key, pieces in lines:
        marks = _templates.get(key)
        if marks is None:
            view = focus(analysis, [analysis.document.line_of(at) + i])
            found.extend(_plain(token, i) for token in _of_line(view, analysis.document.line_of(at) + i))
            continue
        starts = [0]
        total = 0
        for piece in pieces:
            total += len(piece)
            starts.append(total)
        for piece, skip, end_piece, end_skip, type_, bits in marks:
            start = starts[piece] + skip
            found.append((i, start, starts[end_piece] + end_skip - start, type_, bits))
    return found


def words_in(part: Part) -> tuple[str, ...]:
    """The words of a chunk, each once."""
    known = part.memo.get("words")
    if known is None:
        known = part.memo["words"] = tuple(sorted({w for w in _PIECE.findall(part.code) if not w[0].isdigit()}))
    return known  # type: ignore[return-value]


def colours_depend_on(analysis: Analysis, at: int) -> object:
    """A value that stays the same as long as the tokens of a chunk do."""
    index = index_of(analysis.document)
    classes = _classes(index, index.group_at(analysis.document.line_of(at)))
    return _version(index), tuple(map(classes.get, words_in(index.parts[at])))


def _classes(index: Index, group: Group) -> Mapping[str, str]:
    """What each name of a body is declared as, by one sign."""
    known: dict[int, Mapping[str, str]] = index.__dict__.setdefault("classes", {})
    found = known.get(group.first)
    if found is None:
        signs: dict[str, str] = {}
        for part in index.parts[group.first : group.end]:
            if part.facts.labels:
                signs.update(dict.fromkeys(part.facts.labels, "\x01L"))
        signs.update((name, "\x01L") for _, name, _ in index.functions(group))
        for part in index.parts[group.first : group.end]:
            if part.facts.decls:
                signs.update(part.signs)
        for _, name in index.inputs(group):
            if name in signs:
                signs[name] = signs[name] + "i"
        found = known[group.first] = signs
    return found


def _version(index: Index) -> str:
    known = index.__dict__.get("version")
    if known is None:
        texts = (
            text for part in index.parts for _, text in part.facts.specials if text.lstrip().startswith(".version")
        )
        known = index.__dict__["version"] = next(texts, "") + "\x02"
    return known


def _word(piece: str, classes: Mapping[str, str]) -> str:
    if piece[0].isdigit():
        return piece if len(piece) < 3 else "\x03x" if piece[1] in "xX" else "\x03d" if piece.isdigit() else piece
    return classes.get(piece, piece)


def _learn(analysis: Analysis, at: int, missing: Mapping[str, int]) -> None:
    """Bind one line of each kind that has not been met, and note where its tokens are."""
    if len(_templates) > _MOST_TEMPLATES:
        _templates.clear()
    document = analysis.document
    base = document.line_of(at)
    view = focus(analysis, [base + i for i in missing.values()])
    for key, i in missing.items():
        tokens = [_plain(token, i) for token in _of_line(view, base + i)]
        _templates[key] = _template(_PIECE.split(document.code(base + i).rstrip()), tokens)


def _template(pieces: Sequence[str], tokens: Sequence[tuple[int, int, int, int, int]]) -> tuple[Mark, ...] | None:
    starts = [0]
    for piece in pieces:
        starts.append(starts[-1] + len(piece))
    marks = []
    for _, start, length, type_, bits in tokens:
        begin, end = _locate(pieces, starts, start), _locate(pieces, starts, start + length)
        if begin is None or end is None:
            return None
        marks.append(Mark(*begin, *end, type_, bits))
    return tuple(marks)


def _locate(pieces: Sequence[str], starts: Sequence[int], column: int) -> tuple[int, int] | None:
    """A column as a piece and a distance into it; None inside a piece whose length may differ."""
    for number, piece in enumerate(pieces):
        if column == starts[number]:
            return number, 0
        if column < starts[number] + len(piece):
            return (number, column - starts[number]) if not number & 1 else None
    return (len(pieces), 0) if column == starts[-1] else None


def _plain(token: SemanticToken, line: int) -> tuple[int, int, int, int, int]:
    bits = sum(1 << MODIFIERS.index(word) for word in token.modifiers)
    return line, token.span.start, token.span.end - token.span.start, TYPES.index(token.type), bits


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
