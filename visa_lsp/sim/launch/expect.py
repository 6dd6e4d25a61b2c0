"""Whether an array is what was expected, and where it first differs.

Exact without a tolerance (NaN equals NaN). ``rtol`` and ``atol`` add up as in NumPy; ``ulp`` counts representable
values between the two; an element is good when any tolerance that is given admits it. Invariant: the message is one line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from visa_lsp.sim.launch.config import Array, Expectation

_SHOWN: Final = 3


def difference(actual: Array, expect: Expectation) -> str | None:
    """Say how ``actual`` differs from what is expected; None when it does not."""
    wanted = expect.array
    if wanted.size != actual.size:
        return f"has {actual.size} elements, {wanted.size} are expected"
    if expect.typed and wanted.dtype != actual.dtype:
        return f"is {actual.dtype.name}, {wanted.dtype.name} is expected"
    found, wanted = actual.reshape(-1), wanted.reshape(-1).astype(actual.dtype, copy=False)
    good = found == wanted
    if found.dtype.kind == "f":
        good |= np.isnan(found) & np.isnan(wanted)
    if expect.rtol is not None or expect.atol is not None:
        good |= _close(found, wanted, expect.rtol or 0.0, expect.atol or 0.0)
    if expect.ulp is not None:
        good |= ulp_distance(found, wanted) <= expect.ulp
    bad = np.flatnonzero(~good)
    if not bad.size:
        return None
    first = ", ".join(
        f"[{_place(int(at), actual.shape)}] is {found[at]!s}, expected {wanted[at]!s}" for at in bad[:_SHOWN].tolist()
    )
    return f"{bad.size} of {actual.size} elements differ: {first}{', ...' if bad.size > _SHOWN else ''}"


def ulp_distance(left: Array, right: Array) -> Array:
    """Count the representable values between two arrays of one type; integers differ by their difference."""
    if left.dtype.kind != "f":
        return np.maximum(left, right).astype(np.uint64) - np.minimum(left, right).astype(np.uint64)
    # NaN is far from everything, itself included: equality is the caller's.
    distance: np.ndarray[Any, np.dtype[np.uint64]] = np.full(left.shape, np.iinfo(np.uint64).max, np.uint64)
    numbers = ~(np.isnan(left) | np.isnan(right))
    steps = [_ordered(side[numbers]) for side in (left, right)]
    distance[numbers] = np.maximum(*steps) - np.minimum(*steps)
    return distance


def _ordered(values: Array) -> Array:
    """Give each float its number in their order, both zeros the same."""
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
