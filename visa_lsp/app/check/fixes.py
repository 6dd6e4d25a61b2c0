"""Applies fixes to a text so that it never gets worse.

Works on texts only; ``inspect`` returns the findings of a text. Invariant: the result has fewer findings than the input
and no more errors or warnings; applying fixes to the result changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from visa_lsp.diagnostics import Diagnostic, Fix, Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Inspect = Callable[[str], Sequence[Diagnostic]]
    Wanted = Callable[[Diagnostic], bool]


class Mended(Struct, frozen=True):
    """A text after its fixes, and its findings; ``count`` fixes were applied."""

    text: str
    diagnostics: tuple[Diagnostic, ...]
    count: int


def mend(text: str, inspect: Inspect, wanted: Wanted, *, unsafe: bool = False) -> Mended:
    """Apply the safe fixes of wanted findings until no fix improves the text; ``unsafe`` also applies the others."""
    now = Mended(text, tuple(inspect(text)), 0)
    while True:
        fixes = [
            fix
            for d in now.diagnostics
            if wanted(d)
            for fix in [_chosen(d, unsafe=unsafe)]
            if fix is not None and fix.edits
        ]
        after = _best(now, _unique(fixes), inspect)
        if after is None:
            return now
        now = after


def _chosen(diagnostic: Diagnostic, *, unsafe: bool) -> Fix | None:
    return next((fix for fix in diagnostic.fixes if fix.safe), next(iter(diagnostic.fixes), None) if unsafe else None)


def _unique(fixes: Sequence[Fix]) -> list[Fix]:
    seen, out = set(), []
    for fix in sorted(fixes, key=lambda f: (f.edits[0].span, f.title)):
        if fix.edits not in seen:
            seen.add(fix.edits)
            out.append(fix)
    return out


def _best(now: Mended, fixes: list[Fix], inspect: Inspect) -> Mended | None:
    """Apply as many of these fixes as improve the text; a set that does not improve it is split in halves."""
    if not fixes:
        return None
    text, applied = apply(now.text, fixes)
    if applied and text != now.text:
        after = Mended(text, tuple(inspect(text)), now.count + applied)
        if _better(after.diagnostics, now.diagnostics):
            return after
    if len(fixes) == 1:
        return None
    half = len(fixes) // 2
    # The next round collects the second half anew, because the first half has shifted its offsets.
    return _best(now, fixes[:half], inspect) or _best(now, fixes[half:], inspect)


def _better(new: Sequence[Diagnostic], old: Sequence[Diagnostic]) -> bool:
    errors = (Severity.ERROR,)
    serious = (Severity.ERROR, Severity.WARNING)
    return (
        len(new) < len(old)
        and sum(d.severity in errors for d in new) <= sum(d.severity in errors for d in old)
        and sum(d.severity in serious for d in new) <= sum(d.severity in serious for d in old)
    )


def apply(text: str, fixes: Sequence[Fix]) -> tuple[str, int]:
    """Return the text with these fixes and the number applied; of two overlapping fixes the first is applied.

    New text takes the line ends of the text. Two insertions at one place are both applied, in order.
    """
    taken: list[tuple[int, int]] = []
    edits: list[tuple[int, int, int, str]] = []
    line_end = "\r\n" if "\r\n" in text else "\r" if "\r" in text and "\n" not in text else "\n"
    applied = 0
    for fix in fixes:
        spans = [(e.span.start, e.span.end) for e in fix.edits]
        if any(not 0 <= s <= e <= len(text) for s, e in spans) or any(_meets(a, b) for a in spans for b in taken):
            continue
        taken += spans
        applied += 1
        for edit in fix.edits:
            new = edit.new_text.replace("\r\n", "\n").replace("\n", line_end)
            edits.append((edit.span.start, edit.span.end, len(edits), new))
    out, position = [], 0
    for start, end, _, new in sorted(edits):
        out += [text[position:start], new]
        position = max(position, end)
    return "".join(out) + text[position:], applied


def _meets(a: tuple[int, int], b: tuple[int, int]) -> bool:
    if a[0] == a[1] or b[0] == b[1]:
        return a != b and a[0] < b[1] and b[0] < a[1]
    return a[0] < b[1] and b[0] < a[1]
