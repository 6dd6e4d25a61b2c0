"""Races between launches, and of launches with copies, that nothing orders.

Small launches are kept with copies of their memory; only if an unordered command touches the same memory, they run again, in the
interpreter, for a record of their accesses. Invariant: no two ordered commands are compared.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import structs

from visa_lsp.app.exec.launches import run_enqueue, run_listened
from visa_lsp.app.exec.order import Command, CommandKind, CommandOrder, Region
from visa_lsp.app.launch.report import source_of
from visa_lsp.sim.faults import Fault, FaultKind
from visa_lsp.sim.launch.config import BufferArg, ImageArg
from visa_lsp.sim.observers.hooks import Observer
from visa_lsp.sim.observers.races import split

if TYPE_CHECKING:
    from visa_lsp.app.exec.launches import EnqueueResult, LaunchSettings
    from visa_lsp.app.exec.model import Enqueue
    from visa_lsp.app.exec.programs import LoadedKernel
    from visa_lsp.sim.launch.config import Arg, Array
    from visa_lsp.sim.observers.hooks import MemoryAccess

_MAX_COPIED_BYTES: Final = 16 << 20  # of a kept launch, or of a region of a copy that is compared
_MAX_LAUNCHES: Final = 16
_VERBS: Final = {"read": "reads", "write": "writes", "atomic": "updates"}
_HOST: Final = -1  # in place of an instruction


@dataclass(slots=True, eq=False)
class KeptLaunch:
    """A launch with copies of its memory from before it ran: start, size, place in the host's memory, and argument of each."""

    number: int
    kernel: LoadedKernel
    enqueue: Enqueue
    copies: list[tuple[int, int, int, int | None]]
    result: EnqueueResult | None = None

    @property
    def spans(self) -> list[tuple[int, int]]:
        """First place and end of the memory that the launch may touch."""
        return [(place, place + size) for _, size, place, _ in self.copies]


Race = tuple[KeptLaunch, Fault]  # of the launch


class AccessRecorder(Observer):
    """Records the places that each instruction of a kept launch reads, writes or updates atomically."""

    def __init__(self, launch: KeptLaunch) -> None:
        self.places: dict[tuple[str, int], Array] = {}  # (kind, instruction) -> places, sorted
        self._copies = launch.copies

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
            start = buffer.data.ctypes.data
            for begin, size, place, _ in self._copies:
                if begin <= start < begin + size:
                    touched = (offsets[:, None] + np.arange(access.size)).reshape(-1) + (start - begin + place)
                    key = (access.kind, frame.pc)
                    earlier_places = self.places.get(key)
                    self.places[key] = np.unique(
                        touched if earlier_places is None else np.concatenate([earlier_places, touched])
                    )
                    break


@dataclass(slots=True)
class UnorderedCommands:
    """Launches and copies that later ones may be unordered with. ``base`` is the address of the host's memory here.

    ``pending`` commands are enqueued but have not run yet.
    """

    settings: LaunchSettings
    base: int = 0
    order: CommandOrder = field(default_factory=CommandOrder)
    parties: dict[int, KeptLaunch | Command] = field(default_factory=dict)
    pending: dict[int, Command] = field(default_factory=dict)
    mapped: dict[int, Region] = field(default_factory=dict)
    recorded: dict[int, AccessRecorder] = field(default_factory=dict)

    def add(self, command: Command) -> list[Race]:
        """Add a command that a host enqueues; return the races of launches with it."""
        if command.kind is CommandKind.UNMAP:
            mapped = [self.mapped.pop(region.place, None) for region in command.regions]
            command = structs.replace(command, regions=tuple(region for region in mapped if region is not None))
        elif "Map" in command.call:
            self.mapped |= {region.place: region for region in command.regions if region.is_write}
        if self.order.add(command):
            self.parties.clear()
            self.pending.clear()
            self.recorded.clear()
        if command.regions or command.kind is CommandKind.KERNEL:
            self.pending[command.number] = command
        return self.join_copies()

    def drop(self, number: int) -> None:
        """Forget a command that was not enqueued after all."""
        self.pending.pop(number, None)
        self.parties.pop(number, None)

    def join_copies(self) -> list[Race]:
        """Compare copies that wait for no event of the host any more; return races."""
        ready = [
            command
            for command in self.pending.values()
            if command.kind is not CommandKind.KERNEL and not self.order.waits_for_host(command.number)
        ]
        return [race for command in ready for race in self._join(command.number, command)]

    def run(self, number: int, kernel: LoadedKernel, enqueue: Enqueue) -> tuple[EnqueueResult, list[Race]]:
        """Run an enqueue; return also its races with other commands. Raises LaunchError if the simulator cannot run it."""
        watches = enqueue.command in self.pending and "races" in self.settings.checks.split(",")
        kept = self._keep(number, kernel, enqueue) if watches else None
        result = run_enqueue(kernel, enqueue, self.settings)
        if kept is None:
            self.pending.pop(enqueue.command, None)
            return result, []
        kept.result = result
        return result, self._join(enqueue.command, kept)

    def _keep(self, number: int, kernel: LoadedKernel, enqueue: Enqueue) -> KeptLaunch | None:
        """Return a launch that is about to run with copies of its memory; None if that is large."""
        arrays: dict[int, Array] = {id(array): array for _, array in enqueue.shared}
        for arg in enqueue.args:
            if isinstance(arg, BufferArg | ImageArg) and arg.array.size and not _is_shared(arg, arrays):
                arrays[id(arg.array)] = arg.array
        if sum(array.nbytes for array in arrays.values()) > _MAX_COPIED_BYTES:
            return None
        copies = {key: array.copy() for key, array in arrays.items()}
        indices = {id(a.array): n for n, a in enumerate(enqueue.args) if isinstance(a, BufferArg | ImageArg)}
        copied = structs.replace(
            enqueue, args=tuple(_with_copy(arg, copies) for arg in enqueue.args),
            shared=tuple((address, copies[id(array)]) for address, array in enqueue.shared),
        )  # fmt: skip
        places = [
            (copies[key].ctypes.data, array.nbytes, array.ctypes.data - self.base, indices.get(key))
            for key, array in arrays.items()
        ]
        return KeptLaunch(number, kernel, copied, places)

    def _join(self, number: int, party: KeptLaunch | Command) -> list[Race]:
        self.pending.pop(number, None)
        races = []
        for other_number, other in self.parties.items():
            if not self.order.is_before(number, other_number) and not self.order.is_before(other_number, number):
                races += self._compare((number, party), (other_number, other))
        self.parties[number] = party
        self._prune()
        return races

    def _compare(self, own: tuple[int, KeptLaunch | Command], other: tuple[int, KeptLaunch | Command]) -> list[Race]:
        """Return the first race of two unordered commands, as a fault of a launch, that enqueued later if both are launches."""
        left, right = sorted((own, other), key=lambda pair: (isinstance(pair[1], Command), -pair[0]))
        launch = left[1]
        if isinstance(launch, Command) or not any(
            begin < other_end and other_begin < end
            for begin, end in launch.spans
            for other_begin, other_end in _spans(right[1])
        ):
            return []
        for (kind, pc), places in self._places(*left).items():
            for (other_kind, other_pc), other_places in self._places(*right).items():
                if kind == other_kind and kind in ("read", "atomic"):
                    continue
                both = np.intersect1d(places, other_places, assume_unique=True)
                if both.size:
                    return [(launch, _fault(launch, right[1], (kind, pc), (other_kind, other_pc), both))]
        return []

    def _places(self, number: int, party: KeptLaunch | Command) -> dict[tuple[str, int], Array]:
        if isinstance(party, Command):
            regions = [region for region in party.regions if region.size <= _MAX_COPIED_BYTES]
            writes, reads = ([r.places() for r in regions if r.is_write is is_write] for is_write in (True, False))
            groups = {("write", _HOST): writes, ("read", _HOST): reads}
            return {key: np.unique(np.concatenate(places)) for key, places in groups.items() if places}
        if number not in self.recorded:
            assert party.result is not None
            self.recorded[number] = AccessRecorder(party)
            run_listened(party.kernel, party.enqueue, self.settings, party.result.local_size, self.recorded[number])
        return self.recorded[number].places

    def _prune(self) -> None:
        """Forget commands that are ordered before all to come, and the oldest launches if there are many."""
        launches = [number for number, party in self.parties.items() if isinstance(party, KeptLaunch)]
        old = set(launches[: max(0, len(launches) - _MAX_LAUNCHES)])
        for number in list(self.parties):
            ended = self.order.is_ended(number) and all(self.order.is_before(number, other) for other in self.pending)
            if ended or number in old:
                del self.parties[number]
                self.recorded.pop(number, None)


def _spans(party: KeptLaunch | Command) -> list[tuple[int, int]]:
    return [(r.place, r.end) for r in party.regions] if isinstance(party, Command) else party.spans


def _is_shared(arg: BufferArg | ImageArg, arrays: dict[int, Array]) -> bool:
    return isinstance(arg, BufferArg) and id(arg.whole) in arrays


def _with_copy(arg: Arg, copies: dict[int, Array]) -> Arg:
    """Return an argument with the copy of its memory; one in shared memory is a part of the copy of that."""
    if isinstance(arg, BufferArg) and arg.whole is not None and id(arg.whole) in copies:
        whole = copies[id(arg.whole)]
        start = arg.array.ctypes.data - arg.whole.ctypes.data
        return replace(arg, array=whole[start : start + arg.array.nbytes], whole=whole)
    if isinstance(arg, BufferArg):
        return replace(arg, array=copies.get(id(arg.array), arg.array), whole=None)
    return replace(arg, array=copies[id(arg.array)]) if isinstance(arg, ImageArg) else arg


def _fault(
    launch: KeptLaunch, other: KeptLaunch | Command, own: tuple[str, int], theirs: tuple[str, int], places: Array
) -> Fault:
    body = launch.kernel.module.kernels[0]
    index = next((n for _, size, place, n in launch.copies if place <= places[0] < place + size), None)
    name = "shared memory" if index is None else f"`{launch.kernel.info.argument_name(index) or index}`"
    other_line, source = -1, None
    if isinstance(other, Command):
        who = party = other.call
    else:
        other_body = other.kernel.module.kernels[0]
        other_line = other_body.instructions[theirs[1]].line
        source = source_of(other_body, theirs[1])
        where = f", {source[0]}:{source[1]}" if source is not None else ""
        who = f"enqueue {other.number} (kernel {other.kernel.name}{where})"
        party = f"enqueue {other.number}, {other_body.name}, line {other_line + 1}"
    message = (
        f"{_VERBS[own[0]]} {places.size} bytes of {name} that {who} {_VERBS[theirs[0]]}; "
        "the two are in different queues, or in one that is out of order, and no event or wait orders them"
    )
    return Fault(
        FaultKind.RACE, message, body.name, (0, 0, 0), 0, instruction=own[1], line=body.instructions[own[1]].line,
        source=source_of(body, own[1]), other=party, other_source=source,
        other_line=other_line if isinstance(other, KeptLaunch) and other.kernel is launch.kernel else -1,
    )  # fmt: skip
