"""The walk of a proof against launches: what a work item accesses is among what the walk records for it.

Needs no solver: the symbols of a launch have numbers, and a value that the walk does not know may be any of its range. So a launch
checks every address and every condition of a walk, whether or not a proof depends on it.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from visa_lsp.app.prove.loops import unroll_loop, walk_loop
from visa_lsp.app.prove.small_launches import values_of
from visa_lsp.app.prove.spaces import ARRAY, BUFFER, IMAGE, SHARED
from visa_lsp.app.prove.terms import Claim, Sum, number
from visa_lsp.app.prove.walk import TooLong, Walker
from visa_lsp.flow.bit_accesses import exec_control_of
from visa_lsp.sim.memory import Buffer, Space
from visa_lsp.sim.observers.hooks import MemoryAccess, Observer
from visa_lsp.sim.observers.races import split

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from visa_lsp.app.prove.spaces import ItemAccess
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.program.model import Kernel
    from visa_lsp.program.payload import KernelInfo
    from visa_lsp.sim.faults import WorkItem
    from visa_lsp.sim.interp import Thread
    from visa_lsp.sim.launch.config import LaunchConfig

_MAX_ACCESSES = 3_000  # of a launch that are compared
_MAX_FOUND = 5
_MAX_SECONDS = 5.0  # of a walk


class WalkedKernel:
    """The walks of a kernel: one with any round of loops, one with the first rounds."""

    def __init__(self, kernel: Kernel, info: KernelInfo, platform: Platform) -> None:
        self.walkers = []
        for loops in (walk_loop, unroll_loop):
            walker = Walker(kernel, info, platform, loops)
            walker.deadline = monotonic() + _MAX_SECONDS
            try:
                walker.walk()
            except (TooLong, RecursionError):
                continue
            if not walker.is_cut:
                self.walkers.append(walker)

    def observers(self, config: LaunchConfig) -> list[WalkObserver]:
        """Return the observers of a launch."""
        return [WalkObserver(one, config) for one in self.walkers]


class WalkObserver(Observer):
    """Compares the accesses and barriers of a run with a walk; ``differences`` has those found, in words.

    ``missed`` are barriers that threads have not met at the end, which counts only if they could go on to theirs.
    """

    def __init__(self, walker: Walker, config: LaunchConfig) -> None:
        self.walker, self.pool = walker, walker.pool
        values = values_of(config, walker.symbols, walker.info)
        assert values is not None
        self.launch = values
        self.differences: list[str] = []
        self.missed: list[str] = []
        self.compared = 0
        self.by_place: dict[int, list[ItemAccess]] = {}
        for one in walker.accesses:
            self.by_place.setdefault(one.instruction, []).append(one)
        self._cases: dict[tuple[int, tuple[int, ...]], list[tuple[ItemAccess, int, int]]] = {}
        self._threads: dict[tuple[tuple[int, int, int], int], tuple[Thread, set[int]]] = {}

    def on_read(self, access: MemoryAccess) -> None:
        """Compare the reads of a message."""
        self._compare(access)

    def on_write(self, access: MemoryAccess) -> None:
        """Compare the writes of a message."""
        self._compare(access)

    def on_barrier(self, thread: Thread) -> None:
        """Compare the conditions on the way to a barrier, and note that the thread has met it."""
        line = thread.frame.code.kernel.instructions[thread.frame.pc].line + 1
        self._threads.setdefault((thread.group.id, thread.number), (thread, set()))[1].add(line)
        emask = thread.frame.emask & thread.dispatch_mask
        for item in thread.work_items([lane for lane in range(32) if emask >> lane & 1])[:2]:
            values = self._values(thread.group.id, item.local_id, item.lane)
            paths = [self._decide(one.path, values) for one in self.walker.meetings if one.line == line]
            if paths and not any(one is not False for one in paths):
                self._tell(f"line {line}: a barrier that {item} meets though the walk excludes it")

    def on_end(self) -> None:
        """Compare the barriers that threads have not met."""
        for (group, _), (thread, lines) in self._threads.items():
            for item in thread.work_items(None)[:1]:
                values = self._values(group, item.local_id, item.lane)
                for one in self.walker.meetings:
                    if one.line not in lines and all(self._decide(part, values) is True for part in one.path):
                        words = f"line {one.line}: a barrier that {item} misses though the walk says that it meets it"
                        self.missed.append(words)

    def _tell(self, words: str) -> None:
        if len(self.differences) < _MAX_FOUND:
            self.differences.append(words)

    def _values(self, group: tuple[int, int, int], local: tuple[int, int, int], lane: int) -> dict[str, int]:
        ids = {f"group_id_{axis}": value for axis, value in zip("xyz", group, strict=True)}
        ids |= {f"local_id_{axis}": value for axis, value in zip("xyz", local, strict=True)}
        return {**self.launch, **ids, "lane": lane}

    def _decide(self, claim: Claim | tuple[Claim, ...], values: Mapping[str, int]) -> bool | None:
        claims = claim if isinstance(claim, tuple) else (claim,)
        decided = [self._replace(one, values) for one in claims]
        if any(one.word == "false" for one in decided):
            return False
        return True if all(one.word == "true" for one in decided) else None

    def _replace(self, claim: Claim, values: Mapping[str, int]) -> Claim:
        return self.pool.replace_in(claim, lambda atom: number(values[atom.name]) if atom.name in values else None, {})

    def _limits(self, term: Sum, values: Mapping[str, int]) -> tuple[int, int]:
        made = self.pool.replace_atoms(
            term, lambda atom: number(values[atom.name]) if atom.name in values else None, {}
        )
        return made.limits()

    def _compare(self, access: MemoryAccess) -> None:
        used, thread = access.used, access.thread
        if used is None or used.space is None or self.compared > _MAX_ACCESSES or self.differences:
            return
        pc = thread.frame.pc
        recorded = self.by_place.get(pc, [])
        if any(one.why for one in recorded):
            return
        for byte, lane, buffer in _places(used, used.space):
            own = thread.lane(lane)
            # What a thread accesses as a whole may be the access of any of its work items.
            control = exec_control_of(thread.frame.code.kernel.instructions[pc])
            is_whole = own is None or control.exec_size == 1 or control.no_mask
            items = thread.work_items(None if is_whole else [own])
            if not items:
                continue
            self.compared += 1
            cases = [case for item in items for case in self._cases_of(pc, thread.group.id, item, recorded)]
            if not any(self._covers(one, low, high, byte, used.size, buffer) for one, low, high in cases):
                line = self.walker.line(pc)
                known = [(one.space, low, high, one.size) for one, low, high in cases]
                self._tell(
                    f"line {line}: {items[0]} accesses {used.size} bytes at {byte} of {buffer.name}; walk: {known}"
                )

    def _cases_of(
        self, pc: int, group: tuple[int, int, int], item: WorkItem, recorded: Sequence[ItemAccess]
    ) -> list[tuple[ItemAccess, int, int]]:
        """Return the accesses of the walk that a work item may make at an instruction, with the limits of their offsets."""
        key = (pc, (*group, item.lane, *item.local_id))
        if key not in self._cases:
            values = self._values(group, item.local_id, item.lane)
            self._cases[key] = [
                (one, *self._limits(one.offset, values))
                for one in recorded
                if self._decide(one.path, values) is not False
            ]
        return self._cases[key]

    def _covers(self, access: ItemAccess, low: int, high: int, byte: int, size: int, buffer: Buffer) -> bool:
        kind, index = access.space
        if kind == BUFFER:
            name = self.walker.info.argument_name(index)
            if low < 0 or high + access.size > self.launch[f"bytes_{index}"]:
                return True  # it may leave its buffer for another one
            return buffer.name.strip("`") in (name, f"arg{index}") and low <= byte and byte + size <= high + access.size
        if kind == SHARED and index < 0:
            return low <= byte and byte + size <= high + access.size
        return kind in (SHARED, IMAGE, ARRAY)


def _places(access: MemoryAccess, space: Space) -> Iterator[tuple[int, int, Buffer]]:
    """Yield the offset, the lane and the buffer of each place of an access; those outside count where there is one buffer."""
    lanes: Any = access.lanes if access.lanes.size == access.places.size else np.zeros(access.places.size, np.int64)
    at = access.places.astype(np.int64)
    if isinstance(space, Buffer):
        yield from ((int(one), int(lane), space) for one, lane in zip(at, lanes, strict=True))
        return
    for buffer, offsets, rows in split(space, at, access.size):
        yield from ((int(one), int(lanes[row]), buffer) for one, row in zip(offsets, rows, strict=True))
