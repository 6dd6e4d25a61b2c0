"""The facts of a body, besides declarations and labels, that give its names their meaning.

``setting_of`` computes them from directives, facts of chunks and the outline's first lines. Knows no tokens and no findings.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from visa_lsp.analysis.directives import NO_DIRECTIVES, Directives, Place
from visa_lsp.analysis.scopes import ScopedBody, find_scoped_names
from visa_lsp.syntax.chunk_facts import decl_lines, label_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from visa_lsp.syntax.bulk import Facts
    from visa_lsp.syntax.chunks import Chunk

_BEHIND_ALL: Final = (1 << 60, 0)


class Setting(Struct):
    """Facts that give names their meaning.

    ``declared_late`` are names declared after the first instruction. ``lone`` are subroutines that occur once and
    whose label only repeats the name. ``parts`` maps labels to parts of the body; None for a single part. ``scoped``
    maps the redeclared names of a body with braces to its names with several meanings.
    """

    directives: Directives = NO_DIRECTIVES
    declared_late: set[str] = field(default_factory=set)
    lone: set[str] = field(default_factory=set)
    parts: Mapping[str, int] | None = None
    scoped: Callable[[set[str]], set[str]] | None = None


def setting_of(
    chunks: Sequence[Chunk],
    facts: Sequence[Facts],
    directives: Directives,
    first_code: Place | None,
    first_statement: Place | None,
    old: Setting,
    *,
    labels_moved: bool,
) -> Setting:
    """Return the setting of a body; if no label moved, facts about labels are those of ``old``."""
    lone, parts, starts = old.lone, old.parts, directives.parts
    if labels_moved:
        lone = _lone_subroutines(chunks, facts, directives)
    if not starts or (len(starts) == 1 and (first_statement is None or first_statement >= starts[0])):
        parts = None  # all code is in one part
    elif labels_moved or parts is None:
        parts = _parts_of_labels(chunks, facts, starts)
        if parts == old.parts:
            parts = old.parts  # the same object shows that nothing changed
    braces, body, scoped = directives.braces, ScopedBody(chunks, facts), None
    if braces:
        scoped = lambda redeclared: find_scoped_names(braces, body, redeclared)  # noqa: E731 - called once, by `Names`
    return Setting(directives, _find_late_declarations(chunks, facts, directives, first_code), lone, parts, scoped)


def _find_late_declarations(
    chunks: Sequence[Chunk], facts: Sequence[Facts], directives: Directives, code: Place | None
) -> set[str]:
    """Return the names declared in a chunk with code before it, and the inputs declared after an input directive."""
    inputs, end = directives.inputs, (len(facts), 0)
    passed = min([place for places in inputs.values() for place in places], default=end)
    late: set[str] = set()
    for index in range(min(passed, code or end)[0], len(facts)):
        if not (decls := facts[index].decls):
            continue
        if code is not None and (index > code[0] or (index == code[0] and facts[index].mixed)):
            late.update(decls)
        elif not inputs.keys().isdisjoint(decls):
            places = zip(decls, decl_lines(chunks[index]), strict=True)
            late.update([name for name, offset in places if name in inputs and (index, offset) > passed])
    return late


def _lone_subroutines(chunks: Sequence[Chunk], facts: Sequence[Facts], directives: Directives) -> set[str]:
    """Return the subroutines that occur once and whose name is no other label; one label in their own part is allowed."""
    once = {name for name, count in Counter(directives.part_names).items() if count == 1 and name}
    if not once:
        return set()
    ends = [*directives.parts[1:], _BEHIND_ALL]
    bounds = {
        name: (start, end) for name, start, end in zip(directives.part_names, directives.parts, ends, strict=False)
    }
    labels: dict[str, list[Place]] = {}
    for index, chunk in enumerate(chunks):
        if not once.isdisjoint(facts[index].labels):
            for offset, name in label_lines(chunk):
                labels.setdefault(name, []).append((index, offset))
    return {
        name
        for name in once
        if len(places := labels.get(name, ())) <= 1
        and all(bounds[name][0] < place < bounds[name][1] for place in places)
    }


def _parts_of_labels(chunks: Sequence[Chunk], facts: Sequence[Facts], starts: Sequence[Place]) -> dict[str, int]:
    """Return the part of the body that each label is in."""
    part_of: dict[str, int] = {}
    part, waiting = 0, [*starts, _BEHIND_ALL]
    for index, chunk in enumerate(chunks):
        if waiting[part][0] > index:  # all of the chunk is in one part
            for name in facts[index].labels:
                part_of.setdefault(name, part)
            continue
        for offset, name in label_lines(chunk):
            while waiting[part] < (index, offset):
                part += 1
            part_of.setdefault(name, part)
        while waiting[part][0] <= index:
            part += 1
    return part_of
