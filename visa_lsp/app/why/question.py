"""The start of a slice: an element of a buffer, the first failed expectation, or a fault, as the user names it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.app.errors import UserError
from visa_lsp.app.launch.expectation_words import finite, index_words, numbers
from visa_lsp.app.suggestions import did_you_mean

if TYPE_CHECKING:
    import numpy as np

    from visa_lsp.app.launch.report import RunReport
    from visa_lsp.sim.launch.prepare import PreparedLaunch
    from visa_lsp.sim.memory import Buffer

_VALUE: Final = re.compile(r"\s*(?P<name>[^\[\]\s]+)\s*(?P<index>(?:\[[^\[\]]*\]\s*)*)")
_INDEX: Final = re.compile(r"\[([^\[\]]*)\]")


@dataclass(frozen=True, slots=True, eq=False)
class Element:
    """An element of a buffer argument: its words (``y[37]``), place in memory, type and final value."""

    words: str
    arg: int | str
    index: int
    buffer: Buffer
    offset: int
    dtype: np.dtype[Any]
    value: Any
    expected: Any = None


def element_of(words: str, prepared: PreparedLaunch, report: RunReport | None = None) -> Element:
    """Return the named element: ``y[37]``, ``img[3, 5]``, ``0[7]``. Raises UserError for other words."""
    match = _VALUE.fullmatch(words)
    if match is None:
        raise UserError(f"--value {words}: expected NAME[INDEX], such as y[37] or 0[37]")
    name = match["name"]
    keys = {
        title: key for key in prepared.arrays for title in (prepared.names.get(key, ""), str(key), f"arg{key}") if title
    }
    if name not in keys:
        titles = ", ".join(title_of(key, prepared) for key in prepared.arrays)
        raise UserError(
            f"--value {words}: no buffer is called '{name}'; buffers: {titles or 'none'}{did_you_mean(name, keys)}"
        )
    key = keys[name]
    array = prepared.arrays[key]
    given = [part for inner in _INDEX.findall(match["index"]) for part in inner.split(",")]
    if not all(part.strip().isdecimal() and len(part) < 19 for part in given):
        raise UserError(f"--value {words}: expected whole numbers from 0 to the length of the buffer in the brackets")
    return element_at(key, _flat(words, [int(part) for part in given], array.shape), prepared, report)


def _flat(words: str, index: list[int], shape: tuple[int, ...]) -> int:
    """Return the flat index; one number counts all elements."""
    if not index and prod(shape) == 1:
        return 0
    lengths = (prod(shape),) if len(index) == 1 else shape
    if len(index) != len(lengths):
        numbers = "one number" if len(shape) <= 1 else f"1 or {len(shape)} numbers"
        raise UserError(f"--value {words}: expected {numbers} in the brackets, got {len(index)}")
    flat = 0
    for number, length in zip(index, lengths, strict=True):
        if number >= length:
            raise UserError(f"--value {words}: index {number} is outside; the last is {length - 1}")
        flat = flat * length + number
    return flat


def element_at(key: int | str, flat: int, prepared: PreparedLaunch, report: RunReport | None = None) -> Element:
    """Return an element of an argument by its flat index, with the expected value if the launch file has one."""
    array = prepared.arrays[key]
    expected = None
    for expectation in report.expectations if report is not None else ():
        wrong = expectation.mismatch
        if expectation.arg == key and wrong is not None and wrong.expected.size == array.size:
            expected = finite(numbers(wrong.expected.reshape(-1)[flat : flat + 1])[0])
    return Element(
        f"{title_of(key, prepared)}{index_words(flat, array.shape)}", key, flat,
        prepared.buffers[key].whole, flat * array.itemsize, array.dtype,
        finite(numbers(array.reshape(-1)[flat : flat + 1])[0]), expected,
    )  # fmt: skip


def find_failed_element(prepared: PreparedLaunch, report: RunReport) -> Element | None:
    """Return the first different element of the first failed expectation; None if all hold."""
    for expectation in report.expectations:
        wrong = expectation.mismatch
        if not expectation.ok and wrong is not None and wrong.first and expectation.arg in prepared.arrays:
            return element_at(expectation.arg, int(wrong.first[0]), prepared, report)
    return None


def title_of(key: int | str, prepared: PreparedLaunch) -> str:
    """Return the name of a buffer argument for ``--value``: ``y``, or ``0`` if it has no name."""
    return prepared.names.get(key, "") or str(key)
