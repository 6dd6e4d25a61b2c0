"""One snapshot of a text with all derived facts, each part made at its first use.

An ``Analysis`` never changes; an edit makes a new one from ``document.edit``. It does no input or output, except that
it reads one environment variable: with ``VISA_LSP_VERIFY=1`` it compares its findings with those of the full path, for
fuzzers and tests. The rules are loaded where findings are requested, because a text known to have none never needs
them.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Final

from visa_lsp.isa.platforms import EFFICIENT64B_SINCE, Platform, platform_named, select_dialect
from visa_lsp.sema.bind import bind
from visa_lsp.syntax.document import Document
from visa_lsp.syntax.memo import Memo

if TYPE_CHECKING:
    from visa_lsp.analysis.chunk_findings import Findings
    from visa_lsp.analysis.text_findings import TextFindings
    from visa_lsp.diagnostics import Diagnostic
    from visa_lsp.isa.model import Dialect
    from visa_lsp.sema.model import BoundModule

# Shorter texts are bound and checked whole, because that takes only a few milliseconds.
CLASSIFIED_FROM_LINES: Final = 60
VERIFY: Final = "VISA_LSP_VERIFY"
# The comment with the options of the compiler, usually at the end of the text.
_OPTIONS: Final = "//Build option:"
_EFFICIENT64B: Final = "-enableEfficient64b"


def _as_compiled(document: Document, platform: Platform | None) -> Platform | None:
    """Return the platform, with Efficient64b if the build options in the first or last chunk of a text select it."""
    if platform is None or platform.generation < EFFICIENT64B_SINCE:
        return platform
    for chunk in (*document.chunks[:-3:-1], document.chunks[0]):
        _, separator, rest = chunk.text.rpartition(_OPTIONS)
        if separator:
            return select_dialect(platform, efficient64b=_EFFICIENT64B in rest.partition("\n")[0])
    return platform


class KeptFindings:
    """The findings that snapshots of a text share, by platform."""

    def __init__(self) -> None:
        self._states: dict[Platform | None, TextFindings] = {}

    def update(self, document: Document, platform: Platform | None) -> Findings:
        """Return the findings of a snapshot."""
        from visa_lsp.analysis.text_findings import TextFindings  # because short texts do not need it

        # Dropped during the update, because an exception would leave it half updated.
        state = self._states.pop(platform, None) or TextFindings(platform)
        findings = state.update(document)
        self._states[platform] = state
        return findings


class Analysis:
    """Lazy views of one document.

    ``platform`` is None if nothing names one. ``views`` caches results that other modules derive from this snapshot.
    """

    def __init__(self, document: Document, platform: Platform | None = None) -> None:
        self.document = document
        self._named = platform
        self.platform = _as_compiled(document, platform)
        self.views = Memo()

    @staticmethod
    def of(text: str, platform: str | None = None) -> Analysis:
        """Return an analysis of a whole text for a platform by name."""
        return Analysis(Document.parse(text), platform_named(platform) if platform else None)

    def edit(self, start: int, end: int, new_text: str) -> Analysis:
        """Return the analysis of the text with ``[start, end)`` replaced."""
        return Analysis(self.document.edit(start, end, new_text), self._named)

    @cached_property
    def bound(self) -> BoundModule:
        """Symbols, references, bound instructions, problems."""
        return bind(self.document, self.platform)

    @property
    def dialect(self) -> Dialect:
        """The dialect of the text."""
        from visa_lsp.checks.support.context import dialect_of

        return dialect_of(self.bound)

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All findings in text order, for ``check`` as for push and pull diagnostics.

        Long texts use the incremental path; its result equals ``full_diagnostics``.
        """
        return self.full_diagnostics if self.document.line_count < CLASSIFIED_FROM_LINES else self.findings.all

    @cached_property
    def full_diagnostics(self) -> tuple[Diagnostic, ...]:
        """All findings, by binding and checking every line. By definition, ``diagnostics`` equals them."""
        from visa_lsp.checks.run import run_checks
        from visa_lsp.checks.support.context import CheckContext

        return tuple(run_checks(CheckContext(self.document, self.bound, self.platform, self.dialect)))

    @cached_property
    def findings(self) -> Findings:
        """All findings, by checking only lines that changed or may have findings."""
        findings = self.document.session.part(KeptFindings).update(self.document, self.platform)
        if os.environ.get(VERIFY) == "1":
            self._verify(findings)
        return findings

    def incremental_diagnostics(self) -> tuple[Diagnostic, ...]:
        """Return the findings of the incremental path, however short the text is."""
        return self.findings.all

    def _verify(self, findings: Findings) -> None:
        """Raise AssertionError if the findings of the incremental path differ from those of the full path."""
        from visa_lsp.checks.support.limits import UNCHECKED

        full = self.full_diagnostics
        if any(finding.rule is UNCHECKED for finding in findings.others):  # because beyond a limit the two may differ
            return
        missing, extra = [d for d in full if d not in findings.all], [d for d in findings.all if d not in full]
        assert findings.all == full, f"missing {missing}, extra {extra}, or another order"
