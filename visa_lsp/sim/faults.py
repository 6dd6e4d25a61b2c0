"""Faults of the guest program: values for the user, and the exception that ends an instruction with one.

A ``Fault`` is a value; nothing here prints. ``KernelFault`` is raised inside an instruction that cannot continue and is
caught by the machine, which adds the place. Our own bugs are not faults: they stay Python exceptions.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.sim.interp import Thread

MAX_RUNS: Final = 4  # of work items that are named: every second lane of a thread would fill three lines


class FaultKind(Enum):
    """The family of a fault."""

    OUT_OF_BOUNDS = "out-of-bounds"
    REGION = "region-outside-variable"
    RACE = "data-race"
    UNINITIALISED = "uninitialised-read"
    BARRIER = "barrier-divergence"
    MISALIGNED = "misaligned-access"
    ACCESS = "wrong-access"
    DIVISION = "division-by-zero"
    BUDGET = "step-budget"
    UNMODELLED = "not-modelled"
    CALL = "bad-call"
    OPERAND = "bad-operand"


@dataclass(frozen=True, slots=True)
class WorkItem:
    """The work item of a lane: global and local id, x first."""

    lane: int
    global_id: tuple[int, int, int]
    local_id: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Fault:
    """A finding about a run. ``instruction`` is an index into the kernel, ``line`` the source line from 0 or -1.

    ``lane`` is None for the whole thread; ``items`` are the work items of all lanes concerned, those of the other
    party, if its lanes are known, are in ``other_items``. ``source`` is the file and line (from 1) of the source that
    the text was compiled from, if known, ``other_source`` that of the other party, ``condition`` that of the branch on
    which an access out of bounds depends. ``no_barrier`` are the ways between the places of a race in one group, from and
    to, that no barrier stands on. ``other`` names the other party: of a race, a barrier, or the declaration of
    ``variable``. Its line is ``other_line`` of ``other_kernel``; if that is empty, of ``kernel``. ``count`` is the number
    of faults that a report shows as this one.
    """

    kind: FaultKind
    message: str
    kernel: str
    group: tuple[int, int, int]
    thread: int
    lane: int | None = None
    instruction: int = -1
    line: int = -1
    address: int | None = None
    other: str | None = None
    variable: str = ""
    other_line: int = -1
    other_kernel: str = ""
    note: bool = False
    items: tuple[WorkItem, ...] = ()
    other_items: tuple[WorkItem, ...] = ()
    source: tuple[str, int] | None = None
    other_source: tuple[str, int] | None = None
    condition: tuple[str, int] | None = None
    no_barrier: tuple[tuple[str, str], ...] = ()
    count: int = 1

    @property
    def is_note(self) -> bool:
        """True for a note, which is not a fault: the result is defined, or undefined on no known platform."""
        return self.note or self.kind is FaultKind.DIVISION

    def __str__(self) -> str:
        where = f"{self.kernel}: group {self.group}, thread {self.thread}"
        if self.lane is not None:
            where += f", lane {self.lane}"
        if self.instruction >= 0:
            where += f", instruction {self.instruction}"
        if self.line >= 0:
            where += f", line {self.line + 1}"
        text = f"{self.kind.value}: {self.message} ({where})"
        return f"{text}; other party: {self.other}" if self.other else text


def items_text(items: tuple[WorkItem, ...]) -> str:
    """Return the work items of lanes in words; lanes with consecutive ids in x form runs. Empty without any."""
    runs: list[list[WorkItem]] = []
    for item in items:
        if runs and _follows(runs[-1][-1], item):
            runs[-1].append(item)
        else:
            runs.append([item])
    rest = sum(map(len, runs[MAX_RUNS:]))
    more = [f"and {rest} more work item{'s' if rest > 1 else ''}"] if rest else []
    return "; ".join([*(_run_text(run[0], run[-1]) for run in runs[:MAX_RUNS]), *more])


def _follows(before: WorkItem, item: WorkItem) -> bool:
    return item.lane == before.lane + 1 and all(
        after == (x + 1, y, z)
        for (x, y, z), after in ((before.global_id, item.global_id), (before.local_id, item.local_id))
    )


def _run_text(first_item: WorkItem, last_item: WorkItem) -> str:
    def ids(start: tuple[int, int, int], end: tuple[int, int, int]) -> str:
        x = str(start[0]) if first_item is last_item else f"{start[0]}..{end[0]}"
        return f"({x}, {start[1]}, {start[2]})"

    lanes = f"lane {first_item.lane}" if first_item is last_item else f"lanes {first_item.lane} to {last_item.lane}"
    return f"{lanes}: global {ids(first_item.global_id, last_item.global_id)}, local {ids(first_item.local_id, last_item.local_id)}"


def thread_fault(
    thread: Thread, kind: FaultKind, message: str, *, lane: int | None = None, lanes: Sequence[int] = (),
    address: int | None = None, other: str | None = None, other_line: int = -1, other_kernel: str = "",
    note: bool = False, items: Sequence[WorkItem] | None = None, other_items: Sequence[WorkItem] = (),
) -> Fault:  # fmt: skip
    """Return a fault at the current place of a thread. ``lanes`` are all lanes concerned, by default ``lane``."""
    frame = thread.frame
    kernel = frame.code.kernel
    line = kernel.instructions[frame.pc].line if frame.pc < len(kernel.instructions) else -1
    return Fault(
        kind, message, kernel.name, thread.group.id, thread.number, lane, frame.pc, line, address, other,
        other_line=other_line, other_kernel=other_kernel, note=note,
        items=tuple(thread.work_items(lanes or (None if lane is None else (lane,))) if items is None else items),
        other_items=tuple(other_items),
    )  # fmt: skip


class KernelFault(Exception):  # noqa: N818 - it carries a fault, it is not an error of the simulator
    """A fault that ends the run of a thread, because the instruction has no defined effect."""

    def __init__(self, kind: FaultKind, message: str, lane: int | None = None, address: int | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.lane = lane
        self.address = address
