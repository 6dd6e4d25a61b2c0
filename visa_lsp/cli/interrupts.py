"""The effect of Ctrl-C on a process of the program."""

from __future__ import annotations

import signal


def end_at_interrupts() -> None:
    """Let Ctrl-C end this process without a traceback; an ignored Ctrl-C stays ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def hear_interrupts() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again, because commands clean up after themselves."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
