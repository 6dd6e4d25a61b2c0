"""How many rows and cases each family had, printed at the end of a run (see ``tests/conftest.py``)."""

from __future__ import annotations

from collections import defaultdict

from tests.sim.generator.pairwise import SEED

ROWS: dict[str, int] = defaultdict(int)
CASES: dict[str, int] = defaultdict(int)
REASONS: dict[str, list[str]] = {}  # why rows have no model: reason to mnemonics


def tell(family: str, row: object, cases: int) -> None:
    """Count a row's cases."""
    del row
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
    return [*found, f"all: {sum(ROWS.values())} rows, {sum(CASES.values())} cases, seed {SEED}"]
