"""The observer behind ``run --profile``: active lanes of instructions, splits of branches, memory accesses of messages.

Only counts, no times. A cache line is a touched block of 64 bytes of addresses, independent of any cache.
The model of shared local memory has 16 banks of 4 bytes; a bank reads one dword at a time, for any number of lanes. A
message executed in several accesses, such as one of four channels, counts as one message.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.flow.graph import graph_of
from visa_lsp.flow.liveness import Liveness
from visa_lsp.flow.program_steps import steps_of
from visa_lsp.flow.steps import number_of
from visa_lsp.isa import predefined
from visa_lsp.isa.model import FlowClass, PredicateUse
from visa_lsp.isa.types import ExecControl
from visa_lsp.program.model import Inst, Kernel, Predicate
from visa_lsp.sim.memory import Buffer, Image
from visa_lsp.sim.observers.hooks import MemoryAccess, Observer
from visa_lsp.sim.operands import predicate_bits

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.sim.interp import Code, Thread
    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]

CACHE_LINE: Final = 64
BANKS, BANK_BYTES = 16, 4
_NO_CODE: Final = frozenset({FlowClass.LABEL, FlowClass.SUBROUTINE, FlowClass.NOTE})


@dataclass(slots=True)
class MessageCounts:
    """The memory accesses of one instruction. ``distinct`` bytes are counted once per message, for all lanes together.

    ``broadcasts``: messages with several lanes that all access the same place. ``conflicts``: rounds of the banks of
    shared local memory beyond the minimum for the dwords. ``same_place``: lanes of an atomic with the address of an
    earlier lane of the message.
    """

    kind: str
    memory: str
    messages: int = 0
    lanes: int = 0
    bytes: int = 0
    distinct: int = 0
    cache_lines: int = 0
    broadcasts: int = 0
    conflicts: int = 0
    same_place: int = 0
    unused: bool = False

    @property
    def coalescing(self) -> float:
        """The accessed share of the touched cache lines; 1 if every byte of them was accessed."""
        return self.distinct / (self.cache_lines * CACHE_LINE) if self.cache_lines else 1.0


@dataclass(slots=True)
class InstructionProfile:
    """The counts of one instruction: executions, lanes, and the splits of a branch.

    ``slots`` sums the execution sizes of all executions, ``active`` the active lanes. ``splits``: executions in which
    the lanes of a branch diverge; ``taken``: the lanes whose predicate holds.
    """

    executions: int = 0
    active: int = 0
    slots: int = 0
    is_branch: bool = False
    splits: int = 0
    taken: int = 0
    message: MessageCounts | None = None


@dataclass(slots=True)
class BodyProfile:
    """A kernel or function with the profiles of its instructions, by place."""

    kernel: Kernel
    instructions: dict[int, InstructionProfile] = field(default_factory=dict)


class Profiler(Observer):
    """A counter for every instruction; ``bodies`` has the results, in the order in which bodies were first reached."""

    wants_instructions = True

    def __init__(self) -> None:
        self._bodies: dict[int, BodyProfile] = {}
        self._notes: dict[tuple[int, int], Callable[[Frame], None]] = {}
        self._unused: dict[int, frozenset[int]] = {}
        self._accesses: list[MemoryAccess] = []  # accesses of the instruction that is being executed

    @property
    def bodies(self) -> list[BodyProfile]:
        """The profiles of the reached bodies."""
        return list(self._bodies.values())

    def concerns(self, code: Code, pc: int) -> bool:
        """Return whether an instruction is neither label nor mark; start its profile."""
        inst = code.kernel.instructions[pc]
        if inst.row.flow in _NO_CODE:
            return False
        body = self._bodies.setdefault(id(code), BodyProfile(code.kernel))
        body.instructions[pc] = profile = InstructionProfile()
        self._notes[id(code), pc] = _lane_counter(inst, profile)
        return True

    def before_instruction(self, thread: Thread, pc: int) -> None:
        """Count the lanes before an instruction."""
        frame = thread.frame
        self._notes[id(frame.code), pc](frame)

    def on_read(self, access: MemoryAccess) -> None:
        """Store an access until its message is complete."""
        self._accesses.append(access)

    def on_write(self, access: MemoryAccess) -> None:
        """Store an access until its message is complete."""
        self._accesses.append(access)

    def after_instruction(self, thread: Thread, frame: Frame, pc: int) -> None:
        """Count the message of an instruction."""
        if not self._accesses:
            return
        profile = self._bodies[id(frame.code)].instructions[pc]
        if profile.message is None:
            access = self._accesses[0]
            profile.message = MessageCounts(access.kind, _memory_of(access, thread))
            profile.message.unused = access.kind == "read" and pc in self._find_unused_loads(frame.code)
        _count_message(profile.message, self._accesses)
        self._accesses.clear()

    def _find_unused_loads(self, code: Code) -> frozenset[int]:
        places = self._unused.get(id(code))
        if places is None:
            places = self._unused[id(code)] = find_unused_results(code)
        return places


def _lane_counter(inst: Inst, profile: InstructionProfile) -> Callable[[Frame], None]:
    control = next(
        (c for c in (inst.get("exec"), inst.get("n")) if isinstance(c, ExecControl)), ExecControl(1, 0, no_mask=True)
    )
    offset, full, no_mask = control.mask_offset, (1 << control.exec_size) - 1, control.no_mask
    pred = inst.get("pred")
    guard = pred if isinstance(pred, Predicate) and inst.row.predicate_use is PredicateUse.GUARDS else None
    bits = predicate_bits(guard, offset, full) if guard is not None else None
    flow = inst.row.flow
    steers = flow.branches or flow.structured or flow.returns
    profile.is_branch = bits is not None and steers

    def count(f: Frame) -> None:
        mask = full if no_mask else f.emask >> offset & full
        profile.executions += 1
        profile.slots += control.exec_size
        if bits is not None:
            guarded = mask & bits(f)
            if steers:
                profile.taken += guarded.bit_count()
                profile.splits += 0 < guarded < mask
            else:
                mask = guarded
        profile.active += mask.bit_count()

    return count


def _memory_of(access: MemoryAccess, thread: Thread) -> str:
    space = access.space
    if space is thread.group.slm and space is not None:
        return "slm"
    if isinstance(space, Image):
        return "image"
    if isinstance(space, Buffer) and (space.private or space is thread.scratch):
        return "scratch"
    return "global" if space is not None else "nothing"


def _count_message(counts: MessageCounts, accesses: list[MemoryAccess]) -> None:
    first_access = accesses[0]
    # Buffers begin at pages, so that offsets in them have the same cache lines as addresses.
    starts = np.concatenate([np.asarray(access.places, np.int64) for access in accesses])
    ends = starts + np.concatenate([np.full(access.places.size, access.size, np.int64) for access in accesses])
    counts.messages += 1
    counts.lanes += max(access.places.size for access in accesses)
    counts.bytes += int((ends - starts).sum())
    counts.distinct += distinct_bytes(starts, ends)
    counts.cache_lines += pieces(starts, ends, CACHE_LINE).size
    counts.broadcasts += first_access.places.size > 1 and all(
        (access.places == access.places[0]).all() for access in accesses
    )
    if counts.memory == "slm":
        counts.conflicts += bank_conflicts(starts, ends)
    if counts.kind == "atomic":
        counts.same_place += first_access.places.size - np.unique(first_access.places).size


def distinct_bytes(starts: Array, ends: Array) -> int:
    """Return the number of bytes in at least one of the ranges from ``starts`` up to ``ends``, each of shape (n,)."""
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], np.maximum.accumulate(ends[order])
    covered = np.concatenate([starts[:1], ends[:-1]])
    return int(np.maximum(0, ends - np.maximum(starts, covered)).sum())


def pieces(starts: Array, ends: Array, size: int) -> Array:
    """Return the numbers of the aligned pieces of ``size`` bytes that ranges touch, each once, sorted."""
    first_piece, last_piece = starts // size, (ends - 1) // size
    longest = int((last_piece - first_piece).max(initial=0))
    touched = [first_piece + step for step in range(longest + 1)]
    return np.unique(np.concatenate([piece[piece <= last_piece] for piece in touched]))


def bank_conflicts(starts: Array, ends: Array) -> int:
    """Return the rounds of the banks of shared local memory beyond the minimum for the number of dwords."""
    dwords = pieces(starts, ends, BANK_BYTES)
    rounds = int(np.bincount(dwords % BANKS).max(initial=0))
    return rounds - -(-dwords.size // BANKS)


def find_unused_results(code: Code) -> frozenset[int]:
    """Return the places of instructions whose results no later instruction of the text may read."""
    kernel = code.kernel
    graph = graph_of(steps_of(kernel, code.storage), calls_end_blocks=True)
    liveness = Liveness(graph)
    places: set[int] = set()
    for block in graph.blocks:
        for number, live in liveness.behind_steps(block.number):
            writes = [access for access in graph.steps[number].accesses if access.writes]
            declared = all(number_of(access.variable) >= predefined.FIRST_VARIABLE for access in writes)
            if writes and declared and not any(live.get(a.variable, 0) & a.possible for a in writes):
                places.add(number)
    return frozenset(places)
