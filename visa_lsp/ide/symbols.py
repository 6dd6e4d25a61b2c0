"""Document and workspace symbols: kernels and functions with their variables, labels and subroutines.

Read off the index of a text, so that a long one need not be bound. Places are lines with spans in them: the rim makes
positions of them without a search.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from visa_lsp.ide.index import class_letter, index_of
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.ide.analysis import Analysis
    from visa_lsp.ide.index import Group, Index

# An outline of more entries than this helps nobody: of a long text the variables that come last are left out.
MOST: Final = 3000
_SHAPE: Final = re.compile(r"(?<![A-Za-z_])type\s*=\s*([A-Za-z0-9]+)")
_COUNT: Final = re.compile(r"num_elts\s*=\s*([^\s=]+)")
_ALIAS: Final = re.compile(r"alias\s*=?\s*[<(]\s*([^\s,<>()]+)\s*,\s*([^\s<>()]+)")
_ANY: Final = re.compile("")
_WORDS: Final = {
    "A": "address variable", "P": "predicate variable", "S": "sampler variable", "T": "surface variable",
}  # fmt: skip


class OutlineKind(Enum):
    """What an entry of the outline is."""

    KERNEL = "kernel"
    FUNCTION = "function"
    SUBROUTINE = "subroutine"
    LABEL = "label"
    VARIABLE = "variable"
    ADDRESS = "address"
    PREDICATE = "predicate"
    HANDLE = "handle"


_LETTER: Final = {
    "G": OutlineKind.VARIABLE, "A": OutlineKind.ADDRESS, "P": OutlineKind.PREDICATE, "S": OutlineKind.HANDLE,
    "T": OutlineKind.HANDLE,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Outline:
    """One entry: ``name_span`` is the name in ``line``; the whole goes from line ``first`` to line ``last``."""

    name: str
    kind: OutlineKind
    detail: str
    line: int
    name_span: Span
    first: int
    last: int
    children: tuple[Outline, ...] = ()


def document_symbols(analysis: Analysis, most: int = MOST) -> tuple[Outline, ...]:
    """The outline of a text, in text order."""
    index = index_of(analysis.document)
    found = []
    for group in index.groups:
        if group.opener < 0 and not any(
            p.facts.has_code or p.facts.decls for p in index.parts[group.first : group.end]
        ):
            continue
        entry = _body(index, group, most)
        most = max(0, most - len(entry.children))
        found.append(entry)
    return tuple(found)


def workspace_symbols(analysis: Analysis, query: str) -> tuple[tuple[Outline, str], ...]:
    """Entries whose names contain the letters of a query in their order, each with the name of what holds it."""
    wanted = pattern_of(query)
    index = index_of(analysis.document)
    found: list[tuple[Outline, str]] = []
    for group in index.groups:
        if group.opener >= 0 and wanted.search(group.name):
            found.append((_body(index, group, 0, members=False), ""))
        members = _members(index, group, MOST - len(found), wanted)
        found.extend((member, group.name) for member in sorted(members, key=lambda o: o.line))
        if len(found) >= MOST:
            break
    return tuple(found[:MOST])


def pattern_of(query: str) -> re.Pattern[str]:
    """What finds names that have the letters of a query in their order."""
    return re.compile(".*?".join(map(re.escape, query[:200])), re.IGNORECASE)


def _body(index: Index, group: Group, most: int, *, members: bool = True) -> Outline:
    inside = sorted(_members(index, group, most), key=lambda o: o.line) if members else []
    last = max(group.first_line, min(group.end_line, index.document.line_count) - 1)
    kind = OutlineKind.KERNEL if group.is_kernel else OutlineKind.FUNCTION
    line = max(group.opener, group.first_line)
    column = index.document.line_text(line).find(f'"{group.name}"') + 1 if group.name else 0
    if group.name and not column:
        column = max(0, index.document.line_text(line).rfind(group.name))
    span = Span(column, column + len(group.name))
    return Outline(group.name or "(no kernel)", kind, kind.value, line, span, group.first_line, last, tuple(inside))


def _members(index: Index, group: Group, most: int, wanted: re.Pattern[str] = _ANY) -> Iterator[Outline]:
    functions = set()
    left = most
    for line, name, column in index.functions(group):
        functions.add(name)
        if wanted.search(name):
            yield Outline(
                name, OutlineKind.SUBROUTINE, "subroutine", line, Span(column, column + len(name)), line, line
            )
    for line, name in index.labels(group):
        if left > 0 and name not in functions and wanted.search(name):
            left -= 1
            yield Outline(name, OutlineKind.LABEL, "label", line, Span(0, len(name)), line, line)
    for at in range(group.first, group.end):
        part = index.parts[at]
        if not part.facts.decls:
            continue
        if left <= 0:
            return
        if wanted is not _ANY and not any(map(wanted.search, part.facts.decls)):
            continue
        base = index.document.line_of(at)
        lines = part.chunk.text.split("\n")
        for name, places in part.decls.items():
            if not wanted.search(name):
                continue
            for offset, rest in places:
                column = lines[offset].find(name, lines[offset].find(".decl") + 5)
                left -= 1
                yield _variable(name, rest, base + offset, column)


def _variable(name: str, rest: str, line: int, column: int) -> Outline:
    letter = class_letter(rest)
    detail = _WORDS.get(letter, "")
    if not detail:
        count, shape, alias = _COUNT.search(rest), _SHAPE.search(rest), _ALIAS.search(rest)
        detail = f"{count.group(1) if count else 1} × {shape.group(1) if shape else '?'}"
        if alias:
            detail += f" = {alias.group(1)}+{alias.group(2)}"
    return Outline(
        name, _LETTER.get(letter, OutlineKind.VARIABLE), detail, line, Span(column, column + len(name)), line, line
    )
