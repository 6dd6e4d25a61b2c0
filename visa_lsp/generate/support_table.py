"""``docs/instructions.md``: which instruction is read, written and run, derived from the table and the rooms' registries.

No fact about an instruction stands here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.generate.support_records import records
from visa_lsp.isa.lane import Effect, Lane, Unmodelled
from visa_lsp.isa.model import Dialect
from visa_lsp.isa.platforms import ALL, PLATFORMS
from visa_lsp.isa.table import TABLE
from visa_lsp.sim.effects import EFFECTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from visa_lsp.isa.model import Instruction
    from visa_lsp.isa.table import Table

_HEAD: Final = """# Instructions

Generated from the instruction table by `python -m visa_lsp.generate`; do not edit.

* **dialects**: `seed` is the specification's appendix, `4.1` the text with an object format, `4.2` what compilers print today.
* **parsed**: the text is read, named and explained. **encoded**, **decoded**: it has a form in an object of version 4.1.
* **simulated**: `yes`; or `recorded`, with the reason below the table: the report of a run tells what was sent, the
  destination is zero, and the kernel goes on.
"""


def simulated(row: Instruction, effects: Collection[str]) -> str | None:
    """None if the simulator runs an instruction, else why it only records it."""
    match row.meaning:
        case Lane():
            return None
        case Effect(name):
            return None if name in effects else f"the simulator has no `{name}`"
        case Unmodelled(reason):
            return reason
        case _:
            return "the instruction has no meaning at run time"


def platforms(names: frozenset[str]) -> str:
    """The platforms of a row, runs of them shortened: ``XeHP_SDV to DG2``."""
    if names == ALL:
        return "all"
    order = [p.name for p in PLATFORMS]
    runs: list[list[str]] = []
    for at, name in enumerate(order):
        if name not in names:
            continue
        if runs and at and order[at - 1] == runs[-1][-1]:
            runs[-1].append(name)
        else:
            runs.append([name])
    return ", ".join(
        f"from {run[0]}"
        if run[-1] == order[-1] and len(run) > 1
        else run[0]
        if len(run) == 1
        else f"{run[0]} to {run[-1]}"
        for run in runs
    )


def page(effects: Collection[str], table: Table = TABLE) -> str:
    """The whole page. ``effects`` are the names that the simulator knows."""
    return "\n".join(_lines(effects, table)) + "\n"


def _lines(effects: Collection[str], table: Table) -> Iterator[str]:
    yield _HEAD
    reasons: dict[str, dict[str, None]] = {}
    rows = sorted(table.rows, key=lambda r: (r.mnemonic.lower(), r.opcode if r.opcode is not None else 999))
    lines: dict[str, None] = {}
    yield "| mnemonic | opcode | dialects | platforms | parsed | encoded | decoded | simulated |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for row in rows:
        reason = simulated(row, effects)
        if reason is not None:
            reasons.setdefault(reason, {})[row.mnemonic] = None
        lines[_row(row, reason)] = None
    yield from lines
    yield ""
    yield f"{len(table.rows)} rows, {len(table.mnemonics)} mnemonics."
    yield ""
    yield "## Recorded only"
    yield ""
    for reason, names in sorted(reasons.items()):
        yield f"* {reason}: {', '.join(f'`{name}`' for name in names)}"
    yield ""
    yield from records(table)


def _row(row: Instruction, reason: str | None) -> str:
    opcode = "-" if row.opcode is None else f"0x{row.opcode:02X}"
    dialects = ", ".join(d.value for d in Dialect if d in row.dialects)
    stored = "no" if row.opcode is None else "yes"
    cells = (
        f"`{row.mnemonic}`",
        opcode,
        dialects,
        platforms(row.platforms),
        "yes",
        stored,
        stored,
        "yes" if reason is None else "recorded",
    )
    return f"| {' | '.join(cells)} |"


def made(_root: Path) -> dict[str, str]:
    """The page of the product's table and simulator."""
    return {"docs/instructions.md": page(EFFECTS)}
