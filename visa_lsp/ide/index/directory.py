"""The declarations of a text by name, updated with each edit.

The names of a chunk are indexed once, before they can be looked up. Each query indexes a few chunks and searches the
names of the remaining ones, so that the first query about a long text is as fast as the tenth. Identifies chunks by
their facts; knows no lines. Invariant: after ``update`` the answers are those of the new snapshot, for any earlier
snapshots and any number of pending chunks.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from visa_lsp.syntax.word_search import may_have, needle

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from visa_lsp.ide.index.chunk_index import ChunkIndex
    from visa_lsp.syntax.document import Document

# chunks indexed in one step of a query: some milliseconds
_AT_ONCE: Final = 4


class Directory:
    """The chunks that declare a name, or an alias of it; can be updated from any snapshot of a text to any other."""

    def __init__(self) -> None:
        self._snapshot: Sequence[ChunkIndex] | None = None
        self._declaring: dict[str, tuple[ChunkIndex, ...]] = {}
        self._aliasing: dict[str, tuple[ChunkIndex, ...]] = {}
        self._parts: dict[int, ChunkIndex] = {}
        self._left: dict[int, ChunkIndex] = {}

    def update(self, parts: Sequence[ChunkIndex]) -> None:
        """Remove the old chunks, and index some of the new ones."""
        if self._snapshot is not parts:
            now = {id(part): part for part in parts if part.facts.decls}
            for key in self._parts.keys() - now.keys():
                self._change(self._parts.pop(key), come=False)
            self._left = {key: part for key, part in now.items() if key not in self._parts}
            self._snapshot = parts
        for key in list(islice(self._left, _AT_ONCE)):
            self._parts[key] = self._left.pop(key)
            self._change(self._parts[key], come=True)

    def find_declaring(self, names: Iterable[str]) -> list[tuple[str, ChunkIndex]]:
        """Return names with the chunks that declare them, in no order."""
        wanted = set(names)
        found = [(name, part) for name in wanted for part in self._declaring.get(name, ())]
        found += [(name, part) for part in self._left.values() for name in wanted.intersection(part.facts.decls)]
        return found

    def find_aliasing(self, name: str) -> list[ChunkIndex]:
        """Return the chunks that may declare an alias of a name, in no order."""
        wanted = needle(name)
        return [*self._aliasing.get(name, ()), *(part for part in self._left.values() if may_have(part.chunk, wanted))]

    def _change(self, part: ChunkIndex, *, come: bool) -> None:
        alone = (part,)  # one object for all names declared in a single chunk, which are nearly all
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


def directory_of(document: Document, parts: Sequence[ChunkIndex]) -> Directory:
    """Return the directory of a text, updated to the snapshot with the chunks ``parts``."""
    found = document.session.part(Directory)
    found.update(parts)
    return found
