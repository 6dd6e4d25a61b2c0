"""Two sets of native dumps side by side: A and B, kernel by kernel.

Invariant: every dump of both sides is in exactly one pair; without a counterpart its pair has one dump.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from visa_lsp.app.errors import printable
from visa_lsp.app.stats.printing import align, csv_text, dump_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from visa_lsp.app.stats.dumps import DumpFigures

_FIGURES: Final = {
    "instructions": "instructions", "simd": "SIMD", "grf": "GRF", "spill_bytes": "spill bytes", "spills": "spills",
    "fills": "fills", "private_bytes": "private bytes", "sends": "sends", "syncs": "syncs", "dpas": "dpas",
    "bank_conflicts": "bank conflicts",
}  # fmt: skip


class DumpPair(Struct, frozen=True):
    """The dumps of a kernel on both sides; one is None if a side lacks the kernel."""

    name: str
    a: DumpFigures | None
    b: DumpFigures | None


def pair_dumps(a: Mapping[str, DumpFigures], b: Mapping[str, DumpFigures]) -> list[DumpPair]:
    """Pair the dumps of two sides, given by their paths in the folders.

    Equal paths are paired first, the others by kernel in order.

    The compiler names its dumps after a digest of the source, so that most paths differ between two builds.
    """
    same = {path for path in a if path in b and a[path].name == b[path].name}
    by_kernel: dict[str, list[DumpFigures]] = {}
    for path, dump in b.items():
        if path not in same:
            by_kernel.setdefault(dump.name, []).append(dump)
    pairs = []
    for path, dump in a.items():
        queue = by_kernel.get(dump.name)
        pairs.append(DumpPair(dump.name, dump, b[path] if path in same else queue.pop(0) if queue else None))
    return [*pairs, *(DumpPair(dump.name, None, dump) for queue in by_kernel.values() for dump in queue)]


def pairs_json(pairs: Sequence[DumpPair]) -> dict[str, Any]:
    """Return both sides of each pair; null for a side without the kernel."""
    return {
        "pairs": [
            {"name": printable(pair.name), **{side: dump and dump_json(dump) for side, dump in _sides(pair).items()}}
            for pair in pairs
        ]
    }


def pairs_csv(pairs: Sequence[DumpPair]) -> str:
    """Return a row for each pair with the columns of both sides, such as ``spill_bytes_a``."""
    return csv_text(
        [
            {"name": printable(pair.name)}
            | {f"{key}_{side}": value for side, dump in _sides(pair).items() if dump for key, value in dump_json(dump).items() if key != "name"}
            for pair in pairs
        ]
    )  # fmt: skip


def pairs_table(pairs: Sequence[DumpPair]) -> Iterator[str]:
    """Yield a table with both values of each figure that differs somewhere, and the number of equal pairs."""
    shown = [key for key in _FIGURES if any(_differs(pair, key) for pair in pairs)]
    rows = [
        [pair.name, *(_change(pair, key) for key in shown), _paths(pair)]
        for pair in pairs
        if any(_differs(pair, key) for key in shown)
    ]
    if rows:
        yield from align([["kernel", *(_FIGURES[key] for key in shown), "dumps"], *rows])
    equal = len(pairs) - len(rows)
    yield f"{equal} of {len(pairs)} kernel{'s' * (len(pairs) != 1)} have equal figures"


def _sides(pair: DumpPair) -> dict[str, DumpFigures | None]:
    return {"a": pair.a, "b": pair.b}


def _value(dump: DumpFigures | None, key: str) -> str:
    value = None if dump is None else getattr(dump, key)
    return "-" if value is None else str(value)


def _differs(pair: DumpPair, key: str) -> bool:
    return _value(pair.a, key) != _value(pair.b, key)


def _change(pair: DumpPair, key: str) -> str:
    a, b = _value(pair.a, key), _value(pair.b, key)
    return a if a == b else f"{a} -> {b}"


def _paths(pair: DumpPair) -> str:
    return " ".join(dump.path for dump in (pair.a, pair.b) if dump is not None)
