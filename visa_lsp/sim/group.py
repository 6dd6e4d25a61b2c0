"""A thread group and its barriers: the state shared by the threads of a group, apart from the launch's memory.

Values with a little arithmetic; the machine schedules the threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from visa_lsp.sim.memory import Buffer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.sim.memory import Array, NamedPart

# The memories that fences distinguish. An observer's clocks have a row for each; row 0 is the order itself.
SHARED: Final = 1
GLOBAL: Final = 2


class Barrier:
    """A counter of arrivals; each completed round is a generation.

    ``expected`` threads must arrive as consumers and ``producers`` as producers; one that is both counts on both sides.
    """

    def __init__(self, expected: int) -> None:
        self.expected = self.producers = expected
        self.arrived = self.produced = 0
        self.generation = 0

    def signal(self, *, produces: bool = True, consumes: bool = True) -> None:
        """Count an arrival."""
        self.arrived += consumes
        self.produced += produces
        if self.arrived >= self.expected and self.produced >= self.producers:
            self.release()

    def release(self) -> None:
        """End the round, even if threads have not arrived."""
        self.arrived = self.produced = 0
        self.generation += 1


@dataclass(slots=True)
class Wait:
    """The condition that a thread waits for: ``ready`` becomes true. ``what`` describes it in reports."""

    ready: Callable[[], bool]
    what: str
    release: Callable[[], None]


class ThreadGroup:
    """A thread group: its id, the bytes of its shared local memory with their named parts, and barriers."""

    def __init__(self, number: tuple[int, int, int], shared: Array, threads: int, parts: Sequence[NamedPart]) -> None:
        self.id = number
        self.threads = threads
        self.slm = Buffer("shared local memory", shared)
        self.slm.address_bits = 28
        self.slm.parts = parts
        self.barrier = Barrier(threads)
        self.named: dict[int, Barrier] = {}
        self.signalled: dict[tuple[int, int], int] = {}  # (thread, barrier) -> generation it signalled in
