"""The values of counts in launches by default: widths and heights that differ, and primes.

A count is an argument by value that a kernel compares with ids or uses as a length. Knows names of arguments and the flow
of values in a kernel, no files. Invariant: as long as there are enough work items, no two counts of a launch are equal.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import count
from math import isqrt
from typing import TYPE_CHECKING, Final

from visa_lsp.program.model import General
from visa_lsp.program.traits import Trait
from visa_lsp.zeinfo.input_use import InputUse

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from visa_lsp.app.launch.defaults import DefaultSizes
    from visa_lsp.program.model import Kernel

# Names of counts along each axis, and of the distance between two rows, which has room for a row.
_AXES: Final = tuple(
    re.compile(words, re.IGNORECASE)
    for words in (
        r"(?:[nwx]|nx|xs|.*_w|.*width|.*cols?|.*columns)_?\d?",
        r"(?:[mhy]|ny|ys|.*_h|.*height|.*rows)_?\d?",
        r"(?:[dkz]|nz|zs|.*_d|.*depth|.*layers|.*slices)_?\d?",
    )
)
_PITCH: Final = re.compile(r".*(?:stride|pitch|ld[abc]?)_?\d?", re.IGNORECASE)
_PITCH_STEP: Final = 8
_WIDE_ROWS: Final = 16  # elements of a work item
_TILES: Final = ((5, 6), (1, 2), (1, 3), (2, 3), (1, 6))  # parts of 48 or 96 that common tile sizes divide
_EQUALITIES: Final = (0, 1)  # relations that bound no ids: with the last row, for example
_IDLE: Final = (3, 5, 5)  # work items beyond a count along the axes of a plane: more than a thread of a tile has


@dataclass(frozen=True, slots=True)
class CountArguments:
    """The counts of a kernel: names by argument, and for each comparison with an id the arguments that it depends on."""

    names: Mapping[int, str]
    guards: tuple[frozenset[int], ...]

    def even(self, sizes: DefaultSizes) -> DefaultSizes:
        """Return sizes whose counts are the numbers of work items along the axes; further counts are others."""
        values = dict(sizes.counts)
        total = sizes.across
        for index, axis in self._axes(sizes).items():
            values.setdefault(index, max(sizes.totals) if len(self.names) == 1 else sizes.totals[axis])
        if sides := self._sides(sizes):
            short = next(n for n in range(isqrt(max(1, total - 1)), 0, -1) if total % n == 0)
            values |= zip(sides, (total // short, short), strict=True)
        for index, name in self.names.items():
            if _PITCH.fullmatch(name):
                room = total * (_WIDE_ROWS if sizes.wide_rows else 1)
                values.setdefault(index, _pick_other(range(room + _PITCH_STEP, 2 * room + 256, _PITCH_STEP), values))
            values.setdefault(index, _pick_other((total * part // of for part, of in _TILES), values))
        return replace(sizes, counts=values)

    def uneven(self, sizes: DefaultSizes) -> DefaultSizes:
        """Return sizes whose counts are primes, below the number of work items where the kernel compares them with ids."""
        guards = frozenset[int]().union(*self.guards)
        axes = [axis for axis, total in enumerate(sizes.totals) if total > 1 or not axis]
        idle = [min(_IDLE[axis], sizes.local[axis] // 2 + 1) for axis in axes]
        if len(axes) == 1:
            idle = [sizes.local[0] // 2 + 1]  # a whole thread of a group
        ends = [max(2, sizes.totals[axis] - idle_count) for axis, idle_count in zip(axes, idle, strict=True)]
        is_single = len(self.names) == 1
        values: dict[int, int] = {}
        for index, axis in sorted(self._axes(sizes).items(), key=lambda placed: placed[1]):
            if index in guards:
                end = min(ends) if is_single else ends[axes.index(axis)]
                if axis == 1 and values:  # wider than high
                    end = min(end, max(values.values()) * 2 // 3)
                values[index] = _prime(end, values.values())
            else:
                values[index] = max(sizes.totals) if is_single else sizes.totals[axis]
        if sides := self._sides(sizes):
            values |= zip(sides, _prime_sides(sizes.across - min(_IDLE)), strict=True)
        for index, name in self.names.items():
            if index in values:
                continue
            if _PITCH.fullmatch(name):
                lengths = (value for other, value in values.items() if not _PITCH.fullmatch(self.names[other]))
                room = max(lengths, default=sizes.across) * (_WIDE_ROWS if sizes.wide_rows else 1)
                values[index] = next(n for n in count(room + 1) if _is_prime(n) and n not in values.values())
            else:
                values[index] = _prime(max(ends) + min(idle) - 3, values.values())
        return replace(sizes, counts=values)

    def _axes(self, sizes: DefaultSizes) -> dict[int, int]:
        """Return the axis of work items for as many counts as there are axes: by name, else in order.

        Along a line it belongs to the first count that the kernel compares with ids.
        """
        free = [axis for axis, total in enumerate(sizes.totals) if total > 1 or not axis]
        if (
            len(free) == 1
            and (guarded_index := next((index for guard in self.guards for index in sorted(guard)), None)) is not None
        ):
            return {guarded_index: 0}
        placed: dict[int, int] = {}
        for use_names in (True, False):
            for index, name in self.names.items():
                named_axis = next((axis for axis, names in enumerate(_AXES) if names.fullmatch(name)), None)
                axis = named_axis if use_names else next(iter(free), None)
                if index not in placed and axis in free and axis is not None and not _PITCH.fullmatch(name):
                    placed[index] = axis
                    free.remove(axis)
        return placed

    def _sides(self, sizes: DefaultSizes) -> list[int]:
        """Return the two counts whose product is the number of work items of a launch along x; none for other kernels."""
        if sizes.items != sizes.across or sizes.counts:
            return []
        sides = next((sorted(guard) for guard in self.guards if len(guard) == 2), [])
        return sides if all(index in self.names for index in sides) else []


def counts_of(
    kernel: Kernel, names: Mapping[int, str], places: Mapping[int, int], ids: Iterable[int]
) -> CountArguments:
    """Return the counts of a kernel with their guards.

    ``places`` has the variable of each count, ``ids`` those with ids of work items and groups. If the kernel loads a count,
    every count is a guard.
    """
    if not names.keys() <= places.keys():
        return CountArguments(names, (frozenset(names),) if len(names) == 1 else tuple(frozenset((n,)) for n in names))
    use = InputUse(kernel)
    given = use.find_reached(map(use.root, ids))
    counted = {index: use.find_reached((use.root(place),)) for index, place in places.items() if index in names}
    guards: dict[frozenset[int], None] = {}
    for inst in kernel.instructions:
        if not inst.row.has(Trait.COMPARES) or inst.get("relop") in _EQUALITIES:
            continue
        sources = [use.root(v.var) for v in (inst.get("src0"), inst.get("src1")) if isinstance(v, General)]
        if given.isdisjoint(sources):
            continue
        others = [source for source in sources if source not in given] or sources
        guards[frozenset(n for n, of in counted.items() if not of.isdisjoint(others))] = None
    return CountArguments(names, tuple(guard for guard in guards if guard))


def _pick_other(numbers: Iterable[int], values: Mapping[int, int]) -> int:
    """Return the first number that differs from all values, else the last number."""
    number = 1
    for number in numbers:
        if number > 1 and number not in values.values():
            break
    return max(1, number)


def _prime(limit: int, taken: Container[int]) -> int:
    """Return the largest prime up to a limit that is not taken; 1 if there is none."""
    return next((n for n in range(limit, 1, -1) if n not in taken and _is_prime(n)), 1)


def _prime_sides(limit: int) -> tuple[int, int]:
    """Return two different primes, the smaller first, whose product is close to a limit but not above it."""
    short = _prime(isqrt(max(4, limit)), ())
    while short > 2 and _prime(limit // short, ()) <= short:
        short = _prime(short - 1, ())
    return short, _prime(max(2, limit // short), (short,))


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % n for n in range(2, isqrt(number) + 1))
