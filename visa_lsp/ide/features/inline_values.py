"""Inline values: results of a kernel's last run, beside their lines.

The caller stores the results; this module places them beside names and lines. Knows no simulator.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from visa_lsp.ide.index.text_index import index_of
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from visa_lsp.analysis.analysis import Analysis


@dataclass(frozen=True, slots=True)
class RunValues:
    """Results of a run: values by the variable of an input, and notes (a fault, a count) by line.

    ``names`` maps a variable to the name of its argument in the source, where known.
    """

    kernel: str
    variables: Mapping[str, str]
    lines: Mapping[int, Sequence[str]]
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class InlineValue:
    """A text after ``span`` of ``line``."""

    line: int
    span: Span
    text: str


def inline_values(analysis: Analysis, run: RunValues, first_line: int, last_line: int) -> tuple[InlineValue, ...]:
    """Return the values beside lines ``first_line`` to ``last_line``."""
    document = analysis.document
    index = index_of(document)
    group = next((g for g in index.groups if g.opener >= 0 and g.name == run.kernel), None)
    if group is None:
        return ()
    values = []
    for line, name in index.inputs(group):
        if first_line <= line <= last_line and name in run.variables:
            values.append(
                _beside(document.line_text(line), line, name, f"{run.names.get(name) or name} = {run.variables[name]}")
            )
    for line, notes in run.lines.items():
        if first_line <= line <= last_line and line < document.line_count:
            text = document.code(line).rstrip()
            start = len(text) - len(text.lstrip())
            values.extend(InlineValue(line, Span(start, max(start, len(text))), note) for note in notes)
    return tuple(sorted(values, key=lambda v: (v.line, v.span)))


def _beside(text: str, line: int, name: str, value: str) -> InlineValue:
    column = max(0, text.find(name))
    return InlineValue(line, Span(column, column + len(name)), value)
