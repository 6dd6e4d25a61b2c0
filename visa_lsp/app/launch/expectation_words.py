"""Formats the numbers of buffers and failed expectations as words and as JSON values.

Knows values of ``report`` only; loads no NumPy. Invariant: a float has the fewest digits that read back as the same float
of its type, and every value is valid JSON.
"""

from __future__ import annotations

import base64
import math
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.app.launch.report import ExpectationReport
    from visa_lsp.sim.launch.config import Array
    from visa_lsp.sim.launch.expect import LargestError, Mismatch

MAX_DATA_BYTES: Final = 64 << 20  # of one array
_SHOWN: Final = 3


def numbers(array: Array, most: int | None = None) -> list[Any]:
    """Return the first values of an array as Python numbers."""
    values = array.reshape(-1)[:most]
    if array.dtype.name in (
        "float16",
        "float32",
    ):  # the text of the narrow type is the shortest; that of the double has more digits
        return [float(str(value)) for value in values]
    python_numbers: list[Any] = values.tolist()
    return python_numbers


def finite(value: Any) -> Any:
    """Return a value for JSON, with NaN and infinity as words."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def base64_of(array: Array) -> str | None:
    """Return the bytes of an array as base64; None if there are too many."""
    return base64.b64encode(array.tobytes()).decode() if array.nbytes <= MAX_DATA_BYTES else None


# As words.


def largest_words(wrong: Mismatch, shape: Sequence[int]) -> str:
    """Return ``largest error at [1]: 0.25 absolute, 0.0769 relative, 1048576 ulp``, with each index if they differ."""
    errors = {"absolute": wrong.absolute, "relative": wrong.relative, "ulp": wrong.ulp}
    errors_by_name = {name: error for name, error in errors.items() if error is not None}
    words = []
    places = {error.at for error in errors_by_name.values()}
    if len(places) == 1:
        said = ", ".join(f"{_short(error.value)} {name}" for name, error in errors_by_name.items())
        words.append(f"largest error at {index_words(places.pop(), shape)}: {said}")
    elif errors_by_name:
        said = ", ".join(
            f"{_short(e.value)} {name} at {index_words(e.at, shape)}" for name, e in errors_by_name.items()
        )
        words.append(f"largest error: {said}")
    if wrong.unordered:
        words.append(f"{wrong.unordered} with NaN or infinity on one side")
    return "; ".join(words)


def difference_lines(array: Array, wrong: Mismatch) -> list[str]:
    """Return the lines below a buffer with a failed expectation."""
    if not wrong.count:
        return [wrong.message]
    expected = wrong.expected.reshape(array.shape)
    lines = [f"{wrong.count} of {array.size} elements differ; {largest_words(wrong, array.shape)}"]
    for index in wrong.first[:_SHOWN]:
        got, meant = (
            numbers(array.reshape(-1)[index : index + 1])[0],
            numbers(expected.reshape(-1)[index : index + 1])[0],
        )
        lines.append(f"{index_words(index, array.shape)}: got {got}, expected {meant}")
    return lines


def _short(value: float) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def index_words(flat: int, shape: Sequence[int]) -> str:
    """Return the index of an element: ``[3, 5]``."""
    return f"[{', '.join(str(n) for n in _place(flat, shape))}]"


def _place(flat: int, shape: Sequence[int]) -> list[int]:
    """Return the indexes of the element with a flat index."""
    indexes: list[int] = []
    for length in reversed(shape):
        flat, index = divmod(flat, length)
        indexes.append(index)
    return indexes[::-1]


# As JSON values.


def expectation_values(
    expectation: ExpectationReport, title: str, array: Array, *, head: int, whole: bool
) -> dict[str, Any]:
    """Return one expectation; if it fails, with the expected values and the differences."""
    values: dict[str, Any] = {"arg": expectation.arg, "ok": expectation.ok, "message": expectation.message}
    wrong = expectation.mismatch
    if wrong is None:
        return values
    expected: dict[str, Any] = {
        "dtype": wrong.expected.dtype.name,
        "shape": list(array.shape if wrong.expected.size == array.size else wrong.expected.shape),
        "head": [finite(value) for value in numbers(wrong.expected, head)],
    }
    if whole and (data := base64_of(wrong.expected)) is not None:
        expected["data"] = data
    differences = _differences(wrong, array, whole=whole) if wrong.differs is not None else None
    return {**values, "title": title, "expected": expected, "differences": differences}


def _differences(wrong: Mismatch, array: Array, *, whole: bool) -> dict[str, Any]:
    shape = array.shape
    errors = {"absolute": wrong.absolute, "relative": wrong.relative, "ulp": wrong.ulp}
    flat = array.reshape(-1)
    values: dict[str, Any] = {
        "count": wrong.count,
        "of": int(array.size),
        "unordered": wrong.unordered,
        "text": largest_words(wrong, shape),
        "largest": {name: _largest(error, shape) for name, error in errors.items() if error is not None},
        "first": [
            {
                "at": _place(index, shape),
                "got": finite(numbers(flat[index : index + 1])[0]),
                "expected": finite(numbers(wrong.expected[index : index + 1])[0]),
            }
            for index in wrong.first
        ],
    }
    if whole and wrong.differs is not None and wrong.differs.size <= MAX_DATA_BYTES:
        import numpy as np

        values["elements"] = base64.b64encode(np.packbits(wrong.differs, bitorder="little").tobytes()).decode()
    return values


def _largest(error: LargestError, shape: Sequence[int]) -> dict[str, Any]:
    return {"value": finite(error.value), "at": _place(error.at, shape)}
