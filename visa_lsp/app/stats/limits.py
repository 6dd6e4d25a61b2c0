"""Limits of register pressure and of spills: a number, and a baseline with the earlier figure of each kernel.

The figure of a text or object is its pressure, that of a dump its spilled bytes. A kernel is identified by its input
and name; kernels of equal names are compared by their order. Invariant: a kernel that is not in the baseline is not
worse.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.app.baselines import read_items, relative, write_items
from visa_lsp.app.errors import UserError, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from visa_lsp.app.stats.dumps import DumpFigures
    from visa_lsp.app.stats.figures import KernelFigures

_DIGEST: Final = re.compile(r"(?<=_asm)[0-9a-f]{16}(?=_[^/]*$)")
_KEY: Final = "kernels"
_WORDS: Final = {"pressure": "GRF rows", "spill_bytes": "bytes for spills"}
Known = dict[tuple[str, str, str, int], int]


class Measure(Struct, frozen=True):
    """A figure of a kernel that has limits: ``key`` is its name in a baseline, ``limit`` the option."""

    path: str
    line: int
    kernel: str
    key: str
    value: int
    limit: str

    def identity(self, baseline: str) -> tuple[str, str, str]:
        """Return the kernel and its figure as the baseline at ``baseline`` names them."""
        return _without_digest(relative(self.path, baseline)), printable(self.kernel), self.key


def _without_digest(path: str) -> str:
    """Return a path without the digest of source and options in the name of a compiler's dump."""
    return _DIGEST.sub("", path)


def measures(kernels: Iterable[KernelFigures], dumps: Iterable[DumpFigures]) -> Iterator[Measure]:
    """Yield the figure of each kernel that has limits."""
    for kernel in kernels:
        yield Measure(
            kernel.path, kernel.pressure.line or 1, kernel.name, "pressure", kernel.pressure.max, "--max-pressure"
        )
    for dump in dumps:
        yield Measure(dump.path, 1, dump.name, "spill_bytes", dump.spill_bytes, "--max-spill")


def read_known(path: str) -> Known:
    """Return the figure of each kernel of a baseline. Raises UserError if the file is not a baseline."""
    figures: Known = {}
    seen: Counter[tuple[str, str, str]] = Counter()
    for item in read_items(path, _KEY):
        key = next((key for key in _WORDS if isinstance(item.get(key), int)), None)
        if key is None or not {"path", "kernel"} <= item.keys():
            raise UserError(f"{path}: expected path, kernel and {' or '.join(_WORDS)} of each kernel")
        identity = _without_digest(str(item["path"])), str(item["kernel"]), key
        figures[*identity, seen[identity]] = item[key]
        seen[identity] += 1
    return figures


def write_known(path: str, figures: Iterable[Measure], inputs: Sequence[str]) -> int:
    """Write the figures as the new baseline and return their number."""
    items = [
        {"path": relative(measure.path, path), "kernel": printable(measure.kernel), measure.key: measure.value}
        for measure in figures
    ]
    write_items(path, _KEY, items, inputs)
    return len(items)


def complaints(
    figures: Iterable[Measure], limits: Mapping[str, int | None], recorded: Known | None, baseline: str
) -> Iterator[str]:
    """Yield a line for each figure above its limit (by its key), or above its entry in the baseline at ``baseline``."""
    seen: Counter[tuple[str, str, str]] = Counter()
    for measure in figures:
        what = f"{measure.path}:{measure.line}: kernel '{measure.kernel}' needs {measure.value} {_WORDS[measure.key]}"
        most = limits[measure.key]
        if most is not None and measure.value > most:
            yield f"{what}, more than {measure.limit} {most}"
        if recorded is not None:
            key = measure.identity(baseline)
            before = recorded.get((*key, seen[key]))
            seen[key] += 1
            if before is not None and measure.value > before:
                yield f"{what}, {measure.value - before} more than the {before} of {baseline}"
