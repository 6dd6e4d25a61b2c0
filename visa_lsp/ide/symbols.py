"""Document and workspace symbols: kernels and functions with their variables, labels and subroutines."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from visa_lsp.ide.token_at import name_span
from visa_lsp.sema.model import SymbolKind
from visa_lsp.text import Span

if TYPE_CHECKING:
    from visa_lsp.ide.analysis import Analysis
    from visa_lsp.sema.model import Body, Symbol


class OutlineKind(Enum):
    """What an entry of the outline is."""

    KERNEL = "kernel"
    FUNCTION = "function"
    SUBROUTINE = "subroutine"
    LABEL = "label"
    VARIABLE = "variable"
    ADDRESS = "address"
    PREDICATE = "predicate"
    HANDLE = "handle"


_KIND = {
    SymbolKind.GENERAL: OutlineKind.VARIABLE,
    SymbolKind.ADDRESS: OutlineKind.ADDRESS,
    SymbolKind.PREDICATE: OutlineKind.PREDICATE,
    SymbolKind.SAMPLER: OutlineKind.HANDLE,
    SymbolKind.SURFACE: OutlineKind.HANDLE,
    SymbolKind.LABEL: OutlineKind.LABEL,
    SymbolKind.SUBROUTINE: OutlineKind.SUBROUTINE,
}


@dataclass(frozen=True, slots=True)
class Outline:
    """One entry: ``span`` is the whole of it, ``name_span`` the name, inside ``span``."""

    name: str
    kind: OutlineKind
    detail: str
    span: Span
    name_span: Span
    children: tuple[Outline, ...] = ()


def document_symbols(analysis: Analysis) -> tuple[Outline, ...]:
    """The outline of a text, in text order."""
    return tuple(_body(analysis, body) for body in analysis.bound.bodies)


def workspace_symbols(analysis: Analysis, query: str) -> tuple[tuple[Outline, str], ...]:
    """Entries whose names contain the letters of a query in their order, each with the name of what holds it."""
    found: list[tuple[Outline, str]] = []
    for body in document_symbols(analysis):
        if _fits(query, body.name):
            found.append((body, ""))
        found.extend((child, body.name) for child in body.children if _fits(query, child.name))
    return tuple(found)


def _fits(query: str, name: str) -> bool:
    letters = iter(name.lower())
    return all(letter in letters for letter in query.lower())


def _body(analysis: Analysis, body: Body) -> Outline:
    document = analysis.document
    last = min(body.last_line, document.line_count - 1)
    span = Span(document.line_start(body.first_line), document.line_start(last) + len(document.line_text(last)))
    named = name_span(analysis, body.place) if body.place else Span(span.start, span.start)
    if not (span.start <= named.start and named.end <= span.end):
        span = Span(min(span.start, named.start), max(span.end, named.end))
    members = sorted((*body.symbols, *body.labels.values()), key=lambda s: s.place or (0, 0))
    children = tuple(_symbol(analysis, symbol) for symbol in members if symbol.place is not None)
    kind = OutlineKind.KERNEL if body.is_kernel else OutlineKind.FUNCTION
    return Outline(body.name or "(no kernel)", kind, kind.value, span, named, children)


def _symbol(analysis: Analysis, symbol: Symbol) -> Outline:
    assert symbol.place is not None
    document = analysis.document
    line = symbol.place.line
    start = document.line_start(line)
    text = document.line_text(line)
    span = Span(start + len(text) - len(text.lstrip()), start + len(text.rstrip()))
    return Outline(symbol.name, _KIND[symbol.kind], _detail(symbol), span, name_span(analysis, symbol.place))


def _detail(symbol: Symbol) -> str:
    if symbol.kind is SymbolKind.GENERAL and symbol.type is not None:
        alias = f" = {symbol.alias[0].name}+{symbol.alias[1]}" if symbol.alias else ""
        return f"{symbol.num_elements} × {symbol.type.name}{alias}"
    return symbol.kind.value
