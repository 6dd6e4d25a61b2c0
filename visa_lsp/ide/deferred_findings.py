"""Deferred findings: those of rules about whole kernels, computed apart from the editing of a long text.

The rules are the opt-in ones. Their findings belong to one snapshot; the caller drops them for a newer
one. Starts no thread and no process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.checks.run import run_checks
from visa_lsp.checks.support.context import CheckContext, dialect_of
from visa_lsp.ide.suppressions import visible
from visa_lsp.sema.bind import bind

if TYPE_CHECKING:
    from collections.abc import Collection

    from visa_lsp.analysis.analysis import Analysis
    from visa_lsp.diagnostics import Diagnostic

# Longer texts are not bound whole while a request waits.
MAX_UNDEFERRED_LINES: Final = 1_000


def compute_findings(analysis: Analysis, extra: Collection[str]) -> tuple[Diagnostic, ...]:
    """Return ``visible(analysis, extra)`` of a long text. Shares nothing with the incremental state."""
    bound = bind(analysis.document, analysis.platform)
    findings = run_checks(CheckContext(analysis.document, bound, analysis.platform, dialect_of(bound)), extra)
    shown = visible(analysis, extra, findings=findings)
    keep_deferred(analysis, extra, shown)
    return shown


class DeferredFindings:
    """The deferred findings of a snapshot; ``extra`` are the opt-in rules that ran besides the default ones; None if no rules ran."""

    def __init__(self) -> None:
        self.extra: frozenset[str] | None = None
        self.findings: tuple[Diagnostic, ...] = ()


def keep_deferred(analysis: Analysis, extra: Collection[str], findings: tuple[Diagnostic, ...]) -> None:
    """Store the findings of ``compute_findings`` for this snapshot, computed here or in another process."""
    deferred = analysis.views.part(DeferredFindings)
    deferred.extra, deferred.findings = frozenset(extra), findings


def find_deferred(analysis: Analysis, extra: Collection[str]) -> tuple[Diagnostic, ...] | None:
    """Return the findings of ``compute_findings`` for this snapshot; None while they are not computed."""
    deferred = analysis.views.part(DeferredFindings)
    return deferred.findings if deferred.extra == frozenset(extra) else None
