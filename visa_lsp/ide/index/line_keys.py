"""Keys of lines: two lines with the same key differ only in names with equal declarations, and in the digits of long numbers.

They parse in the same way and have their words in the same columns, so that a result for one of them holds for all
(``semantic_tokens``, ``formatting``). Knows no tokens and no shapes. Invariant: while the naming of a body does not
change, the keys of its lines do not change.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from visa_lsp.ide.index.chunk_index import sign_of
from visa_lsp.ide.index.text_index import index_of, words_of
from visa_lsp.syntax.bulk import classes
from visa_lsp.syntax.document import same_head, same_tail

if TYPE_CHECKING:
    from collections.abc import Mapping

    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.ide.index.chunk_index import PartNaming
    from visa_lsp.ide.index.text_index import BodyChunks, Index

    Naming = tuple[PartNaming, ...]

_MAX_KEY_WORDS: Final = 400_000


class Signs(dict[str, str]):
    """The signs that replace the words of a body in keys: the class of a declared name, or the word itself.

    A sign ends with the length of its word, so that lines with the same key have their tokens in the same columns.
    """

    __slots__ = ("_compared", "naming")

    def __init__(self, signs: Mapping[str, str], naming: Naming) -> None:
        super().__init__(signs)
        self.naming = naming
        self._compared: tuple[Naming, set[str]] = naming, set()

    def find_changes_since(self, old: Naming) -> set[str]:
        """Return the names whose declaration differs in another naming of the body."""
        if self._compared[0] is not old:
            self._compared = old, _find_changed_names(old, self.naming)
        return self._compared[1]

    def __missing__(self, word: str) -> str:
        sign = word
        if len(word) > 2 and word[0].isdigit():
            kind = "\x03x" if word[1] in "xX" else "\x03d" if word.isdigit() else ""
            sign = f"{kind}\x02{len(word)};" if kind else word
        if len(self) < _MAX_KEY_WORDS:
            self[word] = sign
        return sign


def keys_of(analysis: Analysis, at: int) -> list[str] | None:
    """Return a key for every line of a chunk; lines with the same key differ only in names of one class and in long numbers.

    Such lines parse in the same way, with their words in the same columns. None if the text has control characters,
    which keys use, or statements of several lines.
    """
    index = index_of(analysis.document)
    part = index.parts[at]
    if part.facts.strange or part.chunk.goes_on:
        return None
    return classes(part.code, signs_at(index, at))[: part.chunk.count]


class LastSigns:
    """The signs of all bodies of the last requested index of a text, by their first chunks."""

    def __init__(self) -> None:
        self.index: Index | None = None
        self.signs: dict[int, Signs] = {}


def signs_at(index: Index, at: int) -> Signs:
    """Return the signs of the body of a chunk; the same object for successive snapshots while no name changes."""
    last = index.document.session.part(LastSigns)
    if last.index is not index:
        last.index, last.signs = index, _signs_of_groups(index, list(last.signs.values()))
    return last.signs[index.group_at(index.document.line_of(at)).first]


def _signs_of_groups(index: Index, kept: list[Signs]) -> dict[int, Signs]:
    found: dict[int, Signs] = {}
    for number, group in enumerate(index.groups):
        naming = tuple([part.naming for part in index.parts[group.first : group.end]])
        # The body may have had another number before.
        near = [kept[i] for i in (number, len(kept) - len(index.groups) + number) if 0 <= i < len(kept)]
        same = next((signs for signs in near if signs.naming == naming), None)
        found[group.first] = same or _signs(index, group, naming)
    return found


def _signs(index: Index, group: BodyChunks, naming: Naming) -> Signs:
    signs: dict[str, str] = {}
    for part in index.parts[group.first : group.end]:
        if part.facts.labels:
            signs.update(part.label_signs)
    signs.update((name, sign_of(name, "L")) for _, name, _ in index.functions(group))
    for part in index.parts[group.first : group.end]:
        if part.facts.decls:
            signs.update(part.signs)
    for _, name in index.inputs(group):
        if name in signs:
            signs[name] = signs[name].replace("\x02", "i\x02", 1)
    return Signs(signs, naming)


def _find_changed_names(old: Naming, new: Naming) -> set[str]:
    """Return the names with different declarations in two namings of a body, and names in changed directives."""
    head = same_head(old, new)
    tail = same_tail(old, new, min(len(old), len(new)) - head)
    sides = [parts[head : len(parts) - tail] for parts in (old, new)]
    labels = [{name for part in parts for name in part.labels} for parts in sides]
    signs: list[dict[str, str]] = [{}, {}]
    for side, parts in zip(signs, sides, strict=True):
        for part in parts:
            side.update(part.signs or {})  # the last declaration counts
    texts = [[text for part in parts for text in part.specials] for parts in sides]
    changed = (labels[0] ^ labels[1]).union(name for name, _ in signs[0].items() ^ signs[1].items())
    return changed if texts[0] == texts[1] else changed.union(*map(words_of, chain(*texts)))
