"""An analysis of a long text in which only the lines for one query are bound.

Binding 200,000 lines takes many seconds; a query about one name needs only its declaration, the lines that mention it,
and the directives of its body. Invariant: for its lines and names, a focused analysis equals a full binding
(tests/ide/test_focus.py); it has no facts about others.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

from visa_lsp.analysis.analysis import Analysis
from visa_lsp.analysis.line_classes import SelectedLines
from visa_lsp.ide.index.text_index import BodyChunks, Index, index_of, words_of
from visa_lsp.ide.index.token_at import spot_at
from visa_lsp.ide.index.tokens import TokenKind
from visa_lsp.sema.bind import bind
from visa_lsp.sema.model import Body, BoundModule, Symbol, SymbolKind
from visa_lsp.sema.predefined_symbols import make_predefined_symbols
from visa_lsp.syntax.chunk_facts import base_of
from visa_lsp.syntax.memo import Key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.isa.platforms import Platform
    from visa_lsp.syntax.document import Document

# Shorter texts are bound whole.
WHOLE: Final = 200
# A query about a name with more mentions uses only the first of them, if that suffices.
MAX_BOUND_LINES: Final = 600
_NAMES: Final = frozenset({TokenKind.VARIABLE, TokenKind.LABEL, TokenKind.FUNCTION})


class Focus(Analysis):
    """A bound analysis.

    ``cut``: some mentions of the requested names are missing; ``family_cut``: some of their aliases are.
    """

    def __init__(
        self,
        document: Document,
        platform: Platform | None,
        bound: BoundModule,
        *,
        cut: bool = False,
        family_cut: bool = False,
    ) -> None:
        super().__init__(document, platform)
        self._given = bound
        self.cut = cut
        self.family_cut = family_cut

    @cached_property
    def bound(self) -> BoundModule:
        """The binding of the analysis."""
        return self._given


# The bound lines of the last request to a snapshot: whether mentions or aliases were cut, and the lines.
_FOCUS: Final = Key[Focus]()


def focus(
    analysis: Analysis,
    lines: Iterable[int],
    names: Iterable[str] = (),
    *,
    family: bool = False,
    most: int | None = None,
) -> Analysis:
    """Return the analysis bound for lines, and for every line that mentions one of the names in the body of the first line.

    ``family`` adds all names for the bytes of the named variables; ``most`` limits the lines with mentions of the
    names, and separately those with mentions of the family.
    """
    document = analysis.document
    if isinstance(analysis, Focus) or document.line_count < WHOLE:
        return analysis
    index = index_of(document)
    if index.braced:
        return analysis
    wanted = {document.first_line_of(line) for line in lines if 0 <= line < document.line_count}
    if not wanted:
        wanted = {0}
    groups = {index.group_at(line).first_chunk: index.group_at(line) for line in wanted}
    home = index.group_at(min(wanted))
    asked = set(names)
    # A line that only mentions a name needs no declarations of its other names, because its row determines the use of the name.
    used = {word for line in wanted for word in words_of(document.code(line))}
    cut = family_cut = False
    if asked:
        asked = _synonyms(analysis, asked)
        # Declarations are added below, because a base may have more aliases than the limit of lines.
        mentions = index.mentions([home], asked, most, declarations=most is None)
        cut = most is not None and len(mentions) > most
        wanted.update(mentions[:most])
        if family:
            # Limited separately, because an alias may have so many mentions that none of the name itself would be among
            # the first.
            _family(analysis, index, home, asked, most)
            mentions = index.mentions([home], asked, most, declarations=most is None)
            family_cut = most is not None and max(len(mentions), len(asked)) > most
            wanted.update(mentions[:most])
    chosen = set(wanted) | set(index.openers())
    for group in groups.values():
        chosen.update(line for line, _ in index.directives(group))
    for group in groups.values():
        _declare(index, group, used | asked, chosen)
    ordered = tuple(sorted(chosen))

    def compute() -> Focus:
        bound = bind(SelectedLines(document, ordered), analysis.platform)
        return Focus(document, analysis.platform, bound, cut=cut, family_cut=family_cut)

    return analysis.views.fact(_FOCUS, compute, (cut, family_cut, ordered))


def header_lines(document: Document, name: str) -> tuple[int, ...]:
    """Return the lines that define the inputs of a kernel: its directives, and the declarations of the inputs."""
    index = index_of(document)
    group = index.named.get(name)
    if group is None:
        return ()
    chosen = {*index.openers(), *(line for line, _ in index.directives(group))}
    _declare(index, group, {variable for _, variable in index.inputs(group)}, chosen)
    return tuple(sorted(chosen))


def header_of(analysis: Analysis, name: str) -> Analysis:
    """Return the analysis bound only for the lines that define the inputs of a kernel, without its code."""
    document = analysis.document
    if index_of(document).braced:
        return analysis
    bound = bind(SelectedLines(document, header_lines(document, name)), analysis.platform)
    return Focus(document, analysis.platform, bound)


def focus_at(
    analysis: Analysis,
    offset: int,
    *,
    uses: bool = False,
    names: Iterable[str] = (),
    family: bool = False,
    most: int | None = None,
) -> Analysis:
    """Return the analysis bound for the line of an offset; ``uses`` adds the lines that mention the name there, or ``names``."""
    document = analysis.document
    if isinstance(analysis, Focus) or document.line_count < WHOLE:
        return analysis
    line, column = document.position(offset)
    alone = focus(analysis, [line])
    if alone is analysis:
        return analysis
    spot = spot_at(alone, offset) if uses else None
    if spot is None or spot.token.kind not in _NAMES:
        # A mnemonic or a directive may be in every line; its other places are never needed.
        return alone
    return focus(analysis, [line], {*word_at(document.line_text(line), column), *names}, family=family, most=most)


def focus_on_name(analysis: Analysis, offset: int) -> Analysis:
    """Return the analysis bound for the line of an offset and for the labels of the name there."""
    view = focus_at(analysis, offset)
    spot = spot_at(view, offset)
    if view is analysis or spot is None or spot.token.kind not in (TokenKind.LABEL, TokenKind.VARIABLE):
        return view
    line, column = analysis.document.position(offset)
    index = index_of(analysis.document)
    group = index.group_at(line)
    words = word_at(analysis.document.line_text(line), column)
    return focus(analysis, [line, *_find_labels(index, group, words)])


def _find_labels(index: Index, group: BodyChunks, words: set[str]) -> list[int]:
    """Return the lines of a body that define a label with one of these names."""
    if any(words & set(part.facts.labels) for part in index.parts[group.first_chunk : group.end_chunk]):
        return [line for line, name in index.labels(group) if name in words]
    if any(True for _ in index.declarations(group, words)):
        return []
    # The index does not know indented labels.
    return [line for line in index.mentions([group], words) if index.document.line_text(line).rstrip().endswith(":")]


def word_at(text: str, column: int) -> set[str]:
    """Return the words at a column of a line."""
    start = end = min(column, len(text))
    while start > 0 and _part(text[start - 1]):
        start -= 1
    while end < len(text) and _part(text[end]):
        end += 1
    return words_of(text[start:end])


def _part(ch: str) -> bool:
    return ch.isalnum() or ch in "_$@?%-"


def _synonyms(analysis: Analysis, names: set[str]) -> set[str]:
    """Return the names, with all other names of the predefined variables among them."""
    symbols = make_predefined_symbols(analysis.platform.grf_bytes if analysis.platform else 32)
    ids = {(symbols[n].kind, symbols[n].id) for n in names if n in symbols}
    return names | {n for n, s in symbols.items() if (s.kind, s.id) in ids} if ids else names


def _family(analysis: Analysis, index: Index, group: BodyChunks, names: set[str], most: int | None = None) -> None:
    """Add to ``names`` every name for the bytes of the variables, or ``most`` of them."""
    waiting = set(names)
    while waiting:
        waiting = {b for _, _, rest in index.declarations(group, waiting) if (b := base_of(rest)) is not None} - names
        names |= waiting
    names |= _synonyms(analysis, names)
    fresh = set(names)
    while fresh and (most is None or len(names) <= most):
        fresh = set(index.aliases(group, fresh)) - names
        if most is not None and len(names) + len(fresh) > most:
            fresh = set(sorted(fresh)[: most + 1])
        names |= fresh


def family(body: Body, symbol: Symbol) -> list[Symbol]:
    """Return the symbol and all symbols that share its bytes: the base of its chain and every alias of that base.

    The family of a predefined variable consists of predefined variables only, without aliases declared in the text.
    """
    if symbol.kind is not SymbolKind.GENERAL:
        return [symbol]
    base, _ = symbol.base()
    members = [base, *(s for s in body.symbols if s is not base and s.base()[0] is base)]
    return members if symbol in members else [symbol, *members]


def _declare(index: Index, group: BodyChunks, names: set[str], chosen: set[int]) -> None:
    """Add the declarations of names and of the variables that these are aliases of."""
    waiting, seen = set(names), set(names)
    while waiting:
        up = set()
        for line, _, rest in index.declarations(group, waiting):
            chosen.add(line)
            base = base_of(rest)
            if base is not None:
                up.add(base)
        waiting = up - seen
        seen |= waiting
