"""The checkers of a run, by their names in ``--checks``.

Joins the modules of the checkers; knows nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final

from visa_lsp.sim.observers.access_qualifiers import AccessChecker
from visa_lsp.sim.observers.definedness import UninitialisedChecker
from visa_lsp.sim.observers.hooks import (
    AlignmentChecker,
    BarrierChecker,
    BoundsChecker,
    Checker,
    DivisionChecker,
)
from visa_lsp.sim.observers.races import ItemRaceChecker, RaceChecker

CHECKERS: Final[dict[str, Callable[[], Checker]]] = {
    "bounds": BoundsChecker,
    "uninitialised": UninitialisedChecker,
    "races": RaceChecker,
    "barriers": BarrierChecker,
    "alignment": AlignmentChecker,
    "division": DivisionChecker,
    "access": AccessChecker,
    "item-races": ItemRaceChecker,
}
OPTIONAL_CHECKERS: Final = frozenset({"item-races"})  # not in ``all``: reports problems without effect in this run


def select_watched_kinds(kinds: Iterable[str], names: str) -> tuple[str, ...]:
    """Return the kinds that checkers in the list ``names`` can find."""
    kinds = tuple(kinds)
    if not kinds:
        return ()
    watched = {kind.value for checker in checkers(names) for kind in checker.kinds}
    all_kinds = {kind.value for make in CHECKERS.values() for kind in make().kinds}
    return tuple(dict.fromkeys(kind for kind in kinds if kind in watched or kind not in all_kinds))


@lru_cache(maxsize=16)
def listed_names(names: str) -> tuple[str, ...]:
    """Return the names of the checkers in a comma-separated list: ``all``, ``none``, names."""
    chosen: dict[str, None] = {}
    for name in (n.strip() for n in names.split(",")):
        if name == "all":
            chosen |= dict.fromkeys(n for n in CHECKERS if n not in OPTIONAL_CHECKERS)
        elif name and name != "none":
            chosen[name] = None
    return tuple(chosen)


def checkers(names: str = "all") -> tuple[Checker, ...]:
    """Return the checkers of a list of names, as ``listed_names`` takes it. Raises KeyError for an unknown name."""
    return tuple(CHECKERS[name]() for name in listed_names(names))
