"""The order to run one kernel, and what came of it: the contract between a launcher and an engine.

Values only. ``machine.run`` is the reference interpreter; every engine takes the same ``Dispatch``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from visa_lsp.isa.platforms import Platform
    from visa_lsp.program.model import FileVariable, Kernel
    from visa_lsp.sim.faults import Fault
    from visa_lsp.sim.memory import Buffer, Memory, Sampler

    Triple = tuple[int, int, int]


def no_item(_group: Triple, _thread: int, _lane: int) -> None:
    """Media threads have no work items."""


@dataclass(frozen=True, slots=True)
class GroupShape:
    """The threads of one group: how many, the lanes that are active in each, and the first bytes of its registers."""

    threads: int
    lanes: Callable[[int], int]
    payload: Callable[[tuple[int, int, int], int], bytes]


@dataclass(frozen=True, slots=True)
class Dispatch:
    """Everything that a run depends on.

    ``lanes`` gives the lanes that are active when thread n of a group starts; ``payload`` the first bytes of its
    register file, r0 first, inputs at their ``.input`` offset. ``item`` gives the global and local id of a lane of a thread
    of a group, None where it has no work item. ``surfaces`` is the binding table; handles of bindless
    surfaces stand in it too, by value.
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
    samplers: Mapping[int, Sampler] = field(default_factory=dict)
    symbols: Mapping[str, int] = field(default_factory=dict)
    file_variables: Sequence[FileVariable] = ()  # by index; aliases of file scope name them
    step_budget: int = 200_000_000
    item: Callable[[Triple, int, int], tuple[Triple, Triple] | None] = no_item
    partial: Callable[[Triple], GroupShape | None] | None = None  # the shape of groups that are not full
    first_fault: bool = False  # the run ends at its first fault
    host_threads: int = 1  # on which an engine may run groups at the same time; one that does says so in its result
    told: Callable[[int, int], None] | None = None  # hears now and then how many groups and steps are done

    @property
    def buffers(self) -> list[Buffer]:
        """All buffers of the launch, each once, in an order that is the same for every run of it."""
        return list({id(b): b for b in (*self.memory.buffers, *self.surfaces.values())}.values())

    def group_id(self, number: int) -> Triple:
        """Return the id of a group by its place in the order of the run, x fastest."""
        x, y, _ = self.groups
        return number % x, number // x % y, number // (x * y)

    def shape(self, group: Triple) -> GroupShape:
        """Return the threads of a group."""
        found = self.partial(group) if self.partial is not None else None
        return found or GroupShape(self.threads_per_group, self.lanes, self.payload)


@dataclass(slots=True)
class RecordedMessages:
    """Messages of one instruction that are recorded instead of carried out: how many, and the payload of the first.

    ``payload`` has the bytes of each operand by the name of its field, ``reason`` says why nothing was done.
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
    """What a run did: counts, bytes that messages moved, and its faults in the order they were found.

    ``executions`` has for each body that was reached how often each of its instructions was executed, by its name.
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
    limits: tuple[str, ...] = ()  # what observers could not look at
    ended: bool = False  # at its first fault, as the order asked
    interpreted: bool = False  # by the interpreter, where another engine was asked for
    replayed_groups: int = 0  # run again by the interpreter, where a check had stopped compiled code
    side_by_side: int = 1  # threads of the host that ran groups at the same time
    compile_seconds: float = 0.0  # of the run's wall time, what went into making machine code
