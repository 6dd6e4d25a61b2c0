"""What is kept of each chunk of a body, and how chunks are read: the small parts of ``judging``."""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from visa_lsp.syntax.bulk import (
    Facts,
    code_of,
    decl_offsets,
    facts_of,
    instructions_of,
    label_offsets,
    opens_body,
    statement_of,
)  # fmt: skip
from visa_lsp.syntax.chunks import code_in
from visa_lsp.syntax.tree import Instruction

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from visa_lsp.syntax.chunks import Chunk

    # Lines by their number in a chunk: all of them or some.
    Lines = Sequence[str] | Mapping[int, str]

# Of a chunk that is all comment.
NOTHING: Final = facts_of("\n", {})


class Result(Struct):
    """The lines of a chunk that are not plainly clean, by their number in it."""

    hard: set[int] = field(default_factory=set)
    decls: set[int] = field(default_factory=set)
    labels: dict[int, list[str]] = field(default_factory=dict)
    undeclared: dict[int, list[str]] = field(default_factory=dict)

    def forget(self, offset: int) -> None:
        """Drop what is known of an instruction line."""
        self.hard.discard(offset)
        self.labels.pop(offset, None)
        self.undeclared.pop(offset, None)

    def edited(self, head: int, behind: int, shift: int) -> Result:
        """The same of a chunk in which the lines ``[head, behind)`` were replaced, and those behind moved by ``shift``."""

        def place(at: int) -> int:
            return at if at < head else at + shift

        def kept(at: int) -> bool:
            return at < head or at >= behind

        return Result(
            {place(at) for at in self.hard if kept(at)},
            {place(at) for at in self.decls if kept(at)},
            {place(at): names for at, names in self.labels.items() if kept(at)},
            {place(at): names for at, names in self.undeclared.items() if kept(at)},
        )


class Shelf(Struct):
    """Results of chunks that are not there now, and the tokens that names had when they went.

    ``before`` has the names whose token changed since; what is taken back is right but for lines with one of ``others``.
    """

    results: dict[int, tuple[Chunk, Result]] = field(default_factory=dict)
    before: dict[str, str | None] = field(default_factory=dict)

    def note(self, changed: Iterable[str], before: Mapping[str, str | None]) -> None:
        """The tokens of some names have changed."""
        if self.results:
            for name in changed:
                self.before.setdefault(name, before.get(name))

    def others(self, tokens: dict[str, str]) -> set[str]:
        """The names that stand for something else than they did."""
        return {name for name, token in self.before.items() if dict.get(tokens, name) != token}


class Open(Struct):
    """What was judged last.

    ``work`` has (chunk, its instructions where that are not all, (line, class) of lines not known to be clean), ``decls`` (chunk, the numbers of
    its declarations that are not known to be clean), ``lines`` one line of each class without a verdict.
    """

    work: list[tuple[int, Lines | None, list[tuple[int, str]]]] = field(default_factory=list)
    decls: list[tuple[int, list[int]]] = field(default_factory=list)
    lines: dict[int, str] = field(default_factory=dict)
    of_decls: set[int] = field(default_factory=set)

    def chunks(self) -> set[int]:
        """The chunks with lines that may be of a class without a verdict."""
        return {index for index, _, _ in self.work}.union([index for index, _ in self.decls]) if self.lines else set()


def facts_in(chunk: Chunk) -> Facts:
    """The facts of a chunk; made before by the text's state."""
    facts = chunk.cache
    assert isinstance(facts, Facts)
    return facts


def read(chunk: Chunk, share: dict[str, str]) -> Facts:
    """The facts of a chunk, from those of the chunk that it was edited out of where that is enough."""
    if chunk.swallowed:
        return NOTHING
    return _derived(chunk, share) or facts_of(code_in(chunk), share)


def _derived(chunk: Chunk, share: dict[str, str]) -> Facts | None:
    """The facts of a chunk of which some lines are others now; None where only a look at all of them can tell."""
    origin = chunk.origin
    if origin is None or not isinstance(origin.base.cache, Facts):
        return None
    known, base, head = origin.base.cache, origin.base, origin.head
    if known.strange or known.braced or not known.narrow or chunk.opens_in_block or base.opens_in_block:
        return None
    new = facts_of(code_of(origin.between(chunk), False), share)
    old = facts_of(code_of(origin.between(base), False), share)
    if new.strange or new.braced or not new.narrow or new.labels or old.labels:
        return None
    has_code = new.has_code or known.has_code
    if old.has_code and not new.has_code:
        if known.specials or new.specials:
            return None
        has_code = not code_in(chunk).isspace()
    decls, rests = known.decls, known.rests
    if decls or new.decls:
        if has_code or known.has_code:
            return None
        first = bisect_left(decl_lines(base), head)
        behind = first + len(old.decls)
        decls = decls[:first] + new.decls + decls[behind:]
        rests = rests[:first] + new.rests + rests[behind:]
    specials = known.specials
    if specials or new.specials:
        end, shift = base.count - origin.tail, chunk.count - base.count
        above = [place for place in specials if place[0] < head]
        below = [(line + shift, text) for line, text in specials if line >= end]
        specials = (*above, *[(line + head, text) for line, text in new.specials], *below)
    scopes = any(text.lstrip()[0] in "{}" for _, text in specials)
    return Facts(
        decls, rests, specials, known.labels, has_code, False, False, scopes, True, opens_body(specials), known.names
    )


@lru_cache(maxsize=64)
def instructions_in(chunk: Chunk) -> Sequence[str]:
    """The lines of a chunk, those of directives blank."""
    return instructions_of(code_in(chunk), facts_in(chunk)).split("\n")[1:]


@lru_cache(maxsize=64)
def decl_lines(chunk: Chunk) -> Sequence[int]:
    """The line of each declaration of a chunk."""
    many = len(facts_in(chunk).decls)
    return range(many) if many in (0, chunk.count) else decl_offsets(code_in(chunk))


@lru_cache(maxsize=64)
def label_lines(chunk: Chunk) -> Sequence[tuple[int, str]]:
    """(line, name) of each label of a chunk."""
    return label_offsets(code_in(chunk)) if facts_in(chunk).labels else ()


@lru_cache(maxsize=64)
def first_instruction(chunk: Chunk) -> int:
    """The line of the first instruction of a chunk; -1 without one."""
    lines = [(i, line) for i, line in enumerate(instructions_in(chunk)) if line]
    return next((i for i, line in lines if isinstance(statement_of(line.rstrip()), Instruction)), -1)
