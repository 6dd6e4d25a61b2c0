"""The description of a launch, and its result: the contract between a launcher and an engine.

Values only. ``machine.run`` is the reference interpreter; every engine takes the same ``Dispatch``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from visa_lsp.isa.platforms import Platform
    from visa_lsp.program.model import FileVariable, Kernel
    from visa_lsp.sim.faults import Fault
    from visa_lsp.sim.memory import Buffer, Memory, NamedPart, Sampler

    Triple = tuple[int, int, int]


def no_item(_group: Triple, _thread: int, _lane: int) -> None:
    """Return None, because media threads have no work items."""


class GroupShape(Struct, frozen=True, eq=False):
    """The threads of one group: their number, active lanes and first register bytes."""

    threads: int
    lanes: Callable[[int], int]
    payload: Callable[[tuple[int, int, int], int], bytes]


class Dispatch(Struct, frozen=True, eq=False, dict=True):
    """The inputs of a run.

    ``lanes`` returns the active lanes at the start of thread n of a group; ``payload`` returns the first bytes of its
    register file, r0 first, inputs at their ``.input`` offset. ``item`` returns the global and local id of a lane, None
    for a lane without a work item. ``surfaces`` is the binding table, with handles of bindless surfaces by value.
    """

    kernel: Kernel
    functions: Mapping[str, Kernel]
    platform: Platform
    groups: tuple[int, int, int]
    threads_per_group: int
    simd: int
    lanes: Callable[[int], int]
    payload: Callable[[tuple[int, int, int], int], bytes]
    surfaces: Mapping[int, Buffer]
    memory: Memory
    slm_bytes: int = 0
    shared_parts: Sequence[NamedPart] = ()  # the arrays and arguments in shared local memory
    samplers: Mapping[int, Sampler] = {}
    symbols: Mapping[str, int] = {}
    file_variables: Sequence[FileVariable] = ()  # by index, which aliases of file scope name
    step_budget: int = 200_000_000
    item: Callable[[Triple, int, int], tuple[Triple, Triple] | None] = no_item
    partial: Callable[[Triple], GroupShape | None] | None = None  # the shape of groups that are not full
    first_fault: bool = False  # the run ends at its first fault
    host_threads: int = 1  # number of threads of the host that may run groups at the same time
    show_progress: Callable[[int, int], None] | None = None  # called with completed groups and steps

    @cached_property
    def buffers(self) -> list[Buffer]:
        """All buffers of the launch, each once, in the same order for every run."""
        return list({id(b): b for b in (*self.memory.buffers, *self.surfaces.values())}.values())

    def group_id(self, number: int) -> Triple:
        """Return the id of a group by its place in the order of the run, x fastest."""
        x, y, _ = self.groups
        return number % x, number // x % y, number // (x * y)

    def shape(self, group: Triple) -> GroupShape:
        """Return the threads of a group."""
        shape = self.partial(group) if self.partial is not None else None
        return shape or GroupShape(self.threads_per_group, self.lanes, self.payload)


@dataclass(slots=True)
class RecordedMessages:
    """Recorded messages of one instruction: their number, and the payload of the first.

    ``payload`` has the bytes of each operand by the name of its field; ``reason``: why they are not executed.
    """

    mnemonic: str
    reason: str
    kernel: str
    instruction: int
    line: int
    group: tuple[int, int, int]
    thread: int
    payload: tuple[tuple[str, bytes], ...]
    count: int = 1


@dataclass(slots=True)
class RunResult:
    """The result of a run: counts, bytes that messages moved, and faults in the order of their detection.

    ``executions``: by the name of each reached body, the number of executions of each of its instructions.
    """

    threads: int = 0
    groups: int = 0
    instructions: dict[str, int] = field(default_factory=dict)
    steps: int = 0
    executions: dict[str, tuple[int, ...]] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    barriers: int = 0
    reads: int = 0
    writes: int = 0
    sent: tuple[RecordedMessages, ...] = ()
    limits: tuple[str, ...] = ()  # sentences about the limits of the checks
    ended: bool = False  # stopped at its first fault, as requested
    interpreted: bool = False  # reason why the interpreter ran the launch instead of the chosen engine
    replayed_groups: int = 0  # groups that the interpreter ran again because a check stopped compiled code
    side_by_side: int = 1  # threads of the host that ran groups at the same time
    compile_seconds: float = 0.0  # the part of the run's wall time spent on compilation
