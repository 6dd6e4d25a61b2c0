"""The rules, collected by an explicit list, and the one function that runs them.

A rule is a module with ``RULE``; it either turns problems that binding found into findings (``HANDLES`` with
``report``) or looks for its own (``check``). The modules know nothing of each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from visa_lsp.checks.context import CheckContext
    from visa_lsp.diagnostics import Diagnostic


def run_checks(ctx: CheckContext) -> list[Diagnostic]:
    """All findings about a text, in text order."""
    return []
