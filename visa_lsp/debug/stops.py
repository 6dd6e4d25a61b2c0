"""Values of a debugged run: what is debugged, why it stands still, what is open in a thread, the words for kinds of faults.

Computes nothing. Invariant: a stop holds no state of the run; what it names may be gone when the run has gone on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from visa_lsp.sim.faults import Fault, FaultKind
from visa_lsp.sim.observers.checkers import CHECKERS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from visa_lsp.debug.cells import LaunchArgument
    from visa_lsp.debug.places import BodyLines, CodePlace
    from visa_lsp.sim.dispatch import Dispatch
    from visa_lsp.sim.interp import Thread
    from visa_lsp.sim.observers.hooks import Observer
    from visa_lsp.sim.registers import Frame

FATAL: Final = "fatal"
_FILTERS: Final = {
    FaultKind.OUT_OF_BOUNDS: "bounds",
    FaultKind.REGION: "bounds",
    FaultKind.RACE: "races",
    FaultKind.UNINITIALISED: "uninitialised",
    FaultKind.BARRIER: "barriers",
    FaultKind.MISALIGNED: "alignment",
    FaultKind.ACCESS: "access",
    FaultKind.DIVISION: "division",
}
# The words for which a run can stop at a fault: the checks, and what no thread survives.
FILTERS: Final = (*(name for name in CHECKERS if name in _FILTERS.values()), FATAL)


def filter_of(fault: Fault) -> str:
    """Return the word for a kind of fault in ``FILTERS``."""
    return _FILTERS.get(fault.kind, FATAL)


@dataclass(frozen=True, slots=True)
class Launch:
    """What is debugged: the order to run, texts of bodies by name, buffer arguments, and what watches the run."""

    dispatch: Dispatch
    texts: Mapping[str, BodyLines]
    arguments: Mapping[int | str, LaunchArgument]
    observers: Callable[[], Sequence[Observer]]


@dataclass(frozen=True, slots=True)
class RunStop:
    """Why a run stands still. ``thread`` is None at its end; ``hits`` are the numbers of breakpoints and watches."""

    reason: str  # entry step breakpoint function instruction data exception pause goto barrier end start
    thread: Thread | None
    text: str = ""
    hits: tuple[int, ...] = ()
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class Activation:
    """One line of a thread's stack: a body or subroutine that is open, and the instruction where it stands."""

    name: str
    place: CodePlace
    frame: Frame
    thread: Thread
