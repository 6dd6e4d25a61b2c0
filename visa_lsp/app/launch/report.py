"""The report of a launch as values: buffers, expectations, and faults with their places in the texts.

``runner`` creates it, ``printing`` prints it, and the language server sends it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field, structs

from visa_lsp.app.kernel_source import private_arrays_in
from visa_lsp.flow.graph import CALLS, EdgeKind, graph_of
from visa_lsp.flow.program_steps import condition_text, steps_of
from visa_lsp.isa.model import Trait
from visa_lsp.safe_io import read_file
from visa_lsp.sim.faults import FaultKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from visa_lsp.app.launch.body_source import BodySource
    from visa_lsp.app.launch.profile import RunProfile
    from visa_lsp.flow.graph import Graph
    from visa_lsp.program.model import Kernel, Module
    from visa_lsp.sim.dispatch import RecordedMessages, RunResult
    from visa_lsp.sim.faults import Fault
    from visa_lsp.sim.launch.config import Array
    from visa_lsp.sim.launch.expect import Mismatch


_MAX_SOURCE_BYTES: Final = 16 << 20
_MAX_EXCERPT_CHARS: Final = 300  # sources that a program puts together are often one line
_BUFFER: Final = re.compile(r"`[^`]*`")
_ID: Final = re.compile(r"(?:\(\w+\)\s*)?(?:get_\w+\([^()]*\)|\d+)")  # that an excerpt says as well
_INSTRUCTION: Final = re.compile(r"instruction (\d{1,9})")


class ImageShape(Struct, frozen=True):
    """The shape of an image argument: width, height, depth or layers, channels, and the format of a texel."""

    width: int
    height: int
    depth: int
    channels: int
    format: str


class BufferReport(Struct, frozen=True, eq=False):
    """A buffer or image argument after the run; ``name`` is the one in the source, if ze_info has it.

    ``written``: the kernel stored into it; ``changed``: its bytes differ from before.
    """

    arg: int | str
    name: str
    array: Array
    written: bool = False
    changed: bool = False
    image: ImageShape | None = None

    @property
    def title(self) -> str:
        """The title of the argument: ``td (argument 3)``, counted as in the launch file."""
        return name_of(self.arg, self.name)


class ValueReport(Struct, frozen=True, eq=False):
    """An argument passed by value; ``name`` is the one in the source, if ze_info has it."""

    arg: int | str
    name: str
    array: Array


class ExpectationReport(Struct, frozen=True):
    """An expectation: whether it holds, and if not, the first differences in one line and the mismatch."""

    arg: int | str
    ok: bool
    message: str
    mismatch: Mismatch | None = None


class RunTime(Struct, frozen=True):
    """Wall seconds: from the text to its dispatch, making machine code, and the kernel alone, run by run."""

    load: float = 0.0
    compile: float = 0.0
    run: tuple[float, ...] = ()


class RunReport(Struct, frozen=True, eq=False):
    """The report of one launch; ``result`` has its counts."""

    kernel: str
    platform: str
    engine: str
    buffers: tuple[BufferReport, ...]
    expectations: tuple[ExpectationReport, ...]
    faults: tuple[Fault, ...]
    result: RunResult
    notes: tuple[str, ...] = ()
    printed: str = ""
    findings: tuple[Fault, ...] = ()  # notes of observers, not faults
    sources: Mapping[str, BodySource] = field(default_factory=dict)
    more_faults: int = 0  # faults beyond the limit
    values: tuple[ValueReport, ...] = ()
    assumed: tuple[str, ...] = ()  # assumptions of a generated launch, a sentence each
    time: RunTime = RunTime()
    profile: RunProfile | None = None
    is_watched: bool = True  # False without checks
    expected_faults: Mapping[str, bool] = field(default_factory=dict)  # by kind: whether the run found one

    @property
    def instructions(self) -> int:
        """The number of executed instructions."""
        return sum(self.result.instructions.values())

    def with_assumed(self, assumed: tuple[str, ...]) -> RunReport:
        """Return the report with the assumptions moved from the notes to ``assumed``."""
        return structs.replace(self, assumed=assumed, notes=tuple(note for note in self.notes if note not in assumed))

    def excerpt(self, fault: Fault | RecordedMessages) -> tuple[str, str]:
        """Return ``path:line`` of a fault and that line; empty without a text."""
        return _excerpt(self.sources.get(fault.kernel), fault.line)

    def other_excerpt(self, fault: Fault) -> tuple[str, str]:
        """Return ``path:line`` and the line of the other party."""
        return _excerpt(self.sources.get(fault.other_kernel or fault.kernel), fault.other_line)

    def source_excerpt(self, kernel: str, place: tuple[str, int] | None) -> tuple[str, str]:
        """Return ``path:line`` in the source of a text, and that line if the file exists."""
        if place is None:
            return "", ""
        return source_excerpt(self.sources.get(kernel), place)

    def index_excerpt(self, fault: Fault) -> tuple[str, str]:
        """Return ``path:line`` and the line of the source that computes the index of a fault's element.

        Both are empty where the index stands in the line of the access, or is an id.
        """
        buffer = _BUFFER.search(fault.message)
        if fault.source is None or buffer is None:
            return "", ""
        lines = _lines_of(self.sources.get(fault.kernel), fault.source[0])
        line = _find_index_line(lines, fault.source[1], buffer[0].strip("`"))
        return (f"{fault.source[0]}:{line}", _line_of(lines, line)) if line else ("", "")

    def title(self, arg: int | str) -> str:
        """Return the title of an argument, as of its buffer."""
        return next((buffer.title for buffer in self.buffers if buffer.arg == arg), name_of(arg, ""))

    def with_most(self, count: int | None) -> RunReport:
        """Return the report with at most ``count`` faults listed; None lists all."""
        if count is None:
            return self
        return structs.replace(self, faults=self.faults[:count], more_faults=len(self.faults[count:]))

    @property
    def ok(self) -> bool:
        """True if there are only expected faults and every expectation holds."""
        holds = all(e.ok for e in self.expectations) and all(self.expected_faults.values())
        return holds and not self.faults and not self.more_faults


def name_of(arg: int | str, name: str) -> str:
    """Return the name and number of an argument, as far as known."""
    if isinstance(arg, str):
        return arg
    return f"{name} (argument {arg})" if name else f"argument {arg}"


def _excerpt(source: BodySource | None, line: int) -> tuple[str, str]:
    if source is None or not 0 <= line < len(source.lines):
        return "", ""
    return f"{source.path}:{line + 1}", source.lines[line].strip()


def source_excerpt(text: BodySource | None, place: tuple[str, int]) -> tuple[str, str]:
    """Return ``path:line`` in the source of a text, and that line if the file exists."""
    return f"{place[0]}:{place[1]}", _line_of(_lines_of(text, place[0]), place[1])


def _lines_of(text: BodySource | None, name: str) -> list[str]:
    """Return the lines of a source of a text, whose folder its name is relative to; none if it cannot be read."""
    folder = Path(text.path).parent if text is not None else Path()
    try:
        return read_file(folder / name, _MAX_SOURCE_BYTES).decode("utf-8", "replace").splitlines()
    except (OSError, ValueError):
        return []


def _find_index_line(lines: Sequence[str], line: int, buffer: str) -> int:
    """Return the line above ``line``, both from 1, that computes the variable that is the index of a buffer there; 0 if none does."""
    access = lines[line - 1] if line <= len(lines) else ""
    names = re.findall(rf"\b{re.escape(buffer)}\s*\[\s*([A-Za-z_]\w*)\s*\]", access)
    for name in dict.fromkeys(names):
        assigned = re.compile(rf"\b{name}\s*[-+*/%&|^]?=(?!=)\s*([^,;]+)")
        for number in range(line, 0, -1):
            value = assigned.search(lines[number - 1])
            if value is not None:
                if number < line and not _ID.fullmatch(value[1].strip()):
                    return number
                break
    return 0


def _line_of(lines: Sequence[str], line: int) -> str:
    excerpt = lines[line - 1].strip() if line <= len(lines) else ""
    return excerpt if len(excerpt) <= _MAX_EXCERPT_CHARS else f"{excerpt[:_MAX_EXCERPT_CHARS]}..."


def with_sources(faults: Iterable[Fault], module: Module) -> tuple[Fault, ...]:
    """Add the file and line of ``FILE`` and ``LOC`` lines to faults, for both parties and the condition of an access."""
    bodies = {body.name: body for body in module.bodies}
    graph = cache(lambda name: graph_of(steps_of(bodies[name]), name))
    return tuple(_add_source(fault, bodies, graph) for fault in faults)


def _add_source(fault: Fault, bodies: Mapping[str, Kernel], graph: Callable[[str], Graph]) -> Fault:
    body = bodies.get(fault.kernel)
    other = bodies.get(fault.other_kernel or fault.kernel)
    place = -1
    if other is not None and fault.other_line >= 0:
        place = next((n for n, inst in enumerate(other.instructions) if inst.line == fault.other_line), -1)
    elif fault.other and (match := _INSTRUCTION.search(fault.other)):
        place = int(match[1])
    source, other_source = source_of(body, fault.instruction), source_of(other, place)
    branch, is_unguarded = -1, False
    if source is not None and body is not None and fault.kind in (FaultKind.OUT_OF_BOUNDS, FaultKind.BARRIER):
        branches = _branches_above(fault.instruction, graph(body.name))
        is_access = fault.kind is FaultKind.OUT_OF_BOUNDS
        is_unguarded = is_access and not branches and not condition_text(body.instructions[fault.instruction], body)
        # Compilers move an access behind a branch that its source does not have above it.
        places = {one: source_of(body, one) or source for one in branches}
        branch = max((one for one, place in places.items() if place[0] != source[0] or place <= source), default=-1)
    condition = source_of(body, branch)
    return replace(
        fault,
        source=source,
        other_source=other_source,
        condition=condition if condition != source else None,
        is_unguarded=is_unguarded,
        no_barrier=_ways_without_barrier(fault, body, place, graph) if body is not None and body is other else (),
    )


def _ways_without_barrier(
    fault: Fault, body: Kernel, place: int, graph: Callable[[str], Graph]
) -> tuple[tuple[str, str], ...]:
    """Return the ways between a race in one group and its other party, from and to, on which there is no barrier.

    A call ends a way, because the function may have a barrier.
    """
    is_in_group = fault.kind is FaultKind.RACE and (fault.other or "").startswith(f"group {fault.group},")
    # Two stores to a buffer mostly have a wrong index, which no barrier mends.
    is_ordered_by_barriers = is_in_group and ("read" in fault.message or "shared local memory" in fault.message)
    if not is_ordered_by_barriers or not _are_apart(body, place, fault.instruction):
        return ()
    rows = (inst.row for inst in body.instructions)
    stops = [number for number, row in enumerate(rows) if row.has(Trait.BARRIER) or row.flow in CALLS]
    parties = (place, _place_words(body, place)), (fault.instruction, _place_words(body, fault.instruction))
    return tuple([
        (before, after)
        for (start, before), (end, after) in (parties, parties[::-1])
        if graph(body.name).has_way(start, end, stops)
    ])  # fmt: skip


def _are_apart(body: Kernel, one: int, other: int) -> bool:
    """Return whether two instructions are of two lines of the source, or of two rounds of a loop that the compiler unrolled."""
    places = body.source_places[min(one, other) : max(one, other)] if min(one, other) >= 0 else ()
    return bool(places) and (places[0] is None or any(place != places[0] for place in places))


def _place_words(body: Kernel, instruction: int) -> str:
    """Return the place of an instruction in its source; without one, its line in the text."""
    source = source_of(body, instruction)
    return f"{source[0]}:{source[1]}" if source is not None else f"line {body.instructions[instruction].line + 1}"


def _branches_above(instruction: int, graph: Graph) -> list[int]:
    """Return the branches above an instruction that decide whether it is executed."""
    branches = graph.deciding_branches[graph.block_of[instruction]]
    # What follows a loop is executed where its condition does not hold.
    loops = {graph.blocks[edge.source].last for edge in graph.edges if edge.kind is EdgeKind.BACK}
    return [one for one in branches if one < instruction and one not in loops]


def source_of(body: Kernel | None, instruction: int) -> tuple[str, int] | None:
    """Return the file and line of the marks above an instruction; None without them."""
    return body.source_places[instruction] if body is not None and 0 <= instruction < len(body.instructions) else None


def group_faults(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Return the first fault of each pair of source lines, kind and buffer, with the number of its likes."""
    groups: dict[object, Fault] = {}
    for fault in faults:
        lines = frozenset((fault.source, fault.other_source))
        buffer = match[0] if (match := _BUFFER.search(fault.message)) else ""
        key = (fault.kind, fault.is_note, fault.kernel, lines, buffer) if fault.source else len(groups)
        group = groups.setdefault(key, fault)
        if group is not fault:
            groups[key] = replace(group, count=group.count + fault.count)
    return tuple(groups.values())


def with_declarations(faults: Iterable[Fault], sources: Mapping[str, BodySource], module: Module) -> tuple[Fault, ...]:
    """Add to faults about a variable the line of its declaration, the last one above the instruction, and its array in the source."""
    bodies = {body.name: body for body in module.bodies}
    arrays = cache(
        lambda name: private_arrays_in(bodies[name], Path(sources[name].path).parent) if name in bodies else {}
    )
    return tuple(_add_declaration(fault, sources.get(fault.kernel), arrays) for fault in faults)


def _add_declaration(fault: Fault, source: BodySource | None, arrays: Callable[[str], Mapping[str, str]]) -> Fault:
    if source is None or not fault.variable or fault.line < 0:
        return fault
    form = re.compile(rf"\s*\.decl\s+{re.escape(fault.variable)}(?![\w$@?])")
    line = next((n for n in range(min(fault.line, len(source.lines) - 1), -1, -1) if form.match(source.lines[n])), None)
    if line is None:
        return fault
    array = arrays(fault.kernel).get(fault.variable)
    of_array = f", which holds the array `{array}` of each lane" if array else ""
    return replace(fault, other=f"{fault.other}, line {line + 1}{of_array}", other_line=line)
