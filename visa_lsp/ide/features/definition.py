"""Definition, type definition and implementation of a name.

The definition of a variable is its ``.decl``, that of a label its line, that of a called name its ``.kernel``,
``.function`` or ``.global_function``. The type definition of an alias is its base. Predefined names have no definition
in the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from visa_lsp.ide.index.focus import focus_at, focus_on_name
from visa_lsp.ide.index.token_at import name_span, spot_at
from visa_lsp.ide.index.tokens import TokenKind
from visa_lsp.syntax.tree import SUBROUTINE

if TYPE_CHECKING:
    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.sema.model import Place, Symbol
    from visa_lsp.text import Span


@dataclass(frozen=True, slots=True)
class Target:
    """A declaration: the name, the whole line, and the span of the request."""

    origin: Span
    name: Span
    line: Span


def _target(analysis: Analysis, origin: Span, place: Place) -> Target:
    document = analysis.document
    start = document.line_start(place.line)
    whole = type(origin)(start, start + len(document.line_text(place.line)))
    return Target(origin, name_span(analysis, place), whole)


def definition(analysis: Analysis, offset: int) -> Target | None:
    """Return the declaration of the name at an offset; None for predefined names and other text."""
    view = focus_on_name(analysis, offset)
    spot = spot_at(view, offset)
    if spot is None:
        return None
    if spot.token.kind is TokenKind.FUNCTION:
        body = next((b for b in view.bound.bodies if b.name == spot.token.text and b.place is not None), None)
        return _target(view, spot.span, body.place) if body and body.place else None
    symbol = spot.symbol
    if symbol is None or symbol.place is None:
        return None
    return _target(view, spot.span, symbol.place)


def implementation(analysis: Analysis, offset: int) -> Target | None:
    """Return the body of the function or subroutine whose name is at an offset; None for other names."""
    spot = spot_at(focus_at(analysis, offset), offset)
    if spot is None:
        return None
    if spot.token.kind is TokenKind.FUNCTION:
        return definition(analysis, offset)
    target = definition(analysis, offset) if spot.token.kind is TokenKind.LABEL else None
    if target is None:
        return None
    opened = analysis.document.line_text(analysis.document.position(target.name.start)[0]).lstrip()
    return target if opened.startswith(SUBROUTINE) else None


def type_definition(analysis: Analysis, offset: int) -> Target | None:
    """Return the declaration of the base at the end of the alias chain; for other names their own declaration."""
    analysis = focus_on_name(analysis, offset)
    spot = spot_at(analysis, offset)
    symbol: Symbol | None = spot.symbol if spot else None
    if spot is None or symbol is None:
        return None
    base, _ = symbol.base()
    return _target(analysis, spot.span, base.place) if base.place else None
