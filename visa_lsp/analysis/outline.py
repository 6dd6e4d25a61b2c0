"""The outline of a kernel or function: the lines that rules about the body as a whole read.

These are the directives, the first instruction, and the last instructions of each part. Invariant: while ``key`` is the
same, the findings about the outline are the same, except for the places of its lines.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Final

from visa_lsp.analysis.declared_names import names_of
from visa_lsp.analysis.directives import NO_DIRECTIVES, Place, function_in
from visa_lsp.analysis.tokens import SINGLE
from visa_lsp.isa.model import FlowClass
from visa_lsp.isa.table import TABLE
from visa_lsp.syntax.chunk_facts import decl_lines, facts_in, first_instruction, instructions_in
from visa_lsp.syntax.chunks import codes_in
from visa_lsp.syntax.parse import statement_of
from visa_lsp.syntax.tree import Decl, InputDecl, Instruction, KernelAttr, Label, Scope

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.analysis.chunk_findings import Change, Finding
    from visa_lsp.analysis.declared_names import Names
    from visa_lsp.syntax.chunks import Chunk

# The first words of statements that compute nothing.
_NOTES: Final = sorted({re.escape(row.head) for row in TABLE.rows if row.flow is FlowClass.NOTE})
_NOTE: Final = re.compile(rf"\s*(?:\([^()]*\)\s*)?(?:{'|'.join(_NOTES)})", re.IGNORECASE)
_INSIDE: Final = (Instruction, Label, Decl, InputDecl, KernelAttr, Scope)
_QUOTED: Final = re.compile(r'"[^"]*"')


def hide_name(opening: str) -> str:
    """Replace the name in a line that opens a body by its length, because other lines depend only on that."""
    return _QUOTED.sub(lambda match: f'"{len(match.group())}"', opening)


class Outline:
    """The lines of the outline and the findings about them. ``place`` finds the lines, ``refresh`` updates the key."""

    def __init__(self) -> None:
        self.directives = NO_DIRECTIVES
        self.places: list[Place] = []
        self.names: dict[str, int] = {}  # the names in these lines, with the index of the first place of each
        self.findings: list[tuple[int, Finding]] | None = None  # with the index of their place; None if unknown
        self.key: object = None
        self.of: object = None  # the kind of body and the versions that the key is for
        self.start: Place | None = None  # where the body begins
        self.first_statement: Place | None = None  # the first instruction or label
        self.first_code: Place | None = None  # the first instruction, label or subroutine
        self.last_code: list[Place] = []  # the last instruction and the labels after it
        self.end: Place | None = None  # the last instruction, label or subroutine
        # the last declarations before all code that declare a name again
        self.leading: list[Place] = []
        self.shaping: list[Place] = []  # the lines that other lines depend on
        self._codes: tuple[str, ...] = ()

    def follow(self, change: Change) -> None:
        """Move the findings along with a change of chunks; drop all if one of their lines is removed."""
        moved = [(number, finding.move(change)) for number, finding in self.findings or ()]
        kept = [(number, finding) for number, finding in moved if finding is not None]
        if len(kept) < len(moved):
            self.findings = None
        elif kept:
            self.findings = kept

    def place(self, chunks: Sequence[Chunk]) -> None:
        """Find the lines of the outline."""
        first_chunk = next((i for i, chunk in enumerate(chunks) if facts_in(chunk).has_code), len(chunks))
        self.first_code = None
        for index in range(first_chunk, len(chunks)):
            lines = enumerate(instructions_in(chunks[index]))
            offset = next((i for i, line in lines if line.strip() and _is_code(line)), -1)
            if offset >= 0:
                self.first_code = index, offset
                break
        self.first_statement = self.first_code
        if self.directives.parts:
            self.first_code = min(self.directives.parts[0], self.first_code or (len(chunks), 0))
        end = self.first_code or (len(chunks), 0)
        leading = [place for place in self.directives.broken_places if place < end]
        for index in range(min(end[0], len(chunks) - 1), -1, -1):
            before = [(index, i) for i in decl_lines(chunks[index]) if (index, i) < end]
            while before and not isinstance(statement_of(codes_in(chunks[index])[before[-1][1]]), Decl):
                before.pop()
            if before:
                leading += before
                break
        self.leading = sorted(leading)
        self.last_code = list(_last_code(chunks, len(chunks), 0, first_chunk))
        last = [(index, offset) for index, offset in self.last_code if _is_code(instructions_in(chunks[index])[offset])]
        self.end = max([*last, *self.directives.parts], default=None)
        places = {(index, offset) for index, offset, _ in self.directives.places}
        for index, offset in [*self.directives.parts, (len(chunks), 0)]:
            places.update(_last_code(chunks, index, offset, first_chunk))
        coded = [index for index in range(first_chunk, len(chunks)) if facts_in(chunks[index]).has_code]
        starts = ((index, first_instruction(chunks[index])) for index in coded)
        first_instructions = set(islice((place for place in starts if place[1] >= 0), 1))
        beginning = _find_start(chunks) if self.directives.opening is None else set[Place]()
        self.places = sorted(places | beginning | first_instructions)
        opened = self.directives.opening is not None
        self.start = self.directives.places[0][:2] if opened else min(beginning, default=None)
        # The place of the first instruction shows whether there are several parts.
        self.shaping = sorted(
            self.directives.shaping | beginning | (first_instructions if self.directives.parts else set())
        )
        codes = tuple([codes_in(chunks[index])[offset] for index, offset in self.places])
        if codes != self._codes:
            self._codes, self.names = codes, {}
            for number, code in enumerate(codes):
                for name in sorted(names_of(code)):
                    self.names.setdefault(name, number)

    def refresh(
        self, kind: object, versions: tuple[str, ...], names: Names, chunks: Sequence[Chunk], *, changed: bool
    ) -> None:
        """Update the key; drop the findings if it changed or their lines moved within the body."""
        before = self.key
        if changed or self.of != (kind, versions):
            self._update_key(kind, versions, names, chunks)
        if self.key != before or any(
            f.anchors[0] != (chunks[self.places[number][0]], self.places[number][1])
            for number, f in self.findings or ()
        ):
            self.findings = None

    def _update_key(self, kind: object, versions: tuple[str, ...], names: Names, chunks: Sequence[Chunk]) -> None:
        meaning = tuple([names.tokens[name] for name in self.names])
        declared = sorted([(names.place(name), name) for name in self.names if name in names.decl])
        declared_later = tuple(self._find_declared_behind(names, chunks))
        order = tuple([name for _, name in declared])
        scoped = tuple(self._find_declared_apart(names, chunks))
        self.of = kind, versions
        self.key = kind, versions, self._codes, meaning, declared_later, order, scoped

    def _find_declared_behind(self, names: Names, chunks: Sequence[Chunk]) -> Iterator[str]:
        """Yield the names in the outline that are declared after their first use in it."""
        for name, line_number in self.names.items():
            if name in names.decl:
                index, offset = self.places[line_number]
                where, number = names.place(name)
                if where > index or (where == index and decl_lines(chunks[index])[number] > offset):
                    yield name

    def _find_declared_apart(self, names: Names, chunks: Sequence[Chunk]) -> Iterator[tuple[int, int, str]]:
        """Yield the declarations of names with several meanings, and the braces between those."""
        apart = {name for name in self.names if names.tokens.get(name) == SINGLE}
        for index, number in names.find_declarations(apart):
            facts = facts_in(chunks[index])
            yield index, decl_lines(chunks[index])[number], facts.decls[number] + facts.properties[number]
        if apart:
            yield from self.directives.braces


def _is_code(line: str) -> bool:
    return isinstance(statement_of(line.rstrip()), (Instruction, Label))


def _find_start(chunks: Sequence[Chunk]) -> set[Place]:
    """Return the place where a body without a directive begins: the first statement that is allowed only in a body."""
    for index, chunk in enumerate(chunks):
        for offset, code in enumerate(codes_in(chunk)):
            if isinstance(statement_of(code), _INSIDE) or function_in(code) is not None:
                return {(index, offset)}
    return set()


def _last_code(chunks: Sequence[Chunk], index: int, offset: int, first_chunk: int) -> Iterator[Place]:
    """Yield the statements from a place backwards to the first that is neither a label nor a mark."""
    while index >= first_chunk:
        if index < len(chunks) and facts_in(chunks[index]).has_code:
            split = instructions_in(chunks[index])
            for i in range(min(offset, len(split)) - 1, -1, -1):
                if split[i].strip():
                    yield index, i
                    if isinstance(statement_of(split[i].rstrip()), Instruction) and not _NOTE.match(split[i]):
                        return
        index, offset = index - 1, 1 << 30
