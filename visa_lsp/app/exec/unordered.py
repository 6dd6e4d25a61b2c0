"""Races between enqueues that nothing orders: launches of different queues, or of a queue that is out of order.

The host counts *epochs*: a new one begins with each call that may order commands, so that two launches of one epoch and of
different queues are certainly unordered. Records which instructions access which bytes, in the interpreter, for small
launches only. Invariant: no two ordered launches are compared.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from visa_lsp.app.launch.report import source_of
from visa_lsp.sim.faults import Fault, FaultKind
from visa_lsp.sim.memory import Memory
from visa_lsp.sim.observers.hooks import Observer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.app.exec.model import Enqueue
    from visa_lsp.app.exec.programs import LoadedKernel
    from visa_lsp.sim.launch.config import Array
    from visa_lsp.sim.memory import Buffer
    from visa_lsp.sim.observers.hooks import MemoryAccess

MAX_RECORDED_STEPS: Final = 20_000  # of a launch, some two seconds
_MAX_STEPS: Final = 500_000  # of all launches of a program
_MAX_LAUNCHES: Final = 64  # of an epoch


class AccessRecorder(Observer):
    """Records the bytes that each instruction reads, writes or updates atomically, by the address of their memory."""

    def __init__(self) -> None:
        self.bytes: dict[tuple[str, int], Array] = {}  # (kind, instruction) -> addresses on the host, sorted

    def on_read(self, access: MemoryAccess) -> None:
        """Record a read."""
        self._record(access)

    def on_write(self, access: MemoryAccess) -> None:
        """Record a write or an atomic."""
        self._record(access)

    def _record(self, access: MemoryAccess) -> None:
        frame = access.thread.frame
        if frame.code.kernel.name != access.thread.machine.dispatch.kernel.name:
            return  # the line of a function is not that of the kernel
        for buffer, offsets in _places(access):
            start = int(buffer.whole.data.ctypes.data) + (buffer.address - buffer.whole.address)
            touched = (offsets[:, None] + np.arange(access.size)).reshape(-1) + start
            key = (access.kind, frame.pc)
            known = self.bytes.get(key)
            self.bytes[key] = np.unique(touched if known is None else np.concatenate([known, touched]))


def _places(access: MemoryAccess) -> Iterator[tuple[Buffer, Array]]:
    """Yield the buffers of an access with the offsets that lie inside."""
    space = access.space
    if isinstance(space, Memory):
        for buffer in space.buffers:
            offsets = access.at - buffer.address
            inside = (offsets >= 0) & (offsets <= buffer.size - access.size)
            if inside.any() and not buffer.private:
                yield buffer, offsets[inside]
    elif space is not None and space.address:
        yield space, access.at[(access.at >= 0) & (access.at <= space.size - access.size)]


@dataclass(frozen=True, slots=True, eq=False)
class _Launch:
    number: int
    kernel: LoadedKernel
    queue: int
    is_ordered: bool
    accesses: AccessRecorder


@dataclass(slots=True)
class UnorderedLaunches:
    """The launches of the current epoch."""

    epoch: int = -1
    launches: list[_Launch] = field(default_factory=list)
    steps: int = 0

    def recorder(self, enqueue: Enqueue, steps: int) -> AccessRecorder | None:
        """Return a recorder for a launch of an estimated number of steps; None if it is not recorded."""
        if not enqueue.is_concurrent or steps > MAX_RECORDED_STEPS or self.steps + steps > _MAX_STEPS:
            return None
        self.steps += steps
        return AccessRecorder()

    def compare(self, number: int, kernel: LoadedKernel, enqueue: Enqueue, accesses: AccessRecorder) -> list[Fault]:
        """Return the first race with each launch of the epoch that is not ordered before, and keep the launch."""
        if enqueue.epoch != self.epoch or len(self.launches) >= _MAX_LAUNCHES:
            self.epoch, self.launches = enqueue.epoch, []
        found = [
            fault
            for other in self.launches
            if other.queue != enqueue.queue or not enqueue.is_ordered
            if (fault := _race(other, kernel, accesses)) is not None
        ]
        self.launches.append(_Launch(number, kernel, enqueue.queue, enqueue.is_ordered, accesses))
        return found


def _race(other: _Launch, kernel: LoadedKernel, accesses: AccessRecorder) -> Fault | None:
    for (kind, pc), own in accesses.bytes.items():
        for (other_kind, other_pc), theirs in other.accesses.bytes.items():
            if kind == other_kind and kind in ("read", "atomic"):
                continue
            both = np.intersect1d(own, theirs, assume_unique=True)
            if both.size:
                return _fault(other, kernel, (kind, pc), (other_kind, other_pc), both.size)
    return None


def _fault(other: _Launch, kernel: LoadedKernel, own: tuple[str, int], theirs: tuple[str, int], count: int) -> Fault:
    body = kernel.module.kernels[0]
    other_body = other.kernel.module.kernels[0]
    verbs = {"read": "reads", "write": "writes", "atomic": "updates"}
    message = (
        f"{verbs[own[0]]} {count} bytes that enqueue {other.number} (kernel {other.kernel.name}) {verbs[theirs[0]]}; "
        "the two are in different queues, or in one that is out of order, and no event or wait orders them"
    )
    line = body.instructions[own[1]].line
    other_line = other_body.instructions[theirs[1]].line
    return Fault(
        FaultKind.RACE, message, body.name, (0, 0, 0), 0, instruction=own[1], line=line,
        source=source_of(body, own[1]), other=f"enqueue {other.number}, {other_body.name}, line {other_line + 1}",
        other_line=other_line if other_body.name == body.name else -1,
    )  # fmt: skip
