"""The profile of a run as values for JSON, as lines of text, and as a document for speedscope.

It counts the executions of each instruction, and with ``--profile`` lanes, divergent branches and messages.

In JSON ``profile`` has ``kernels`` (``name``, ``executions`` of all instructions, ``lines``: ``line`` from 1 or null,
``instruction`` from 0, ``executions``). With lanes it also has ``idle``, the share of lanes that nothing was done for;
a kernel has ``active`` and ``lanes``, the lanes that were worked for and those that there were, ``idle``, ``branches``
(``line``, ``instruction``, ``executions``, ``splits``, ``lanes`` that were active, ``taken``) and ``messages``
(``line``, ``instruction``, ``kind``: read, write or atomic, ``memory``: global, slm, scratch, image, or nothing if no
surface is bound, ``messages``, ``lanes``, ``bytes``, ``distinct``, ``cache_lines``, ``coalescing``, ``broadcasts``,
``bank_conflicts``, ``same_place``, ``unused``); a line has ``active``, ``lanes`` and ``idle``. Counts are sums over all
threads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from visa_lsp.flow.graph import graph_of
from visa_lsp.flow.loops import loops_of
from visa_lsp.flow.program_steps import steps_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from visa_lsp.app.launch.body_source import BodySource
    from visa_lsp.program.model import Inst, Kernel
    from visa_lsp.sim.observers.profile import InstructionProfile, Profiler

_MAX_SHOWN_INSTRUCTIONS: Final = 10
_MEMORIES: Final = {
    "slm": "shared local memory",
    "global": "global memory",
    "scratch": "scratch memory",
    "image": "an image",
    "nothing": "an unbound surface",
}
_SCHEMA: Final = "https://www.speedscope.app/file-format-schema.json"


class ProfiledInstruction(Struct, frozen=True):
    """An executed instruction: its place, the line of its text (from 0, or -1), and its counts."""

    place: int
    inst: Inst
    executions: int
    lanes: InstructionProfile | None = None

    @property
    def line(self) -> int | None:
        """The line from 1."""
        return self.inst.line + 1 if self.inst.line >= 0 else None

    @property
    def where(self) -> str:
        """The place in words."""
        return f"instruction {self.place}" if self.line is None else f"line {self.line}"


class KernelProfile(Struct, frozen=True):
    """A kernel or function that ran, with its instructions in order."""

    kernel: Kernel
    instructions: tuple[ProfiledInstruction, ...]

    @property
    def executions(self) -> int:
        """The number of instructions of all threads."""
        return sum(instruction.executions for instruction in self.instructions)

    @property
    def lanes(self) -> tuple[int, int]:
        """The numbers of active lanes and of all lanes of the instructions."""
        counted = [instruction.lanes for instruction in self.instructions if instruction.lanes is not None]
        return sum(counts.active for counts in counted), sum(counts.slots for counts in counted)


class RunProfile(Struct, frozen=True):
    """The profile of all bodies of a run."""

    kernels: tuple[KernelProfile, ...]
    with_lanes: bool


def profile_of(
    bodies: Iterable[Kernel], executions: Mapping[str, Sequence[int]], profiler: Profiler | None
) -> RunProfile:
    """Return the profile of a run of ``bodies``; ``executions`` are counts by body and place."""
    lanes = {body.kernel.name: body.instructions for body in profiler.bodies} if profiler is not None else {}
    kernels = []
    for body in bodies:
        counts, lane_counts = executions.get(body.name, ()), lanes.get(body.name, {})
        instructions = tuple(
            ProfiledInstruction(place, inst, count, lane_counts.get(place))
            for place, (inst, count) in enumerate(zip(body.instructions, counts, strict=False))
            if count and not inst.row.opens_label and not inst.row.marks_source
        )
        if instructions:
            kernels.append(KernelProfile(body, instructions))
    return RunProfile(tuple(kernels), profiler is not None)


def profile_values(profile: RunProfile) -> dict[str, Any]:
    """Return the profile for JSON."""
    active, slots = _lanes(profile)
    idle = {"idle": _idle(active, slots)} if profile.with_lanes else {}
    return idle | {"kernels": [_kernel_values(kernel, with_lanes=profile.with_lanes) for kernel in profile.kernels]}


def _kernel_values(kernel: KernelProfile, *, with_lanes: bool) -> dict[str, Any]:
    values: dict[str, Any] = {
        "name": kernel.kernel.name,
        "executions": kernel.executions,
        "lines": [_line_values(instruction) for instruction in kernel.instructions],
    }
    if with_lanes:
        values |= _lane_values(*kernel.lanes)
        values["branches"] = [
            _branch_values(instruction)
            for instruction in kernel.instructions
            if instruction.lanes and instruction.lanes.is_branch
        ]
        values["messages"] = [
            _message_values(instruction)
            for instruction in kernel.instructions
            if instruction.lanes and instruction.lanes.message
        ]
    return values


def _line_values(instruction: ProfiledInstruction) -> dict[str, Any]:
    values = {**_place(instruction), "executions": instruction.executions}
    return (
        values
        if instruction.lanes is None
        else values | _lane_values(instruction.lanes.active, instruction.lanes.slots)
    )


def _place(instruction: ProfiledInstruction) -> dict[str, Any]:
    return {"line": instruction.line, "instruction": instruction.place}


def _lane_values(active: int, slots: int) -> dict[str, Any]:
    return {"active": active, "lanes": slots, "idle": _idle(active, slots)}


def _branch_values(instruction: ProfiledInstruction) -> dict[str, Any]:
    assert instruction.lanes is not None
    counts = {"splits": instruction.lanes.splits, "lanes": instruction.lanes.active, "taken": instruction.lanes.taken}
    return {**_place(instruction), "executions": instruction.executions, **counts}


def _message_values(instruction: ProfiledInstruction) -> dict[str, Any]:
    assert instruction.lanes is not None
    assert instruction.lanes.message is not None
    counts = instruction.lanes.message
    return {
        **_place(instruction),
        "kind": counts.kind,
        "memory": counts.memory,
        "messages": counts.messages,
        "lanes": counts.lanes,
        "bytes": counts.bytes,
        "distinct": counts.distinct,
        "cache_lines": counts.cache_lines,
        "coalescing": counts.coalescing,
        "broadcasts": counts.broadcasts,
        "bank_conflicts": counts.conflicts,
        "same_place": counts.same_place,
        "unused": counts.unused,
    }


def _lanes(profile: RunProfile) -> tuple[int, int]:
    lanes = [kernel.lanes for kernel in profile.kernels]
    return sum(active for active, _ in lanes), sum(slots for _, slots in lanes)


def _idle(active: int, slots: int) -> float:
    return 1 - active / slots if slots else 0.0


def profile_lines(profile: RunProfile, sources: Mapping[str, BodySource]) -> Iterator[str]:
    """Yield the profile as text: for each kernel the most executed lines, its branches and its messages."""
    for kernel in profile.kernels:
        words = f"profile of {kernel.kernel.name}: {_count_words(kernel.executions, 'instruction')}"
        active, slots = kernel.lanes
        yield words + (f", {_idle(active, slots):.1%} of {slots:,} lanes idle" if profile.with_lanes else "")
        most = sorted(kernel.instructions, key=lambda instruction: (-instruction.executions, instruction.place))
        for instruction in most[:_MAX_SHOWN_INSTRUCTIONS]:
            idle = (
                ""
                if instruction.lanes is None
                else f"{_idle(instruction.lanes.active, instruction.lanes.slots):>7.1%} idle"
            )
            yield f"  {instruction.where:<12} {instruction.executions:>12,}{idle}  {_text(kernel, instruction, sources)}".rstrip()
        if len(most) > _MAX_SHOWN_INSTRUCTIONS:
            yield f"  and {len(most) - _MAX_SHOWN_INSTRUCTIONS} more, in --format json"
        for instruction in kernel.instructions:
            if instruction.lanes is not None and instruction.lanes.is_branch:
                taken = instruction.lanes.taken / instruction.lanes.active if instruction.lanes.active else 0
                yield (
                    f"  {instruction.where}: the branch splits the lanes in {instruction.lanes.splits:,} of {_count_words(instruction.executions, 'execution')}; "
                    f"{taken:.1%} of the lanes take it"
                )
        for instruction in kernel.instructions:
            if instruction.lanes is not None and instruction.lanes.message is not None:
                yield f"  {instruction.where}: {_message_words(instruction.lanes)}"


def _message_words(lanes: InstructionProfile) -> str:
    counts = lanes.message
    assert counts is not None
    lanes_each = f"{counts.lanes / counts.messages:.1f} lanes each"
    words = [f"{_count_words(counts.messages, f'{counts.kind} message')} of {_MEMORIES[counts.memory]}, {lanes_each}"]
    if counts.memory == "slm":
        words.append(f"{_count_words(counts.bytes, 'byte')}, {_count_words(counts.conflicts, 'bank conflict')}")
    else:
        lines = _count_words(counts.cache_lines, "cache line")
        words.append(f"{_count_words(counts.bytes, 'byte')} in {lines}, of which {counts.coalescing:.1%} is used")
    if counts.broadcasts:
        words.append(_count_words(counts.broadcasts, "broadcast"))
    if counts.same_place:
        words.append(f"{_count_words(counts.same_place, 'lane')} at the address of another")
    if counts.unused:
        words.append("its result is never used")
    return "; ".join(words)


def _count_words(count: int, word: str) -> str:
    return f"{count:,} {word}{'s' * (count != 1)}"


def _text(kernel: KernelProfile, instruction: ProfiledInstruction, sources: Mapping[str, BodySource]) -> str:
    """Return the line of an instruction, or its mnemonic if there is no text."""
    source = sources.get(kernel.kernel.name)
    if source is None or not 0 <= instruction.inst.line < len(source.lines):
        return instruction.inst.row.mnemonic
    return source.lines[instruction.inst.line].partition("//")[0].strip()


def speedscope(profiles: Iterable[tuple[str, RunProfile, Mapping[str, BodySource]]]) -> dict[str, Any]:
    """Return a document for speedscope (https://www.speedscope.app): launches by name; executions and, where known, lanes.

    A stack is the kernel, the loops around an instruction, and its line.
    """
    frames: list[dict[str, Any]] = []
    numbers: dict[tuple[str, str, int | None], int] = {}

    def frame(name: str, file: str, line: int | None) -> int:
        key = (name, file, line)
        if key not in numbers:
            numbers[key] = len(frames)
            place = ({"file": file} if file else {}) | ({"line": line} if line is not None else {})
            frames.append({"name": name, **place})
        return numbers[key]

    samples: list[dict[str, Any]] = []
    for name, profile, sources in profiles:
        for kernel in profile.kernels:
            file = sources[kernel.kernel.name].path if kernel.kernel.name in sources else ""
            loops = _loop_names(kernel.kernel)
            stacks = [
                [
                    frame(kernel.kernel.name, file, None),
                    *(frame(loop, file, None) for loop in loops[instruction.place]),
                    frame(_text(kernel, instruction, sources), file, instruction.line),
                ]
                for instruction in kernel.instructions
            ]
            title = f"{name}: {kernel.kernel.name}"
            samples.append(
                _make_samples(
                    f"{title}, executions", stacks, [instruction.executions for instruction in kernel.instructions]
                )
            )
            if profile.with_lanes:
                lanes = [
                    instruction.lanes.active if instruction.lanes is not None else 0
                    for instruction in kernel.instructions
                ]
                samples.append(_make_samples(f"{title}, active lanes", stacks, lanes))
    return {"$schema": _SCHEMA, "exporter": "visa-lsp", "shared": {"frames": frames}, "profiles": samples}


def _make_samples(name: str, stacks: list[list[int]], weights: list[int]) -> dict[str, Any]:
    return {
        "type": "sampled",
        "name": name,
        "unit": "none",
        "startValue": 0,
        "endValue": sum(weights),
        "samples": stacks,
        "weights": weights,
    }


def _loop_names(kernel: Kernel) -> list[list[str]]:
    """Return the loops around each instruction, the outermost first, named by the line of their head."""
    graph = graph_of(steps_of(kernel), kernel.name)
    loops = loops_of(graph)
    around: list[list[str]] = [[] for _ in graph.blocks]
    for head, loop in sorted(loops.by_head.items(), key=lambda item: item[1].depth):
        index = graph.blocks[head].first
        line = kernel.instructions[index].line
        name = f"loop at line {line + 1}" if line >= 0 else f"loop at instruction {index}"
        for block in loop.blocks:
            around[block].append(name)
    return [around[block] for block in graph.block_of]
