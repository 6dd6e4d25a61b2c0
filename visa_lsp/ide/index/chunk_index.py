"""The declarations and mentions of a chunk of a text, each computed on first use.

Invariant: a chunk never changes, so its index holds for every snapshot with the chunk.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.isa.model import FlowClass
from visa_lsp.isa.table import TABLE
from visa_lsp.sema.special_words import special_words
from visa_lsp.syntax.bulk import code_of, decl_offsets, instructions_of, label_offsets
from visa_lsp.syntax.chunk_facts import base_of, class_letter
from visa_lsp.syntax.memo import Memo
from visa_lsp.syntax.parse import statement_of
from visa_lsp.syntax.tree import Instruction

if TYPE_CHECKING:
    from visa_lsp.syntax.bulk import Facts
    from visa_lsp.syntax.document import Chunk

_NOTES: Final = frozenset(
    name for name, rows in TABLE.by_mnemonic.items() if all(row.flow is FlowClass.NOTE for row in rows)
)


class PartNaming(NamedTuple):
    """The part of a chunk that determines the meaning of names in the body; ``signs`` is None without declarations."""

    labels: tuple[str, ...]
    signs: dict[str, str] | None
    specials: tuple[str, ...]


class ChunkIndex:
    """The facts of one chunk.

    ``memo`` caches facts that other modules derive from the chunk, each under its own key.
    """

    def __init__(self, facts: Facts, chunk: Chunk) -> None:
        self.facts = facts
        self.chunk = chunk
        self.memo = Memo()

    @cached_property
    def naming(self) -> PartNaming:
        """The part of the chunk that determines the meaning of the body's names."""
        specials = tuple([text for _, text in self.facts.specials])
        return PartNaming(self.facts.labels, self.signs if self.facts.decls else None, specials)

    @property
    def code(self) -> str:
        """The lines without comments, each with a newline before it."""
        return code_of(self.chunk.text, self.chunk.opens_in_block)

    @cached_property
    def decls(self) -> dict[str, list[tuple[int, str]]]:
        """A map from name to (line in the chunk, text after the name)."""
        declarations: dict[str, list[tuple[int, str]]] = {}
        if self.facts.decls:
            places = zip(self.facts.decls, decl_offsets(self.code), self.facts.properties, strict=False)
            for name, offset, rest in places:
                declarations.setdefault(name, []).append((offset, rest))
        return declarations

    @cached_property
    def aliases(self) -> list[tuple[str, str]]:
        """(name, base) of each declaration of an alias."""
        if "alias" not in self.chunk.text:
            return []
        pairs = zip(self.facts.decls, self.facts.properties, strict=True)
        return [(name, base) for name, rest in pairs if (base := base_of(rest)) is not None]

    @cached_property
    def signs(self) -> dict[str, str]:
        """A map from declared name to a sign for its class and length (``line_keys.Signs``)."""
        pairs = zip(self.facts.decls, self.facts.properties, strict=True)
        return {name: sign_of(name, class_letter(rest)) for name, rest in pairs}

    @cached_property
    def label_signs(self) -> dict[str, str]:
        """A map from label to its sign."""
        return {name: sign_of(name, "L") for name in self.facts.labels}

    @cached_property
    def instructions(self) -> int:
        """The number of instructions, without marks of source lines and lifetimes."""
        if self.facts.braced:
            statements = [statement_of(line.rstrip()) for line in self.code.split("\n")]
            names = [
                ".".join(word.text for word in statement.words)
                for statement in statements
                if isinstance(statement, Instruction)
            ]
            return sum(name not in _NOTES for name in names)
        lines = instructions_of(self.code, self.facts).split("\n")
        words = [line.split(None, 1)[0] for line in lines if line and not line.isspace()]
        return sum(word not in _NOTES for word in words) - len(self.labels)

    @cached_property
    def labels(self) -> list[tuple[int, str]]:
        """(line in the chunk, name) of each label."""
        return label_offsets(self.code) if self.facts.labels else []


def sign_of(name: str, letter: str) -> str:
    """Return the sign of a declared name in the key of a line; a word whose meaning depends on the place is its own sign."""
    return f"\x01{letter}{name if name in special_words() else ''}\x02{len(name)};"
