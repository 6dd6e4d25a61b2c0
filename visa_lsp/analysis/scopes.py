"""The names whose meaning differs within a body with braces.

Only lines with such a name are judged alone. A name is one of them only if a scope with an end declares it, and if it
also occurs outside of that scope or is declared twice. Every other name means the same as without braces. A scope
without an end has no effect.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.syntax.chunk_facts import decl_lines
from visa_lsp.syntax.chunks import Chunk, code_in
from visa_lsp.syntax.parse import statement_of
from visa_lsp.syntax.tree import Scope
from visa_lsp.syntax.word_search import chunks_with

if TYPE_CHECKING:
    from visa_lsp.syntax.bulk import Facts

_NAME: Final = re.compile(r"%?[A-Za-z_][A-Za-z0-9_]*")
# With more scopes, every name that one of them declares is taken to differ.
_MAX_SCOPES: Final = 64
Position = tuple[int, int]


class Region(NamedTuple):
    """A scope: the places of its two braces as (chunk, line in it)."""

    start: Position
    end: Position


class ScopedBody(NamedTuple):
    """The chunks of a body and the facts of each."""

    chunks: Sequence[Chunk]
    facts: Sequence[Facts]


def regions(braces: Iterable[tuple[int, int, str]]) -> tuple[list[Region], list[Region]]:
    """Return the scopes with an end, and those without, which last to the end of the text."""
    waiting: list[Position] = []
    closed: list[Region] = []
    for index, offset, text in braces:
        statement = statement_of(text)
        if not isinstance(statement, Scope):
            continue
        if statement.opens:
            waiting.append((index, offset))
        elif waiting:
            closed.append(Region(waiting.pop(), (index, offset)))
    return closed, [Region(start, (1 << 60, 0)) for start in waiting]


def find_scoped_names(braces: Sequence[tuple[int, int, str]], body: ScopedBody, redeclared: set[str]) -> set[str]:
    """Return the names with several meanings in the body; ``redeclared`` are the names that are declared twice."""
    closed, endless = regions(braces)
    declaring = [index for index, facts in enumerate(body.facts) if facts.decls]
    declared: list[tuple[Region, set[str]]] = []
    for region in closed:
        names = _find_declared_names(body, region, declaring)
        if names:
            declared.append((region, names))
        if len(declared) > _MAX_SCOPES:
            break
    scoped: set[str] = set()
    if len(declared) > _MAX_SCOPES:
        for region in _outermost(closed):
            scoped |= _find_declared_names(body, region, declaring)
    else:
        every = set[str]().union(*[names for _, names in declared])
        chunk_indexes = chunks_with(body.chunks, every) if every else ()
        named = {index: every.intersection(_NAME.findall(code_in(body.chunks[index]))) for index in chunk_indexes}
        for region, names in declared:
            scoped |= _find_names_outside(body, region, names, named)
    if redeclared and (closed or endless):
        start = min(region.start for region in (*closed, *endless))
        for facts in body.facts[start[0] :]:
            scoped |= redeclared.intersection(facts.decls)
    return scoped


def _outermost(closed: Sequence[Region]) -> Iterator[Region]:
    """Yield the outermost scopes."""
    end = (-1, -1)
    for region in sorted(closed):
        if region.end > end:
            end = region.end
            yield region


def _find_declared_names(body: ScopedBody, region: Region, declaring: Sequence[int]) -> set[str]:
    """Return the names declared in a scope or in its inner scopes; ``declaring`` are the chunks with declarations."""
    declared: set[str] = set()
    (first_chunk, head), (last, tail) = region
    for index in declaring[bisect_left(declaring, first_chunk) : bisect_right(declaring, last)]:
        names = body.facts[index].decls
        if first_chunk < index < last:
            declared.update(names)
        else:
            places = zip(decl_lines(body.chunks[index]), names, strict=True)
            declared.update(
                n for offset, n in places if (index, offset) > (first_chunk, head) and (index, offset) < (last, tail)
            )
    return declared


def _find_names_outside(body: ScopedBody, region: Region, names: set[str], named: Mapping[int, set[str]]) -> set[str]:
    """Return the names of a scope that occur outside of it; ``named`` gives the names in each chunk."""
    (first_chunk, head), (last_chunk, tail) = region
    outside_names = set[str]().union(
        *[names & chunk_names for index, chunk_names in named.items() if not first_chunk <= index <= last_chunk]
    )
    for index, outside in ((first_chunk, slice(0, head + 1)), (last_chunk, slice(tail + 2, None))):
        text = "\n".join(code_in(body.chunks[index]).split("\n")[outside])
        outside_names.update(names.intersection(_NAME.findall(text)))
    return outside_names
