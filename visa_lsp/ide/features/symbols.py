"""Names of a text: kernels and functions with their variables, labels and subroutines, and the names that match a query.

Computed from the index and cached per chunk, so that a long text need not be bound. Places are lines with spans in them,
which the caller converts to positions without a search.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

from visa_lsp.ide.index.text_index import BodyChunks, Index, index_of
from visa_lsp.syntax.bulk import decl_offsets
from visa_lsp.syntax.chunk_facts import class_letter
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.ide.index.chunk_index import ChunkIndex

# because a longer list does not help the reader
MAX_SYMBOLS: Final = 3000
_SHAPE: Final = re.compile(r"(?<![A-Za-z_])type\s*=\s*([A-Za-z0-9]+)")
_COUNT: Final = re.compile(r"num_elts\s*=\s*([^\s=]+)")
_ALIAS: Final = re.compile(r"alias\s*=?\s*[<(]\s*([^\s,<>()]+)\s*,\s*([^\s<>()]+)")
_WORDS: Final = {
    "A": "address variable", "P": "predicate variable", "S": "sampler variable", "T": "surface variable",
}  # fmt: skip


class OutlineKind(Enum):
    """Kind of an outline entry."""

    KERNEL = "kernel"
    FUNCTION = "function"
    SUBROUTINE = "subroutine"
    LABEL = "label"
    VARIABLE = "variable"
    ADDRESS = "address"
    PREDICATE = "predicate"
    HANDLE = "handle"
    INPUT = "input"
    GROUP = "group"


_LETTER: Final = {
    "G": OutlineKind.VARIABLE, "A": OutlineKind.ADDRESS, "P": OutlineKind.PREDICATE, "S": OutlineKind.HANDLE,
    "T": OutlineKind.HANDLE,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """An entry: ``name_span`` is the name in ``line``; the entry spans lines ``first_line`` to ``last_line``."""

    name: str
    kind: OutlineKind
    detail: str
    line: int
    name_span: Span
    first_line: int
    last_line: int
    children: tuple[OutlineEntry, ...] = ()


class Member(NamedTuple):
    """A label or a variable of a chunk; ``line`` counts from the chunk's first."""

    line: int
    column: int
    name: str
    kind: OutlineKind
    detail: str


def part_members(part: ChunkIndex) -> tuple[Member, ...]:
    """Return the labels and variables of a chunk, in text order."""
    return tuple(sorted(_members(part, range(len(part.facts.decls) + len(part.labels)))))


def _members(part: ChunkIndex, chosen: Iterable[int], *, detailed: bool = True) -> Iterator[Member]:
    """Yield members of a chunk by number, its declarations first, then its labels; with details if ``detailed``."""
    offsets = decl_offsets(part.code) if part.facts.decls else []
    lines = part.chunk.text.split("\n")
    for number in chosen:
        if number < len(offsets):
            name, line = part.facts.decls[number], offsets[number]
            column = lines[line].find(name, lines[line].find(".decl") + 5)
            rest = part.facts.properties[number]
            kind, letter = _kind_of(rest)
            yield Member(line, column, name, kind, _detail(letter, rest) if detailed else "")
        else:
            line, name = part.labels[number - len(offsets)]
            yield Member(line, 0, name, OutlineKind.LABEL, "label")


def workspace_symbols(analysis: Analysis, query: str, most: int = MAX_SYMBOLS) -> tuple[tuple[OutlineEntry, str], ...]:
    """Return entries whose names contain the letters of a query in order, each with the name of its container.

    Details are omitted, because no editor shows them here.
    """
    wanted = pattern_of(query)
    index = index_of(analysis.document)
    entries: list[tuple[OutlineEntry, str]] = []
    for group in index.groups:
        if group.opener >= 0 and wanted.search(group.name):
            entries.append((body_entry(index, group), ""))
        functions = list(_functions(index, group))
        hidden = {entry.name for entry in functions}
        members = [entry for entry in functions if wanted.search(entry.name)]
        for number in range(group.first_chunk, group.end_chunk):
            part = index.parts[number]
            if not (part.facts.decls or part.facts.labels):
                continue
            base = index.document.line_of(number)
            members.extend(member_entry(m, base) for m in _find_members(part, wanted) if m.name not in hidden)
            if len(entries) + len(members) >= most:
                break
        entries.extend((member, group.name) for member in sorted(members, key=lambda o: o.line))
        if len(entries) >= most:
            break
    return tuple(entries[:most])


def _find_members(part: ChunkIndex, pattern: re.Pattern[str]) -> Iterator[Member]:
    """Yield the members whose names match a pattern."""
    names = [*part.facts.decls, *(name for _, name in part.labels)]
    numbers = [number for number, name in enumerate(names) if pattern.search(name)]
    if numbers:
        yield from _members(part, numbers, detailed=False)


def pattern_of(query: str) -> re.Pattern[str]:
    """Return a pattern for names that have the letters of a query in order."""
    return re.compile(".*?".join(map(re.escape, query[:200])), re.IGNORECASE)


def body_entry(index: Index, group: BodyChunks, children: tuple[OutlineEntry, ...] = ()) -> OutlineEntry:
    """Return the entry of a kernel or function, or of the lines above the first one."""
    last = max(group.first_line, min(group.end_line, index.document.line_count) - 1)
    kind = OutlineKind.KERNEL if group.is_kernel else OutlineKind.FUNCTION
    line = max(group.opener, group.first_line)
    column = index.document.line_text(line).find(f'"{group.name}"') + 1 if group.name else 0
    if group.name and not column:
        column = max(0, index.document.line_text(line).rfind(group.name))
    span = Span(column, column + len(group.name))
    return OutlineEntry(group.name or "(no kernel)", kind, kind.value, line, span, group.first_line, last, children)


def _functions(index: Index, group: BodyChunks) -> Iterator[OutlineEntry]:
    for line, name, column in index.functions(group):
        span = Span(column, column + len(name))
        yield OutlineEntry(name, OutlineKind.SUBROUTINE, "subroutine", line, span, line, line)


def member_entry(member: Member, base: int) -> OutlineEntry:
    """Return the entry of a member of a chunk that begins at line ``base``."""
    line = base + member.line
    span = Span(member.column, member.column + len(member.name))
    return OutlineEntry(member.name, member.kind, member.detail, line, span, line, line)


def _kind_of(rest: str) -> tuple[OutlineKind, str]:
    """Return the kind of a declaration, from the text after its name, and the letter of its class."""
    letter = class_letter(rest)
    return _LETTER.get(letter, OutlineKind.VARIABLE), letter


def _detail(letter: str, rest: str) -> str:
    """Return the details of a declaration."""
    detail = _WORDS.get(letter, "")
    if not detail:
        count, shape, alias = _COUNT.search(rest), _SHAPE.search(rest), _ALIAS.search(rest)
        detail = f"{count.group(1) if count else 1} × {shape.group(1) if shape else '?'}"
        if alias:
            detail += f" = {alias.group(1)}+{alias.group(2)}"
    return detail
