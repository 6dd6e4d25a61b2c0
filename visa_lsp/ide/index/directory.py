"""The declarations of a text by name, updated with each edit.

A chunk has to be taken apart once before its names can be looked up. Each question does that for a few chunks and looks
through the names of those that are left, so that the first question about a long text waits for no more than the tenth.
It knows chunks by what is known of them, and no lines. Invariant: after ``update`` its answers are those of that
snapshot, for any earlier snapshots and any number of pending chunks.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from visa_lsp.syntax.word_search import may_have, needle

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from visa_lsp.ide.index.chunk_index import ChunkIndex
    from visa_lsp.syntax.document import Document

# How many chunks one step of a question takes in: some milliseconds.
_AT_ONCE: Final = 4


class Directory:
    """The chunks that declare a name, or an alias of it; can be moved from any snapshot of a text to any other."""

    def __init__(self) -> None:
        self._snapshot: Sequence[ChunkIndex] | None = None
        self._declaring: dict[str, tuple[ChunkIndex, ...]] = {}
        self._aliasing: dict[str, tuple[ChunkIndex, ...]] = {}
        self._parts: dict[int, ChunkIndex] = {}
        self._left: dict[int, ChunkIndex] = {}

    def update(self, parts: Sequence[ChunkIndex]) -> None:
        """Take out the removed chunks and take in some of the new ones."""
        if self._snapshot is not parts:
            now = {id(part): part for part in parts if part.facts.decls}
            for key in self._parts.keys() - now.keys():
                self._change(self._parts.pop(key), come=False)
            self._left = {key: part for key, part in now.items() if key not in self._parts}
            self._snapshot = parts
        for part in list(islice(self._left.values(), _AT_ONCE)):
            self.include(part)

    def include(self, part: ChunkIndex) -> bool:
        """Take one chunk in; whether it was not in yet."""
        if not part.facts.decls or id(part) in self._parts:
            return False
        self._change(part, come=True)
        self._parts[id(part)] = part
        if self._left.pop(id(part), None) is None:
            self._snapshot = None  # it is of another snapshot: no snapshot's now, until ``update`` has looked
        return True

    def find_declaring(self, names: Iterable[str]) -> list[tuple[str, ChunkIndex]]:
        """Return some names with each chunk that declares them, in no order."""
        wanted = set(names)
        found = [(name, part) for name in wanted for part in self._declaring.get(name, ())]
        found += [(name, part) for part in self._left.values() for name in wanted.intersection(part.facts.decls)]
        return found

    def find_aliasing(self, name: str) -> list[ChunkIndex]:
        """Return the chunks that may declare an alias of a name, in no order."""
        wanted = needle(name)
        return [*self._aliasing.get(name, ()), *(part for part in self._left.values() if may_have(part.chunk, wanted))]

    def _change(self, part: ChunkIndex, *, come: bool) -> None:
        alone = (part,)  # one object for all names that no other chunk declares: nearly all of them
        for table, names in (
            (self._declaring, set(part.facts.decls)),
            (self._aliasing, {base for _, base in part.aliases}),
        ):
            for name in names:
                rest = tuple([other for other in table.get(name, ()) if other is not part])
                if come:
                    table[name] = (*rest, part) if rest else alone
                elif rest:
                    table[name] = rest
                else:
                    table.pop(name, None)


def directory_in(document: Document) -> Directory:
    """Return the directory of a text, at whatever snapshot it is."""
    return document.session.part(Directory)


def directory_of(document: Document, parts: Sequence[ChunkIndex]) -> Directory:
    """Return the directory of a text, brought to the snapshot with the chunks ``parts``."""
    found = directory_in(document)
    found.update(parts)
    return found
