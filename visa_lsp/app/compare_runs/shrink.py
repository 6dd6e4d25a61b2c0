"""Shrinks a point of a sweep that has a property: axis by axis, by bisection.

Knows values of axes and a predicate, not launches. Invariants: the predicate holds at the result, and is called at most
``MAX_TRIALS`` times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from visa_lsp.launchfile.values import AxisValue, SweepPoint

MAX_TRIALS: Final = 200


def shrunk(
    point: SweepPoint, values: Mapping[str, tuple[AxisValue, ...]], holds: Callable[[SweepPoint], bool]
) -> SweepPoint:
    """Return the smallest point that ``holds``, found by shrinking one axis at a time.

    Whole numbers shrink to 1 (or 0, if the axis has 0), lists number by number, other values to an earlier one of the
    ``values`` of their axis.
    """
    search = _Search(dict(point), values, holds)
    before: dict[str, AxisValue] = {}
    while before != search.point and search.trials < MAX_TRIALS:
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
        """Shrink one axis as far as possible while the others stay."""
        value = self.point[name]
        if isinstance(value, int):
            self._number(name, value, min([1, *(v for v in self._values.get(name, ()) if isinstance(v, int))]))
        elif isinstance(value, tuple) and all(isinstance(entry, int) for entry in value):
            for index in range(len(value)):
                self._entry(name, index)
        else:
            earlier = self._values.get(name, ())
            for other in earlier[: earlier.index(value)] if value in earlier else ():
                if self._takes(name, other):
                    return

    def _number(self, name: str, value: int, least: int) -> None:
        def put(number: int) -> AxisValue:
            return number

        self._bisect(name, value, least, put)

    def _entry(self, name: str, index: int) -> None:
        value = self.point[name]
        assert isinstance(value, tuple)
        entry = value[index]
        assert isinstance(entry, int)
        self._bisect(name, entry, 1, lambda number: (*value[:index], number, *value[index + 1 :]))

    def _bisect(self, name: str, value: int, least: int, put: Callable[[int], AxisValue]) -> None:
        """Bisect between the largest number that is known to fail and the smallest that holds."""
        if value <= least or self._takes(name, put(least)):
            return
        low, high = least, value
        while high - low > 1 and self.trials < MAX_TRIALS:
            middle = (low + high) // 2
            if self._takes(name, put(middle)):
                high = middle
            else:
                low = middle

    def _takes(self, name: str, value: AxisValue) -> bool:
        """Return whether the predicate holds with another value; if so, keep the value."""
        if self.trials >= MAX_TRIALS:
            return False
        self.trials += 1
        changed = {**self.point, name: value}
        if not self._holds(tuple(changed.items())):
            return False
        self.point = changed
        return True
