"""Code lenses: commands and size above each kernel and function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from visa_lsp.ide.features.references import ReferenceKind, function_occurrences, is_function_used
from visa_lsp.ide.index.text_index import index_of

if TYPE_CHECKING:
    from visa_lsp.analysis.analysis import Analysis


@dataclass(frozen=True, slots=True)
class Lens:
    """A line of text above ``line``. ``action`` is run, assemble, disassemble, gen, or counts (no command)."""

    line: int
    action: str
    title: str
    name: str


def code_lenses(analysis: Analysis) -> tuple[Lens, ...]:
    """Return the lenses of a text.

    A ``references`` lens, for a body that another line names, gets its title later from ``resolve_lens``.
    """
    index = index_of(analysis.document)
    lenses: list[Lens] = []
    for group in index.groups:
        if group.opener < 0:
            continue
        if group.is_kernel:
            actions = (("run", "Run"), ("assemble", "Assemble"), ("disassemble", "Disassemble"))
            lenses.extend(Lens(group.opener, action, title, group.name) for action, title in actions)
        counts = index.counts(group)
        size = f"{_many(counts.instructions, 'instruction')}, {_many(counts.variables, 'variable')}"
        lenses.append(Lens(group.opener, "counts", size, group.name))
        if group.is_kernel:
            lenses.append(Lens(group.opener, "gen", "Machine Code", group.name))
        if is_function_used(analysis, group.name):
            lenses.append(Lens(group.opener, "references", "", group.name))
    return tuple(lenses)


def resolve_lens(analysis: Analysis, name: str) -> str:
    """Return the title of a ``references`` lens; without a number if the last use has been deleted meanwhile."""
    uses = [o for o in function_occurrences(analysis, name) if o.use is not ReferenceKind.DECLARED]
    return _many(len(uses), "reference") if uses else "references"


def _many(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"
