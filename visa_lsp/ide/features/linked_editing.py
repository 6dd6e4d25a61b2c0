"""Linked editing: the places of a label or a function's name, which are edited together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.ide.features.references import highlights
from visa_lsp.ide.index.focus import focus_at
from visa_lsp.ide.index.token_at import spot_at
from visa_lsp.ide.index.tokens import TokenKind
from visa_lsp.sema.model import SymbolKind

if TYPE_CHECKING:
    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.text import Span

PATTERN: Final = "[A-Za-z_][A-Za-z0-9_]*"


def find_linked_places(analysis: Analysis, offset: int) -> tuple[Span, ...]:
    """Return the places of the label or function name at an offset; empty for other names, and for a single place."""
    spot = spot_at(focus_at(analysis, offset), offset)
    if spot is None:
        return ()
    symbol = spot.symbol
    label = symbol is not None and symbol.kind in (SymbolKind.LABEL, SymbolKind.SUBROUTINE)
    if not label and spot.token.kind is not TokenKind.FUNCTION:
        return ()
    spans = tuple(o.span for o in highlights(analysis, offset))
    return spans if len(spans) > 1 else ()
