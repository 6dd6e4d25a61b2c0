"""Compares an array with its expectation: the places and the size of differences.

Exact without a tolerance (NaN equals NaN). ``rtol`` and ``atol`` add up as in NumPy; ``ulp`` counts representable
values between the two. An element is good if any given tolerance admits it. Invariants: the message is one line.
Besides the two arrays, it takes memory for one byte per element and one part of ``_PART`` elements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from visa_lsp.sim.launch.config import Array, Expectation

_SHOWN: Final = 3
_FIRST: Final = 8
_PART: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class LargestError:
    """The largest error of one kind, and the flat index of its element."""

    value: float
    at: int


@dataclass(frozen=True, slots=True, eq=False)
class Mismatch:
    """The differences of an array from its expectation.

    ``expected`` is flat and in the array's type. If size or type differ, it is not converted, ``differs`` is None, and
    nothing is counted. ``differs`` has an entry for each element. The largest errors are those of elements that differ
    and are finite on both sides; ``unordered`` counts the others. There is no relative error if zero is expected, and
    no ``ulp`` of integers.
    """

    message: str
    expected: Array
    differs: Array | None = None
    count: int = 0
    first: tuple[int, ...] = ()
    absolute: LargestError | None = None
    relative: LargestError | None = None
    ulp: LargestError | None = None
    unordered: int = 0


def mismatch(actual: Array, expect: Expectation) -> Mismatch | None:
    """Return the differences of an array from its expectation; None without any."""
    wanted = expect.array
    if wanted.size != actual.size:
        return Mismatch(f"has {actual.size} elements, {wanted.size} are expected", wanted.reshape(-1))
    if expect.typed and wanted.dtype != actual.dtype:
        return Mismatch(f"is {actual.dtype.name}, {wanted.dtype.name} is expected", wanted.reshape(-1))
    cut = _cut(wanted.reshape(-1), actual.dtype)
    if cut is not None:
        return Mismatch(f"is {actual.dtype.name}, which has no {cut}, as is expected", wanted.reshape(-1))
    found, wanted = actual.reshape(-1), wanted.reshape(-1).astype(actual.dtype, copy=False)
    differs = np.zeros(found.size, bool)
    errors = _Errors()
    for start in range(0, found.size, _PART):
        part = slice(start, start + _PART)
        differs[part] = ~_good(found[part], wanted[part], expect)
        bad = start + np.flatnonzero(differs[part])
        errors.add(found[bad], wanted[bad], bad)
    if not errors.count:
        return None
    first = ", ".join(
        f"[{_place(at, actual.shape)}] is {found[at]!s}, expected {wanted[at]!s}" for at in errors.first[:_SHOWN]
    )
    more = ", ..." if errors.count > _SHOWN else ""
    return Mismatch(
        f"{errors.count} of {actual.size} elements differ: {first}{more}",
        wanted,
        differs,
        errors.count,
        tuple(errors.first),
        errors.absolute,
        errors.relative,
        errors.ulp,
        errors.unordered,
    )


def _cut(wanted: Array, kind: np.dtype[Any]) -> float | None:
    """Return the first number outside of an integer type; floats are rounded to their type."""
    if kind.kind not in "iu":
        return None
    limits = np.iinfo(kind)
    with np.errstate(invalid="ignore"):
        lost = np.flatnonzero(~((np.trunc(wanted) == wanted) & (wanted >= limits.min) & (wanted <= limits.max)))
    return wanted[lost[0]].item() if lost.size else None


def _good(found: Array, wanted: Array, expect: Expectation) -> Array:
    good: Array = found == wanted
    if found.dtype.kind == "f":
        good |= np.isnan(found) & np.isnan(wanted)
    if expect.rtol is not None or expect.atol is not None:
        good |= _close(found, wanted, expect.rtol or 0.0, expect.atol or 0.0)
    if expect.ulp is not None:
        good |= ulp_distance(found, wanted) <= expect.ulp
    return good


class _Errors:
    """The largest errors of the elements that differ, gathered part by part."""

    def __init__(self) -> None:
        self.count = 0
        self.unordered = 0
        self.first: list[int] = []
        self.absolute: LargestError | None = None
        self.relative: LargestError | None = None
        self.ulp: LargestError | None = None

    def add(self, found: Array, wanted: Array, at: Array) -> None:
        """Add elements that differ, with their flat indexes."""
        self.count += at.size
        self.first += at[: _FIRST - len(self.first)].tolist()
        if found.dtype.kind == "f":
            finite = np.isfinite(found) & np.isfinite(wanted)
            self.unordered += int(at.size - np.count_nonzero(finite))
            found, wanted, at = found[finite], wanted[finite], at[finite]
            self.ulp = _larger(self.ulp, ulp_distance(found, wanted), at)
            with np.errstate(over="ignore"):
                error: Array = np.abs(found.astype(np.float64) - wanted.astype(np.float64))
        else:
            error = ulp_distance(found, wanted)
        self.absolute = _larger(self.absolute, error, at)
        some = wanted != 0
        with np.errstate(over="ignore"):
            relative = error[some] / np.abs(wanted[some].astype(np.float64))
        self.relative = _larger(self.relative, relative, at[some])


def _larger(known: LargestError | None, errors: Array, at: Array) -> LargestError | None:
    if not errors.size:
        return known
    n = int(errors.argmax())
    value = errors[n].item()
    return known if known is not None and known.value >= value else LargestError(value, int(at[n]))


def ulp_distance(left: Array, right: Array) -> Array:
    """Count the representable values between two arrays of one type; integers differ by their difference."""
    if left.dtype.kind != "f":
        return np.maximum(left, right).astype(np.uint64) - np.minimum(left, right).astype(np.uint64)
    # NaN is far from everything, including itself, because callers test equality separately.
    distance: np.ndarray[Any, np.dtype[np.uint64]] = np.full(left.shape, np.iinfo(np.uint64).max, np.uint64)
    numbers = ~(np.isnan(left) | np.isnan(right))
    steps = [_rank_floats(side[numbers]) for side in (left, right)]
    distance[numbers] = np.maximum(*steps) - np.minimum(*steps)
    return distance


def _rank_floats(values: Array) -> Array:
    """Return the rank of each float in their order, equal for both zeros."""
    bits = values.dtype.itemsize * 8
    raw = values.view(f"u{bits // 8}").astype(np.uint64)
    middle = np.uint64(1 << (bits - 1))
    magnitude = raw & (middle - np.uint64(1))
    return np.where(raw >= middle, middle - magnitude, middle + magnitude)


def _close(found: Array, wanted: Array, rtol: float, atol: float) -> Array:
    with np.errstate(invalid="ignore", over="ignore"):
        left, right = found.astype(np.float64), wanted.astype(np.float64)
        return np.isfinite(right) & (np.abs(left - right) <= atol + rtol * np.abs(right))


def _place(at: int, shape: tuple[int, ...]) -> str:
    return ", ".join(str(int(i)) for i in np.unravel_index(at, shape)) if shape else ""
