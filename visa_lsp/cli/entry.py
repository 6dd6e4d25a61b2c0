"""The console script. Imports happen inside ``try``, because Ctrl-C must never print a traceback."""

import os


def program() -> None:
    """Run ``visa-lsp`` and end the process with its exit status."""
    try:
        from visa_lsp.cli.interrupts import end_at_interrupts

        # A C extension may crash if its import is interrupted.
        end_at_interrupts()
        from visa_lsp.cli.main import program as loaded

        loaded()
    except KeyboardInterrupt:
        os._exit(130)  # EXIT_INTERRUPTED, whose module may not be loaded yet
