"""How many rows and cases each family had, printed at the end of a run (see ``tests/conftest.py``)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from tests.sim.generator.pairwise import SEED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.sim.generator.bench import Bench
    from visa_lsp.isa.model import Instruction

CASES: dict[str, dict[str, int]] = defaultdict(dict)  # of a family: how many cases each row had
COMPILED = "compiled: "  # before a family whose cases ran in compiled code, as well
REASONS: dict[str, list[str]] = {}  # why rows have no model: reason to mnemonics


def prove(family: str, row: Instruction, benches: Iterable[Bench]) -> None:
    """Run a row's cases and count them; fails where there are none, or one differs from the model."""
    count, wrong = 0, []
    for bench in benches:
        count += bench.count
        wrong += bench.differences()
    tell(family, str(row.key), count)
    assert count > 0, f"no case for {row.mnemonic}"
    assert not wrong, "\n".join(wrong[:5])


def tell(family: str, row: str, cases: int) -> None:
    """Count the cases of one row: where several tests have it, of the one that has most."""
    CASES[family][row] = max(cases, CASES[family].get(row, 0))


def as_data() -> dict:
    """Return the counts as values that another process can add."""
    return {"cases": dict(CASES), "reasons": dict(REASONS)}


def merge(data: dict) -> None:
    """Take over what another process counted."""
    for family, rows in data["cases"].items():
        for row, cases in rows.items():
            tell(family, row, cases)
    for reason, names in data["reasons"].items():
        REASONS.setdefault(reason, []).extend(names)


def lines() -> list[str]:
    """One line per family, and the seed."""
    if not CASES and not REASONS:
        return []
    found = [f"{family}: {_counted([family])}" for family in sorted(CASES)]
    found += [
        f"without a model ({len(names)} rows: {', '.join(dict.fromkeys(names))}): {why}"
        for why, names in sorted(REASONS.items())
    ]
    alone = [family for family in CASES if not family.startswith(COMPILED)]
    return [*found, f"all: {_counted(alone)}, seed {SEED}"]


def _counted(families: Iterable[str]) -> str:
    rows = [cases for family in families for cases in CASES[family].values()]
    return f"{len(rows)} rows, {sum(rows)} cases"
