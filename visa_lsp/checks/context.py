"""What a rule sees: the document, what binding made of it, the platform if one is known.

Rules speak in places (line, span in the line); only here do they become offsets of the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from visa_lsp.diagnostics import Diagnostic, Edit, Fix, Related, Rule, Severity
from visa_lsp.isa.model import Dialect

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.isa.platforms import Platform
    from visa_lsp.sema.model import BoundModule, Place
    from visa_lsp.syntax.document import Document
    from visa_lsp.text import Span


@dataclass(frozen=True, slots=True)
class CheckContext:
    """One text under check. ``platform`` is None when nothing names one: then nothing platform-bound is reported."""

    document: Document
    bound: BoundModule
    platform: Platform | None
    dialect: Dialect

    def span(self, place: Place) -> Span:
        """A place in offsets of the text."""
        return self.document.span(place.line, place.span)

    def report(
        self,
        rule: Rule,
        place: Place,
        message: str,
        *,
        related: Iterable[tuple[Place, str]] = (),
        fixes: Iterable[Fix] = (),
        severity: Severity | None = None,
    ) -> Diagnostic:
        """A finding of a rule at a place."""
        return Diagnostic(
            rule,
            self.span(place),
            message,
            tuple(Related(self.span(where), what) for where, what in related),
            tuple(fixes),
            severity,
        )

    def edit(self, place: Place, new_text: str) -> Edit:
        """Replace a place's text."""
        return Edit(self.span(place), new_text)


def dialect_of(bound: BoundModule) -> Dialect:
    """The dialect that ``.version`` names: 4.2 and later, 4.x, or the seed's for 1.x to 3.x without a body before it."""
    if bound.version is None:
        return Dialect.V41
    if bound.version >= (4, 2):
        return Dialect.V42
    return Dialect.V41
