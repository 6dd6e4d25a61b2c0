"""An index of a long text, computed from its chunks without binding: bodies, declarations, labels, mentions.

The facts of a chunk are kept from one snapshot to the next, so that after an edit only the changed chunks are read
again. Checks nothing; ``focus`` binds the lines found here. Invariant: an index belongs to one snapshot.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

from visa_lsp.ide.index.chunk_index import ChunkIndex
from visa_lsp.syntax.bulk import decl_offsets
from visa_lsp.syntax.chunk_facts import INPUT, facts_in
from visa_lsp.syntax.chunks import code_in, first_line_of
from visa_lsp.syntax.memo import Memo
from visa_lsp.syntax.parse import statement_of
from visa_lsp.syntax.tree import SUBROUTINE, Scope
from visa_lsp.syntax.word_search import chunks_with, lines_with

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from visa_lsp.syntax.document import Document

_WORD: Final = re.compile(r"%?[A-Za-z_$@?][A-Za-z0-9_$@?]*")
_HEAD: Final = re.compile(r'\s*(\.[a-z_]+)\s*(?:"([^"]*)"|(\S+))?')


@dataclass(frozen=True, slots=True)
class BodyChunks:
    """The chunks of one body, with its lines; ``name`` empty and ``opener`` -1 before the first body."""

    first_chunk: int
    end_chunk: int
    first_line: int
    end_line: int
    name: str = ""
    is_kernel: bool = True
    opener: int = -1


@dataclass(frozen=True, slots=True)
class Counts:
    """The numbers of items in a body."""

    instructions: int
    variables: int
    inputs: int
    labels: int


class Index:
    """The index of one snapshot. ``views`` caches results that other modules derive from it."""

    def __init__(self, document: Document, parts: Sequence[ChunkIndex]) -> None:
        self.document = document
        self.parts = parts
        self.views = Memo()

    @cached_property
    def version(self) -> str:
        """The line with the version of the text; empty without one."""
        texts = (text for part in self.parts for _, text in part.facts.specials)
        return next((text for text in texts if text.lstrip().startswith(".version")), "")

    @cached_property
    def groups(self) -> tuple[BodyChunks, ...]:
        """The bodies of the text, including the part before the first one."""
        document = self.document
        starts = [i for i, part in enumerate(self.parts) if i == 0 or part.facts.opens_body]
        bodies = []
        for start, end in zip(starts, [*starts[1:], len(self.parts)], strict=True):
            line, end_line = document.line_of(start), document.line_of(end)
            specials = self.parts[start].facts.specials
            match = _HEAD.match(specials[0][1]) if self.parts[start].facts.opens_body and specials else None
            if match is None:
                bodies.append(BodyChunks(start, end, line, end_line))
            else:
                name = match.group(2) if match.group(2) is not None else match.group(3) or ""
                bodies.append(BodyChunks(start, end, line, end_line, name, match.group(1) == ".kernel", line))
        return tuple(bodies)

    @cached_property
    def named(self) -> dict[str, BodyChunks]:
        """The bodies by name; the first of several with the same name."""
        return {group.name: group for group in reversed(self.groups) if group.opener >= 0}

    @cached_property
    def scopes(self) -> bool:
        """True if some name may mean different things in different lines of a body."""
        return any(part.facts.scopes for part in self.parts)

    @cached_property
    def braced(self) -> bool:
        """True if braces share lines with statements, so that only the parser can find directives and scopes."""
        return any(part.facts.braced for part in self.parts)

    def braces(self, group: BodyChunks) -> Iterator[tuple[int, bool]]:
        """Return (line, whether it opens) of each brace of a body that begins or ends a scope, in text order."""
        for number in range(group.first_chunk, group.end_chunk):
            part = self.parts[number]
            base = self.document.line_of(number)
            if part.facts.braced:
                lines = enumerate(code_in(part.chunk).split("\n")[1:])
                signs = [(offset, code) for offset, code in lines if "{" in code or "}" in code]
            else:
                signs = [(offset, text) for offset, text in part.facts.specials if text.lstrip()[0] in "{}"]
            for offset, code in signs:
                statement = statement_of(code.rstrip())
                braces = None if statement is None else statement.braces
                if braces is not None:
                    yield from ((base + offset, True) for _ in braces.opens)
                if isinstance(statement, Scope):
                    yield base + offset, statement.opens
                if braces is not None:
                    yield from ((base + offset, False) for _ in braces.closes)

    def group_at(self, line: int) -> BodyChunks:
        """Return the body of a line."""
        index = bisect_right(self.groups, line, key=lambda g: g.first_line) - 1
        return self.groups[max(index, 0)]

    def directives(self, group: BodyChunks) -> Iterator[tuple[int, str]]:
        """Return (line, text) of every directive of a body that is not a declaration."""
        for number in range(group.first_chunk, group.end_chunk):
            base = self.document.line_of(number)
            for offset, text in self.parts[number].facts.specials:
                yield base + offset, text

    def openers(self) -> Iterator[int]:
        """Yield the lines that open bodies, and the version line before them."""
        for group in self.groups:
            if group.opener >= 0:
                yield group.opener
            else:
                yield from (line for line, text in self.directives(group) if text.lstrip().startswith(".version"))

    @cached_property
    def _declaring(self) -> dict[str, list[int]]:
        """The chunks that declare each name."""
        chunks_by_name: dict[str, list[int]] = {}
        for number, part in enumerate(self.parts):
            for name in set(part.facts.decls):
                chunks_by_name.setdefault(name, []).append(number)
        return chunks_by_name

    @cached_property
    def _aliasing(self) -> dict[str, list[tuple[int, str]]]:
        """The aliases of each name, with their chunks."""
        aliases_by_base: dict[str, list[tuple[int, str]]] = {}
        for number, part in enumerate(self.parts):
            for name, base in part.aliases:
                aliases_by_base.setdefault(base, []).append((number, name))
        return aliases_by_base

    def declarations(self, group: BodyChunks, names: Iterable[str]) -> Iterator[tuple[int, str, str]]:
        """Return (line, name, text after the name) of the declarations of names."""
        for name in set(names):
            for number in self._declaring.get(name, ()):
                if group.first_chunk <= number < group.end_chunk:
                    base = self.document.line_of(number)
                    for offset, rest in self.parts[number].decls[name]:
                        yield base + offset, name, rest

    def aliases(self, group: BodyChunks, bases: Iterable[str]) -> Iterator[str]:
        """Yield the names that are declared as aliases of the given names."""
        for wanted in bases:
            yield from (
                name for number, name in self._aliasing.get(wanted, ()) if group.first_chunk <= number < group.end_chunk
            )

    def functions(self, group: BodyChunks) -> Iterator[tuple[int, str, int]]:
        """Return (line, name, column of the name) of each subroutine of a body."""
        for line, text in self.directives(group):
            match = _HEAD.match(text)
            if match is not None and match.group(1) == SUBROUTINE and (match.group(2) or match.group(3)):
                yield line, match.group(2) or match.group(3), match.start(2 if match.group(2) else 3)

    def inputs(self, group: BodyChunks) -> Iterator[tuple[int, str]]:
        """Return (line, variable) of each input of a body."""
        for line, text in self.directives(group):
            match = INPUT.match(text)
            if match is not None:
                yield line, match.group(1)

    def counts(self, group: BodyChunks) -> Counts:
        """Return the counts of a body."""
        parts = self.parts[group.first_chunk : group.end_chunk]
        return Counts(
            sum(part.instructions for part in parts),
            sum(len(part.facts.decls) for part in parts),
            sum(1 for _ in self.inputs(group)),
            len({name for _, name in self.labels(group)} | {name for _, name, _ in self.functions(group)}),
        )

    def labels(self, group: BodyChunks) -> Iterator[tuple[int, str]]:
        """Return (line, name) of each label line of a body, in text order."""
        for number in range(group.first_chunk, group.end_chunk):
            base = self.document.line_of(number)
            for offset, name in self.parts[number].labels:
                yield base + offset, name

    def mentions(
        self,
        groups: Iterable[BodyChunks],
        names: Iterable[str],
        most: int | None = None,
        *,
        declarations: bool = True,
    ) -> list[int]:
        """Return the lines with one of the names, also in comments, in order; stop soon after ``most`` lines.

        Without ``declarations``, lines that declare a variable are skipped.
        """
        wanted = [name for name in names if name]
        mentions: list[int] = []
        for group in groups:
            chunks = self.document.chunks[group.first_chunk : group.end_chunk]
            for number in chunks_with(chunks, wanted):
                base = self.document.line_of(group.first_chunk + number)
                lines = list(lines_with(chunks[number].text, wanted))
                if chunks[number].goes_on:
                    lines = sorted({first_line_of(chunks[number], line) for line in lines})
                part = self.parts[group.first_chunk + number]
                if not declarations and part.facts.decls:
                    declared = set(decl_offsets(part.code))
                    lines = [line for line in lines if line not in declared]
                mentions += [base + line for line in lines]
                if most is not None and len(mentions) > most:
                    return mentions
        return mentions


class LastIndex:
    """The last requested index of a text, of any snapshot."""

    def __init__(self) -> None:
        self.index: Index | None = None


def index_of(document: Document) -> Index:
    """Return the index of a snapshot; the last one is cached."""
    last = document.session.part(LastIndex)
    index = last.index
    if index is not None and index.document is document:
        return index
    old = {id(p.chunk): p for p in index.parts} if index is not None else {}
    parts = []
    for chunk in document.chunks:
        part = old.get(id(chunk))
        parts.append(part if part is not None and part.chunk is chunk else ChunkIndex(facts_in(chunk), chunk))
    last.index = Index(document, parts)
    return last.index


def words_of(code: str) -> set[str]:
    """Return all words of a line that may be names."""
    return set(_WORD.findall(code))
