"""Semantic tokens: what each word means, for colours that the eye can trust.

Types and modifiers are words of our own; the rim maps them to the protocol's legend. Tokens come line by line, in order,
without overlaps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from visa_lsp.ide.token_at import bound_at, statement_of, symbol_of
from visa_lsp.ide.tokens import Token, TokenKind, tokens_of
from visa_lsp.isa.model import Role
from visa_lsp.sema.model import SymbolKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.ide.analysis import Analysis
    from visa_lsp.sema.model import Body, Bound
    from visa_lsp.text import Span

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


@dataclass(frozen=True, slots=True)
class SemanticToken:
    """One coloured word; ``span`` counts from the start of the line."""

    line: int
    span: Span
    type: str
    modifiers: tuple[str, ...] = ()


def semantic_tokens(analysis: Analysis, first: int = 0, last: int | None = None) -> Iterator[SemanticToken]:
    """The tokens of lines ``first`` to ``last``, both included; to the end where ``last`` is None."""
    document = analysis.document
    end = document.line_count - 1 if last is None else min(last, document.line_count - 1)
    for line in range(max(0, first), end + 1):
        body, bound = bound_at(analysis, line)
        statement = statement_of(analysis, line, bound)
        if statement is None:
            continue
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
