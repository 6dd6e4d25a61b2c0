"""The answer of ``why`` as values, JSON and text: the nodes of a slice with their lines, lanes and values.

Knows slices; runs nothing. Invariant: ids count from 1 in the order of the nodes, and every cause is a node of the answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.app.launch.expectation_words import finite, index_words, numbers
from visa_lsp.app.launch.report import source_excerpt
from visa_lsp.app.why.dependences import Execution, Unwritten
from visa_lsp.isa.predefined import FIRST_VARIABLE
from visa_lsp.program.model import General, Indirect, RawOperand
from visa_lsp.program.operand_text import OperandNames, instruction
from visa_lsp.program.text_form import names_of
from visa_lsp.sim.operands import Site
from visa_lsp.sim.values import DTYPE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.app.why.recording import RecordedRun
    from visa_lsp.app.why.slices import SliceNode
    from visa_lsp.program.model import Kernel
    from visa_lsp.sim.interp import Code
    from visa_lsp.sim.memory import Buffer
    from visa_lsp.sim.observers.definedness_plan import RegisterOperand

Array = np.ndarray[Any, np.dtype[Any]]
Values = dict[str, Any]

_ORIGINS: Final = {
    "input": "an input of the kernel",
    "undefined": "never written before it is read",
    "earlier": "written before the recorded instructions",
}
_MAX_VALUES: Final = 8  # elements of one operand
_MAX_LANES: Final = 32
_MAX_STEPS_SHOWN: Final = 4  # elements of memory named by one node


@dataclass(slots=True)
class WhyNode:
    """A node of the answer.

    ``kind``: instruction; missing (only the reference run executes it); input, memory, undefined, earlier (no recorded
    instruction wrote it). ``line`` counts from 1, 0 without a text. ``values`` are the written values, ``reads`` the
    values read, ``reference`` the values of the reference run. ``lanes`` and ``times`` count the steps of the node.
    ``source`` is the place in the source that the text was compiled from, as ``path:line``, ``source_excerpt`` that line.
    ``alike`` counts the other nodes that this one stands for.
    """

    id: int
    kind: str
    text: str
    path: str = ""
    line: int = 0
    kernel: str = ""
    group: tuple[int, int, int] | None = None
    thread: int | None = None
    lane: int | None = None
    lanes: tuple[int, ...] = ()
    times: int = 1
    distance: int = 0
    is_first: bool = False
    differs: bool = False
    values: Values = field(default_factory=dict)
    reads: Values = field(default_factory=dict)
    reference: Values = field(default_factory=dict)
    causes: list[int] = field(default_factory=list)
    races: list[int] = field(default_factory=list)
    source: str = ""
    source_excerpt: str = ""
    alike: int = 0


@dataclass(slots=True)
class WhyReport:
    """The answer: the name of the value, its actual and expected value, and the nodes, the best first.

    ``total`` counts the nodes before the limit of the answer.
    """

    value: str
    is_now: Any = None
    expected: Any = None
    against: str = ""
    nodes: list[WhyNode] = field(default_factory=list)
    total: int = 0
    notes: list[str] = field(default_factory=list)


class Describer:
    """Describes the steps of one run."""

    def __init__(self, recorded: RecordedRun) -> None:
        self._run, self._dependences, self._before = recorded.run, recorded.dependences, recorded.before
        self._names: dict[int, OperandNames] = {}

    # ---- nodes

    def node(self, number: int, node: SliceNode) -> WhyNode:
        """Return a node without causes."""
        nearest = node.steps[0]
        if isinstance(nearest, Unwritten):
            return self._of_origins(number, node, [step for step in node.steps if isinstance(step, Unwritten)])
        steps = [step for step in node.steps if isinstance(step, Execution)]
        run = self._dependences
        owner, pc = run.owner(nearest.row), int(run.pcs[nearest.row])
        inst = owner.code.kernel.instructions[pc]
        source = self._run.texts.get(owner.code.kernel.name)
        has_line = source is not None and 0 <= inst.line < len(source.lines)
        text = (
            source.lines[inst.line]
            if source is not None and has_line
            else instruction(self._names_of(owner.code), inst)
        )
        here = [step for step in steps if (run.owner(step.row), int(run.pcs[step.row])) == (owner, pc)]
        lanes = sorted({lane for step in here if (lane := self._lane(step)) is not None})
        place = run.source(nearest.row)
        excerpt = source_excerpt(source, place) if place is not None else ("", "")
        return WhyNode(
            number, "missing" if node.of_reference else "instruction", _plain(text),
            source.path if source is not None else "", inst.line + 1 if has_line else 0, owner.code.kernel.name,
            owner.group, owner.thread, self._lane(nearest), tuple(lanes[:_MAX_LANES]),
            len({step.row for step in steps}), node.distance, node.is_first, values=self.values_written(nearest),
            reads={} if node.of_reference else self.read(nearest), source=excerpt[0], source_excerpt=excerpt[1], alike=node.alike,
        )  # fmt: skip

    def _of_origins(self, number: int, node: SliceNode, origins: Sequence[Unwritten]) -> WhyNode:
        first_origin = origins[0]
        values: Values = {}
        words = ""
        for origin in origins[:_MAX_STEPS_SHOWN]:
            if origin.kind == "memory":
                buffer = self._buffers[origin.where]
                values |= self.memory_values(buffer, origin.offset, self._before.of(buffer, origin.offset, origin.size))
        if first_origin.kind == "memory":
            words = f"{self._buffer_title(self._buffers[first_origin.where])}: initial value of the launch"
            return WhyNode(number, first_origin.kind, words, distance=node.distance, times=len(origins), values=values)
        owner = self._dependences.recorder.activations[first_origin.owner]
        name = owner.code.kernel.variable_name(first_origin.where)
        words = f"{name}: {_ORIGINS[first_origin.kind]}"
        if first_origin.kind == "input":
            values = {name: self._input_value(origins)}
        return WhyNode(
            number, first_origin.kind, words, kernel=owner.code.kernel.name, group=owner.group, thread=owner.thread,
            times=len(origins), distance=node.distance, values=values, alike=node.alike,
        )  # fmt: skip

    def _input_value(self, origins: Sequence[Unwritten]) -> Any:
        owner = self._dependences.recorder.activations[origins[0].owner]
        variable = origins[0].where
        type_ = owner.code.kernel.variable_type(variable)
        start = owner.code.layout.offset(variable) - owner.input_start
        raw = b"".join(
            owner.inputs[start + origin.offset : start + origin.offset + origin.size]
            for origin in origins[:_MAX_STEPS_SHOWN]
        )
        return _to_values(raw, DTYPE[type_] if type_ is not None else None)

    def _lane(self, step: Execution) -> int | None:
        run = self._dependences
        owner, place = run.owner(step.row), run.place(step.row)
        if place.is_branch:
            return step.unit if place.plan.lanes > 1 else None
        return owner.code.lane(int(run.pcs[step.row]), step.unit) if place.by_lane else None

    # ---- values

    def values_written(self, step: Execution) -> Values:
        """Return the values that a step wrote, by the names of variables and elements."""
        run = self._dependences
        place, code = run.place(step.row), run.owner(step.row).code
        names = self._names_of(code)
        values: Values = {}
        for target in place.targets:
            values[self._name(names, target)] = _to_values(
                run.bytes_after(step, target), self._type(code, step.row, target)
            )
        for var in place.plan.preds_written[:1]:
            values[names.predicate.get(var, f"P{var}")] = run.predicate_bit(step)
        for access in run.accesses(step.row):
            if access.kind != "read" and access.values is not None:
                type_ = self._data_type(code, step.row)
                for element in run.elements(step, access)[:_MAX_STEPS_SHOWN]:
                    offset = int(access.offsets[element])
                    values |= self.memory_values(access.buffer, offset, access.values[element], type_)
        if place.is_branch and place.plan.pred is not None:
            values["taken"] = run.is_taken(step)
        return values

    def read(self, step: Execution) -> Values:
        """Return the values that a step read."""
        run = self._dependences
        code = run.owner(step.row).code
        names = self._names_of(code)
        values: Values = {}
        for source in run.place(step.row).sources:
            raw = run.bytes_before(step, source)
            if raw is not None:
                values[self._name(names, source)] = _to_values(raw, self._type(code, step.row, source))
        return values

    @staticmethod
    def _name(names: OperandNames, operand: RegisterOperand) -> str:
        var = operand.touch.var
        return names.general.get(var, f"V{var}") if var > 0 else "an indirect operand"

    def _data_type(self, code: Code, row: int) -> np.dtype[Any] | None:
        """Return the type of the values that a message stores; None if unknown."""
        data = next((source for source in self._dependences.place(row).sources if not source.address), None)
        return self._type(code, row, data) if data is not None else None

    def _type(self, code: Code, row: int, operand: RegisterOperand) -> np.dtype[Any] | None:
        place, pc = self._dependences.place(row), int(self._dependences.pcs[row])
        value = place.inst.get(operand.touch.field) if operand.touch.field else None
        if isinstance(value, General | Indirect):
            return DTYPE[Site(code, place.inst, pc).operand_type(value)]
        return _stored_type(code.kernel, operand.touch.var) if isinstance(value, RawOperand) else None

    # ---- memory

    @cached_property
    def _buffers(self) -> dict[int, Buffer]:
        buffers = {id(buffer.whole): buffer.whole for buffer in self._run.prepared.dispatch.buffers}
        return buffers | {id(access.buffer): access.buffer for access in self._dependences.recorder.accesses}

    @cached_property
    def _arguments(self) -> dict[int, int | str]:
        return {id(buffer.whole): key for key, buffer in self._run.prepared.buffers.items()}

    def _buffer_title(self, buffer: Buffer) -> str:
        key = self._arguments.get(id(buffer))
        return buffer.name if key is None else self._run.prepared.names.get(key, "") or str(key)

    def memory_values(self, buffer: Buffer, offset: int, raw: Array, type_: np.dtype[Any] | None = None) -> Values:
        """Return the elements at bytes of memory, with their values; ``type_`` is that of memory without a type."""
        title, key = self._buffer_title(buffer), self._arguments.get(id(buffer))
        array = self._run.prepared.arrays[key] if key is not None else None
        if array is None or offset % array.itemsize or raw.size % array.itemsize or not raw.size:
            return {f"{title} at byte {offset}": _to_values(raw.tobytes(), type_)}
        values: Values = {}
        for number, value in enumerate(numbers(np.frombuffer(raw.tobytes(), array.dtype), _MAX_VALUES)):
            index = offset // array.itemsize + number
            if index < array.size:
                values[f"{title}{index_words(index, array.shape)}"] = finite(value)
        return values

    def _names_of(self, code: Code) -> OperandNames:
        names = self._names.get(id(code))
        if names is None:
            names = self._names[id(code)] = names_of(code.kernel, self._run.prepared.dispatch.platform)
        return names


def _stored_type(kernel: Kernel, var: int) -> np.dtype[Any] | None:
    """Return the type of what a message moves: the variable's, but floats if one at the same place has floats of this size.

    A compiler loads and stores dwords, and computes with an alias.
    """
    type_ = kernel.variable_type(var)
    if type_ is None:
        return None
    declared = kernel.variable(var)
    root = declared.alias_index if declared is not None and declared.alias_index else var
    others = [n for n, other in enumerate(kernel.variables, FIRST_VARIABLE) if other.alias_index == root]
    types = (kernel.variable_type(number) for number in (var, root, *others))
    dtypes = [DTYPE[other] for other in types if other is not None]
    return next((dtype for dtype in dtypes if dtype.kind == "f" and dtype.itemsize == dtypes[0].itemsize), dtypes[0])


def _to_values(raw: bytes, dtype: np.dtype[Any] | None) -> Any:
    """Return bytes as a number or a list of numbers; as dwords if the type is unknown."""
    if dtype is None or len(raw) % dtype.itemsize:
        size = next(n for n in (4, 2, 1) if len(raw) % n == 0)
        dtype = np.dtype(f"<u{size}")
    values = [finite(value) for value in numbers(np.frombuffer(raw, dtype), _MAX_VALUES)]
    return values[0] if len(values) == 1 else values


def _plain(text: str) -> str:
    """Return a line without its indent, its comment and repeated blanks."""
    return " ".join(text.split("//", maxsplit=1)[0].split())


# ---- output


def as_json(report: WhyReport) -> Values:
    """Return the answer as a JSON value."""
    answer: Values = {"value": report.value, "now": report.is_now, "nodes": [_node_json(node) for node in report.nodes]}
    if report.expected is not None:
        answer["expected"] = report.expected
    if report.against:
        answer["against"] = report.against
    if report.total > len(report.nodes):
        answer["more"] = report.total - len(report.nodes)
    if report.notes:
        answer["notes"] = report.notes
    return answer


def _node_json(node: WhyNode) -> Values:
    entry: Values = {
        "id": node.id, "kind": node.kind, "path": node.path or None, "line": node.line or None, "lane": node.lane,
        "thread": node.thread, "group": list(node.group) if node.group is not None else None, "text": node.text,
        "values": node.values, "causes": node.causes, "distance": node.distance, "times": node.times,
    }  # fmt: skip
    if node.reads:
        entry["reads"] = node.reads
    if node.source:
        entry |= {"source": node.source, "source_excerpt": node.source_excerpt}
    if node.alike:
        entry["alike"] = node.alike
    if len(node.lanes) > 1:
        entry["lanes"] = list(node.lanes)
    if node.races:
        entry["races"] = node.races
    if node.differs:
        entry |= {"differs": True, "first_difference": node.is_first, "reference": node.reference}
    return entry


def text_lines(report: WhyReport) -> Iterator[str]:
    """Yield the answer as text: the value, then a line for each node with its values and causes."""
    yield head_line(report)
    for node in report.nodes:
        yield from node_lines(node)
    if report.total > len(report.nodes):
        yield f"... and {report.total - len(report.nodes)} more nodes (--max-nodes)"
    for note in report.notes:
        yield f"note: {note}"


def head_line(report: WhyReport) -> str:
    """Return the value in question in words: ``y[37] = 3.0, expected 2.5``."""
    head = f"{report.value} = {report.is_now}" if report.is_now is not None else report.value
    if report.expected is None:
        return head
    return head + (", as expected" if report.expected == report.is_now else f", expected {report.expected}")


def node_lines(node: WhyNode) -> Iterator[str]:
    """Yield a node as text: its line, then its thread and values, then its links."""
    where = f"{node.path}:{node.line}" if node.line else node.kernel
    mark = "first difference: " if node.is_first else "differs: " if node.differs else ""
    if node.kind == "missing":
        mark += "executed by the reference only: "
    yield f"#{node.id} {f'{where}: ' if where else ''}{mark}{node.text}"
    if node.source:
        yield f"    {node.source.removeprefix(f'{Path.cwd()}/')}" + (
            f": {node.source_excerpt}" if node.source_excerpt else ""
        )
    party = _party(node)
    written = ", ".join(f"{name} = {value}" for name, value in node.values.items())
    reads = ", ".join(f"{name} = {value}" for name, value in node.reads.items())
    said = [party, f"{written} from {reads}" if written and reads else written or (reads and f"reads {reads}")]
    if node.reference:
        said.append("reference: " + ", ".join(f"{name} = {value}" for name, value in node.reference.items()))
    if any(said):
        yield "    " + "; ".join(part for part in said if part)
    links = [f"because of {', '.join(f'#{n}' for n in node.causes)}"] if node.causes else []
    links += [f"races with {', '.join(f'#{n}' for n in node.races)}"] if node.races else []
    if links:
        yield "    " + "; ".join(links)


def _party(node: WhyNode) -> str:
    if node.thread is None or node.group is None:
        return ""
    lane = f", lane {node.lane}" if node.lane is not None else ""
    rest = f" and {len(node.lanes) - 1} more" if len(node.lanes) > 1 else ""
    times = f", {node.times} times" if node.times > 1 and not node.alike else ""
    alike = f", and {node.alike} alike" if node.alike else ""
    return f"group {','.join(map(str, node.group))}, thread {node.thread}{lane}{rest}{times}{alike}"
