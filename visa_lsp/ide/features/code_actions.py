"""Code actions: the fixes that findings carry, one by one and all safe ones at once.

Rules make the fixes; this module selects those of a range and joins them without overlaps.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from visa_lsp.diagnostics import Diagnostic, Edit
    from visa_lsp.text import Span


@dataclass(frozen=True, slots=True)
class Action:
    """An offer to the user; ``diagnostic`` is None for one that fixes every finding of a rule."""

    title: str
    edits: tuple[Edit, ...]
    diagnostic: Diagnostic | None
    preferred: bool = False


def code_actions(findings: Sequence[Diagnostic], span: Span) -> tuple[Action, ...]:
    """Return the fixes of findings that touch a range, then one for all safe fixes of each of their kinds."""
    near = [d for d in findings if d.span.start <= span.end and span.start <= d.span.end]
    actions = [
        Action(fix.title, fix.edits, diagnostic, preferred=index == 0 and fix.safe)
        for diagnostic in near
        for index, fix in enumerate(diagnostic.fixes)
    ]
    for code in sorted({d.code for d in near if d.fixes and d.fixes[0].safe}):
        alike = [d for d in findings if d.code == code and d.fixes and d.fixes[0].safe]
        if len(alike) > 1:
            edits = join_fixes(d.fixes[0].edits for d in alike)
            actions.append(Action(f"Fix all {len(alike)} {alike[0].name} findings", edits, None))
    return tuple(actions)


def fix_all(findings: Iterable[Diagnostic]) -> tuple[Edit, ...]:
    """Return the edits of every safe fix of the findings."""
    return join_fixes(d.fixes[0].edits for d in findings if d.fixes and d.fixes[0].safe)


def join_fixes(fixes: Iterable[tuple[Edit, ...]]) -> tuple[Edit, ...]:
    """Return the edits of several fixes in text order; a fix that overlaps an earlier one is skipped."""
    chosen: list[Edit] = []  # in text order, without overlaps
    for edits in fixes:
        if not any(_clashes(chosen, edit) for edit in edits):
            for edit in edits:
                index = bisect_left(chosen, edit.span, key=lambda e: e.span)
                if edit not in chosen[index : index + 4]:
                    chosen.insert(index, edit)
    return tuple(chosen)


def _clashes(chosen: list[Edit], edit: Edit) -> bool:
    """Return whether an edit overlaps a chosen one."""
    index = bisect_left(chosen, edit.span, key=lambda e: e.span)
    near = chosen[max(0, index - 2) : index + 3]
    return any(edit.span.start < c.span.end and c.span.start < edit.span.end and c != edit for c in near)
