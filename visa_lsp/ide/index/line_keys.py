"""Keys of lines: two lines of one key differ only in names that are declared alike, and in the digits of long numbers.

They parse alike and have their words in the same columns; so what is found out about one of them holds for all
(``semantic_tokens``, ``formatting``). Knows no tokens and no shapes. Invariant: while the stamp of a body's signs stays,
so do the keys of its lines.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from visa_lsp.ide.index.text_index import index_of, sign_of, words_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.ide.index.text_index import Group, Index, PartNaming

_PIECE: Final = re.compile(r"(%?[A-Za-z_$@?][A-Za-z0-9_$@?]*|[0-9][A-Za-z0-9_]*)")
_LENGTH: Final = re.compile("\x02[0-9]+;")
_MOST_WORDS: Final = 400_000
# How many changes of the names of a body are remembered.
_MOST_STEPS: Final = 64


class Stamp:
    """What tells one state of a body's names from every other."""

    __slots__ = ()


class Signs(dict[str, str]):
    """What the words of a body stand for in the key of a line: the class of a declared name, or the word itself.

    A sign ends in the length of its word, so that lines of one key have their tokens in the same columns.
    """

    __slots__ = ("history", "stamp")

    def __init__(self, signs: Mapping[str, str], history: tuple[tuple[Stamp, frozenset[str]], ...] = ()) -> None:
        super().__init__(signs)
        self.stamp = Stamp()
        self.history = history

    def changed_since(self, stamp: Stamp) -> frozenset[str] | None:
        """The names that were declared as something else under another stamp; None where that was too long ago."""
        at = next((i for i in range(len(self.history) - 1, -1, -1) if self.history[i][0] is stamp), -1)
        return None if at < 0 else frozenset().union(*(names for _, names in self.history[at:]))

    def __missing__(self, word: str) -> str:
        sign = word
        if len(word) > 2 and word[0].isdigit():
            kind = "\x03x" if word[1] in "xX" else "\x03d" if word.isdigit() else ""
            sign = f"{kind}\x02{len(word)};" if kind else word
        if len(self) < _MOST_WORDS:
            self[word] = sign
        return sign


class LastKeys:
    """The keys of the chunk that was asked for last."""

    def __init__(self) -> None:
        self.at = -1
        self.keys: list[str] | None = None


class GroupSigns:
    """The signs of the bodies of a snapshot, by their first chunks."""

    def __init__(self) -> None:
        self.signs: dict[int, Signs] | None = None


def pieces_in(code: str) -> list[str]:
    """A text in pieces: every second one is a name or a number."""
    return _PIECE.split(code)


def kind_of(key: str) -> str:
    """A key without the lengths of names and numbers: such lines have the same words, in columns of their own."""
    return _LENGTH.sub("", key)


def keys_of(analysis: Analysis, at: int) -> list[str] | None:
    """A key for every line of a chunk: lines of one key differ only in names of one class, and in long numbers.

    Such lines parse alike, with their words in the same columns. None where control characters in the text could be
    taken for those of keys.
    """
    index = index_of(analysis.document)
    # Those of the chunk that was asked for last: who looks at a chunk in steps asks again at each.
    last = index.views.part(LastKeys)
    if last.at != at:
        last.at, last.keys = at, _keys(index, at)
    return last.keys


def _keys(index: Index, at: int) -> list[str] | None:
    part = index.parts[at]
    if part.facts.strange:
        return None
    pieces = pieces_in(part.code)
    pieces[1::2] = map(signs_at(index, at).__getitem__, pieces[1::2])
    return [key.rstrip() for key in "".join(pieces).split("\n")[1 : part.chunk.count + 1]]


def version_of(index: Index) -> str:
    """The line that tells the version of a text."""
    return index.version


def signs_at(index: Index, at: int) -> Signs:
    """The signs of the body that a chunk belongs to; the same object from one snapshot to the next while no name changes."""
    groups = index.views.part(GroupSigns)
    if groups.signs is None:
        groups.signs = _signs_of_groups(index)
    return groups.signs[index.group_at(index.document.line_of(at)).first]


Naming = tuple["PartNaming", ...]


class LastSigns:
    """The signs of all bodies of a text, as they were asked for last, with what they were made of."""

    def __init__(self) -> None:
        self.signs: list[tuple[Naming, Signs]] = []


def _signs_of_groups(index: Index) -> dict[int, Signs]:
    last = index.document.session.part(LastSigns)
    kept = last.signs
    found: list[tuple[Naming, Signs]] = []
    for number, group in enumerate(index.groups):
        naming = tuple([part.naming for part in index.parts[group.first : group.end]])
        # The body may have been at another number; else it is compared with what stood at its own.
        near = [kept[i] for i in (number, len(kept) - len(index.groups) + number) if 0 <= i < len(kept)]
        same = next((one for one in near if one[0] == naming), None)
        found.append(same or (naming, _signs(index, group, naming, near[0] if near else None)))
    last.signs = found
    return {group.first: signs for group, (_, signs) in zip(index.groups, found, strict=True)}


def _signs(index: Index, group: Group, naming: Naming, before: tuple[Naming, Signs] | None) -> Signs:
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
    if before is None:
        return Signs(signs)
    old = before[1]
    changed = frozenset(n for n in _touched(before[0], naming) if signs.get(n, n) != old.get(n, n))
    return Signs(signs, (*old.history, (old.stamp, changed))[-_MOST_STEPS:])


def _touched(old: Naming, new: Naming) -> set[str]:
    """The names in what is different between two namings of a body."""
    head, most = 0, min(len(old), len(new))
    while head < most and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < most - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    found: set[str] = set()
    for part in (*old[head : len(old) - tail], *new[head : len(new) - tail]):
        found.update(part.labels, part.signs or (), *map(words_of, part.specials))
    return found
