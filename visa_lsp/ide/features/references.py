"""References and highlights: every place where a symbol is named, with what happens to it there.

References go through aliases: who asks for a variable sees the uses of all names for its bytes. Highlights are about
the one name, as an editor marks it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.ide.index.focus import WHOLE, Focus, family_names, focus, focus_at
from visa_lsp.ide.index.text_index import index_of
from visa_lsp.ide.index.token_at import line_tokens, name_span, spot_at
from visa_lsp.ide.index.tokens import TokenKind
from visa_lsp.sema.model import Role, SymbolKind
from visa_lsp.sema.special_words import special_words
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.sema.model import Body, Symbol


class ReferenceKind(Enum):
    """What happens at a place."""

    DECLARED = "declared"
    READ = "read"
    WRITE = "written"
    READ_WRITE = "read and written"
    NAMED = "named"


@dataclass(frozen=True, slots=True, order=True)
class Occurrence:
    """One place of a symbol."""

    span: Span
    use: ReferenceKind
    name: str


_USE = {Role.READ: ReferenceKind.READ, Role.WRITE: ReferenceKind.WRITE, Role.READ_WRITE: ReferenceKind.READ_WRITE}


def occurrences(analysis: Analysis, symbol: Symbol) -> Iterator[Occurrence]:
    """Declaration and uses of one symbol, in no order."""
    document = analysis.document
    if symbol.place is not None:
        yield Occurrence(name_span(analysis, symbol.place), ReferenceKind.DECLARED, symbol.name)
    if symbol.input_place is not None and not any(r.place == symbol.input_place for r in symbol.references):
        yield Occurrence(
            document.span(symbol.input_place.line, symbol.input_place.span), ReferenceKind.NAMED, symbol.name
        )
    for reference in symbol.references:
        use = _USE.get(reference.role, ReferenceKind.NAMED)
        yield Occurrence(name_span(analysis, reference.place), use, symbol.name)


def family(body: Body, symbol: Symbol) -> list[Symbol]:
    """The symbol and all that share its bytes: the base of its chain and every alias of that base.

    The registers of all predefined variables are their own family, without those that merely alias them.
    """
    if symbol.kind is not SymbolKind.GENERAL:
        return [symbol]
    base, _ = symbol.base()
    found = [base, *(s for s in body.symbols if s is not base and s.base()[0] is base)]
    return found if symbol in found else [symbol, *found]


def places(analysis: Analysis, offset: int, *, declarations: bool = True) -> tuple[Span, ...]:
    """Where the symbol at an offset is named, through aliases, in text order; a busy name is looked for without binding."""
    found = _busy(analysis, offset, declarations=declarations)
    if found is None:
        return tuple(o.span for o in references(analysis, offset, declarations=declarations))
    return found


def _busy(analysis: Analysis, offset: int, *, declarations: bool) -> tuple[Span, ...] | None:
    """The places of a declared variable that many lines name; None for all others, and where its lines hold more than names."""
    document = analysis.document
    if document.line_count < WHOLE or isinstance(analysis, Focus):
        return None
    spot = spot_at(focus_at(analysis, offset), offset)
    symbol = spot.symbol if spot is not None else None
    index = index_of(document)
    if symbol is None or symbol.place is None or symbol.decl is None or index.scopes:
        return None
    group = index.group_at(symbol.place.line)
    names = family_names(analysis, index, group, symbol.name)
    lines = index.mentions([group], names)
    if len(lines) <= _BUSY or any(n.startswith("%") or n in special_words() for n in names):
        return None
    pattern = re.compile(
        "(?<![A-Za-z0-9_$@?%.])(?:"
        + "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
        + ")(?![A-Za-z0-9_$@?])"
    )
    spans = []
    for line in lines:
        code = document.code(line)
        if '"' in code:
            return None
        start = document.line_start(line)
        declared = code.lstrip().startswith(".decl")
        for number, match in enumerate(pattern.finditer(code)):
            if declared and number == 0 and not declarations and "alias" not in code[: match.start()]:
                continue
            spans.append(Span(start + match.start(), start + match.end()))
    return tuple(spans)


_BUSY: Final = 8


def references(
    analysis: Analysis, offset: int, *, declarations: bool = True, aliases: bool = True
) -> tuple[Occurrence, ...]:
    """Every place of the symbol at an offset, through aliases, in text order."""
    analysis = focus_at(analysis, offset, uses=True, family=aliases)
    spot = spot_at(analysis, offset)
    if spot is None:
        return ()
    if spot.token.kind is TokenKind.FUNCTION:
        found = list(function_occurrences(analysis, spot.token.text))
    else:
        symbol = spot.symbol
        if symbol is None or spot.body is None:
            return ()
        group = family(spot.body, symbol) if aliases else [symbol]
        found = [o for member in group for o in occurrences(analysis, member)]
    kept = {o.span: o for o in found if declarations or o.use is not ReferenceKind.DECLARED}
    return tuple(sorted(kept.values(), key=lambda o: o.span))


def highlights(analysis: Analysis, offset: int) -> tuple[Occurrence, ...]:
    """The places of the one name at an offset."""
    return references(analysis, offset, aliases=False)


def function_occurrences(analysis: Analysis, name: str) -> Iterator[Occurrence]:
    """Definitions and calls of a kernel or function by name, over the whole text."""
    index = index_of(analysis.document)
    lines = index.mentions(index.groups, [name])
    whole = Analysis(analysis.document, analysis.platform)
    view = focus(whole, lines) if lines else whole
    for line in lines:
        for token in line_tokens(view, line):
            if token.kind is TokenKind.FUNCTION and token.text == name:
                use = ReferenceKind.DECLARED if token.definition else ReferenceKind.NAMED
                yield Occurrence(analysis.document.span(line, token.span), use, name)
