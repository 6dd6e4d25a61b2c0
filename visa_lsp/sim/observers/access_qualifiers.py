"""The checker of ``access``: reads of write-only buffers, and writes to read-only buffers.

Compilers store a part of a vector by loading all of it and storing it back. So a load from a ``writeonly`` buffer waits
for the stores of its lane. If these cover the loaded bytes and leave some of them unchanged, the load is not a finding.
Invariant: at most ``MAX_WAITING_LOADS`` loads wait; ``limits`` reports the loss of others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from visa_lsp.isa.types import ExecControl
from visa_lsp.sim.faults import Fault, FaultKind, thread_fault
from visa_lsp.sim.memory import Buffer, Memory
from visa_lsp.sim.observers.hooks import Checker, MemoryAccess

MAX_WAITING_LOADS: Final = 1 << 14
_READONLY: Final = "readonly"
_WRITEONLY: Final = "writeonly"


class _LaneLoad:
    """The load of one lane of one message: the places without a store yet, and whether one was stored back unchanged."""

    __slots__ = ("fault", "kept", "left")

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self.left: set[tuple[int, int]] = set()
        self.kept = False


class AccessChecker(Checker):
    """Finds accesses that an argument does not allow."""

    kinds = frozenset({FaultKind.ACCESS})

    def __init__(self) -> None:
        super().__init__()
        self._message = 0
        self._last: tuple[int, int, int] | None = None
        self._loads: dict[tuple[int, int, int], _LaneLoad] = {}  # (thread, message, lane)
        self._by_place: dict[tuple[int, int, int], list[tuple[int, int, int]]] = {}  # (thread, buffer, offset)
        self._forgot = False

    def on_group(self, number: tuple[int, int, int]) -> None:
        """Report the waiting loads of the group before, because its threads have ended."""
        del number
        self.on_end()

    def on_end(self) -> None:
        """Report all loads that still wait."""
        self._found.extend(load.fault for load in self._loads.values())
        self._loads.clear()
        self._by_place.clear()

    def limits(self) -> tuple[str, ...]:
        """Return a sentence if loads were dropped."""
        return (
            (f"access: more than {MAX_WAITING_LOADS} loads waited for their stores; some were forgotten",)
            if self._forgot
            else ()
        )

    def on_read(self, access: MemoryAccess) -> None:
        """Record a load from a ``writeonly`` buffer."""
        for row, buffer, offset in self._find_accesses(access, _WRITEONLY):
            self._wait(access, row, buffer, offset)

    def on_write(self, access: MemoryAccess) -> None:
        """Report a store to a ``readonly`` buffer, and an atomic on a ``writeonly`` one, because it reads as well."""
        for row, buffer, offset in self._find_accesses(access, _READONLY):
            self._tell(access, row, buffer, offset, "writes")
            break
        for row, buffer, offset in self._find_accesses(access, _WRITEONLY):
            if access.kind == "atomic":
                self._tell(access, row, buffer, offset, "reads")
                break
            self._compare_store(access, row, buffer, offset)

    def _find_accesses(self, access: MemoryAccess, how: str) -> Iterator[tuple[int, Buffer, int]]:
        """Yield the accesses to buffers of one kind: row, buffer, offset."""
        space = access.space
        if space is None or (isinstance(space, Buffer) and space.access != how):
            return
        if isinstance(space, Memory) and not any(buffer.access == how for buffer in space.buffers):
            return
        thread = access.thread
        key = (thread.number, id(thread.frame.code), thread.frame.pc)
        if key != self._last:
            self._last, self._message = key, self._message + 1
        for row, address in enumerate(access.places.tolist()):
            home = space.find(address, access.size) if isinstance(space, Memory) else (space, address)
            if home is not None and home[0].access == how and 0 <= home[1] <= home[0].size - access.size:
                yield row, home[0], home[1]

    def _fault(self, access: MemoryAccess, row: int, buffer: Buffer, offset: int, verb: str) -> Fault:
        lane = access.thread.lane(int(access.lanes[min(row, access.lanes.size - 1)]))
        message = f"{verb} {buffer.span_text(offset, access.size)}, which is {buffer.access}"
        return thread_fault(access.thread, FaultKind.ACCESS, message, lane=lane, address=int(access.places[row]))

    def _tell(self, access: MemoryAccess, row: int, buffer: Buffer, offset: int, verb: str) -> None:
        self._found.append(self._fault(access, row, buffer, offset, verb))
        access.thread.machine.has_findings = True

    def _wait(self, access: MemoryAccess, row: int, buffer: Buffer, offset: int) -> None:
        frame = access.thread.frame
        control = frame.code.kernel.instructions[frame.pc].get("exec")
        by_lane = isinstance(control, ExecControl) and not control.no_mask and control.exec_size > 1
        lane = int(access.lanes[min(row, access.lanes.size - 1)]) if by_lane else -1
        key = (access.thread.number, self._message, lane)
        load = self._loads.get(key)
        if load is None:
            if len(self._loads) >= MAX_WAITING_LOADS:
                self._forgot = True
                return
            load = self._loads[key] = _LaneLoad(self._fault(access, row, buffer, offset, "reads"))
        for byte in range(offset, offset + access.size):
            load.left.add((id(buffer), byte))
            self._by_place.setdefault((access.thread.number, id(buffer), byte), []).append(key)

    def _compare_store(self, access: MemoryAccess, row: int, buffer: Buffer, offset: int) -> None:
        there = buffer.data[offset : offset + access.size]
        kept = access.values is not None and bool((access.values[row] == there).all())
        for byte in range(offset, offset + access.size):
            for key in self._by_place.pop((access.thread.number, id(buffer), byte), ()):
                load = self._loads.get(key)
                if load is None:
                    continue
                load.left.discard((id(buffer), byte))
                load.kept |= kept
                if not load.left:
                    del self._loads[key]
                    if not load.kept:
                        self._found.append(load.fault)
                        access.thread.machine.has_findings = True
