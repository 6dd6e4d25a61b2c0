"""Who listens to a run: the hooks, and the checkers built on them.

A checker only looks; it never changes what a kernel computes. It hands its findings over when asked with ``take``.
``kinds`` names the faults of the machine that an observer wants to hear of although they do not stop a thread.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.sim.faults import Fault, FaultKind
from visa_lsp.sim.memory import Buffer, Memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.sim.interp import Thread
    from visa_lsp.sim.memory import Space

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

    def instruction(self, thread: Thread, pc: int) -> None:
        """A thread is about to execute an instruction (only where ``wants_instructions``)."""

    def read(self, access: Access) -> None:
        """A message reads."""

    def write(self, access: Access) -> None:
        """A message writes, or reads and writes."""

    def barrier(self, thread: Thread) -> None:
        """A thread arrives at a barrier."""

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
        more = f", as do {count - 1} more lanes" if count > 1 else ""
        self._find(
            FaultKind.OUT_OF_BOUNDS,
            access.thread,
            f"{verb} {access.size} bytes at {_place(access, at)}{more}",
            lane=int(access.lanes[first]),
            address=at,
        )


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
            waiting = frame.waiting or any(call[3] for call in frame.calls)
            state = "wait elsewhere" if waiting else "have left the kernel"
            self._find(
                FaultKind.BARRIER,
                thread,
                f"the barrier is reached with lanes {frame.emask:#x} of {thread.dispatch_mask:#x}; the others {state}",
                lane=lane,
            )


_NOBODY: Final = -1


class _Shadow:
    """Per byte of a buffer: who wrote and who read last since the last synchronisation."""

    def __init__(self, size: int) -> None:
        self.writer: Array = np.full(size, _NOBODY, np.int32)
        self.reader: Array = np.full(size, _NOBODY, np.int32)
        self.atomic: Array = np.zeros(size, bool)

    def clear(self) -> None:
        """Nobody has touched anything."""
        self.writer[:] = _NOBODY
        self.reader[:] = _NOBODY
        self.atomic[:] = False


class RaceChecker(Checker):
    """Two threads of a group that touch the same bytes between barriers, one of them writing, not both atomically.

    Shared local memory and buffers are watched within a group; each completed barrier starts anew, groups are not
    compared with one another. A write that changes nothing is no race: compilers let all threads store the same value.
    """

    kinds = frozenset({FaultKind.RACE})

    def __init__(self) -> None:
        super().__init__()
        self._shadows: dict[int, tuple[Buffer, _Shadow]] = {}
        self._round = -1

    def group(self, number: tuple[int, int, int]) -> None:
        """A new group: what went before is over."""
        del number
        self._shadows.clear()
        self._round = -1

    def read(self, access: Access) -> None:
        """Someone else may have written there."""
        self._each(access, self._reads)

    def write(self, access: Access) -> None:
        """Someone else may have read or written there."""
        self._each(access, self._writes)

    def _each(self, access: Access, check: Callable[[Access, _Shadow, Array, int], None]) -> None:
        space = access.space
        if space is None or not access.at.size:
            return
        if access.thread.group.barrier.generation != self._round:
            self._round = access.thread.group.barrier.generation
            for _, shadow in self._shadows.values():
                shadow.clear()
        offsets = access.at
        if isinstance(space, Memory):
            found = space.find(int(access.at[0]))
            if found is None:
                return
            space, offsets = found[0], access.at - found[0].address
        inside = (offsets >= 0) & (offsets <= space.size - access.size)
        if not inside.any():
            return
        shadow = self._shadows.setdefault(id(space), (space, _Shadow(space.size)))[1]
        bytes_ = (offsets[inside][:, None] + np.arange(access.size)).reshape(-1)
        if access.values is not None:
            bytes_ = bytes_[space.data[bytes_] != access.values[inside].reshape(-1)]
        check(access, shadow, bytes_, access.thread.number)

    def _reads(self, access: Access, shadow: _Shadow, at: Array, me: int) -> None:
        writer = shadow.writer[at]
        bad = (writer != _NOBODY) & (writer != me)
        if bad.any():
            self._race(access, at, bad, writer, "reads what was written by")
        shadow.reader[at] = me

    def _writes(self, access: Access, shadow: _Shadow, at: Array, me: int) -> None:
        atomic = access.kind == "atomic"
        writer, reader = shadow.writer[at], shadow.reader[at]
        bad = (writer != _NOBODY) & (writer != me)
        if atomic:
            bad &= ~shadow.atomic[at]
        if bad.any():
            self._race(access, at, bad, writer, "writes what was written by")
        else:
            bad = (reader != _NOBODY) & (reader != me)
            if bad.any():
                self._race(access, at, bad, reader, "writes what was read by")
        shadow.writer[at] = me
        shadow.atomic[at] = atomic

    def _race(self, access: Access, at: Array, bad: Array, others: Array, verb: str) -> None:
        first = int(np.flatnonzero(bad)[0])
        name = access.space.name if access.space is not None else "memory"
        self._find(
            FaultKind.RACE,
            access.thread,
            f"{verb} another thread since the last barrier, at byte {int(at[first])} of {name}",
            lane=int(access.lanes[min(first // access.size, access.lanes.size - 1)]),
            address=int(at[first]),
            other=f"thread {int(others[first])}",
        )


CHECKERS: Final[dict[str, Callable[[], Checker]]] = {
    "bounds": BoundsChecker,
    "barriers": BarrierChecker,
    "races": RaceChecker,
}


def checkers(names: str = "all") -> tuple[Checker, ...]:
    """The checkers of a list: ``all``, ``none``, or names by commas. KeyError for an unknown name."""
    if names == "none":
        return ()
    chosen = tuple(CHECKERS) if names == "all" else tuple(n.strip() for n in names.split(",") if n.strip())
    return tuple(CHECKERS[name]() for name in chosen)
