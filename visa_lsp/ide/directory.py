"""Where the names of a text are declared, name by name, kept up by what an edit takes and gives.

Without it each question about a name would go through every chunk. It knows chunks by what is known of them, and no
lines. Invariant: after ``update`` it holds what the chunks of that snapshot declare, whatever snapshots came before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from visa_lsp.ide.index import Index, Part
    from visa_lsp.syntax.document import Document


class Directory:
    """Which chunks declare a name, or an alias of it; goes from any snapshot of a text to any other."""

    def __init__(self) -> None:
        self.declaring: dict[str, tuple[Part, ...]] = {}
        self.aliasing: dict[str, tuple[Part, ...]] = {}
        self.index: Index | None = None
        self._parts: dict[int, Part] = {}

    def update(self, index: Index) -> None:
        """Take out the chunks that are gone and take in those that are new."""
        now = {id(part): part for part in index.parts if part.facts.decls}
        for key in self._parts.keys() - now.keys():
            self._change(self._parts[key], come=False)
        for key in now.keys() - self._parts.keys():
            self._change(now[key], come=True)
        self._parts, self.index = now, index

    def include(self, part: Part) -> bool:
        """Take one chunk in ahead of ``update``; whether it was not in yet."""
        if not part.facts.decls or id(part) in self._parts:
            return False
        self._change(part, come=True)
        self._parts[id(part)] = part
        self.index = None  # no snapshot's now, until ``update`` has looked
        return True

    def _change(self, part: Part, *, come: bool) -> None:
        alone = (part,)  # one object for all names that nobody else declares: nearly all of them
        for table, names in (
            (self.declaring, set(part.facts.decls)),
            (self.aliasing, {base for _, base in part.aliases}),
        ):
            for name in names:
                rest = tuple([other for other in table.get(name, ()) if other is not part])
                if come:
                    table[name] = (*rest, part) if rest else alone
                elif rest:
                    table[name] = rest
                else:
                    table.pop(name, None)


_DIRECTORY: Final = "directory of names"


def directory_in(document: Document) -> Directory:
    """The directory of a text, at whatever snapshot it is."""
    found = document.lineage.get(_DIRECTORY)
    if not isinstance(found, Directory):
        found = document.lineage[_DIRECTORY] = Directory()
    return found


def directory_of(index: Index) -> Directory:
    """The directory of a text, brought to a snapshot."""
    found = directory_in(index.document)
    if found.index is not index:
        found.update(index)
    return found
