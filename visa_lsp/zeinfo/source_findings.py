"""The findings about one YAML source, up to a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.diagnostics import Diagnostic, Edit, Fix, Related, Rule, Severity
from visa_lsp.text import Span
from visa_lsp.zeinfo import rules

if TYPE_CHECKING:
    from visa_lsp.zeinfo.source import YamlSource
    from visa_lsp.zeinfo.yaml import YamlItem

MAX_FINDINGS: Final = 500


def change_to(span: Span, word: str | None) -> tuple[Fix, ...]:
    """Return the fix that replaces a wrong word; empty without a replacement."""
    return (Fix(f"change to '{word}'", (Edit(span, word),)),) if word else ()


class SourceFindings:
    """The findings so far about one source."""

    def __init__(self, source: YamlSource) -> None:
        self.source = source
        self.findings: list[Diagnostic] = []

    @property
    def full(self) -> bool:
        """True if no more findings are accepted."""
        return len(self.findings) >= MAX_FINDINGS

    def add(
        self,
        rule: Rule,
        place: YamlItem | Span,
        message: str,
        fixes: tuple[Fix, ...] = (),
        *,
        related: tuple[Related, ...] = (),
        severity: Severity | None = None,
    ) -> None:
        """Add a finding about an item or a place, unless there are too many already."""
        if not self.full:
            span = place if isinstance(place, Span) else self.source.span(place)
            self.findings.append(Diagnostic(rule, span, message, related, fixes, severity))

    def list_in_order(self) -> tuple[Diagnostic, ...]:
        """Return the findings in the order of the text."""
        self.findings.sort(key=lambda d: (d.span, d.code))
        if self.full:
            end = Span(0, 0)
            self.findings.append(
                Diagnostic(rules.SYNTAX, end, f"more than {MAX_FINDINGS} findings; the rest is not shown")
            )
        return tuple(self.findings)
