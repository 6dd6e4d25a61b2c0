"""The checkers that a run can have, by the names of ``--checks``.

Joins the modules that each hold one; knows nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.sim.definedness import UninitialisedChecker
from visa_lsp.sim.observers import AlignmentChecker, BarrierChecker, BoundsChecker, Checker, DivisionChecker
from visa_lsp.sim.races import RaceChecker

if TYPE_CHECKING:
    from collections.abc import Callable

CHECKERS: Final[dict[str, Callable[[], Checker]]] = {
    "bounds": BoundsChecker,
    "uninitialised": UninitialisedChecker,
    "races": RaceChecker,
    "barriers": BarrierChecker,
    "alignment": AlignmentChecker,
    "division": DivisionChecker,
}


def checkers(names: str = "all") -> tuple[Checker, ...]:
    """The checkers of a list: ``all``, ``none``, or names by commas. KeyError for an unknown name."""
    if names == "none":
        return ()
    chosen = tuple(CHECKERS) if names == "all" else tuple(n.strip() for n in names.split(",") if n.strip())
    return tuple(CHECKERS[name]() for name in chosen)
