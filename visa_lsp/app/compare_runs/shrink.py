"""From a point of a sweep where something is so to the smallest one: axis by axis, by halves.

Knows values of axes and a question, nothing of launches. Invariants: what comes out is a point of which the question is
true, and the question is asked at most ``MOST_TRIALS`` times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from visa_lsp.launchfile.values import AxisValue, SweepPoint

MOST_TRIALS: Final = 200


def shrunk(
    point: SweepPoint, values: Mapping[str, tuple[AxisValue, ...]], holds: Callable[[SweepPoint], bool]
) -> SweepPoint:
    """Return the smallest point that ``holds``, as far as can be found by making one axis smaller at a time.

    Whole numbers go down to 1 (or 0, where an axis has it), lists number by number, and all else to an earlier one of the
    ``values`` of its axis.
    """
    search = _Search(dict(point), values, holds)
    before: dict[str, AxisValue] = {}
    while before != search.point and search.trials < MOST_TRIALS:
        before = dict(search.point)
        for name in search.point:
            search.lower(name)
    return tuple(search.point.items())


class _Search:
    def __init__(
        self,
        point: dict[str, AxisValue],
        values: Mapping[str, tuple[AxisValue, ...]],
        holds: Callable[[SweepPoint], bool],
    ) -> None:
        self.point = point
        self.trials = 0
        self._values = values
        self._holds = holds

    def lower(self, name: str) -> None:
        """Make one axis as small as it can be while the others stay."""
        value = self.point[name]
        if isinstance(value, int):
            self._number(name, value, min([1, *(v for v in self._values.get(name, ()) if isinstance(v, int))]))
        elif isinstance(value, tuple) and all(isinstance(entry, int) for entry in value):
            for at in range(len(value)):
                self._entry(name, at)
        else:
            earlier = self._values.get(name, ())
            for other in earlier[: earlier.index(value)] if value in earlier else ():
                if self._takes(name, other):
                    return

    def _number(self, name: str, value: int, least: int) -> None:
        def put(number: int) -> AxisValue:
            return number

        self._halved(name, value, least, put)

    def _entry(self, name: str, at: int) -> None:
        value = self.point[name]
        assert isinstance(value, tuple)
        entry = value[at]
        assert isinstance(entry, int)
        self._halved(name, entry, 1, lambda number: (*value[:at], number, *value[at + 1 :]))

    def _halved(self, name: str, value: int, least: int, put: Callable[[int], AxisValue]) -> None:
        """Search the smallest number by halves: the largest that is known not to do, and the smallest that does."""
        if value <= least or self._takes(name, put(least)):
            return
        low, high = least, value
        while high - low > 1 and self.trials < MOST_TRIALS:
            middle = (low + high) // 2
            if self._takes(name, put(middle)):
                high = middle
            else:
                low = middle

    def _takes(self, name: str, value: AxisValue) -> bool:
        """Return whether the question is true with another value, which is kept then."""
        if self.trials >= MOST_TRIALS:
            return False
        self.trials += 1
        changed = {**self.point, name: value}
        if not self._holds(tuple(changed.items())):
            return False
        self.point = changed
        return True
