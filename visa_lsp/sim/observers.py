"""Who listens to a run: the hooks, and the checkers built on them.

A checker only looks; it never changes what a kernel computes. It hands its findings over when asked with ``take``.
``kinds`` names the faults of the machine that an observer wants to hear of although they do not stop a thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from visa_lsp.isa.lane import Lane
from visa_lsp.sim.faults import Fault, FaultKind
from visa_lsp.sim.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.sim.group import Barrier
    from visa_lsp.sim.interp import Code, Thread
    from visa_lsp.sim.memory import Space
    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Access:
    """One message to memory: ``size`` bytes at each of ``at``, for ``lanes``; ``space`` None where nothing is bound.

    ``kind`` is ``read``, ``write`` or ``atomic``; ``surface`` the value of the surface variable (None: an address).
    """

    thread: Thread
    kind: str
    space: Space | None
    at: Array
    size: int
    lanes: Array
    surface: int | None = None
    values: Array | None = None  # rows of bytes that a plain write stores
    alignment: int = 1  # what the message asks of its addresses
    changes: Array | None = None  # of an atomic: which of its accesses change what is there
    compared: Array | None = None  # of a compare-exchange: rows of bytes that memory is compared with

    @property
    def outside(self) -> Array | None:
        """Which accesses lie outside; None when none does."""
        if self.space is None:
            return np.ones(self.at.size, bool)
        inside = self.space.inside(self.at, self.size)
        return None if inside is None else ~inside


class Observer:
    """Hears everything and does nothing; listeners override what they need."""

    wants_instructions = False
    kinds: frozenset[FaultKind] = frozenset()

    def group(self, number: tuple[int, int, int]) -> None:
        """A group starts."""

    def concerns(self, code: Code, pc: int) -> bool:
        """Whether an instruction is of interest (asked once, only where ``wants_instructions``)."""
        del code, pc
        return True

    def instruction(self, thread: Thread, pc: int) -> None:
        """A thread is about to execute an instruction (only where ``wants_instructions``)."""

    def executed(self, thread: Thread, frame: Frame, pc: int) -> None:
        """A thread has executed an instruction (only where ``wants_instructions``); it may stand in another frame now."""

    def read(self, access: Access) -> None:
        """A message reads."""

    def write(self, access: Access) -> None:
        """A message writes, or reads and writes."""

    def barrier(self, thread: Thread) -> None:
        """A thread executes a barrier or the first half of a split one."""

    def arrived(self, thread: Thread, barrier: Barrier) -> None:
        """A thread counts as arrived at a barrier of any kind, whose round is still open."""

    def waits(self, thread: Thread, barrier: Barrier, generation: int) -> None:
        """A thread will go on when a round of a barrier is complete."""

    def fenced(self, thread: Thread, memories: tuple[int, ...]) -> None:
        """A thread executes a fence of some memories: ``SHARED``, ``GLOBAL`` of ``happened``."""

    def finished(self) -> None:
        """The run is over; findings that waited for its end are taken now."""

    def limits(self) -> tuple[str, ...]:
        """What the observer could not look at, in words; asked after the run."""
        return ()

    def fault(self, fault: Fault) -> None:
        """The run has a finding."""

    def take(self) -> tuple[Fault, ...]:
        """Findings since the last call."""
        return ()


class Checker(Observer):
    """An observer with findings of its own."""

    def __init__(self) -> None:
        self._found: list[Fault] = []

    def take(self) -> tuple[Fault, ...]:
        """Findings since the last call."""
        if not self._found:
            return ()
        found = tuple(self._found)
        self._found.clear()
        return found

    def _find(self, kind: FaultKind, thread: Thread, message: str, **more: Any) -> None:
        from visa_lsp.sim.machine import thread_fault  # noqa: PLC0415 - the machine imports this module

        thread.machine.told = True
        self._found.append(thread_fault(thread, kind, message, **more))


class BoundsChecker(Checker):
    """Accesses outside a surface, shared local memory or every buffer; operands that leave their registers."""

    kinds = frozenset({FaultKind.OUT_OF_BOUNDS, FaultKind.REGION})

    def read(self, access: Access) -> None:
        """Look at the addresses."""
        self._look(access, "reads")

    def write(self, access: Access) -> None:
        """Look at the addresses."""
        self._look(access, "writes")

    def _look(self, access: Access, verb: str) -> None:
        outside = access.outside
        if outside is None:
            return
        first = int(np.flatnonzero(outside)[0])
        at = int(access.at[first])
        count = int(outside.sum())
        more = _others(count - 1)
        self._find(
            FaultKind.OUT_OF_BOUNDS,
            access.thread,
            f"{verb} {access.size} bytes at {_place(access, at)}{more}",
            lane=int(access.lanes[first]),
            address=at,
        )


def _others(count: int) -> str:
    """How many more lanes do the same."""
    return f", as {'does' if count == 1 else 'do'} {count} more {'lane' if count == 1 else 'lanes'}" if count else ""


def _place(access: Access, at: int) -> str:
    if access.space is None:
        return f"offset {at:#x} of binding table index {access.surface}, to which nothing is bound"
    if isinstance(access.space, Memory):
        buffer, offset = access.space.locate(at)
        if buffer is None:
            return f"address {at:#x}, where there is no buffer"
        return f"address {at:#x}, {offset} bytes from the start of {buffer.name}, which has {buffer.size}"
    return f"offset {at} of {access.space.name}, which has {access.space.size} bytes"


class BarrierChecker(Checker):
    """Barriers that a thread reaches while some of its lanes are elsewhere."""

    kinds = frozenset({FaultKind.BARRIER})

    def barrier(self, thread: Thread) -> None:
        """Compare the active lanes with those that the thread started with."""
        frame = thread.frame
        missing = thread.dispatch_mask & ~frame.emask
        if missing and thread.dispatch_mask:
            lane = (missing & -missing).bit_length() - 1
            instructions = frame.code.kernel.instructions
            place = next(
                (p for p, lanes in sorted(frame.waiting.items()) if lanes & missing and p < len(instructions)), None
            )
            waiting = place is not None or any(call[3] for call in frame.calls)
            state = "wait elsewhere" if waiting else "have left the kernel"
            line = instructions[place].line if place is not None else -1
            where = f", which wait at line {line + 1}" if line >= 0 else ""
            self._find(
                FaultKind.BARRIER,
                thread,
                f"the barrier is reached with lanes {frame.emask:#x} of {thread.dispatch_mask:#x}; the others {state}",
                lane=lane,
                other=f"lanes {missing:#x} of the same thread{where}",
                other_line=line,
            )


class AlignmentChecker(Checker):
    """Addresses that are no multiple of what the message asks for."""

    kinds = frozenset({FaultKind.MISALIGNED})

    def read(self, access: Access) -> None:
        """Look at the addresses."""
        self._look(access, "reads")

    def write(self, access: Access) -> None:
        """Look at the addresses."""
        self._look(access, "writes")

    def _look(self, access: Access, verb: str) -> None:
        if access.alignment <= 1 or access.space is None:
            return
        bad = np.flatnonzero(access.at & access.alignment - 1)
        if not bad.size:
            return
        first = int(bad[0])
        more = _others(bad.size - 1)
        self._find(
            FaultKind.MISALIGNED,
            access.thread,
            f"{verb} at {_place(access, int(access.at[first]))}: no multiple of {access.alignment}{more}",
            lane=int(access.lanes[first]),
            address=int(access.at[first]),
        )


class DivisionChecker(Checker):
    """Integer divisions by zero: their result is all ones, so this is a note and no fault."""

    wants_instructions = True
    kinds = frozenset({FaultKind.DIVISION})

    def __init__(self) -> None:
        super().__init__()
        self._divisors: dict[tuple[int, int], Callable[[Frame], int] | None] = {}

    def concerns(self, code: Code, pc: int) -> bool:
        """Only integer divisions."""
        zeros = self._divisors[id(code), pc] = _zero_divisors(code, pc)
        return zeros is not None

    def instruction(self, thread: Thread, pc: int) -> None:
        """Look at the divisor of a division."""
        frame = thread.frame
        zeros = self._divisors[id(frame.code), pc]
        bits = zeros(frame) if zeros is not None else 0
        if bits:
            what = "a division by zero" if bits & bits - 1 == 0 else f"{bits.bit_count()} divisions by zero"
            self._find(FaultKind.DIVISION, thread, what, lane=(bits & -bits).bit_length() - 1)


def _zero_divisors(code: Code, pc: int) -> Callable[[Frame], int] | None:
    """How to find the active lanes whose integer divisor is zero; None for what is no division."""
    from visa_lsp.sim.operands import Site, lane_mask, mask_bits  # noqa: PLC0415 - operands need no observers otherwise

    inst = code.kernel.instructions[pc]
    meaning = inst.row.meaning
    if not isinstance(meaning, Lane) or meaning.expr.word not in ("div", "mod"):
        return None
    site = Site(code, inst, pc)
    if any(site.operand_type(inst.get(name)).is_float for name in ("src0", "src1")):
        return None
    enable, fetch, lanes = site.enable(), site.read(inst.get("src1")), site.lanes

    def zeros(f: Frame) -> int:
        mask = enable(f)
        return mask & mask_bits(np.broadcast_to(fetch(f) == 0, (lanes,)) & lane_mask(mask, lanes)) if mask else 0

    return zeros
