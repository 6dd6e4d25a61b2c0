"""The findings about one ze_info source, up to a limit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from visa_lsp.diagnostics import Diagnostic, Fix, Related, Rule, Severity
from visa_lsp.text import Span
from visa_lsp.zeinfo import rules

if TYPE_CHECKING:
    from visa_lsp.zeinfo.source import ZeInfoSource

MAX_FINDINGS: Final = 500


@dataclass(slots=True)
class SourceFindings:
    """The findings so far about one source."""

    source: ZeInfoSource
    found: list[Diagnostic] = field(default_factory=list)

    @property
    def full(self) -> bool:
        """True if no more findings are accepted."""
        return len(self.found) >= MAX_FINDINGS

    def add(
        self,
        rule: Rule,
        span: Span,
        message: str,
        *,
        related: tuple[Related, ...] = (),
        fixes: tuple[Fix, ...] = (),
        severity: Severity | None = None,
    ) -> None:
        """Add a finding, unless there are too many already."""
        if not self.full:
            self.found.append(Diagnostic(rule, span, message, related, fixes, severity))

    def list_in_order(self) -> tuple[Diagnostic, ...]:
        """Return the findings in the order of the text."""
        self.found.sort(key=lambda d: (d.span, d.code))
        if self.full:
            end = Span(0, 0)
            self.found.append(
                Diagnostic(rules.SYNTAX, end, f"more than {MAX_FINDINGS} findings; the rest is not shown")
            )
        return tuple(self.found)
