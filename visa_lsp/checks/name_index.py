"""The names of one body as rules about missing names ask for them: by name, by kind, by line; each looked up in no time.

A text may have a hundred thousand undeclared names and as many declared ones: nothing here goes through all of the one
for each of the other. Only so many names of a text get a suggestion, and none of a long text gets one by likeness.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.checks.context import near, near_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from visa_lsp.checks.context import CheckContext
    from visa_lsp.sema.model import Body, Symbol, SymbolKind

# How many names a rule makes a suggestion for, and how long a text may be for suggestions by likeness.
SUGGESTED: Final = 50
_LONG: Final = 10_000


class NameIndex(Struct, frozen=True):
    """Names of a body."""

    by_name: dict[str, list[Symbol]]
    of_kind: dict[SymbolKind, list[str]]
    labels: list[str]  # those that are defined
    lines: list[int]  # of declarations, in order
    last_code: int

    @staticmethod
    def of(body: Body) -> NameIndex:
        """Collect the names of a body."""
        by_name: dict[str, list[Symbol]] = {}
        of_kind: dict[SymbolKind, list[str]] = {}
        for symbol in body.symbols:
            by_name.setdefault(symbol.name, []).append(symbol)
            of_kind.setdefault(symbol.kind, []).append(symbol.name)
        labels = [label.name for label in body.labels.values() if label.place]
        lines = sorted([symbol.place.line for symbol in body.symbols if symbol.place])
        return NameIndex(by_name, of_kind, labels, lines, max([bound.line for bound in body.code], default=-1))

    def declared_before(self, line: int) -> int:
        """The line of the last declaration before a line; -1 without one."""
        at = bisect_left(self.lines, line)
        return self.lines[at - 1] if at else -1


def index_of(ctx: CheckContext, body: Body) -> NameIndex:
    """The names of a body, collected once."""
    known = ctx.indexes.get(id(body))
    if not isinstance(known, NameIndex):
        known = ctx.indexes[id(body)] = NameIndex.of(body)
    return known


def likeness(line_count: int) -> Callable[[str, Iterable[str]], str | None]:
    """How a misspelt word is looked for among words of a text of so many lines."""
    return near if line_count <= _LONG else same_letters


def same_letters(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that differs from a word in the case of its letters only."""
    low = word.lower()
    return min((c for c in candidates if c != word and c.lower() == low), default=None)


def suggestion(ctx: CheckContext, rule: str, name: str, candidates: Iterable[str]) -> str | None:
    """The name that was most likely meant by one that there is not; of a rule's first names only."""
    asked = ctx.indexes.get(rule)
    count = asked if isinstance(asked, int) else 0
    if count >= SUGGESTED:
        return None
    ctx.indexes[rule] = count + 1
    return near_name(name, list(candidates), likeness(ctx.document.line_count))
