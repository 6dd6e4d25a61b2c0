"""The declarations and mentions of a chunk of a text, each computed on first use.

Invariant: a chunk never changes, so its index holds for every snapshot with the chunk.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.ide.index.memo import new_memo
from visa_lsp.isa.model import FlowClass
from visa_lsp.isa.table import TABLE
from visa_lsp.sema.special_words import special_words
from visa_lsp.syntax.bulk import Facts, code_of, decl_offsets, instructions_of, label_offsets, statement_of
from visa_lsp.syntax.chunk_facts import base_of, class_letter
from visa_lsp.syntax.tree import Instruction

if TYPE_CHECKING:
    from visa_lsp.ide.index.memo import Memo
    from visa_lsp.syntax.document import Chunk

_NOTES: Final = frozenset(
    name for name, rows in TABLE.by_mnemonic.items() if all(row.flow is FlowClass.NOTE for row in rows)
)


class PartNaming(NamedTuple):
    """The part of a chunk that determines the meaning of names in the body; ``signs`` is None without declarations."""

    labels: tuple[str, ...]
    signs: dict[str, str] | None
    specials: tuple[str, ...]


@dataclass(slots=True, eq=False)
class ChunkIndex:
    """The facts of one chunk. ``decls`` gives the line in the chunk and the rest of each declaration.

    ``memo`` caches facts that other modules derive from the chunk, each under its own key.
    """

    facts: Facts
    chunk: Chunk
    _decls: dict[str, list[tuple[int, str]]] | None = None
    _labels: list[tuple[int, str]] | None = None
    _aliases: list[tuple[str, str]] | None = None
    _naming: PartNaming | None = None
    _signs: dict[str, str] | None = None
    _label_signs: dict[str, str] | None = None
    _instructions: int | None = None
    memo: Memo = field(default_factory=new_memo)

    @property
    def naming(self) -> PartNaming:
        """The part of the chunk that determines the meaning of the body's names."""
        if self._naming is None:
            specials = tuple([text for _, text in self.facts.specials])
            self._naming = PartNaming(self.facts.labels, self.signs if self.facts.decls else None, specials)
        return self._naming

    @property
    def code(self) -> str:
        """The lines without comments, each with a newline before it."""
        return code_of(self.chunk.text, self.chunk.opens_in_block, joined=self.chunk.goes_on)

    @property
    def decls(self) -> dict[str, list[tuple[int, str]]]:
        """A map from name to (line in the chunk, text after the name)."""
        if self._decls is None:
            found: dict[str, list[tuple[int, str]]] = {}
            if self.facts.decls:
                places = zip(self.facts.decls, decl_offsets(self.code), self.facts.properties, strict=False)
                for name, offset, rest in places:
                    found.setdefault(name, []).append((offset, rest))
            self._decls = found
        return self._decls

    @property
    def aliases(self) -> list[tuple[str, str]]:
        """(name, base) of each declaration of an alias."""
        if self._aliases is None:
            pairs = (
                zip(self.facts.decls, self.facts.properties, strict=True)
                if self.facts.decls and "alias" in self.chunk.text
                else ()
            )
            self._aliases = [(name, base) for name, rest in pairs if (base := base_of(rest)) is not None]
        return self._aliases

    @property
    def signs(self) -> dict[str, str]:
        """A map from declared name to a sign for its class and length (``line_keys.Signs``)."""
        if self._signs is None:
            pairs = zip(self.facts.decls, self.facts.properties, strict=True)
            self._signs = {name: sign_of(name, class_letter(rest)) for name, rest in pairs}
        return self._signs

    @property
    def label_signs(self) -> dict[str, str]:
        """A map from label to its sign."""
        if self._label_signs is None:
            self._label_signs = {name: sign_of(name, "L") for name in self.facts.labels}
        return self._label_signs

    @property
    def instructions(self) -> int:
        """The number of instructions, without marks of source lines and lifetimes."""
        if self._instructions is None:
            if self.facts.braced:
                told = [statement_of(line.rstrip()) for line in self.code.split("\n")]
                names = [
                    ".".join(word.text for word in statement.words)
                    for statement in told
                    if isinstance(statement, Instruction)
                ]
                self._instructions = sum(name not in _NOTES for name in names)
            else:
                lines = instructions_of(self.code, self.facts).split("\n")
                words = [line.split(None, 1)[0] for line in lines if line and not line.isspace()]
                self._instructions = sum(word not in _NOTES for word in words) - len(self.labels)
        return self._instructions

    @property
    def labels(self) -> list[tuple[int, str]]:
        """(line in the chunk, name) of each label."""
        if self._labels is None:
            self._labels = label_offsets(self.code) if self.facts.labels else []
        return self._labels


def sign_of(name: str, letter: str) -> str:
    """Return the sign of a declared name in the key of a line; a word whose meaning depends on the place is its own sign."""
    return f"\x01{letter}{name if name in special_words() else ''}\x02{len(name)};"
