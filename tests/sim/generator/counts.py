"""How many rows and cases each family had, printed at the end of a run (see ``tests/conftest.py``)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from tests.sim.generator.pairwise import SEED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.sim.generator.bench import Bench
    from visa_lsp.isa.model import Instruction

ROWS: dict[str, int] = defaultdict(int)
CASES: dict[str, int] = defaultdict(int)
COMPILED = "compiled: "  # before a family whose cases ran in compiled code, as well
REASONS: dict[str, list[str]] = {}  # why rows have no model: reason to mnemonics


def prove(family: str, row: Instruction, benches: Iterable[Bench]) -> None:
    """Run a row's cases and count them; fails where there are none, or one differs from the model."""
    count, wrong = 0, []
    for bench in benches:
        count += bench.count
        wrong += bench.differences()
    tell(family, count)
    assert count > 0, f"no case for {row.mnemonic}"
    assert not wrong, "\n".join(wrong[:5])


def tell(family: str, cases: int) -> None:
    """Count the cases of one row."""
    ROWS[family] += 1
    CASES[family] += cases


def as_data() -> dict:
    """What another process can take over."""
    return {"rows": dict(ROWS), "cases": dict(CASES), "reasons": dict(REASONS)}


def merge(data: dict) -> None:
    """Take over what another process counted."""
    for family, number in data["rows"].items():
        ROWS[family] += number
        CASES[family] += data["cases"][family]
    for reason, names in data["reasons"].items():
        REASONS.setdefault(reason, []).extend(names)


def lines() -> list[str]:
    """One line per family, and the seed."""
    if not ROWS and not REASONS:
        return []
    found = [f"{family}: {ROWS[family]} rows, {CASES[family]} cases" for family in sorted(ROWS)]
    found += [
        f"without a model ({len(names)} rows: {', '.join(dict.fromkeys(names))}): {why}"
        for why, names in sorted(REASONS.items())
    ]
    alone = [family for family in ROWS if not family.startswith(COMPILED)]
    rows, cases = (sum(counts[family] for family in alone) for counts in (ROWS, CASES))
    return [*found, f"all: {rows} rows, {cases} cases, seed {SEED}"]
