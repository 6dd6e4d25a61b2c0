"""Deferred findings: those of rules about whole kernels, found beside the editing of a long text and cancelled on request.

The rules are those that only an option turns on. Their findings belong to one snapshot; the caller drops them when there
is a newer one. Starts no thread and no process; ``packed`` findings can be sent from one process to another.
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

# Texts of more lines are not bound whole while a request waits.
LONG: Final = 1_000
_RULES: Final = {rule.code: rule for rule in (*(check.rule for check in CHECKS), USELESS_SUPPRESSION)}


class Cancelled(Exception):  # noqa: N818
    """The caller no longer needs the result."""


class _Watched(Document):
    """A document whose statements end when the search is cancelled."""

    def __init__(self, document: Document, stopped: Callable[[], bool]) -> None:
        super().__init__(document.chunks, document.session)
        self._stopped = stopped

    def statements(self) -> Iterator[tuple[int, Statement]]:
        """Every statement with its line. Raises Cancelled once ``stopped()`` is true."""
        for place in super().statements():
            if self._stopped():
                raise Cancelled
            yield place


def deferred_findings(
    analysis: Analysis, extra: Collection[str], stopped: Callable[[], bool]
) -> tuple[Diagnostic, ...]:
    """``visible(analysis, extra)`` of a long text; raises Cancelled once ``stopped()`` is true.

    Shares nothing with the state that edits keep up.
    """
    document = _Watched(analysis.document, stopped)
    bound = bind(document, analysis.platform)
    found = run_checks(CheckContext(document, bound, analysis.platform, dialect_of(bound)), extra)
    shown = visible(analysis, extra, found=found)
    keep_deferred(analysis, extra, shown)
    return shown


class DeferredFindings:
    """The deferred findings of a snapshot; ``extra`` are the rules besides those that are always on, None: none were run."""

    def __init__(self) -> None:
        self.extra: frozenset[str] | None = None
        self.found: tuple[Diagnostic, ...] = ()


def keep_deferred(analysis: Analysis, extra: Collection[str], found: tuple[Diagnostic, ...]) -> None:
    """Keep the findings of ``deferred_findings`` for this snapshot, found here or in another process."""
    deferred = analysis.views.part(DeferredFindings)
    deferred.extra, deferred.found = frozenset(extra), found


def deferred_found(analysis: Analysis, extra: Collection[str]) -> tuple[Diagnostic, ...] | None:
    """The findings of ``deferred_findings`` for this snapshot; None while they are not known."""
    deferred = analysis.views.part(DeferredFindings)
    return deferred.found if deferred.extra == frozenset(extra) else None


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
    """The findings that ``packed`` was given. Raises ValueError where ``data`` is no such answer."""
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
