"""The effect of Ctrl-C on a process of the program."""

from __future__ import annotations

import signal


def end_at_interrupts() -> None:
    """Let Ctrl-C end this process, without a word of Python; an ignored one stays ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def hear_interrupts() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again: from here on there is something to be tidied up."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
