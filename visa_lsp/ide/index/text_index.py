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
from visa_lsp.syntax.parse import statement_of
from visa_lsp.syntax.session import Session
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

    first: int
    end: int
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
        self.views = Session()

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
        found = []
        for first, end in zip(starts, [*starts[1:], len(self.parts)], strict=True):
            line, end_line = document.line_of(first), document.line_of(end)
            specials = self.parts[first].facts.specials
            match = _HEAD.match(specials[0][1]) if self.parts[first].facts.opens_body and specials else None
            if match is None:
                found.append(BodyChunks(first, end, line, end_line))
            else:
                name = match.group(2) if match.group(2) is not None else match.group(3) or ""
                found.append(BodyChunks(first, end, line, end_line, name, match.group(1) == ".kernel", line))
        return tuple(found)

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
        for at in range(group.first, group.end):
            part = self.parts[at]
            base = self.document.line_of(at)
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
        at = bisect_right(self.groups, line, key=lambda g: g.first_line) - 1
        return self.groups[max(at, 0)]

    def directives(self, group: BodyChunks) -> Iterator[tuple[int, str]]:
        """Return (line, text) of every directive of a body that is not a declaration."""
        for at in range(group.first, group.end):
            base = self.document.line_of(at)
            for offset, text in self.parts[at].facts.specials:
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
        found: dict[str, list[int]] = {}
        for at, part in enumerate(self.parts):
            for name in set(part.facts.decls):
                found.setdefault(name, []).append(at)
        return found

    @cached_property
    def _aliasing(self) -> dict[str, list[tuple[int, str]]]:
        """The aliases of each name, with their chunks."""
        found: dict[str, list[tuple[int, str]]] = {}
        for at, part in enumerate(self.parts):
            for name, base in part.aliases:
                found.setdefault(base, []).append((at, name))
        return found

    def declarations(self, group: BodyChunks, names: Iterable[str]) -> Iterator[tuple[int, str, str]]:
        """Return (line, name, text after the name) of the declarations of names."""
        for name in set(names):
            for at in self._declaring.get(name, ()):
                if group.first <= at < group.end:
                    base = self.document.line_of(at)
                    for offset, rest in self.parts[at].decls[name]:
                        yield base + offset, name, rest

    def aliases(self, group: BodyChunks, bases: Iterable[str]) -> Iterator[str]:
        """Yield the names that are declared as aliases of the given names."""
        for wanted in bases:
            yield from (name for at, name in self._aliasing.get(wanted, ()) if group.first <= at < group.end)

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
        parts = self.parts[group.first : group.end]
        return Counts(
            sum(part.instructions for part in parts),
            sum(len(part.facts.decls) for part in parts),
            sum(1 for _ in self.inputs(group)),
            len({name for _, name in self.labels(group)} | {name for _, name, _ in self.functions(group)}),
        )

    def labels(self, group: BodyChunks) -> Iterator[tuple[int, str]]:
        """Return (line, name) of each label line of a body, in text order."""
        for at in range(group.first, group.end):
            base = self.document.line_of(at)
            for offset, name in self.parts[at].labels:
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
        found: list[int] = []
        for group in groups:
            chunks = self.document.chunks[group.first : group.end]
            for at in chunks_with(chunks, wanted):
                base = self.document.line_of(group.first + at)
                lines = list(lines_with(chunks[at].text, wanted))
                if chunks[at].goes_on:
                    lines = sorted({first_line_of(chunks[at], line) for line in lines})
                part = self.parts[group.first + at]
                if not declarations and part.facts.decls:
                    declared = set(decl_offsets(part.code))
                    lines = [line for line in lines if line not in declared]
                found += [base + line for line in lines]
                if most is not None and len(found) > most:
                    return found
        return found


class LastIndex:
    """The last requested index of a text, of any snapshot."""

    def __init__(self) -> None:
        self.index: Index | None = None


def index_of(document: Document) -> Index:
    """Return the index of a snapshot; the last one is cached."""
    last = document.session.part(LastIndex)
    known = last.index
    if known is not None and known.document is document:
        return known
    old = {id(p.chunk): p for p in known.parts} if known is not None else {}
    parts = []
    for chunk in document.chunks:
        part = old.get(id(chunk))
        parts.append(part if part is not None and part.chunk is chunk else ChunkIndex(facts_in(chunk), chunk))
    last.index = Index(document, parts)
    return last.index


def words_of(code: str) -> set[str]:
    """Return all words of a line that may be names."""
    return set(_WORD.findall(code))
