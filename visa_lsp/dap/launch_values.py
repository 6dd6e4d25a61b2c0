"""Values between the command and a session: a launched run, and a refused launch.

Their maker knows files and the simulator; this module does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.debug.breakpoints import ThreadKey
    from visa_lsp.debug.cells import Cells
    from visa_lsp.debug.debugger import Debugger
    from visa_lsp.debug.stops import Activation

    Open = Callable[[dict[str, Any], Callable[[str], None]], "Launched"]


class LaunchRefused(Exception):  # noqa: N818 - the user's mistake
    """A launch that failed; ``status`` is the exit status of ``visa-lsp run`` for it."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Launched:
    """A run before its first instruction.

    ``notes`` are shown to the user; ``printed`` returns the kernel's output so far. Once the run is over, ``finish``
    returns the exit status of ``visa-lsp run`` and the lines of its report. ``wrong`` returns the argument and flat
    index of the first wrong element, with a sentence about it; None if there is none. ``explain`` returns the lines of
    ``visa-lsp why`` for elements that an activation sees.
    """

    debugger: Debugger
    notes: tuple[str, ...]
    focus: ThreadKey | None
    printed: Callable[[], str]
    finish: Callable[[], tuple[int, list[str]]]
    wrong: Callable[[], tuple[int | str, int, str] | None]
    explain: Callable[[Activation, Cells], list[str]]
