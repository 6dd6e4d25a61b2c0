"""Findings about a text: their severity, related places, and fixes.

Frozen values only. A rule's code is stable and never used twice; hundreds name the family:
0 syntax, 1 names, 2 operands, 3 regions, 4 types, 5 flow, 6 memory, 7 ze_info, 8 launch files, 9 messages of other
programs.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

from msgspec import Struct

if TYPE_CHECKING:
    from visa_lsp.text import Span


# The selector of every rule.
ALL_RULES: Final = "ALL"


class Severity(Enum):
    """The severity of a finding. Only ``ERROR`` stops the assembler."""

    ERROR = "error"
    WARNING = "warning"
    INFORMATION = "information"
    HINT = "hint"


class Related(Struct, frozen=True):
    """Another place that belongs to a finding; ``path`` is None when it is in the same text."""

    span: Span
    message: str
    path: str | None = None


class Edit(Struct, frozen=True):
    """Replace the text in ``span`` by ``new_text``.

    ``after`` marks whole lines inserted after the line before ``span``: they belong to that line and move with it.
    """

    span: Span
    new_text: str
    after: bool = False


class Fix(Struct, frozen=True):
    """A fix of a finding. ``safe`` means that it may be applied without confirmation."""

    title: str
    edits: tuple[Edit, ...]
    safe: bool = False


class Rule(Struct, frozen=True):
    """The identity of a kind of finding.

    ``name`` is the slug of the mistake (``undeclared-name``); ``doc`` is the page that
    ``explain`` prints: What / Why / Example / Instead, taken from the rule module's docstring.
    """

    code: str
    name: str
    severity: Severity
    doc: str

    def is_meant(self, selector: str) -> bool:
        """Return whether a selector selects this rule: its code, a prefix of it, its name, or ``ALL``, in any case."""
        wanted = selector.upper()
        return wanted == ALL_RULES or self.code.upper().startswith(wanted) or wanted == self.name.upper()


class Diagnostic(Struct, frozen=True):
    """A finding about one text. The message is lower case, without a full stop."""

    rule: Rule
    span: Span
    message: str
    related: tuple[Related, ...] = ()
    fixes: tuple[Fix, ...] = ()
    severity_override: Severity | None = None

    @property
    def severity(self) -> Severity:
        """The severity of this finding: the rule's own unless this case differs."""
        return self.severity_override or self.rule.severity

    @property
    def code(self) -> str:
        """The rule's stable code, ``V101``."""
        return self.rule.code

    @property
    def name(self) -> str:
        """The rule's slug, ``undeclared-name``."""
        return self.rule.name


def has_errors(diagnostics: tuple[Diagnostic, ...] | list[Diagnostic]) -> bool:
    """Return whether any finding is an error."""
    return any(d.severity is Severity.ERROR for d in diagnostics)
