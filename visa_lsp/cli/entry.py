"""The console script: loads the program in such a way that Ctrl-C ends it silently from the first moment on."""

from __future__ import annotations

from visa_lsp.cli.interrupts import end_at_interrupts


def program() -> None:
    """Run ``visa-lsp`` in a process of its own, which ends with it."""
    end_at_interrupts()
    from visa_lsp.cli.main import program as loaded

    loaded()
