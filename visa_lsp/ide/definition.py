"""Definition, type definition and implementation: from a name to where it is declared.

A variable leads to its ``.decl``, a label to its line, a called name to its ``.kernel``, ``.function`` or
``.global_function``; the type definition of an alias is its base. Predefined names have no place in the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from visa_lsp.ide.token_at import name_span, spot_at
from visa_lsp.ide.tokens import TokenKind

if TYPE_CHECKING:
    from visa_lsp.ide.analysis import Analysis
    from visa_lsp.sema.model import Place, Symbol
    from visa_lsp.text import Span


@dataclass(frozen=True, slots=True)
class Target:
    """Where a name is declared: the name itself, the whole line, and the span that the answer is about."""

    origin: Span
    name: Span
    line: Span


def _target(analysis: Analysis, origin: Span, place: Place) -> Target:
    document = analysis.document
    start = document.line_start(place.line)
    whole = type(origin)(start, start + len(document.line_text(place.line)))
    return Target(origin, name_span(analysis, place), whole)


def definition(analysis: Analysis, offset: int) -> Target | None:
    """Where the name at an offset is declared; None for predefined names and for what is no name."""
    spot = spot_at(analysis, offset)
    if spot is None:
        return None
    if spot.token.kind is TokenKind.FUNCTION:
        body = next((b for b in analysis.bound.bodies if b.name == spot.token.text and b.place is not None), None)
        return _target(analysis, spot.span, body.place) if body and body.place else None
    symbol = spot.symbol
    if symbol is None or symbol.place is None:
        return None
    return _target(analysis, spot.span, symbol.place)


def type_definition(analysis: Analysis, offset: int) -> Target | None:
    """Where the variable at the end of the alias chain is declared; for others the declaration itself."""
    spot = spot_at(analysis, offset)
    symbol: Symbol | None = spot.symbol if spot else None
    if spot is None or symbol is None:
        return None
    base, _ = symbol.base()
    return _target(analysis, spot.span, base.place) if base.place else None
