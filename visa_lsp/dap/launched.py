"""What the command hands to a session: how a launch request becomes a run, and what came of it.

Values only; who makes them knows files and the simulator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.debug.breakpoints import ThreadKey
    from visa_lsp.debug.debugger import Debugger

    Open = Callable[[dict[str, Any], Callable[[str], None]], "Launched"]


class LaunchRefused(Exception):  # noqa: N818 - the user's mistake
    """A launch that cannot be made; ``status`` is the exit status that ``visa-lsp run`` has for it."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Launched:
    """A run that stands before its first instruction.

    ``notes`` are told to the user; ``printed`` gives what the kernel has printed so far; ``finish`` gives the exit status
    of ``visa-lsp run`` and the lines of its report, once the run is over.
    """

    debugger: Debugger
    notes: tuple[str, ...]
    focus: ThreadKey | None
    printed: Callable[[], str]
    finish: Callable[[], tuple[int, list[str]]]
