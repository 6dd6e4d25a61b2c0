"""Limits of register pressure: a number, and a baseline with the earlier pressure of each kernel.

A kernel is identified by its input and name; with equal names the n-th is compared with the n-th. Invariant: a kernel that is
not in the baseline is not worse.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from visa_lsp.app.baselines import read_items, relative, write_items
from visa_lsp.app.errors import UserError, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from visa_lsp.app.stats.figures import KernelFigures

_KEY: Final = "kernels"
Known = dict[tuple[str, str, int], int]


def read_known(path: str) -> Known:
    """Return the pressure of each kernel of a baseline. Raises UserError if the file is not a baseline."""
    known: Known = {}
    seen: Counter[tuple[str, str]] = Counter()
    for item in read_items(path, _KEY):
        pressure = item.get("pressure")
        if not {"path", "kernel"} <= item.keys() or not isinstance(pressure, int):
            raise UserError(f"{path}: expected path, kernel and pressure of each kernel")
        key = str(item["path"]), str(item["kernel"])
        known[*key, seen[key]] = pressure
        seen[key] += 1
    return known


def write_known(path: str, kernels: Iterable[KernelFigures], inputs: Sequence[str]) -> int:
    """Write the pressure of the kernels as the new baseline and return their number."""
    items = [
        {"path": relative(one.path, path), "kernel": printable(one.name), "pressure": one.pressure.max}
        for one in kernels
    ]
    write_items(path, _KEY, items, inputs)
    return len(items)


def complaints(kernels: Iterable[KernelFigures], most: int | None, known: Known | None, baseline: str) -> Iterator[str]:
    """Yield a line for each kernel with a pressure above ``most``, or above its entry in the baseline at ``baseline``."""
    seen: Counter[tuple[str, str]] = Counter()
    for one in kernels:
        what = f"{one.path}:{one.pressure.line or 1}: kernel '{one.name}' needs {one.pressure.max} GRF rows"
        if most is not None and one.pressure.max > most:
            yield f"{what}, more than --max-pressure {most}"
        if known is not None:
            key = relative(one.path, baseline), printable(one.name)
            before = known.get((*key, seen[key]))
            seen[key] += 1
            if before is not None and one.pressure.max > before:
                yield f"{what}, {one.pressure.max - before} more than the {before} of {baseline}"
