"""Keys of lines: two lines with the same key differ only in names with equal declarations, and in the digits of long numbers.

They parse in the same way and have their words in the same columns, so that a result for one of them holds for all
(``semantic_tokens``, ``formatting``). Knows no tokens and no shapes. Invariant: while the naming of a body does not
change, the keys of its lines do not change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.ide.index.chunk_index import sign_of
from visa_lsp.ide.index.text_index import index_of
from visa_lsp.syntax.bulk import classes

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

    __slots__ = ("mark", "naming")

    def __init__(self, signs: Mapping[str, str], naming: Naming) -> None:
        super().__init__(signs)
        self.naming = naming
        self.mark = object()  # of these signs, for results that depend on them

    def __missing__(self, word: str) -> str:
        sign = word
        if len(word) > 2 and word[0].isdigit():
            kind = "\x03x" if word[1] in "xX" else "\x03d" if word.isdigit() else ""
            sign = f"{kind}\x02{len(word)};" if kind else word
        if len(self) < _MAX_KEY_WORDS:
            self[word] = sign
        return sign


def keys_of(analysis: Analysis, chunk_number: int) -> list[str] | None:
    """Return a key for every line of a chunk; lines with the same key differ only in names of one class and in long numbers.

    Such lines parse in the same way, with their words in the same columns. None if the text has control characters,
    which keys use, or statements of several lines.
    """
    index = index_of(analysis.document)
    part = index.parts[chunk_number]
    if part.facts.strange or part.chunk.goes_on:
        return None
    return classes(part.code, signs_at(index, chunk_number))[: part.chunk.count]


class LastSigns:
    """The signs of all bodies of the last requested index of a text, by their first chunks."""

    def __init__(self) -> None:
        self.index: Index | None = None
        self.signs: dict[int, Signs] = {}


def signs_at(index: Index, chunk_number: int) -> Signs:
    """Return the signs of the body of a chunk; the same object for successive snapshots while no name changes."""
    last = index.document.session.part(LastSigns)
    if last.index is not index:
        last.index, last.signs = index, _signs_of_groups(index, list(last.signs.values()))
    return last.signs[index.group_at(index.document.line_of(chunk_number)).first_chunk]


def _signs_of_groups(index: Index, kept: list[Signs]) -> dict[int, Signs]:
    signs_by_group: dict[int, Signs] = {}
    for number, group in enumerate(index.groups):
        naming = tuple([part.naming for part in index.parts[group.first_chunk : group.end_chunk]])
        # The body may have had another number before.
        near = [kept[i] for i in (number, len(kept) - len(index.groups) + number) if 0 <= i < len(kept)]
        same = next((signs for signs in near if signs.naming == naming), None)
        signs_by_group[group.first_chunk] = same or _signs(index, group, naming)
    return signs_by_group


def _signs(index: Index, group: BodyChunks, naming: Naming) -> Signs:
    signs: dict[str, str] = {}
    for part in index.parts[group.first_chunk : group.end_chunk]:
        if part.facts.labels:
            signs.update(part.label_signs)
    signs.update((name, sign_of(name, "L")) for _, name, _ in index.functions(group))
    for part in index.parts[group.first_chunk : group.end_chunk]:
        if part.facts.decls:
            signs.update(part.signs)
    for _, name in index.inputs(group):
        if name in signs:
            signs[name] = signs[name].replace("\x02", "i\x02", 1)
    return Signs(signs, naming)
