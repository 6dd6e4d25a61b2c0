"""A disagreement of a ze_info document and a text: a plain value with a place on either side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from visa_lsp.diagnostics import Rule, Severity
    from visa_lsp.text import Span


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A disagreement of document and text.

    ``yaml`` and ``text`` are the places; each side has its own message. ``value`` is the correct value for the
    document; empty if it is not one word.
    """

    rule: Rule
    yaml: Span
    text: Span
    path: str
    message: str
    text_says: str
    yaml_says: str
    value: str = ""
    severity: Severity | None = None
