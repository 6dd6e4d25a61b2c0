"""What a guest program did wrong: values for the user, and the exception that carries one out of an instruction.

A ``Fault`` is a value; nothing here prints. ``KernelFault`` is raised inside an instruction that cannot go on and is
caught by the machine, which adds the place. Our own bugs are not faults: they stay Python exceptions.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


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
class Fault:
    """One finding about a run. ``instruction`` is an index into the kernel, ``line`` the source line from 0 or -1.

    ``lane`` is None where the whole thread is meant; ``other`` names the other party: of a race, a barrier, or the
    declaration of ``variable``. Its line is ``other_line`` of ``other_kernel``, which is ``kernel`` where it is empty.
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

    @property
    def is_note(self) -> bool:
        """Worth telling, but no fault: the result is defined, or no platform is known where it is not."""
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


class KernelFault(Exception):  # noqa: N818 - it carries a fault, it is not an error of ours
    """Ends the run of a thread: the kernel did something that has no meaning here."""

    def __init__(self, kind: FaultKind, message: str, lane: int | None = None, address: int | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.lane = lane
        self.address = address
