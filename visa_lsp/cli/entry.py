"""The console script. Loads nothing before it can be interrupted: Ctrl-C ends the program without a word of Python, however early."""

import os


def program() -> None:
    """Run ``visa-lsp`` in a process of its own, which ends with it."""
    try:
        from visa_lsp.cli.interrupts import end_at_interrupts

        # A library in C whose loading is interrupted may crash.
        end_at_interrupts()
        from visa_lsp.cli.main import program as loaded

        loaded()
    except KeyboardInterrupt:
        os._exit(130)  # as ``exits`` has it, which may not be there yet
