"""Generates ``docs/instructions.md``: the support for each instruction, derived from the table and the rooms' registries.

This module holds no facts about instructions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from visa_lsp.generate.support_records import records
from visa_lsp.isa.lane import Effect, Lane, Unmodelled
from visa_lsp.isa.model import Dialect, Instruction
from visa_lsp.isa.platforms import ALL, PLATFORMS, Platform, select_dialect
from visa_lsp.isa.table import TABLE, InstructionTable
from visa_lsp.sim.effects import EFFECTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path


_HEAD: Final = """# Instructions

Generated from the instruction table by `python -m visa_lsp.generate`; do not edit.

* **dialects**: `seed` is the specification's appendix, `4.1` the text with an object format, `4.2` what compilers print today.
* **parsed**: the text is read, named and explained. **encoded**, **decoded**: it has a form in an object of version 4.1.
* **4.2 of 2026**: the platforms for which the finalizer of August 2026 compiles the instruction, in the dialect that compilers
  choose there: Efficient64b from CRI on. The column does not show the forms that it refuses there (they are below the
  table), nor the newest messages that it accepts on older platforms without a check.
* **simulated**: `yes`; or `recorded`, with the reason below the table: the report of a run lists what was sent, the
  destination is zero, and the kernel continues.
"""


def explain_unsimulated(row: Instruction, effects: Collection[str]) -> str | None:
    """Return the reason why the simulator only records an instruction; None if it runs it."""
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
    """Return the platforms of a row, with runs as ranges: ``XeHP_SDV to DG2``."""
    if names == ALL:
        return "all"
    order = [p.name for p in PLATFORMS]
    runs: list[list[str]] = []
    for index, name in enumerate(order):
        if name not in names:
            continue
        if runs and index and order[index - 1] == runs[-1][-1]:
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


def is_compiled(row: Instruction, platform: Platform) -> bool:
    """Return whether the finalizer of 2026 compiles some form of a row, in the dialect of a text for the platform."""
    if Dialect.V42 not in row.dialects or platform.name not in row.platforms:
        return False
    return not any(
        platform.name in refusal.platforms and refusal.efficient64b in (None, platform.efficient64b)
        for refusal in row.refusals
        if not refusal.lanes and not refusal.unpredicated
    )


def newest(row: Instruction) -> str:
    """Return the platforms for which the finalizer of 2026 compiles a row."""
    if Dialect.V42 not in row.dialects:
        return "-"
    named = frozenset(p.name for p in PLATFORMS if is_compiled(row, p))
    plain = [select_dialect(p, efficient64b=False) for p in PLATFORMS if p.efficient64b]
    others = frozenset(p.name for p in plain if is_compiled(row, p) and p.name not in named)
    parts = [platforms(named)] if named else []
    parts += [f"{platforms(others)} without Efficient64b"] if others else []
    return ", ".join(parts) or "none"


# Measured by benchmarks.newest_forms and benchmarks.newest.
_DIFFERENCES: Final = (
    "## Where `check` and the finalizer of 2026 differ",
    "",
    "Of 9,196 one-instruction texts on 13 platforms `check` judges 99.86 % as the finalizer of August 2026 does: an error or a warning where",
    "it refuses a text or ends, and no error where it compiles it. What differs:",
    "",
    "* It refuses every 2D block of an image (`lsc_load_block2d.tgm V1:16x8 ..`, 13 texts): its lexer lacks a word that its grammar wants.",
    "  `ocloc` prints such lines, so they have no finding.",
    "* It refuses a file of Efficient64b with two cache controls, and takes them in inline assembly, where it adds `.uc`: a warning.",
    "* What it compiles against the documentation is a warning that says so: sources of other types, conversions of narrow floats, messages",
    "  that an older platform lacks, sizes of messages, `%null` as a source, execution sizes of scalar instructions.",
    "",
)


def list_refusals(table: InstructionTable) -> Iterator[str]:
    """Yield the forms of the table that the finalizer of 2026 refuses, each with its place and the reason."""
    mnemonics_by_line: dict[str, dict[str, None]] = {}
    for row in table.rows:
        for refusal in row.refusals:
            where = [] if refusal.platforms == ALL else [platforms(refusal.platforms)]
            if refusal.efficient64b is not None:
                where.append("in Efficient64b" if refusal.efficient64b else "without Efficient64b")
            if refusal.lanes:
                where.append(f"execution size {', '.join(map(str, sorted(refusal.lanes)))}")
            where += ["without a predicate"] if refusal.unpredicated else []
            where += ["it ends with an assertion"] if refusal.stops else []
            line = refusal.reason + (f" ({'; '.join(where)})" if where else "")
            mnemonics_by_line.setdefault(line, {})[row.mnemonic] = None
    for line, names in sorted(mnemonics_by_line.items()):
        yield f"* {line}: {', '.join(f'`{name}`' for name in names)}"


def page(effects: Collection[str], table: InstructionTable = TABLE) -> str:
    """Return the whole page. ``effects`` are the names that the simulator knows."""
    return "\n".join(_lines(effects, table)) + "\n"


def _lines(effects: Collection[str], table: InstructionTable) -> Iterator[str]:
    yield _HEAD
    reasons: dict[str, dict[str, None]] = {}
    rows = sorted(table.rows, key=lambda r: (r.mnemonic.lower(), r.opcode if r.opcode is not None else 999))
    lines: dict[str, None] = {}
    yield "| mnemonic | opcode | dialects | platforms | 4.2 of 2026 | parsed | encoded | decoded | simulated |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for row in rows:
        reason = explain_unsimulated(row, effects)
        if reason is not None:
            reasons.setdefault(reason, {})[row.mnemonic] = None
        lines[_row(row, reason)] = None
    yield from lines
    yield ""
    yield f"{len(table.rows)} rows, {len(table.mnemonics)} mnemonics."
    yield ""
    yield "## Refused in 2026"
    yield ""
    yield from list_refusals(table)
    yield ""
    yield from _DIFFERENCES
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
        newest(row),
        "yes",
        stored,
        stored,
        "yes" if reason is None else "recorded",
    )
    return f"| {' | '.join(cells)} |"


def generate_files(_root: Path) -> dict[str, str]:
    """Return the page for the table and the simulator of this package."""
    return {"docs/instructions.md": page(EFFECTS)}
