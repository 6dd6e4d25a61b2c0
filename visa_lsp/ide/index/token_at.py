"""The token at a cursor, with its statement, its instruction and body, and the symbol that it names.

Every editor feature starts here to convert an offset of the text to a token. Knows no protocol. Invariant: a cursor
just after the last character of a token still points at it.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from visa_lsp.ide.index.tokens import Token, TokenKind, tokens_of
from visa_lsp.sema.model import Body, Bound, Place, Symbol

if TYPE_CHECKING:
    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.syntax import tree
    from visa_lsp.text import Span


@dataclass(frozen=True, slots=True)
class TokenContext:
    """A token with its context. ``span`` is in offsets of the text."""

    line: int
    span: Span
    token: Token
    statement: tree.Statement
    bound: Bound | None
    body: Body | None

    @property
    def symbol(self) -> Symbol | None:
        """The variable or label that the token names."""
        if self.body is None:
            return None
        return symbol_of(self.body, self.line, self.token)


def symbol_of(body: Body, line: int, token: Token) -> Symbol | None:
    """Return the symbol that a token of a line names."""
    if token.kind is TokenKind.LABEL:
        return body.labels.get(token.text)
    if token.kind is not TokenKind.VARIABLE:
        return None
    if token.definition:
        place = Place(line, token.span)
        own = next((s for s in body.symbols if s.place == place), None)
        if own is not None:
            return own
    # A name without a slot, such as the operand of an unknown mnemonic, may be a label.
    return body.find(token.text, line) or body.labels.get(token.text)


def name_span(analysis: Analysis, place: Place) -> Span:
    """Return the place of a name in offsets of the text, without any quotes around it."""
    span = analysis.document.span(place.line, place.span)
    quoted = analysis.document.line_text(place.line)[place.span.start : place.span.start + 1] == '"'
    return type(span)(span.start + 1, span.end - 1) if quoted else span


def find_bound(analysis: Analysis, line: int) -> tuple[Body | None, Bound | None]:
    """Return the body of a line, and its record in the instruction stream."""
    body = analysis.bound.body_at(line)
    if body is None:
        return None, None
    index = bisect_left(body.code, line, key=lambda b: b.line)
    bound = body.code[index] if index < len(body.code) and body.code[index].line == line else None
    return body, bound


def line_tokens(analysis: Analysis, line: int) -> tuple[Token, ...]:
    """Return the tokens of a line."""
    _, bound = find_bound(analysis, line)
    statement = statement_of(analysis, line, bound)
    return tokens_of(statement, bound) if statement is not None else ()


def statement_of(analysis: Analysis, line: int, bound: Bound | None) -> tree.Statement | None:
    """Return the statement of a line; if the line is bound, the bound statement, because bound operands refer to its nodes."""
    return bound.statement if bound is not None else analysis.document.statement(line)


def spot_at(analysis: Analysis, offset: int) -> TokenContext | None:
    """Return the token at an offset; None between tokens, in comments and outside the text."""
    document = analysis.document
    line = document.line_at(offset)
    column = offset - document.line_start(line)
    body, bound = find_bound(analysis, line)
    statement = statement_of(analysis, line, bound)
    if statement is None:
        return None
    tokens = tokens_of(statement, bound)
    token = next((t for t in tokens if column in t.span), None) or next(
        (t for t in tokens if t.span.touches(column)), None
    )
    if token is None:
        return None
    return TokenContext(line, document.span(line, token.span), token, statement, bound, body)
