"""The outline of a text: under each kernel and function its inputs, blocks, subroutines and variables, a group each.

Computed from the index, so that a long text need not be bound. Invariant: the lines of an entry contain those of its children,
and its name lies in them; the blocks of a body do not overlap, so that a line of code leads to its block.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from visa_lsp.ide.features.symbols import OutlineEntry, OutlineKind, body_entry, member_entry, part_members
from visa_lsp.ide.index.text_index import BodyChunks, Index, index_of
from visa_lsp.syntax.chunk_facts import INPUT, instructions_in
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from visa_lsp.analysis.analysis import Analysis

    _Labels: TypeAlias = Callable[[str], Mapping[str, str]]

# A longer outline does not help the reader, so that the last variables of a long text are omitted.
MAX_ENTRIES: Final = 3000
# Name of the block before the first label.
ENTRY: Final = "(entry)"
_LINE: Final = attrgetter("line")
_PLACE: Final = re.compile(r"(offset|size)\s*=\s*([0-9]+)")


class GroupName(Enum):
    """The groups of a body; the value is the displayed name."""

    INPUTS = "Inputs"
    BLOCKS = "Blocks"
    SUBROUTINES = "Subroutines"
    VARIABLES = "Variables"


class _Start(NamedTuple):
    """Start of a block or subroutine: ``column`` is that of its name."""

    line: int
    column: int
    name: str


@dataclass(slots=True)
class _Room:
    """The number of entries that may still be added to an outline."""

    left: int

    def take(self, wanted: int) -> int:
        """Take up to ``count`` entries, and return their number."""
        taken = max(0, min(self.left, wanted))
        self.left -= taken
        return taken


def outline(analysis: Analysis, arguments: _Labels | None = None, most: int = MAX_ENTRIES) -> tuple[OutlineEntry, ...]:
    """Return every body with its groups, in text order; ``arguments`` returns the contents of a kernel's inputs by variable."""
    index = index_of(analysis.document)
    room = _Room(most)
    entries = []
    for group in index.groups:
        parts = index.parts[group.first_chunk : group.end_chunk]
        if group.opener >= 0 or any(p.facts.has_code or p.facts.decls for p in parts):
            entries.append(body_entry(index, group, tuple(_groups(index, group, room, arguments))))
    return tuple(entries)


def leaves(entry: OutlineEntry) -> Iterator[OutlineEntry]:
    """Yield the entries of a body's groups in text order, each name once, for clients that show no tree."""
    for group in sorted(entry.children, key=lambda g: g.first_line):
        if group.name != GroupName.INPUTS.value:
            for child in group.children:
                yield child
                yield from child.children


def _groups(index: Index, body: BodyChunks, room: _Room, arguments: _Labels | None) -> list[OutlineEntry]:
    functions, labels = _code(index, body)
    bounds = [*(function.line for function in functions), body.end_line]
    label_count = bisect_left(labels, bounds[0], key=_LINE)
    inputs = _inputs(index, body, room, arguments)
    blocks = _group(GroupName.BLOCKS, label_count, _blocks(index, labels[:label_count], bounds[0], room))
    subroutines = []
    for function, end in islice(zip(functions, bounds[1:], strict=True), room.take(len(functions))):
        inside = labels[bisect_left(labels, function.line, key=_LINE) : bisect_left(labels, end, key=_LINE)]
        detail = f"{len(inside) + 1} blocks" if inside else "1 block"
        span = Span(function.column, function.column + len(function.name))
        children = tuple(_blocks(index, inside, end, room))
        kind = OutlineKind.SUBROUTINE
        subroutines.append(
            OutlineEntry(function.name, kind, detail, function.line, span, function.line, end - 1, children)
        )
    called = _group(GroupName.SUBROUTINES, len(functions), subroutines)
    total = sum(len(part.facts.decls) for part in index.parts[body.first_chunk : body.end_chunk])
    variables = _group(GroupName.VARIABLES, total, _variables(index, body, room))
    # Editors take the first group that contains a line, so blocks precede the groups that overlap them.
    code = [group for group in (blocks, called) if group is not None]
    above = inputs is not None and not any(
        g.first_line <= inputs.last_line and inputs.first_line <= g.last_line for g in code
    )
    groups = (inputs, *code, variables) if above else (*code, inputs, variables)
    return [group for group in groups if group is not None]


def _group(name: GroupName, total: int, shown: Sequence[OutlineEntry]) -> OutlineEntry | None:
    if not shown:
        return None
    top, bottom = shown[0], max(shown, key=attrgetter("last_line"))
    count = f"{total:,}" if total == len(shown) else f"the first {len(shown):,} of {total:,}"
    return OutlineEntry(
        name.value, OutlineKind.GROUP, count, top.line, top.name_span, top.first_line, bottom.last_line, tuple(shown)
    )


def _inputs(index: Index, body: BodyChunks, room: _Room, arguments: _Labels | None) -> OutlineEntry | None:
    inputs = [(line, match) for line, text in index.directives(body) if (match := INPUT.match(text)) is not None]
    contents = arguments(body.name) if arguments is not None and inputs and body.is_kernel else {}
    shown = []
    for line, match in inputs[: room.take(len(inputs))]:
        name, span = match.group(1), Span(*match.span(1))
        place = {key: int(value) for key, value in _PLACE.findall(match.group(2))}
        where = ""
        if "offset" in place and place.get("size"):
            where = f"bytes {place['offset']} to {place['offset'] + place['size'] - 1}"
        detail = ", ".join(part for part in (contents.get(name, ""), where) if part)
        shown.append(OutlineEntry(name, OutlineKind.INPUT, detail, line, span, line, line))
    return _group(GroupName.INPUTS, len(inputs), shown)


def _variables(index: Index, body: BodyChunks, room: _Room) -> list[OutlineEntry]:
    entries: list[OutlineEntry] = []
    for number in range(body.first_chunk, body.end_chunk):
        part = index.parts[number]
        if part.facts.decls and room.left > 0:
            base = index.document.line_of(number)
            members = [member for member in part_members(part) if member.kind is not OutlineKind.LABEL]
            entries += [member_entry(member, base) for member in members[: room.take(len(members))]]
    return entries


def _code(index: Index, body: BodyChunks) -> tuple[list[_Start], list[_Start]]:
    """Return the starts of subroutines and of blocks, in text order; the label of a subroutine starts no block.

    A subroutine that begins above all code, as compilers print it, is the main part: a block, not a subroutine.
    """
    functions = [_Start(line, column, name) for line, name, column in index.functions(body)]
    opened = {function.name for function in functions}
    labels = []
    for number in range(body.first_chunk, body.end_chunk):
        part = index.parts[number]
        if part.facts.labels:
            base = index.document.line_of(number)
            lines = part.chunk.text.split("\n")
            labels += [
                _Start(base + line, max(0, lines[line].find(name)), name)
                for line, name in part.labels
                if name not in opened
            ]
    start = first_code(index, body)
    if functions and functions[0].line <= start:
        labels.append(functions.pop(0))
    elif start < body.end_line and (not labels or labels[0].line > start):
        text = index.document.line_text(start)
        labels.append(_Start(start, len(text) - len(text.lstrip()), ENTRY))
    return functions, sorted(labels)


def _blocks(index: Index, starts: Sequence[_Start], end: int, room: _Room) -> list[OutlineEntry]:
    """Return the blocks that begin at these lines, each up to the next, the last up to ``end``."""
    blocks = []
    ends = [*(start.line for start in starts[1:]), end]
    for start, following in islice(zip(starts, ends, strict=True), room.take(len(starts))):
        span = Span(start.column, start.column + len(start.name))
        if start.name == ENTRY:
            span = Span(start.column, max(start.column, len(index.document.line_text(start.line).rstrip())))
        last = max(start.line, following - 1)
        blocks.append(OutlineEntry(start.name, OutlineKind.LABEL, "block", start.line, span, start.line, last))
    return blocks


def first_code(index: Index, body: BodyChunks) -> int:
    """Return the line of the first instruction or label of a body, else the line after the body."""
    for number in range(body.first_chunk, body.end_chunk):
        part = index.parts[number]
        if part.facts.has_code:
            lines = enumerate(instructions_in(part.chunk))
            offset = next((i for i, line in lines if line and not line.isspace()), None)
            if offset is not None:
                return index.document.line_of(number) + offset
    return body.end_line
