"""Rules that look at whole kernels, run beside the editing of a long text: off the editor's way, and given up on request.

They are those that only an option turns on. What they find belongs to one snapshot: whoever asked drops it when a newer
one is there. It starts no thread itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.checks import run_checks
from visa_lsp.checks.context import CheckContext, dialect_of
from visa_lsp.ide.suppressions import visible
from visa_lsp.sema.bind import bind
from visa_lsp.syntax.document import Document

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from visa_lsp.diagnostics import Diagnostic
    from visa_lsp.ide.analysis import Analysis
    from visa_lsp.syntax.tree import Statement

# Longer texts are not bound whole while somebody waits.
LONG: Final = 1_000
_KEY: Final = "late findings"


class Stopped(Exception):  # noqa: N818
    """Nobody wants to know any more."""


class _Watched(Document):
    """A document that stops being read when it is no longer wanted."""

    def __init__(self, document: Document, stopped: Callable[[], bool]) -> None:
        super().__init__(document.chunks, document.lineage)
        self._stopped = stopped

    def statements(self) -> Iterator[tuple[int, Statement]]:
        """Every statement with its line, as long as somebody wants them."""
        for place in super().statements():
            if self._stopped():
                raise Stopped
            yield place


def late_findings(analysis: Analysis, extra: Collection[str], stopped: Callable[[], bool]) -> tuple[Diagnostic, ...]:
    """``visible(analysis, extra)`` of a long text; raises ``Stopped`` once ``stopped()`` is true.

    Shares nothing with the state that edits keep up, so that it may run in a thread of its own.
    """
    document = _Watched(analysis.document, stopped)
    bound = bind(document, analysis.platform)
    found = run_checks(CheckContext(document, bound, analysis.platform, dialect_of(bound)), extra)
    shown = visible(analysis, extra, found=found)
    analysis.__dict__[_KEY] = (frozenset(extra), shown)
    return shown


def known_late(analysis: Analysis, extra: Collection[str]) -> tuple[Diagnostic, ...] | None:
    """What ``late_findings`` has found of this snapshot; None while it has not."""
    known = analysis.__dict__.get(_KEY)
    return known[1] if known is not None and known[0] == frozenset(extra) else None
