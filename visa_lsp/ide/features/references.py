"""References and highlights: every place that names a symbol, with its access.

References of a variable include the uses of all aliases of its bytes. Highlights cover one name only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.ide.index.focus import family, focus, focus_at
from visa_lsp.ide.index.text_index import index_of, words_of
from visa_lsp.ide.index.token_at import line_tokens, name_span, spot_at
from visa_lsp.ide.index.tokens import TokenKind
from visa_lsp.isa.model import Shape
from visa_lsp.isa.table import TABLE
from visa_lsp.sema.model import Role, Symbol

if TYPE_CHECKING:
    from visa_lsp.text import Span


class ReferenceKind(Enum):
    """Access of a place."""

    DECLARED = "declared"
    READ = "read"
    WRITE = "written"
    READ_WRITE = "read and written"
    NAMED = "named"


@dataclass(frozen=True, slots=True, order=True)
class Occurrence:
    """A place of a symbol."""

    span: Span
    use: ReferenceKind
    name: str


_USE = {Role.READ: ReferenceKind.READ, Role.WRITE: ReferenceKind.WRITE, Role.READ_WRITE: ReferenceKind.READ_WRITE}


def occurrences(analysis: Analysis, symbol: Symbol) -> Iterator[Occurrence]:
    """Return the declaration and the uses of one symbol, unordered."""
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


def references(
    analysis: Analysis, offset: int, *, declarations: bool = True, aliases: bool = True
) -> tuple[Occurrence, ...]:
    """Return every place of the symbol at an offset, through aliases, in text order."""
    analysis = focus_at(analysis, offset, uses=True, family=aliases)
    spot = spot_at(analysis, offset)
    if spot is None:
        return ()
    if spot.token.kind is TokenKind.FUNCTION:
        mentions = list(function_occurrences(analysis, spot.token.text))
    else:
        symbol = spot.symbol
        if symbol is None or spot.body is None:
            return ()
        group = family(spot.body, symbol) if aliases else [symbol]
        mentions = [o for member in group for o in occurrences(analysis, member)]
    kept = {o.span: o for o in mentions if declarations or o.use is not ReferenceKind.DECLARED}
    return tuple(sorted(kept.values(), key=lambda o: o.span))


def highlights(analysis: Analysis, offset: int) -> tuple[Occurrence, ...]:
    """Return the places of the name at an offset."""
    return references(analysis, offset, aliases=False)


# Mnemonics with the name of a function as operand.
_CALLS: Final = frozenset(
    row.mnemonic.split(".")[0]
    for row in TABLE.rows
    if any(slot.shape in (Shape.NAME, Shape.IDENTIFIER) for slot in row.slots)
)


def _function_lines(analysis: Analysis, name: str) -> Iterator[int]:
    """Yield the lines that may define or call a function: comments and labels with its name are skipped."""
    document, index = analysis.document, index_of(analysis.document)
    for line in index.mentions(index.groups, [name]):
        code = document.code(line)
        if code.lstrip(" \t{").startswith(".") or not _CALLS.isdisjoint(words_of(code)):
            yield line


def is_function_used(analysis: Analysis, name: str) -> bool:
    """Return whether a line other than its definitions names a kernel or function."""
    document = analysis.document
    for line in _function_lines(analysis, name):
        code = document.code(line)
        if not code.lstrip(" \t{").startswith(".") and name in code:
            return True
    return False


def function_occurrences(analysis: Analysis, name: str) -> Iterator[Occurrence]:
    """Return the definitions and calls of a kernel or function in the whole text."""
    lines = list(_function_lines(analysis, name))
    whole = Analysis(analysis.document, analysis.platform)
    view = focus(whole, lines) if lines else whole
    for line in lines:
        for token in line_tokens(view, line):
            if token.kind is TokenKind.FUNCTION and token.text == name:
                use = ReferenceKind.DECLARED if token.definition else ReferenceKind.NAMED
                yield Occurrence(analysis.document.span(line, token.span), use, name)
