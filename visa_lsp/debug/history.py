"""Snapshots of a run at intervals, from which replays start.

A snapshot holds the state that instructions can change, in copies that share pages with the snapshot before. If there
are too many snapshots, or they are too large, every second one is dropped and the interval doubles, so that memory is
bounded and a replay is short compared with the run. Invariant: restoring changes contents only, never the identity of
objects.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from visa_lsp.debug.stepper import Stepper
    from visa_lsp.sim.group import Barrier, ThreadGroup, Wait
    from visa_lsp.sim.interp import Code, Thread
    from visa_lsp.sim.memory import Buffer
    from visa_lsp.sim.registers import Frame

    Array = np.ndarray[Any, np.dtype[Any]]

FIRST_DISTANCE: Final = 20_000  # instructions
MAX_SNAPSHOTS: Final = 400
MAX_SNAPSHOT_BYTES: Final = 512 << 20
NEAR: Final = 1_000  # instructions between an additional snapshot and the target of a step back
_PAGE: Final = 1 << 14

Pages = tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class _FrameState:
    frame: Frame
    regs: Pages
    addr: Array
    fields: tuple[Any, ...]
    waiting: dict[int, int]
    calls: list[tuple[int, int, int, dict[int, int], int]]
    shadow: Any


@dataclass(frozen=True, slots=True)
class _ThreadState:
    thread: Thread
    frame: Frame
    frames: tuple[Frame, ...]
    pending: Wait | None
    scratch: Buffer | None


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """A run between two instructions. ``size`` is the number of bytes that it does not share with the snapshot before it."""

    time: int
    edits: int  # number of edits made before
    stepper: tuple[Any, ...]
    lists: tuple[list[Thread], list[Thread], list[Thread], dict[int, Wait]]
    result: tuple[Any, ...]
    sent: dict[Any, Any]
    counts: tuple[tuple[Code, list[int]], ...]
    memory: tuple[tuple[Buffer, Pages, bool], ...]
    barriers: tuple[tuple[Barrier, tuple[int, ...]], ...]
    named: tuple[dict[int, Barrier], dict[tuple[int, int], int]]
    threads: tuple[_ThreadState, ...]
    frames: tuple[_FrameState, ...]
    size: int


_FIELDS: Final = (
    "emask", "call_mask", "pc", "thread", "rounding", "keep_df", "keep_f", "keep_hf", "plain",
)  # fmt: skip
_STEPPER: Final = ("group", "current", "moved", "used", "alone", "time", "broken")
_RESULT: Final = ("threads", "groups", "barriers", "reads", "writes")
_BARRIER: Final = ("expected", "producers", "arrived", "produced", "generation")


class _Copier:
    """Copies arrays; pages equal to those of another snapshot are shared with it."""

    def __init__(self, before: Snapshot | None) -> None:
        self.pages_by_id: dict[int, Pages] = {}
        if before is not None:
            self.pages_by_id = {id(buffer): pages for buffer, pages, _ in before.memory}
            self.pages_by_id |= {id(state.frame): state.regs for state in before.frames}
        self.size = 0

    def pages(self, owner: object, data: Array) -> Pages:
        old = self.pages_by_id.get(id(owner), ())
        pages = []
        for number, start in enumerate(range(0, data.size, _PAGE)):
            raw = data[start : start + _PAGE].tobytes()
            if number < len(old) and old[number] == raw:
                pages.append(old[number])
            else:
                pages.append(raw)
                self.size += len(raw)
        return tuple(pages)


def _put(pages: Pages, data: Array) -> None:
    """Write pages back; later memory is zeroed, because it did not exist at that time."""
    start = 0
    for page in pages:
        data[start : start + len(page)].data[:] = page
        start += len(page)
    data[start:] = 0


def capture(stepper: Stepper, edits: int, before: Snapshot | None = None) -> Snapshot:
    """Return the state of a run; pages equal to those of ``before`` are shared with it."""
    machine, copier = stepper.machine, _Copier(before)
    group = stepper.threads[0].group if stepper.threads else None
    threads = tuple(_ThreadState(t, t.frame, tuple(t.frames), t.pending, t.scratch) for t in stepper.live)
    frames = tuple(
        _FrameState(
            f, copier.pages(f, f.regs), f.addr.copy(), (*(getattr(f, name) for name in _FIELDS), tuple(f.preds), tuple(f.surfaces), tuple(f.samplers)),
            dict(f.waiting), [(*call[:3], dict(call[3]), call[4]) for call in f.calls], f.shadow,
        )
        for t in stepper.live for f in (*t.frames, t.frame)
    )  # fmt: skip
    memory = tuple((b, copier.pages(b, b.data), b.written) for b in _buffers(stepper, group))
    barriers = [group.barrier, *group.named.values()] if group is not None else []
    return Snapshot(
        stepper.time,
        edits,
        tuple(getattr(stepper, name) for name in _STEPPER),
        (list(stepper.threads), list(stepper.live), list(stepper.queue), dict(stepper.waits)),
        (*(getattr(machine.result, name) for name in _RESULT), machine.steps),
        machine.count_messages(),
        tuple((code, list(code.counts)) for code in machine.codes),
        memory,
        tuple((b, tuple(getattr(b, name) for name in _BARRIER)) for b in barriers),
        (dict(group.named), dict(group.signalled)) if group is not None else ({}, {}),
        threads,
        frames,
        copier.size,
    )


def _buffers(stepper: Stepper, group: ThreadGroup | None) -> Iterator[Buffer]:
    """Yield every memory that instructions can write, each once."""
    dispatch = stepper.machine.dispatch
    own = [] if group is None else [group.slm, *(t.scratch for t in stepper.live if t.scratch is not None)]
    seen = set()
    for buffer in (*dispatch.buffers, *own):
        if id(buffer) not in seen:
            seen.add(id(buffer))
            yield buffer


def restore(stepper: Stepper, snapshot: Snapshot) -> None:
    """Restore the state of a run."""
    machine = stepper.machine
    for name, value in zip(_STEPPER, snapshot.stepper, strict=True):
        setattr(stepper, name, value)
    threads, live, queue, waits = snapshot.lists
    stepper.threads, stepper.live, stepper.queue, stepper.waits = list(threads), list(live), list(queue), dict(waits)
    for name, value in zip(_RESULT, snapshot.result, strict=False):
        setattr(machine.result, name, value)
    machine.steps = snapshot.result[-1]
    machine.put_sent_counts(snapshot.sent)
    counts = {id(code): numbers for code, numbers in snapshot.counts}
    for code in machine.codes:
        code.counts[:] = counts.get(id(code), [0] * len(code.counts))
    for buffer, pages, written in snapshot.memory:
        _put(pages, buffer.data)
        buffer.written = written
    for barrier, numbers in snapshot.barriers:
        for name, value in zip(_BARRIER, numbers, strict=True):
            setattr(barrier, name, value)
    if threads:
        group = threads[0].group
        group.named, group.signalled = dict(snapshot.named[0]), dict(snapshot.named[1])
    machine.free_all_but([state.frame for state in snapshot.frames])
    for saved in snapshot.threads:
        thread = saved.thread
        thread.frame, thread.frames, thread.pending = saved.frame, list(saved.frames), saved.pending
        thread.scratch = saved.scratch
    for state in snapshot.frames:
        _restore_frame(state)


def _restore_frame(state: _FrameState) -> None:
    frame = state.frame
    _put(state.regs, frame.regs)
    frame.addr[:] = state.addr
    *fields, preds, surfaces, samplers = state.fields
    for name, value in zip(_FIELDS, fields, strict=True):
        setattr(frame, name, value)
    frame.preds[:], frame.surfaces[:], frame.samplers[:] = preds, surfaces, samplers
    frame.waiting = dict(state.waiting)
    frame.calls = [(*call[:3], dict(call[3]), call[4]) for call in state.calls]
    frame.shadow = state.shadow


class History:
    """Snapshots by time. The first, at the start of the run, is never dropped."""

    def __init__(self, start: Snapshot) -> None:
        self._kept = [start]
        self._near: Snapshot | None = None
        self.distance = FIRST_DISTANCE

    @property
    def start(self) -> Snapshot:
        """The snapshot at the start of the run."""
        return self._kept[0]

    @property
    def due(self) -> int:
        """The time at which the next snapshot is due."""
        return self._kept[-1].time + self.distance

    def add(self, stepper: Stepper, edits: int) -> None:
        """Take a snapshot at a time later than all others."""
        self._kept.append(capture(stepper, edits, self._kept[-1]))
        if len(self._kept) > MAX_SNAPSHOTS or sum(kept.size for kept in self._kept[1:]) > MAX_SNAPSHOT_BYTES:
            self._kept[1:] = self._kept[2::2]
            self.distance *= 2

    def add_near(self, stepper: Stepper, edits: int) -> None:
        """Take a snapshot in the past, because more steps back are likely to follow."""
        self._near = capture(stepper, edits, self.before(stepper.time + 1)[0])

    def before(self, time: int) -> list[Snapshot]:
        """Return the snapshots before a time, latest first, always including that of the start."""
        snapshots = self._kept[: max(1, bisect_right(self._kept, time - 1, key=lambda kept: kept.time))]
        if self._near is not None and snapshots[-1].time < self._near.time < time:
            snapshots = [*snapshots, self._near]
        return snapshots[::-1]

    def forget_from(self, time: int) -> None:
        """Drop the snapshots at a time and later, which an edit has made invalid."""
        self._kept[1:] = [kept for kept in self._kept[1:] if kept.time < time]
        self._near = None
