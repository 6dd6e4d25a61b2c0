"""Parses the finalizer's own schedule (``-dumpSchedule``, ``-dumpDagDot``) and ties its rows to the lines of a listing.

The cycles are those of the finalizer's scheduling model; only their differences are computed here. Later passes insert
instructions without a row, such as ``sync``, and drop some with a row, such as a move of a register to itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Final

from visa_lsp.toolchain.listing import GenLine, Issue, opcode_of

# Cycle, node, original places in the block, cycles that the node takes, instructions.
_ROW: Final = re.compile(r" *(\d{1,9}) .*?\[(\d{1,9})\]((?:I\d{1,9})+)L(\d{1,9})E\d+P-?\d+ (.*)")
_EDGE: Final = re.compile(r'(\d{1,9})->(\d{1,9})\[label="(\d{1,9})"')
_NUMBER: Final = re.compile(r"// \$(\d{1,9})")
_NEXT: Final = re.compile(r"(?<=:), (?=.)")  # instructions that are issued together share a row
_LABEL: Final = re.compile(r"[^\s(]+:$")
# The scheduler's names of opcodes that listings print differently.
_NAMES: Final = {
    "wait": "sync", "mach": "macl", "return": "ret", "intrinsic": "send", "pseudo_fcall": "call", "calla": "call", "pseudo_fret": "ret",
    "pseudo_fc_call": "call", "pseudo_fc_ret": "ret",
}  # fmt: skip
_TOKEN_USE: Final = re.compile(r"\$(\d{1,2})\.(?:dst|src)")
_TOKEN_SET: Final = re.compile(r"[{,]\$(\d{1,2})[,}]")


@dataclass(frozen=True, slots=True)
class ScheduleRow:
    """An instruction or label of the schedule: its block, its issue cycle there, the cycles it takes, and those before it.

    ``waits_for`` is the index of the row whose result arrives last, if the instruction stalls; ``gen`` the index of its
    line of the listing.
    """

    block: int
    cycle: int
    busy: int
    stall: int
    text: str
    waits_for: int | None = None
    gen: int | None = None

    @property
    def key(self) -> tuple[int | None, str]:
        """The number and the opcode, as listings have them."""
        number = _NUMBER.search(self.text)
        return int(number[1]) if number else None, _name(self.text)


def read_schedule(blocks: Mapping[int, tuple[str, str]]) -> tuple[ScheduleRow, ...]:
    """Return the rows of a kernel, given the schedule and the dependence graph of each block by its number."""
    rows: list[ScheduleRow] = []
    for block in sorted(blocks):
        rows += _block(block, *blocks[block], len(rows))
    return tuple(rows)


def _block(block: int, schedule: str, graph: str, first_row: int) -> Iterator[ScheduleRow]:
    """Yield the rows of a block; ``first_row`` is the index of its first row."""
    places: dict[str, int] = {}
    cycles: dict[str, int] = {}
    nodes = [match for match in map(_ROW.match, schedule.splitlines()) if match is not None]
    for match in nodes:
        cycles[match[2]] = int(match[1])
    arrives: dict[str, tuple[int, str]] = {}
    for edge in _EDGE.finditer(graph):
        if edge[1] in cycles:
            arrives[edge[2]] = max(arrives.get(edge[2], (-1, "")), (cycles[edge[1]] + int(edge[3]), edge[1]))
    end, index = 0, first_row
    for match in nodes:
        cycle, busy = int(match[1]), int(match[4])
        stall = max(cycle - end, 0)
        end = cycle + busy
        places[match[2]] = index
        source = places.get(arrives.get(match[2], (0, ""))[1]) if stall else None
        parts = _NEXT.split(match[5]) if match[3].count("I") > 1 else [match[5]]
        for number, text in enumerate(parts):
            # The node takes its cycles once.
            own = (busy, stall) if number == 0 else (0, 0)
            yield ScheduleRow(block, cycle, *own, text.strip().rstrip(","), source)
            index += 1


def with_issues(
    lines: Sequence[GenLine], schedules: Iterable[Sequence[ScheduleRow]]
) -> tuple[list[GenLine], tuple[ScheduleRow, ...]]:
    """Return the lines of a listing with their schedule and scoreboard, and the rows with their lines.

    The schedules are those of the bodies of the listing, in its order.
    """
    rows: list[ScheduleRow] = []
    for body in schedules:
        start = len(rows)
        rows += [row if row.waits_for is None else replace(row, waits_for=start + row.waits_for) for row in body]
    code = [index for index, line in enumerate(lines) if not line.is_label]
    gens: list[int | None] = [None] * len(rows)
    timed = [index for index, row in enumerate(rows) if not _LABEL.match(row.text)]
    ours = [rows[index].key for index in timed]
    theirs = [(lines[index].number, _name(lines[index].text)) for index in code]
    # Both have the same order, so that different instructions were inserted, dropped, or replaced by another one.
    for kind, a, a_end, b, b_end in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        free = b
        for position in range(a, a_end) if kind in ("equal", "replace") else ():
            number, _ = key = ours[position]
            match = (
                to for to in range(free, b_end) if theirs[to] == key or (number is not None and theirs[to][0] == number)
            )
            if (to := next(match, None)) is not None:
                gens[timed[position]] = code[to]
                free = to + 1
    placed = tuple(replace(row, gen=gen) for row, gen in zip(rows, gens, strict=True))
    tokens = _token_waits(lines)
    issues = {index: Issue(waits_for=source) for index, source in tokens.items()}
    for row in placed:
        if row.gen is not None:
            source = placed[row.waits_for].gen if row.waits_for is not None else tokens.get(row.gen)
            issues[row.gen] = Issue(row.block, row.cycle, row.busy, row.stall, source)
    return [replace(line, issue=issues.get(index)) for index, line in enumerate(lines)], placed


def _token_waits(lines: Sequence[GenLine]) -> dict[int, int]:
    """Return the lines that wait for a scoreboard token, with the nearest earlier line that sets it."""
    takers: dict[str, int] = {}
    waits = {}
    for index, line in enumerate(lines):
        code = line.text.partition("//")[0]
        if "$" not in code:
            continue
        sources = [takers[token] for token in _TOKEN_USE.findall(code) if token in takers]
        if sources:
            waits[index] = max(sources)
        takers.update(dict.fromkeys(_TOKEN_SET.findall(code), index))
    return waits


def _name(text: str) -> str:
    opcode = opcode_of(text)
    return _NAMES.get(opcode, opcode)
