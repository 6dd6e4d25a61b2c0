"""A disagreement of a ze_info document and a text, as a finding about the document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from visa_lsp.diagnostics import Diagnostic, Edit, Fix, Related, Rule, Severity

if TYPE_CHECKING:
    from visa_lsp.text import Span


def disagreement(
    rule: Rule,
    yaml: Span,
    related: tuple[Span, str, str],
    message: str,
    value: str = "",
    severity: Severity | None = None,
) -> Diagnostic:
    """Return the finding at ``yaml`` in a document; ``related`` is the place in the text with its message and path.

    ``yaml`` and ``text`` are the places; each side has its own message. ``value`` is the correct value for the
    document; empty if it is not one word.
    """
    fixes = (Fix(f"change to {value}", (Edit(yaml, value),)),) if value else ()
    return Diagnostic(rule, yaml, message, (Related(*related),), fixes, severity)
