"""Races between enqueues that nothing orders: launches of different queues, or of a queue that is out of order.

The host counts *epochs*: a new one begins with each call that may order commands, so that two launches of one epoch and of
different queues are certainly unordered. Small launches are kept with copies of their memory; only if another one shares memory
with one of them, both are recorded, in the interpreter. Invariant: no two ordered launches are compared.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import structs

from visa_lsp.app.launch.report import source_of
from visa_lsp.sim.faults import Fault, FaultKind
from visa_lsp.sim.launch.config import BufferArg, ImageArg
from visa_lsp.sim.observers.hooks import Observer
from visa_lsp.sim.observers.races import split

if TYPE_CHECKING:
    from visa_lsp.app.exec.model import Enqueue
    from visa_lsp.app.exec.programs import LoadedKernel
    from visa_lsp.sim.launch.config import Arg, Array
    from visa_lsp.sim.observers.hooks import MemoryAccess

_MAX_STEPS: Final = 20_000  # of a recorded launch, some two seconds
_MAX_COPIED_BYTES: Final = 16 << 20  # of a kept launch
_MAX_LAUNCHES: Final = 64  # of an epoch
_ALLOCATION_SHIFT: Final = 40  # of the number of an allocation in the number of a byte


class AccessRecorder(Observer):
    """Records the bytes of allocations that each instruction reads, writes or updates atomically."""

    def __init__(self, enqueue: Enqueue) -> None:
        self.bytes: dict[tuple[str, int], Array] = {}  # (kind, instruction) -> numbers of bytes, sorted
        self._bases = {
            arg.array.ctypes.data: (enqueue.allocations[index].number << _ALLOCATION_SHIFT)
            + enqueue.allocations[index].origin
            for index, arg in enumerate(enqueue.args)
            if isinstance(arg, BufferArg | ImageArg) and index in enqueue.allocations
        }

    def on_read(self, access: MemoryAccess) -> None:
        """Record a read."""
        self._record(access)

    def on_write(self, access: MemoryAccess) -> None:
        """Record a write or an atomic."""
        self._record(access)

    def _record(self, access: MemoryAccess) -> None:
        frame = access.thread.frame
        if frame.code.kernel.name != access.thread.machine.dispatch.kernel.name:
            return  # because the line of a function is not that of the kernel
        for buffer, offsets, _ in split(access.space, access.places, access.size) if access.space is not None else ():
            base = self._bases.get(buffer.data.ctypes.data)
            if base is not None:
                touched = (offsets[:, None] + np.arange(access.size)).reshape(-1) + base
                key = (access.kind, frame.pc)
                known = self.bytes.get(key)
                self.bytes[key] = np.unique(touched if known is None else np.concatenate([known, touched]))


@dataclass(slots=True, eq=False)
class KeptLaunch:
    """A launch of the current epoch, with copies of its memory from before it ran; recorded when it is first compared."""

    number: int
    kernel: LoadedKernel
    enqueue: Enqueue
    accesses: AccessRecorder | None = None


@dataclass(slots=True)
class UnorderedLaunches:
    """The launches of the current epoch."""

    epoch: int = -1
    launches: list[KeptLaunch] = field(default_factory=list)

    def find(self, enqueue: Enqueue) -> list[KeptLaunch]:
        """Return the kept launches that are not ordered before a launch and have an allocation of it."""
        if enqueue.epoch != self.epoch or enqueue.shared:
            return []
        numbers = {one.number for one in enqueue.allocations.values()}
        return [
            other
            for other in self.launches
            if (other.enqueue.queue != enqueue.queue or not enqueue.is_ordered)
            and any(one.number in numbers for one in other.enqueue.allocations.values())
        ]

    def keep(self, number: int, kernel: LoadedKernel, enqueue: Enqueue, steps: int) -> None:
        """Keep a launch that is about to run, if later ones may be unordered with it and it is small."""
        if not enqueue.is_concurrent or enqueue.shared or steps > _MAX_STEPS:
            return
        buffers = [arg.array for arg in enqueue.args if isinstance(arg, BufferArg | ImageArg)]
        if sum(array.nbytes for array in buffers) > _MAX_COPIED_BYTES:
            return
        if enqueue.epoch != self.epoch or len(self.launches) >= _MAX_LAUNCHES:
            self.epoch, self.launches = enqueue.epoch, []
        self.launches.append(KeptLaunch(number, kernel, structs.replace(enqueue, args=tuple(map(_copy, enqueue.args)))))


def _copy(arg: Arg) -> Arg:
    if isinstance(arg, BufferArg):
        return replace(arg, array=arg.array.copy(), whole=None)
    return replace(arg, array=arg.array.copy()) if isinstance(arg, ImageArg) else arg


def find_race(other: KeptLaunch, kernel: LoadedKernel, accesses: AccessRecorder) -> Fault | None:
    """Return the first race of a launch with a recorded one; None if there is none."""
    assert other.accesses is not None
    for (kind, pc), own in accesses.bytes.items():
        for (other_kind, other_pc), theirs in other.accesses.bytes.items():
            if kind == other_kind and kind in ("read", "atomic"):
                continue
            both = np.intersect1d(own, theirs, assume_unique=True)
            if both.size:
                return _fault(other, kernel, (kind, pc), (other_kind, other_pc), both.size)
    return None


def _fault(other: KeptLaunch, kernel: LoadedKernel, own: tuple[str, int], theirs: tuple[str, int], count: int) -> Fault:
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
