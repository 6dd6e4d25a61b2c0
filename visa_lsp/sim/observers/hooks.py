"""Who listens to a run: the hooks, and the checkers built on them.

A checker only looks; it never changes what a kernel computes. It hands its findings over when asked with ``take``.
``kinds`` names the faults of the machine that an observer wants to hear of although they do not stop a thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from visa_lsp.isa.lane import Lane
from visa_lsp.program.model import AddressOf
from visa_lsp.sim.faults import Fault, FaultKind, thread_fault
from visa_lsp.sim.memory import Image

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from visa_lsp.sim.dispatch import Dispatch
    from visa_lsp.sim.group import Barrier
    from visa_lsp.sim.interp import Code, Thread
    from visa_lsp.sim.memory import Space
    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class MemoryAccess:
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

    def unfit(self, dispatch: Dispatch) -> str:
        """Why this observer cannot watch a run, in words; empty where it can."""
        del dispatch
        return ""

    def group(self, number: tuple[int, int, int]) -> None:
        """A group starts."""

    def concerns(self, code: Code, pc: int) -> bool:
        """Return whether an instruction is of interest (asked once, only where ``wants_instructions``)."""
        del code, pc
        return True

    def instruction(self, thread: Thread, pc: int) -> None:
        """A thread is about to execute an instruction (only where ``wants_instructions``)."""

    def executed(self, thread: Thread, frame: Frame, pc: int) -> None:
        """A thread has executed an instruction (only where ``wants_instructions``); it may stand in another frame now."""

    def read(self, access: MemoryAccess) -> None:
        """A message reads."""

    def write(self, access: MemoryAccess) -> None:
        """A message writes, or reads and writes."""

    def barrier(self, thread: Thread) -> None:
        """A thread executes a barrier or the first half of a split one."""

    def arrived(self, thread: Thread, barrier: Barrier) -> None:
        """A thread counts as arrived at a barrier of any kind, whose round is still open."""

    def waits(self, thread: Thread, barrier: Barrier, generation: int) -> None:
        """A thread will go on when a round of a barrier is complete."""

    def fenced(self, thread: Thread, memories: tuple[int, ...]) -> None:
        """A thread executes a fence of some memories: ``SHARED``, ``GLOBAL`` of ``group``."""

    def finished(self) -> None:
        """The run is over; findings that waited for its end are taken now."""

    def limits(self) -> tuple[str, ...]:
        """Return what the observer could not look at, in words; asked after the run."""
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

    def _find(
        self,
        kind: FaultKind,
        thread: Thread,
        message: str,
        *,
        lane: int | None = None,
        lanes: Iterable[int] = (),
        **more: Any,
    ) -> None:
        """Keep a finding; ``lane`` and ``lanes`` are counted as the instruction counts them, from its mask offset on."""
        code, pc = thread.frame.code, thread.frame.pc
        if lane is not None:
            lane = code.lane(pc, lane)
            told = (code.lane(pc, number) for number in lanes)
            more |= {"lane": lane, "lanes": sorted({number for number in told if number is not None})}
        thread.machine.has_findings = True
        self._found.append(thread_fault(thread, kind, message, **more))


class BoundsChecker(Checker):
    """Accesses outside a surface, shared local memory or every buffer; operands that leave their registers."""

    kinds = frozenset({FaultKind.OUT_OF_BOUNDS, FaultKind.REGION})

    def read(self, access: MemoryAccess) -> None:
        """Look at the addresses."""
        self._look(access, "reads")

    def write(self, access: MemoryAccess) -> None:
        """Look at the addresses."""
        self._look(access, "writes")

    def _look(self, access: MemoryAccess, verb: str) -> None:
        outside = access.outside
        if outside is None:
            return
        first = int(np.flatnonzero(outside)[0])
        at = int(access.at[first])
        frame = access.thread.frame
        if frame.code.lane(frame.pc, 0) is None and access.at.size > 1:
            self._look_at_block(access, outside, verb)
            return
        lanes = set(access.lanes[outside].tolist())
        self._find(
            FaultKind.OUT_OF_BOUNDS,
            access.thread,
            f"{verb} {_place(access, at)}{_others(access, len(lanes))}",
            lane=int(access.lanes[first]),
            lanes=lanes,
            address=at,
        )

    def _look_at_block(self, access: MemoryAccess, outside: Array, verb: str) -> None:
        """A block for the whole thread; compilers load more than they use, which is no fault of the kernel."""
        first, count = int(np.flatnonzero(outside)[0]), int(outside.sum()) * access.size
        whole = bool(outside.all())
        note = verb == "reads" and not whole and not _is_used(access, outside)
        start = int(access.at[first if whole else 0])
        last = bool(outside[first:].all())
        extent = "all of it lies" if whole else f"{f'its last {count} bytes' if last else f'{count} bytes of it'} lie"
        self._find(
            FaultKind.OUT_OF_BOUNDS,
            access.thread,
            f"{verb} a block, {_place(access, start, access.at.size * access.size)}; {extent} outside"
            + (" and are not used" if note else ""),
            address=int(access.at[first]),
            note=note,
        )


def _is_used(access: MemoryAccess, outside: Array) -> bool:
    """Return whether an instruction of the body may read the registers that a block brings from ``outside``."""
    frame = access.thread.frame
    code, pc = frame.code, frame.pc
    written = [touch.places.reshape(-1) for touch in code.touches.get(pc, []) if touch.write]
    if len(written) != 1 or written[0].size != outside.size * access.size:
        return True  # it is not known which register is which byte
    unused = set(written[0][np.repeat(outside, access.size)].tolist())
    loaded = {code.layout.root(touch.var) for touch in code.touches[pc] if touch.write}
    for inst in code.kernel.instructions:
        if any(isinstance(value, AddressOf) and code.layout.root(value.var) in loaded for value in inst.values):
            return True  # an address register may lead there
    for number in range(_first_reachable(code, pc + 1), len(code.kernel.instructions)):
        code.op(number)
        for touch in code.touches.get(number, []):
            if not touch.write and touch.indirect is None and not unused.isdisjoint(touch.places.reshape(-1).tolist()):
                return True
    return False


def _first_reachable(code: Code, pc: int) -> int:
    """Return the lowest place that control can come to from ``pc`` on."""
    jumps = [
        (at, code.labels.get(label, at))
        for at, inst in enumerate(code.kernel.instructions)
        if isinstance(label := inst.get("label"), int) and not inst.row.opens_label
    ]
    lowest = pc
    while (lower := min((to for at, to in jumps if at >= lowest), default=lowest)) < lowest:
        lowest = lower
    return lowest


def _others(access: MemoryAccess, lanes: int) -> str:
    """Return how many more lanes do the same; nothing where a message moves a block for the whole thread."""
    frame = access.thread.frame
    count = lanes - 1 if frame.code.lane(frame.pc, 0) is not None else 0
    return f", as {'does' if count == 1 else 'do'} {count} more {'lane' if count == 1 else 'lanes'}" if count else ""


def _place(access: MemoryAccess, at: int, size: int = 0) -> str:
    """Return the words for the bytes of one access, or for ``size`` bytes."""
    space, size = access.space, size or access.size
    if space is None:
        return f"{size} bytes at offset {at:#x} of binding table index {access.surface}, to which nothing is bound"
    buffer, offset = space.locate(at)
    if buffer is None:
        return f"{size} bytes at address {at:#x}, where there is no buffer"
    if isinstance(buffer, Image) and offset == buffer.size:  # stands for every texel outside
        return f"a texel outside of {buffer.name}, which has {buffer.size_text()}"
    return f"{buffer.span_text(offset, size)}, which has {buffer.size_text()}"


class BarrierChecker(Checker):
    """Barriers that a thread reaches while some of its lanes are elsewhere."""

    kinds = frozenset({FaultKind.BARRIER})

    def barrier(self, thread: Thread) -> None:
        """Compare the active lanes with those that the thread started with."""
        frame = thread.frame
        missing = thread.dispatch_mask & ~frame.emask
        if missing and thread.dispatch_mask:
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
                f"only lanes {frame.emask:#x} of {thread.dispatch_mask:#x} reach the barrier; "
                f"the missing lanes {state}",
                items=thread.work_items([n for n in range(32) if frame.emask >> n & 1]),
                other=f"the missing lanes {missing:#x} of the same thread{where}",
                other_items=thread.work_items([n for n in range(32) if missing >> n & 1]),
                other_line=line,
            )


class AlignmentChecker(Checker):
    """Addresses that are no multiple of what the message asks for."""

    kinds = frozenset({FaultKind.MISALIGNED})

    def read(self, access: MemoryAccess) -> None:
        """Look at the addresses."""
        self._look(access, "reads")

    def write(self, access: MemoryAccess) -> None:
        """Look at the addresses."""
        self._look(access, "writes")

    def _look(self, access: MemoryAccess, verb: str) -> None:
        frame = access.thread.frame
        row = frame.code.kernel.instructions[frame.pc].row
        # The load/store controller takes any address for one element a lane; the type of such an element does not.
        typed = access.alignment <= 1 and row.family == "lsc" and access.size in (2, 4, 8)
        alignment = access.size if typed else access.alignment
        if alignment <= 1 or access.space is None:
            return
        bad = np.flatnonzero(access.at & alignment - 1)
        if not bad.size:
            return
        first = int(bad[0])
        lanes = set(access.lanes[bad].tolist())
        more = _others(access, len(lanes))
        allowed = f"; the message allows that, but a type of {alignment} bytes does not" if typed else ""
        self._find(
            FaultKind.MISALIGNED,
            access.thread,
            f"{verb} {_place(access, int(access.at[first]))}: not aligned to {alignment} bytes{more}{allowed}",
            lane=int(access.lanes[first]),
            lanes=lanes,
            address=int(access.at[first]),
            note=typed,
        )


class DivisionChecker(Checker):
    """Integer divisions by zero: their result is all ones, so this is a note and no fault."""

    wants_instructions = True
    kinds = frozenset({FaultKind.DIVISION})

    def __init__(self) -> None:
        super().__init__()
        self._divisors: dict[tuple[int, int], Callable[[Frame], int] | None] = {}

    def concerns(self, code: Code, pc: int) -> bool:
        """Return only integer divisions."""
        zeros = self._divisors[id(code), pc] = _zero_divisors(code, pc)
        return zeros is not None

    def instruction(self, thread: Thread, pc: int) -> None:
        """Look at the divisor of a division."""
        frame = thread.frame
        zeros = self._divisors[id(frame.code), pc]
        bits = zeros(frame) if zeros is not None else 0
        if bits:
            what = "a division by zero" if bits & bits - 1 == 0 else f"{bits.bit_count()} divisions by zero"
            lanes = [lane for lane in range(bits.bit_length()) if bits >> lane & 1]
            self._find(FaultKind.DIVISION, thread, what, lane=lanes[0], lanes=lanes)


def _zero_divisors(code: Code, pc: int) -> Callable[[Frame], int] | None:
    """Return how to find the active lanes whose integer divisor is zero; None for what is no division."""
    from visa_lsp.sim.operands import Site, lane_mask, mask_bits

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
