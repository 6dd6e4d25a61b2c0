"""Observers of a run: the hooks, and the checkers built on them.

A hook receives an event. ``before_instruction`` and ``after_instruction`` surround an instruction; the others are named
``on_`` and the event. The remaining methods answer the machine: ``unfit``, ``concerns``, ``limits`` and ``take``.

A checker never changes what a kernel computes. ``take`` returns its findings. ``kinds`` names the faults of the machine
that an observer receives although they do not stop a thread.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from visa_lsp.isa.lane import Lane
from visa_lsp.isa.model import Trait
from visa_lsp.program.model import AddressOf
from visa_lsp.sim.faults import Fault, FaultKind, thread_fault
from visa_lsp.sim.memory import Image, Space

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from visa_lsp.sim.dispatch import Dispatch
    from visa_lsp.sim.group import Barrier
    from visa_lsp.sim.interp import Code, Thread
    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class MemoryAccess:
    """A message to memory: ``size`` bytes at each of ``places``, for ``lanes``; ``space`` is None if nothing is bound.

    ``kind`` is ``read``, ``write`` or ``atomic``; ``surface`` the value of the surface variable (None: an address).
    ``unread``: the mask of the loaded places that no instruction reads.
    """

    thread: Thread
    kind: str
    space: Space | None
    places: Array
    size: int
    lanes: Array
    surface: int | None = None
    values: Array | None = None  # rows of bytes that a plain write stores
    alignment: int = 1  # alignment of addresses required by the message
    changes: Array | None = None  # of an atomic: mask of the accesses that change memory
    compared: Array | None = None  # of a compare-exchange: rows of bytes to compare with memory
    unread: Array | None = None
    element: int = 0  # number of the element of each lane that is stored, in a message that stores several

    @property
    def used(self) -> MemoryAccess | None:
        """The access without places that nothing reads; None if there are no others."""
        if self.unread is None:
            return self
        kept = ~self.unread
        return replace(self, places=self.places[kept], lanes=self.lanes[kept], unread=None) if kept.any() else None

    @property
    def outside(self) -> Array | None:
        """The mask of accesses outside of the space; None if there are none."""
        if self.space is None:
            return np.ones(self.places.size, bool)
        inside = self.space.inside(self.places, self.size)
        return None if inside is None else ~inside


class Observer:
    """An observer that does nothing; subclasses override the hooks that they need."""

    wants_instructions = False
    wants_unread = True  # whether it receives loads of places that nothing reads
    kinds: frozenset[FaultKind] = frozenset()

    def unfit(self, dispatch: Dispatch) -> str:
        """Return the reason why this observer cannot watch a run; empty if there is none."""
        del dispatch
        return ""

    def on_group(self, number: tuple[int, int, int]) -> None:
        """Receive the start of a group."""

    def concerns(self, code: Code, pc: int) -> bool:
        """Return whether an instruction is of interest (called once, only if ``wants_instructions``)."""
        del code, pc
        return True

    def before_instruction(self, thread: Thread, pc: int) -> None:
        """Receive an instruction that a thread is about to execute (only if ``wants_instructions``)."""

    def after_instruction(self, thread: Thread, frame: Frame, pc: int) -> None:
        """Receive an executed instruction (only if ``wants_instructions``); the thread may be in another frame now."""

    def on_read(self, access: MemoryAccess) -> None:
        """Receive the reads of a message."""

    def on_write(self, access: MemoryAccess) -> None:
        """Receive the writes of a message, or its atomics."""

    def on_barrier(self, thread: Thread) -> None:
        """Receive a thread at a barrier, or at the first half of a split one."""

    def on_arrival(self, thread: Thread, barrier: Barrier) -> None:
        """Receive the arrival of a thread at a barrier of any kind, whose round is still open."""

    def on_wait(self, thread: Thread, barrier: Barrier, generation: int) -> None:
        """Receive a thread that waits for a round of a barrier."""

    def on_fence(self, thread: Thread, memories: tuple[int, ...]) -> None:
        """Receive a fence of memories: ``SHARED``, ``GLOBAL`` of ``group``."""

    def on_end(self) -> None:
        """Receive the end of the run; waiting findings are collected afterwards."""

    def limits(self) -> tuple[str, ...]:
        """Return sentences about what the observer could not check; called after the run."""
        return ()

    def on_fault(self, fault: Fault) -> None:
        """Receive a finding of the run."""

    def take(self) -> tuple[Fault, ...]:
        """Return the findings since the last call."""
        return ()


class Checker(Observer):
    """An observer that makes findings."""

    wants_unread = (
        False  # because compilers load more elements than the source, and a value that nothing reads has no effect
    )

    def __init__(self) -> None:
        self._found: list[Fault] = []

    def take(self) -> tuple[Fault, ...]:
        """Return the findings since the last call."""
        if not self._found:
            return ()
        faults = tuple(self._found)
        self._found.clear()
        return faults

    def _find(
        self,
        kind: FaultKind,
        thread: Thread,
        message: str,
        *,
        lane: int | None = None,
        lanes: Iterable[int] = (),
        **details: Any,
    ) -> None:
        """Add a finding; ``lane`` and ``lanes`` are those of the instruction, counted from its mask offset."""
        code, pc = thread.frame.code, thread.frame.pc
        if lane is not None:
            lane = code.lane(pc, lane)
            every = (code.lane(pc, number) for number in lanes)
            details |= {"lane": lane, "lanes": sorted({number for number in every if number is not None})}
        thread.machine.has_findings = True
        self._found.append(thread_fault(thread, kind, message, **details))


class BoundsChecker(Checker):
    """Finds accesses outside of a surface, shared local memory or every buffer, and operands that leave their registers."""

    kinds = frozenset({FaultKind.OUT_OF_BOUNDS, FaultKind.REGION})

    def on_read(self, access: MemoryAccess) -> None:
        """Check the addresses."""
        self._look(access, "reads")

    def on_write(self, access: MemoryAccess) -> None:
        """Check the addresses."""
        self._look(access, "writes")

    def _look(self, access: MemoryAccess, verb: str) -> None:
        outside = access.outside
        if outside is None:
            return
        row = int(np.flatnonzero(outside)[0])
        address = int(access.places[row])
        frame = access.thread.frame
        if frame.code.lane(frame.pc, 0) is None and access.places.size > 1:
            self._look_at_block(access, outside, verb)
            return
        lanes = set(access.lanes[outside].tolist())
        self._find(
            FaultKind.OUT_OF_BOUNDS,
            access.thread,
            f"{verb} {_place(access, address)}{_others(access, len(lanes))}",
            lane=int(access.lanes[row]),
            lanes=lanes,
            address=address,
        )

    def _look_at_block(self, access: MemoryAccess, outside: Array, verb: str) -> None:
        """Report a block for the whole thread; only a note if the outer bytes are unused, because compilers load too much."""
        row, count = int(np.flatnonzero(outside)[0]), int(outside.sum()) * access.size
        whole = bool(outside.all())
        note = verb == "reads" and not whole and not _is_used(access, outside)
        start = int(access.places[row if whole else 0])
        last = bool(outside[row:].all())
        extent = "all of it lies" if whole else f"{f'its last {count} bytes' if last else f'{count} bytes of it'} lie"
        self._find(
            FaultKind.OUT_OF_BOUNDS,
            access.thread,
            f"{verb} a block, {_place(access, start, access.places.size * access.size)}; {extent} outside"
            + (" and are not used" if note else ""),
            address=int(access.places[row]),
            note=note,
        )


def _is_used(access: MemoryAccess, outside: Array) -> bool:
    """Return whether an instruction of the body may read the registers that are filled from ``outside``."""
    frame = access.thread.frame
    code, pc = frame.code, frame.pc
    written = [touch.places.reshape(-1) for touch in code.touches.get(pc, []) if touch.write]
    if len(written) != 1 or written[0].size != outside.size * access.size:
        return True  # because the register of each byte is unknown
    unused = set(written[0][np.repeat(outside, access.size)].tolist())
    loaded = {code.layout.root(touch.var) for touch in code.touches[pc] if touch.write}
    for inst in code.kernel.instructions:
        if any(isinstance(value, AddressOf) and code.layout.root(value.var) in loaded for value in inst.values):
            return True  # because an address register may select it
    for number in range(_first_reachable(code, pc + 1), len(code.kernel.instructions)):
        code.op(number)
        for touch in code.touches.get(number, []):
            if not touch.write and touch.indirect is None and not unused.isdisjoint(touch.places.reshape(-1).tolist()):
                return True
    return False


def is_after_its_round(code: Code, earlier: int, later: int) -> bool:
    """Return whether a barrier stands between two instructions of a loop, and none from the last back to the first."""
    instructions = code.kernel.instructions
    barriers = [pc for pc, inst in enumerate(instructions) if inst.row.has(Trait.BARRIER)]
    backward = [
        (pc, code.labels.get(label, pc))
        for pc, inst in enumerate(instructions)
        if isinstance(label := inst.get("label"), int) and pc > later
    ]
    return any(earlier < pc < later for pc in barriers) and any(
        to <= earlier and not any(to <= pc < earlier or later < pc < jump for pc in barriers) for jump, to in backward
    )


def _first_reachable(code: Code, pc: int) -> int:
    """Return the lowest place that control can reach from ``pc``."""
    jumps = [
        (place, code.labels.get(label, place))
        for place, inst in enumerate(code.kernel.instructions)
        if isinstance(label := inst.get("label"), int) and not inst.row.opens_label
    ]
    lowest = pc
    while (lower := min((to for place, to in jumps if place >= lowest), default=lowest)) < lowest:
        lowest = lower
    return lowest


def _others(access: MemoryAccess, lanes: int) -> str:
    """Return words for the number of other lanes; empty for a block of the whole thread."""
    frame = access.thread.frame
    count = lanes - 1 if frame.code.lane(frame.pc, 0) is not None else 0
    return f"; {count} more {'lane does' if count == 1 else 'lanes do'} the same" if count else ""


def _place(access: MemoryAccess, address: int, size: int = 0) -> str:
    """Return words for the bytes of one access, or for ``size`` bytes."""
    space, size = access.space, size or access.size
    if space is None:
        return f"{size} bytes at offset {address:#x} of binding table index {access.surface}, to which nothing is bound"
    buffer, offset = space.locate(address)
    if buffer is None:
        return f"{size} bytes at address {address:#x}, where there is no buffer"
    if isinstance(buffer, Image) and offset == buffer.size:  # represents every texel outside
        return f"a texel outside of {buffer.name}, which has {buffer.size_text()}"
    return f"{buffer.span_text(offset, size)}, which has {buffer.size_text()}"


class BarrierChecker(Checker):
    """Finds barriers that a thread reaches without some of its lanes."""

    kinds = frozenset({FaultKind.BARRIER})

    def on_barrier(self, thread: Thread) -> None:
        """Compare the active lanes with those at the start of the thread."""
        frame = thread.frame
        missing = thread.dispatch_mask & ~frame.emask
        if missing and thread.dispatch_mask:
            instructions = frame.code.kernel.instructions
            place = next(
                (p for p, lanes in sorted(frame.waiting.items()) if lanes & missing and p < len(instructions)), None
            )
            waiting = place is not None or any(call[3] for call in frame.calls)
            state = "have branched past it" if waiting else "have left the kernel"
            line = instructions[place].line if place is not None else -1
            where = f", which go on at line {line + 1}" if line >= 0 else ""
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
    """Finds addresses without the alignment required by the message."""

    wants_unread = True  # the address of a message is that of all its elements
    kinds = frozenset({FaultKind.MISALIGNED})

    def on_read(self, access: MemoryAccess) -> None:
        """Check the addresses."""
        self._look(access, "reads")

    def on_write(self, access: MemoryAccess) -> None:
        """Check the addresses."""
        self._look(access, "writes")

    def _look(self, access: MemoryAccess, verb: str) -> None:
        frame = access.thread.frame
        row = frame.code.kernel.instructions[frame.pc].row
        # The load/store controller allows any address for one element per lane, but the type of the element does not.
        typed = access.alignment <= 1 and row.family == "lsc" and access.size in (2, 4, 8)
        alignment = access.size if typed else access.alignment
        if alignment <= 1 or access.space is None:
            return
        bad = np.flatnonzero(access.places & alignment - 1)
        if typed:
            # Compilers access several neighbouring elements, such as bytes, by one message.
            buffers = (access.space.locate(place)[0] for place in access.places[bad].tolist())
            bad = bad[[buffer is None or buffer.item_bytes >= access.size for buffer in buffers]]
        if not bad.size:
            return
        index = int(bad[0])
        lanes = set(access.lanes[bad].tolist())
        others = _others(access, len(lanes))
        allowed = f"; the message allows that, but a type of {alignment} bytes does not" if typed else ""
        self._find(
            FaultKind.MISALIGNED,
            access.thread,
            f"{verb} {_place(access, int(access.places[index]))}: not aligned to {alignment} bytes{others}{allowed}",
            lane=int(access.lanes[index]),
            lanes=lanes,
            address=int(access.places[index]),
            note=typed,
        )


class DivisionChecker(Checker):
    """Finds integer divisions by zero; these are notes, because their result is defined as all ones."""

    wants_instructions = True
    kinds = frozenset({FaultKind.DIVISION})

    def __init__(self) -> None:
        super().__init__()
        self._divisors: dict[tuple[int, int], Callable[[Frame], int] | None] = {}

    def concerns(self, code: Code, pc: int) -> bool:
        """Return whether an instruction is an integer division."""
        zeros = self._divisors[id(code), pc] = _zero_divisors(code, pc)
        return zeros is not None

    def before_instruction(self, thread: Thread, pc: int) -> None:
        """Check the divisor of a division."""
        frame = thread.frame
        zeros = self._divisors[id(frame.code), pc]
        bits = zeros(frame) if zeros is not None else 0
        if bits:
            what = "a division by zero" if bits & bits - 1 == 0 else f"{bits.bit_count()} divisions by zero"
            lanes = [lane for lane in range(bits.bit_length()) if bits >> lane & 1]
            self._find(FaultKind.DIVISION, thread, what, lane=lanes[0], lanes=lanes)


def _zero_divisors(code: Code, pc: int) -> Callable[[Frame], int] | None:
    """Return a function for the active lanes whose integer divisor is zero; None if not a division."""
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
