"""Values of a debugged run: the launch, stops, activations, and the words for kinds of faults.

Computes nothing. Invariant: a stop holds no state of the run; the objects that it names may not exist after the run continues.
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
# The words for kinds of faults that can stop a run: the checks, and fatal faults.
FILTERS: Final = (*(name for name in CHECKERS if name in _FILTERS.values()), FATAL)


def filter_of(fault: Fault) -> str:
    """Return the word for a kind of fault in ``FILTERS``."""
    return _FILTERS.get(fault.kind, FATAL)


@dataclass(frozen=True, slots=True)
class Launch:
    """A launch to debug: the dispatch, texts of bodies by name, buffer arguments, and the observers."""

    dispatch: Dispatch
    texts: Mapping[str, BodyLines]
    arguments: Mapping[int | str, LaunchArgument]
    observers: Callable[[], Sequence[Observer]]


@dataclass(frozen=True, slots=True)
class RunStop:
    """The reason why a run has stopped. ``thread`` is None at its end; ``hits`` are the numbers of breakpoints and watches."""

    reason: str  # entry step breakpoint function instruction data exception pause goto barrier end start
    thread: Thread | None
    text: str = ""
    hits: tuple[int, ...] = ()
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class Activation:
    """A line of a thread's stack: an active body or subroutine, and its present instruction."""

    name: str
    place: CodePlace
    frame: Frame
    thread: Thread
