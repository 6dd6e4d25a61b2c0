"""The order of a host's commands: which one certainly ends before another begins.

Queues in order, barriers, events and waits of the host order commands, nothing else does. Invariant: two commands are unordered
only if no such chain leads from one to the other; what is not known (an event from elsewhere, forgotten commands) counts as order.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.sim.launch.config import Array

_MAX_COMMANDS: Final = 4096  # before all earlier ones are forgotten: 2 MB of masks


class CommandKind(Enum):
    """The effect of a command on the order; an unmap ends the writes of a mapped region."""

    COPY = "c"
    KERNEL = "k"
    MARKER = "m"
    BARRIER = "b"
    UNMAP = "u"


class Region(Struct, frozen=True):
    """Bytes that a command reads or writes, as places in the memory of the host: slices of rows."""

    is_write: bool
    place: int
    row: int
    rows: int = 1
    pitch: int = 0
    slices: int = 1
    slice_pitch: int = 0

    @property
    def end(self) -> int:
        """The place behind the last byte."""
        return self.place + self.row + (self.rows - 1) * self.pitch + (self.slices - 1) * self.slice_pitch

    @property
    def size(self) -> int:
        """The number of its bytes."""
        return self.row * self.rows * self.slices

    def places(self) -> Array:
        """Return the places of all bytes, sorted."""
        starts = np.arange(self.slices)[:, None] * self.slice_pitch + np.arange(self.rows) * self.pitch + self.place
        return np.unique(starts.reshape(-1, 1) + np.arange(self.row))


class Command(Struct, frozen=True):
    """A command of a queue; ``waits`` are handles of events."""

    kind: CommandKind
    number: int
    queue: int
    is_ordered: bool  # its queue is in order
    call: str
    waits: tuple[int, ...] = ()
    regions: tuple[Region, ...] = ()


class CommandOrder:
    """The recorded commands, each with a mask of those that end before it begins."""

    def __init__(self) -> None:
        self._begin(0)

    def _begin(self, number: int) -> None:
        self._first = number
        self._before: dict[int, int] = {}
        self._events: dict[int, int] = {}
        self._of_queue: dict[int, int] = {}
        self._barriers: dict[int, int] = {}
        self._unset = 0  # events of the host without a status
        self._ended = 0  # commands whose end the host has seen

    def add(self, command: Command) -> bool:
        """Add a command; return whether all earlier ones were forgotten."""
        forgets = command.number >= self._first + _MAX_COMMANDS
        if forgets:
            self._begin(command.number)
        bit, queue = self._bit(command.number), command.queue
        whole = command.is_ordered or (command.kind in (CommandKind.MARKER, CommandKind.BARRIER) and not command.waits)
        mask = self._ended | (self._of_queue if whole else self._barriers).get(queue, 0)
        for event in command.waits:
            number = self._events.get(event)
            mask |= bit - 1 if number is None else self._before[number] | self._bit(number)
        self._before[command.number] = mask
        self._of_queue[queue] = self._of_queue.get(queue, 0) | mask | bit
        if command.kind is CommandKind.BARRIER:
            self._barriers[queue] = mask | bit
        return forgets

    def add_host_event(self, number: int, event: int) -> None:
        """Add an event whose status the host sets."""
        self._before[number] = self._ended
        self._events[event] = number
        self._unset |= self._bit(number)

    def name(self, number: int, event: int) -> None:
        """Note the event of a command."""
        if number in self._before:
            self._events[event] = number

    def set_status(self, event: int) -> None:
        """Note that the host sets the status of its event: what it has seen the end of comes before all that wait for it."""
        number = self._events.get(event)
        if number is None:
            return
        bit = self._bit(number)
        self._unset &= ~bit
        for other, mask in self._before.items():
            if other == number or mask & bit:
                self._before[other] = mask | self._ended

    def end(self, numbers: Iterable[int | None]) -> None:
        """Note that the host has seen the end of commands."""
        for number in numbers:
            if number in self._before:
                self._ended |= self._before[number] | self._bit(number)

    def end_events(self, events: Iterable[int]) -> None:
        """Note that the host has seen events."""
        self.end(self._events.get(event) for event in events)

    def end_queue(self, queue: int) -> None:
        """Note that the host has waited for all commands of a queue."""
        self._ended |= self._of_queue.get(queue, 0)

    def waits_for_host(self, number: int) -> bool:
        """Return whether a command waits for an event that the host has not set yet."""
        return bool(self._before.get(number, 0) & self._unset)

    def is_before(self, command: int, other: int) -> bool:
        """Return whether a command ends before another begins, or one of them is forgotten."""
        return not {command, other} <= self._before.keys() or bool(self._before[other] & self._bit(command))

    def is_ended(self, number: int) -> bool:
        """Return whether the host has seen the end of a command."""
        return number not in self._before or bool(self._ended & self._bit(number))

    def _bit(self, number: int) -> int:
        return 1 << (number - self._first)
