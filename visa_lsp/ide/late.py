"""Rules that look at whole kernels, run beside the editing of a long text: off the editor's way, and given up on request.

They are those that only an option turns on. What they find belongs to one snapshot: whoever asked drops it when a newer
one is there. It starts no thread and no process itself; what it finds can be handed from one process to another.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from visa_lsp.checks.collected import CHECKS
from visa_lsp.checks.run import run_checks
from visa_lsp.checks.support.context import CheckContext, dialect_of
from visa_lsp.diagnostics import Diagnostic, Edit, Fix, Related, Severity
from visa_lsp.ide.suppressions import USELESS_SUPPRESSION, visible
from visa_lsp.sema.bind import bind
from visa_lsp.syntax.document import Document
from visa_lsp.text import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.syntax.tree import Statement

# Longer texts are not bound whole while somebody waits.
LONG: Final = 1_000
_RULES: Final = {rule.code: rule for rule in (*(check.rule for check in CHECKS), USELESS_SUPPRESSION)}


class Stopped(Exception):  # noqa: N818
    """Nobody wants to know any more."""


class _Watched(Document):
    """A document that stops being read when it is no longer wanted."""

    def __init__(self, document: Document, stopped: Callable[[], bool]) -> None:
        super().__init__(document.chunks, document.session)
        self._stopped = stopped

    def statements(self) -> Iterator[tuple[int, Statement]]:
        """Every statement with its line, as long as somebody wants them."""
        for place in super().statements():
            if self._stopped():
                raise Stopped
            yield place


def late_findings(analysis: Analysis, extra: Collection[str], stopped: Callable[[], bool]) -> tuple[Diagnostic, ...]:
    """``visible(analysis, extra)`` of a long text; raises ``Stopped`` once ``stopped()`` is true.

    Shares nothing with the state that edits keep up.
    """
    document = _Watched(analysis.document, stopped)
    bound = bind(document, analysis.platform)
    found = run_checks(CheckContext(document, bound, analysis.platform, dialect_of(bound)), extra)
    shown = visible(analysis, extra, found=found)
    keep_late(analysis, extra, shown)
    return shown


class LateFindings:
    """What was found late of a snapshot, with which rules besides those that are always on."""

    def __init__(self) -> None:
        self.extra: frozenset[str] | None = None
        self.found: tuple[Diagnostic, ...] = ()


def keep_late(analysis: Analysis, extra: Collection[str], found: tuple[Diagnostic, ...]) -> None:
    """Keep what ``late_findings`` has found of this snapshot, here or in another process."""
    late = analysis.views.part(LateFindings)
    late.extra, late.found = frozenset(extra), found


def known_late(analysis: Analysis, extra: Collection[str]) -> tuple[Diagnostic, ...] | None:
    """What ``late_findings`` has found of this snapshot; None while it has not."""
    late = analysis.views.part(LateFindings)
    return late.found if late.extra == frozenset(extra) else None


def packed(found: Iterable[Diagnostic]) -> bytes:
    """Findings on their way to another process."""
    return json.dumps(
        [
            (
                d.rule.code,
                (d.span.start, d.span.end),
                d.message,
                [((r.span.start, r.span.end), r.message, r.path) for r in d.related],
                [
                    (f.title, [((e.span.start, e.span.end), e.new_text, e.after) for e in f.edits], f.safe)
                    for f in d.fixes
                ],
                d.severity_override.value if d.severity_override is not None else None,
            )
            for d in found
        ]
    ).encode("ascii")


def unpacked(data: bytes) -> tuple[Diagnostic, ...]:
    """What ``packed`` was made of; ``ValueError`` for an answer that was not given."""
    return tuple(
        Diagnostic(
            _RULES[code],
            Span(*span),
            message,
            tuple(Related(Span(*at), words, path) for at, words, path in related),
            tuple(
                Fix(title, tuple(Edit(Span(*at), new, after) for at, new, after in edits), safe)
                for title, edits, safe in fixes
            ),
            Severity(severity) if severity is not None else None,
        )
        for code, span, message, related, fixes, severity in json.loads(data)
    )
