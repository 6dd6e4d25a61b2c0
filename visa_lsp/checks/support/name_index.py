"""An index of the names of one body, by name, kind and line, for rules about missing names.

A text may have a hundred thousand undeclared names and as many declared ones, so no look-up iterates all of them. A
suggestion depends on names of the body with a similar spelling, and on names without a number.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.suggest import nearest
from visa_lsp.syntax.memo import Key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from visa_lsp.checks.support.context import CheckContext
    from visa_lsp.sema.model import Body, Symbol, SymbolKind

# Bodies with more names without a number get only suggestions that differ in the case of letters, because each look-up
# compares all of them.
MAX_PLAIN_NAMES: Final = 64
# One fix renames up to this number of uses of a name; with more it renames only the reported one.
MAX_RENAMED_USES: Final = 64
_MAX_EXEMPT_STEM_CHARS: Final = 2  # letters before a number: such a name is too short to be misspelt
_DIGITS: Final = "0123456789"


class Spelling(NamedTuple):
    """A name without the usual typing slips: case of letters, zeros before its number."""

    stem: str
    number: str  # empty without one


def normalize_spelling(name: str) -> Spelling:
    """Return the normalized spelling of a name: equal for ``V0040`` and ``v40``, and for ``loop`` and ``LOOP``."""
    stem = name.rstrip(_DIGITS)
    digits = name[len(stem) :]
    return Spelling(stem.lower(), digits.lstrip("0") or digits[:1])


def is_likened(word: str) -> bool:
    """Return whether similar names are suggested for a missing one, not only names of the same normalized spelling."""
    alike = normalize_spelling(word)
    return not alike.number or len(alike.stem) > _MAX_EXEMPT_STEM_CHARS


class Pool:
    """Names that may have been meant, in the order of the text."""

    def __init__(self, names: Iterable[str]) -> None:
        self._like: dict[Spelling, list[str]] = {}
        for name in names:
            self._like.setdefault(normalize_spelling(name), []).append(name)
        self._plain = [name for alike, names in self._like.items() if not alike.number for name in names]

    def near(self, word: str, like: Callable[[str, Iterable[str]], str | None]) -> str | None:
        """Return the name most likely meant by a misspelt word; a word with a number matches only names with that number."""
        alike = normalize_spelling(word)
        if alike.number:
            similar = next((name for name in self._like.get(alike, ()) if name != word), None)
            if similar is not None or not is_likened(word):
                return similar
        return like(word, self._plain)


class NameIndex:
    """The declared names and defined labels of a body."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self.by_name: dict[str, list[Symbol]] = {}
        for symbol in body.symbols:
            self.by_name.setdefault(symbol.name, []).append(symbol)
        self._pools: dict[SymbolKind, Pool] = {}

    @cached_property
    def labels(self) -> Pool:
        """The labels that are defined."""
        return Pool([label.name for label in self._body.labels.values() if label.place])

    def of_kind(self, kind: SymbolKind) -> Pool:
        """Return the declared names of a kind."""
        pool = self._pools.get(kind)
        if pool is None:
            pool = self._pools[kind] = Pool([s.name for s in self._body.symbols if s.kind is kind])
        return pool

    @cached_property
    def likeness(self) -> Callable[[str, Iterable[str]], str | None]:
        """The key for looking up a misspelt word."""
        labels = [label.name for label in self._body.labels.values() if label.place]
        plain = sum([not normalize_spelling(name).number for name in (*self.by_name, *labels)])
        return nearest if plain <= MAX_PLAIN_NAMES else same_letters

    @cached_property
    def first_code(self) -> int:
        """The line of the first instruction, label or subroutine; -1 without one."""
        return min([bound.line for bound in self._body.code], default=-1)

    @cached_property
    def last_code(self) -> int:
        """The line of the last instruction, label or subroutine; -1 without one."""
        return max([bound.line for bound in self._body.code], default=-1)

    @cached_property
    def last_leading(self) -> int:
        """The line of the last declaration before all code; -1 without one."""
        lines = [symbol.place.line for symbol in self._body.symbols if symbol.place]
        return max([line for line in lines if self.first_code < 0 or line < self.first_code], default=-1)


# The names of the bodies of a text, by the identity of the body, which lives as long as the text is checked.
_INDEXES: Final = Key[dict[int, NameIndex]]()


def index_of(ctx: CheckContext, body: Body) -> NameIndex:
    """Return the names of a body, collected once."""
    indexes = ctx.views.fact(_INDEXES, dict[int, NameIndex])
    index = indexes.get(id(body))
    if index is None:
        index = indexes[id(body)] = NameIndex(body)
    return index


def same_letters(word: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that differs from a word in the case of its letters only."""
    low = word.lower()
    return min((c for c in candidates if c != word and c.lower() == low), default=None)
