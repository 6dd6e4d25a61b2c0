"""The dynamic dependences of a recorded run: from an executed instruction to those that computed its inputs.

An ``Execution`` is one instruction for one unit: a lane, or a dword of a block that a message moves for the whole
thread. Definitions are found per byte of registers and memory, per lane of predicates, and per element of address
variables. The control dependence is the last branch that decided whether the step is executed. Only the recording takes
memory per step of the run. Invariant: a cause is executed before its effect, except for the other party of a race.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from visa_lsp.flow.graph import graph_of
from visa_lsp.flow.program_steps import steps_of
from visa_lsp.isa.model import FlowClass
from visa_lsp.program.model import Combine
from visa_lsp.sim.observers.definedness_plan import RegisterOperand, Travel
from visa_lsp.sim.operands import CR0

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from visa_lsp.sim.interp import Code
    from visa_lsp.sim.memory import Buffer
    from visa_lsp.sim.observers.recording import BodyActivation, PlaceRecord, RecordedAccess, StepRecorder

Array = np.ndarray[Any, np.dtype[Any]]

_DWORD: Final = 4
_MAX_RIVALS: Final = 2  # other parties of races named per step
_MAX_RIVALS_TESTED: Final = 512  # accesses of one place, because a place that all threads use may have any number
_ELEMENT_BITS: Final = 16  # bits for the number of an element within its message
_CALLS: Final = frozenset({FlowClass.CALL, FlowClass.KERNEL_CALL})


class Execution(NamedTuple):
    """An executed instruction, for a single unit."""

    row: int
    unit: int


class Unwritten(NamedTuple):
    """A value that no recorded instruction wrote: bytes of ``where`` that the launch provides, or that were never written.

    ``where`` is an input, a buffer (by its identity) or a variable of an activation. ``earlier``: written before the
    recording begins.
    """

    kind: str  # input, memory, undefined, earlier
    owner: int  # number of the activation; 0 for a buffer
    where: int  # variable, or identity of the buffer
    offset: int
    size: int


Cause = Execution | Unwritten


class _AccessIndex:
    """An index of all loads, or all writes, of one buffer by offset. Accesses are numbered in the order of the run."""

    def __init__(self, accesses: Sequence[RecordedAccess], numbers: Sequence[int]) -> None:
        counts = [access.offsets.size for access in accesses]
        offsets = np.concatenate([access.offsets for access in accesses])
        order = np.argsort(offsets, kind="stable")
        self.offsets = offsets[order]
        self.access = np.repeat(np.array(numbers, np.int64), counts)[order]
        self.element = np.concatenate([np.arange(count) for count in counts])[order]
        self.rows = np.repeat(np.array([access.row for access in accesses], np.int64), counts)[order]
        self._ends = self.offsets + np.repeat(np.array([access.size for access in accesses], np.int64), counts)[order]
        self._order = self.access << _ELEMENT_BITS | self.element
        self._largest = max(access.size for access in accesses)

    def over(self, offset: int, size: int) -> slice:
        """Return the part of the index that may touch the bytes."""
        start = int(np.searchsorted(self.offsets, offset - self._largest + 1))
        return slice(start, int(np.searchsorted(self.offsets, offset + size)))

    def last(self, byte: int, part: slice, allowed: Array) -> int | None:
        """Return the index of the last access in a part that touches a byte and is allowed."""
        covers = allowed & (self.offsets[part] <= byte) & (self._ends[part] > byte)
        if not covers.any():
            return None
        return int(part.start) + int(np.argmax(np.where(covers, self._order[part], -1)))


class Dependences:
    """The dependences of one recorded run."""

    def __init__(self, recorder: StepRecorder) -> None:
        self.recorder = recorder
        self.pcs = np.array(recorder.pcs, np.int64)
        self.owners = np.array(recorder.owners, np.int64)
        self.masks = np.array(recorder.masks, np.int64)
        self._span = int(self.pcs.max(initial=0)) + 1
        keys = self.owners * self._span + self.pcs
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]
        self._occurrences: dict[tuple[int, int], Array] = {}
        self._writers: dict[int, _Writers] = {}
        self._deciders: dict[int, list[tuple[int, ...]]] = {}
        self._of_row: dict[int, list[int]] = {}
        by_buffer: dict[int, list[int]] = {}
        for number, access in enumerate(recorder.accesses):
            self._of_row.setdefault(access.row, []).append(number)
            by_buffer.setdefault(id(access.buffer), []).append(number)
        self._touching = by_buffer
        self._stores: dict[int, _AccessIndex | None] = {}
        self._loads: dict[int, _AccessIndex | None] = {}

    # ---- rows

    def owner(self, row: int) -> BodyActivation:
        """Return the activation of a row."""
        return self.recorder.activations[int(self.owners[row])]

    def source(self, row: int) -> tuple[str, int] | None:
        """Return the file and line of the source of a row; None if they are unknown."""
        return self.owner(row).code.kernel.source_places[int(self.pcs[row])]

    def place(self, row: int) -> PlaceRecord:
        """Return the static part of a row."""
        return self.recorder.places[id(self.owner(row).code)][int(self.pcs[row])]

    def occurrences(self, owner: int, pc: int) -> Array:
        """Return the rows of an instruction in an activation."""
        rows = self._occurrences.get((owner, pc))
        if rows is None:
            key = owner * self._span + pc
            start, end = np.searchsorted(self._keys, (key, key + 1))
            rows = self._occurrences[owner, pc] = self._order[start:end]
        return rows

    def is_active(self, row: int, lane: int) -> bool:
        """Return whether an instruction's lane was enabled."""
        return bool(int(self.masks[row]) >> lane & 1)

    def accesses(self, row: int) -> list[RecordedAccess]:
        """Return the memory accesses of a row."""
        return [self.recorder.accesses[number] for number in self._of_row.get(row, ())]

    # ---- causes

    def causes(self, step: Execution) -> list[Cause]:
        """Return the causes of a step, each once: data first, then the predicate, then control."""
        unique_causes = dict.fromkeys(cause for causes in self.inputs(step).values() for cause in causes)
        unique_causes.pop(step, None)
        return list(unique_causes)

    def inputs(self, step: Execution) -> dict[str, list[Cause]]:
        """Return the causes of a step by role: the field of an operand, memory, a predicate, or control."""
        row = step.row
        place, owner = self.place(row), self.owner(row)
        plan, writers = place.plan, self._writers_in(owner.code)
        causes_by_role: dict[str, list[Cause]] = {}

        def add(role: str, causes: Iterable[Cause | None]) -> None:
            causes_by_role.setdefault(role, []).extend(cause for cause in causes if cause is not None)

        for operand in place.sources:
            if plan.selects and operand.touch.field in ("src0", "src1") and not self._is_chosen(step, operand):
                continue
            add(
                operand.touch.field,
                (self.register_writer(owner, byte, row) for byte in self._bytes_read(step, operand)),
            )
        for access in self.accesses(row):
            if access.kind != "write":
                for n in self.elements(step, access):
                    add("memory", self.memory_writers(access.buffer, int(access.offsets[n]), access.size, row))
        for start, count, _ in plan.addresses_read:
            element = min(count - 1, step.unit // max(1, plan.lanes // count)) if place.by_lane else 0
            add("address", [self._last_writer(owner, writers.addresses, start + element, row)])
        for var in plan.preds_read:
            lanes = self._predicate_lanes(step, whole=place.predicate == 0 and not place.is_branch)
            add("predicate", (self._predicate_writer(owner, var, lane, row) for lane in lanes))
        if plan.pred is not None:
            var = plan.pred.var
            lanes = self._predicate_lanes(step, whole=plan.pred.combine is not Combine.NONE)
            add("predicate", (self._predicate_writer(owner, var, lane, row) for lane in lanes))
        for sampler, cell in (*plan.cells_read, *([plan.state_read] if plan.state_read is not None else ())):
            add("state", [self._last_writer(owner, writers.states.get((sampler, cell), ()), 0, row)])
        modes = owner.code.layout.offset(CR0)
        if place.has_modes and modes in writers.bytes:
            add("modes", [self.register_writer(owner, modes, row)])
        add("control", [self.decider(step)])
        return causes_by_role

    def _predicate_lanes(self, step: Execution, *, whole: bool) -> Iterable[int]:
        """Return the lanes of a predicate that a step reads."""
        place = self.place(step.row)
        plan = place.plan
        if whole or not place.by_lane:
            return range(plan.mask_offset, plan.mask_offset + plan.lanes)
        if place.is_branch:
            return [plan.mask_offset if plan.lanes == 1 else step.unit]
        return [plan.mask_offset + step.unit]

    def _is_chosen(self, step: Execution, operand: RegisterOperand) -> bool:
        """Return whether a select takes its value from an operand."""
        pred = self.place(step.row).plan.pred
        if pred is None:
            return True
        bits = []
        for lane in self._predicate_lanes(step, whole=pred.combine is not Combine.NONE):
            writer = self._predicate_writer(self.owner(step.row), pred.var, lane, step.row)
            bits.append(bool(writer is not None and self._predicate_after(writer.row) >> lane & 1))
        holds = any(bits) if pred.combine is Combine.ANY else all(bits)
        return (operand.touch.field == "src0") is (holds is not pred.inverse)

    def _rows_of(self, step: Execution, count: int) -> range | list[int]:
        """Return the rows of an operand with ``count`` cells that a unit reads."""
        place = self.place(step.row)
        lanes, unit = place.plan.lanes, step.unit
        if place.plan.travel is Travel.WHOLE or not place.by_lane or count % lanes:
            return range(count)
        if place.plan.travel is Travel.FOUR:
            return [row for row in range(count) if row % lanes // 4 == unit // 4]
        return range(unit, count, lanes)

    def _cells(self, row: int, operand: RegisterOperand) -> Array:
        """Return the bytes of an operand's cells, a row for each."""
        if operand.places is not None:
            return operand.places
        starts = self.recorder.dynamic[row][self.place(row).dynamic.index(operand)]
        return np.asarray(starts[:, None] + np.arange(operand.touch.size))

    def _bytes_read(self, step: Execution, operand: RegisterOperand, *, in_order: bool = False) -> list[int]:
        place, cells = self.place(step.row), self._cells(step.row, operand)
        if not place.by_lane and not operand.address and any(a.kind != "read" for a in self.accesses(step.row)):
            flat = cells.reshape(-1)
            part = flat[step.unit * _DWORD : (step.unit + 1) * _DWORD]
            return [int(byte) for byte in (part if part.size else flat)]
        bytes_read = [int(byte) for cell in self._rows_of(step, len(cells)) for byte in cells[cell]]
        return bytes_read if in_order else sorted(set(bytes_read))

    def elements(self, step: Execution, access: RecordedAccess) -> list[int]:
        """Return the elements of a message that belong to a unit."""
        if self.place(step.row).by_lane:
            return [int(n) for n in np.flatnonzero(access.lanes == step.unit)]
        starts = access.elements * access.size
        byte = step.unit * _DWORD
        return [int(n) for n in np.flatnonzero((starts < byte + _DWORD) & (starts + access.size > byte))]

    def _unit_of(self, access: RecordedAccess, element: int, offset: int) -> int:
        """Return the unit of the instruction that wrote byte ``offset`` by an element."""
        if self.place(access.row).by_lane:
            return int(access.lanes[element])
        byte = int(access.elements[element]) * access.size + max(0, offset - int(access.offsets[element]))
        return byte // _DWORD

    # ---- the start of a slice

    def writers_of_registers(self, owner: BodyActivation, start: int, size: int) -> list[Cause]:
        """Return the last writers of register bytes at the end of the recording."""
        writers = (self.register_writer(owner, byte, self.pcs.size) for byte in range(start, start + size))
        return list(dict.fromkeys(cause for cause in writers if cause is not None))

    def writers_of_predicate(self, owner: BodyActivation, var: int, lanes: Iterable[int]) -> list[Cause]:
        """Return the last writers of lanes of a predicate at the end of the recording."""
        writers = (self._predicate_writer(owner, var, lane, self.pcs.size) for lane in lanes)
        return list(dict.fromkeys(cause for cause in writers if cause is not None))

    # ---- definitions in registers

    def _writers_in(self, code: Code) -> _Writers:
        writers = self._writers.get(id(code))
        if writers is None:
            writers = self._writers[id(code)] = _Writers(self.recorder.places[id(code)])
        return writers

    def register_writer(self, owner: BodyActivation, byte: int, before: int) -> Cause | None:
        """Return the last step that wrote a register byte; None for predefined values of the hardware."""
        step = self._register_step(owner, byte, before)
        if step is not None:
            return step
        layout = owner.code.layout
        if byte < layout.predefined_end:
            return None
        number = layout.at(byte)
        if owner.is_late and number is not None:
            return Unwritten("earlier", owner.number, number, 0, 0)
        variable = next(
            (item.id for item in owner.code.kernel.inputs if item.kind & 7 == 0
             and layout.offset(item.id) <= byte < layout.offset(item.id) + item.size), None,
        )  # fmt: skip
        if variable is not None and owner.caller is None:
            start = layout.offset(variable)
            type_ = owner.code.kernel.variable_type(variable)
            size = type_.size if type_ is not None else _DWORD
            return Unwritten("input", owner.number, variable, (byte - start) // size * size, size)
        return Unwritten("undefined", owner.number, number, 0, 0) if number is not None else None

    def _register_step(self, owner: BodyActivation, byte: int, before: int) -> Execution | None:
        best, unit = self._last_write(owner, byte, before)
        if byte < owner.code.layout.predefined_end:  # calls copy the predefined variables there and back
            for called in reversed(owner.calls):
                if called.call < before and called.call >= best:
                    inner = self._register_step_in(called, byte, before)
                    if inner is not None and inner.row > best:
                        return inner
            if best < 0 and owner.caller is not None:
                return self._register_step(owner.caller, byte, owner.call)
        return Execution(best, unit) if best >= 0 else None

    def _register_step_in(self, called: BodyActivation, byte: int, before: int) -> Execution | None:
        best, unit = self._last_write(called, byte, before)
        for inner in called.calls:
            step = self._register_step_in(inner, byte, before)
            if step is not None and step.row > best:
                best, unit = step
        return Execution(best, unit) if best >= 0 else None

    def _last_write(self, owner: BodyActivation, byte: int, before: int) -> tuple[int, int]:
        writers = self._writers_in(owner.code)
        best, unit = -1, 0
        for pc, cell, by_lane in writers.bytes.get(byte, ()):
            for row in self._rows_between(owner, pc, best, before):
                if self.is_active(row, cell) if by_lane else self.masks[row]:
                    best, unit = row, cell
                    break
        for pc in writers.indirect:
            for row in self._rows_between(owner, pc, best, before):
                lane = self._indirect_lane(row, byte)
                if lane is not None:
                    best, unit = row, lane
                    break
        return best, unit

    def _rows_between(self, owner: BodyActivation, pc: int, first_row: int, last_row: int) -> Iterator[int]:
        """Yield the rows of an instruction between two rows, both not included, the last first."""
        rows = self.occurrences(owner.number, pc)
        for index in range(int(np.searchsorted(rows, last_row)) - 1, -1, -1):
            if rows[index] <= first_row:
                return
            yield int(rows[index])

    def _indirect_lane(self, row: int, byte: int) -> int | None:
        """Return the lane that wrote a byte through an address register."""
        for operand in self.place(row).dynamic:
            if operand.touch.write:
                for lane in np.flatnonzero((self._cells(row, operand) == byte).any(axis=1)).tolist():
                    if self.is_active(row, lane):
                        return int(lane)
        return None

    # ---- definitions of predicates and addresses

    def _predicate_writer(self, owner: BodyActivation, var: int, lane: int, before: int) -> Execution | None:
        return self._last_writer(owner, self._writers_in(owner.code).predicates.get(var, ()), lane, before)

    def _last_writer(
        self, owner: BodyActivation, writers: Sequence[tuple[int, int, int]], element: int, before: int
    ) -> Execution | None:
        """Return the last step that wrote an element; ``writers`` are instructions, each with the first element and the count."""
        best, unit = -1, 0
        for pc, start, count in writers:
            if start <= element < start + count:
                for row in self._rows_between(owner, pc, best, before):
                    if self.is_active(row, element - start):
                        best, unit = row, element - start
                        break
        return Execution(best, unit) if best >= 0 else None

    def _predicate_after(self, row: int) -> int:
        offset = self._after_registers(row)
        return int.from_bytes(self.recorder.values[offset : offset + _DWORD], "little")

    # ---- control

    def decider(self, step: Execution) -> Execution | None:
        """Return the branch or call that caused a step to be executed; None for an unconditional step."""
        owner, place = self.owner(step.row), self.place(step.row)
        lane = place.plan.mask_offset + step.unit if place.by_lane and not place.plan.no_mask else None
        if place.is_branch:
            lane = step.unit if place.plan.lanes > 1 else None
        best, unit = -1, 0
        for pc in self._deciders_of(owner.code)[int(self.pcs[step.row])]:
            for row in self._rows_between(owner, pc, best, step.row):
                if lane is None or self.is_active(row, lane):
                    mask = int(self.masks[row])
                    best, unit = row, lane if lane is not None else max(0, (mask & -mask).bit_length() - 1)
                    break
        if best < 0 and owner.caller is not None and owner.call >= 0:
            return Execution(owner.call, lane or 0)
        return Execution(best, unit) if best >= 0 else None

    def _deciders_of(self, code: Code) -> list[tuple[int, ...]]:
        """Return the branches on which each instruction of a body is control dependent."""
        deciders = self._deciders.get(id(code))
        if deciders is None:
            deciders = self._deciders[id(code)] = _control_dependences(code)
        return deciders

    # ---- memory

    def _index(self, buffer: Buffer, *, writes: bool) -> _AccessIndex | None:
        index, accesses = self._stores if writes else self._loads, self.recorder.accesses
        if id(buffer) not in index:
            touching = (n for n in self._touching.get(id(buffer), ()) if accesses[n].offsets.size)
            numbers = [n for n in touching if (accesses[n].kind != "read") is writes]
            index[id(buffer)] = _AccessIndex([accesses[n] for n in numbers], numbers) if numbers else None
        return index[id(buffer)]

    def memory_writers(self, buffer: Buffer, offset: int, size: int, before: int) -> list[Cause]:
        """Return the last steps that wrote bytes of memory, and the origin of bytes that no step wrote."""
        index = self._index(buffer, writes=True)
        part = index.over(offset, size) if index is not None else slice(0, 0)
        allowed = index.rows[part] < before if index is not None else np.zeros(0, bool)
        writers: dict[Cause, None] = {}
        for byte in range(offset, offset + size):
            entry = index.last(byte, part, allowed) if index is not None else None
            if index is not None and entry is not None:
                access = self.recorder.accesses[int(index.access[entry])]
                writers.setdefault(Execution(access.row, self._unit_of(access, int(index.element[entry]), byte)))
            else:
                start = offset if size <= 2 * _DWORD else byte // _DWORD * _DWORD
                writers.setdefault(
                    Unwritten("memory", 0, id(buffer), start, min(size, 2 * _DWORD) if start == offset else _DWORD)
                )
        return list(writers)

    def rivals(self, step: Execution) -> list[Execution]:
        """Return the other parties of races on the bytes of a step: unordered accesses that involve another value."""
        rivals: dict[Execution, None] = {}
        owner = self.owner(step.row)
        for access in self.accesses(step.row):
            for element in self.elements(step, access) if not access.buffer.private else ():
                start = int(access.offsets[element])
                for number, other_element in self._neighbours(access, start):
                    other = self.recorder.accesses[number]
                    if other.row != step.row and self._is_race(owner, access, element, other, other_element):
                        rivals.setdefault(Execution(other.row, self._unit_of(other, other_element, start)))
                        if len(rivals) >= _MAX_RIVALS:
                            return list(rivals)
        return list(rivals)

    def _neighbours(self, access: RecordedAccess, start: int) -> Iterator[tuple[int, int]]:
        """Yield accesses, each with an element, that may touch these bytes: writes, and for a write also loads."""
        for writes in (True,) if access.kind == "read" else (True, False):
            index = self._index(access.buffer, writes=writes)
            if index is not None:
                part = index.over(start, access.size)
                part = slice(part.start, min(part.stop, part.start + _MAX_RIVALS_TESTED))
                yield from zip(index.access[part].tolist(), index.element[part].tolist(), strict=True)

    def _is_race(
        self, owner: BodyActivation, access: RecordedAccess, element: int, other: RecordedAccess, other_element: int
    ) -> bool:
        start, theirs = int(access.offsets[element]), int(other.offsets[other_element])
        if not (theirs < start + access.size and start < theirs + other.size):
            return False
        if access.kind == other.kind == "atomic":
            return False
        party = self.owner(other.row)
        if party.group == owner.group and (party.thread == owner.thread or access.epoch != other.epoch):
            return False
        if access.values is not None and other.values is not None and access.size == other.size:
            return bool((access.values[element] != other.values[other_element]).any())
        return True

    # ---- values

    def value(self, step: Execution) -> bytes:
        """Return the result of a step as bytes to compare: the written value and a store's addresses, or a branch's outcome."""
        place = self.place(step.row)
        compared = b"".join(self.bytes_after(step, target) for target in place.targets)
        if place.predicate:
            compared += bytes([self.predicate_bit(step)])
        if place.addresses is not None:
            offset = self._address_values(step.row) + 8 * min(step.unit, place.addresses[1] - 1)
            compared += self._relative(
                step.row, int.from_bytes(self.recorder.values[offset : offset + 8], "little", signed=True)
            )
        for operand in place.dynamic:
            if operand.touch.write:
                cells = self._cells(step.row, operand)
                compared += self._relative(step.row, int(cells[min(step.unit, len(cells) - 1), 0]))
        if place.plan.state_written is not None:
            offset = self._after_registers(step.row)
            compared += bytes(self.recorder.values[offset : offset + _DWORD])
        if place.is_branch:
            compared += bytes([self.is_taken(step)])
        for access in self.accesses(step.row):
            if access.kind == "read":
                continue
            for element in self.elements(step, access):
                compared += access.buffer.name.encode() + int(access.offsets[element]).to_bytes(8, "little")
                if access.values is not None:
                    compared += access.values[element].tobytes()
        return compared

    def reads(self, step: Execution) -> list[bytes | None]:
        """Return the bytes that a step read from each register operand."""
        return [self.bytes_before(step, source) for source in self.place(step.row).sources]

    def bytes_after(self, step: Execution, target: RegisterOperand) -> bytes:
        """Return the bytes that a step wrote to an operand."""
        if target.places is None:
            return self._dynamic_bytes(step, target)
        start = int(self.recorder.starts[step.row]) - self.place(step.row).low
        return bytes(self.recorder.values[start + byte] for byte in self._bytes_written(step, target.places))

    def _dynamic_bytes(self, step: Execution, target: RegisterOperand) -> bytes:
        place = self.place(step.row)
        offset = self._address_values(step.row) + 8 * (place.addresses[1] if place.addresses else 0)
        offset += _DWORD * ((place.plan.state_written is not None) + place.is_branch)
        for operand in place.dynamic:
            if operand is target:
                break
            offset += operand.touch.size * len(self._cells(step.row, operand)) * operand.touch.write
        offset += step.unit * target.touch.size
        return bytes(self.recorder.values[offset : offset + target.touch.size])

    def _relative(self, row: int, byte: int) -> bytes:
        """Return an address of a register byte as the offset in its variable, which does not depend on the layout."""
        layout = self.owner(row).code.layout
        variable = layout.at(byte)
        return (byte - (layout.offset(variable) if variable is not None else 0)).to_bytes(8, "little", signed=True)

    def _bytes_written(self, step: Execution, cells: Array) -> list[int]:
        place = self.place(step.row)
        if not place.by_lane:
            return [int(byte) for byte in cells.reshape(-1)[step.unit * _DWORD : (step.unit + 1) * _DWORD]]
        lanes = place.plan.lanes
        rows = range(len(cells)) if len(cells) % lanes else range(step.unit, len(cells), lanes)
        return [int(byte) for row in rows for byte in cells[row]]

    def bytes_before(self, step: Execution, source: RegisterOperand) -> bytes | None:
        """Return the bytes of an operand that a step read; None if some are not recorded."""
        owner = self.owner(step.row)
        bytes_read = [
            self._byte_before(owner, byte, step.row) for byte in self._bytes_read(step, source, in_order=True)
        ]
        return None if None in bytes_read else bytes(byte for byte in bytes_read if byte is not None)

    def _byte_before(self, owner: BodyActivation, byte: int, before: int) -> int | None:
        writer = self.register_writer(owner, byte, before)
        if isinstance(writer, Execution):
            place = self.place(writer.row)
            if not place.low <= byte < place.high:
                return self._dynamic_byte(writer, byte)
            return self.recorder.values[int(self.recorder.starts[writer.row]) + byte - place.low]
        if writer is not None and writer.kind == "input":
            return owner.inputs[byte - owner.input_start]
        return None

    def _dynamic_byte(self, writer: Execution, byte: int) -> int | None:
        """Return a byte that a step wrote through an address register."""
        for operand in self.place(writer.row).dynamic:
            if operand.touch.write:
                start = int(self._cells(writer.row, operand)[writer.unit, 0])
                if start <= byte < start + operand.touch.size:
                    return self._dynamic_bytes(writer, operand)[byte - start]
        return None

    def predicate_bit(self, step: Execution) -> int:
        """Return the bit of a predicate that a step set."""
        return self._predicate_after(step.row) >> (self.place(step.row).plan.mask_offset + step.unit) & 1

    def is_taken(self, step: Execution) -> bool:
        """Return whether a branch moved a lane."""
        place = self.place(step.row)
        offset = self._address_values(step.row) + 8 * (place.addresses[1] if place.addresses else 0)
        return bool(int.from_bytes(self.recorder.values[offset : offset + _DWORD], "little") >> step.unit & 1)

    def _after_registers(self, row: int) -> int:
        place = self.place(row)
        return int(self.recorder.starts[row]) + place.high - place.low

    def _address_values(self, row: int) -> int:
        return self._after_registers(row) + _DWORD * bool(self.place(row).predicate)

    def is_enabled(self, step: Execution) -> bool:
        """Return whether a step was executed for its unit."""
        place = self.place(step.row)
        return self.is_active(step.row, step.unit) if place.by_lane else bool(self.masks[step.row])

    def number_of(self, step: Execution) -> int:
        """Return the number of earlier executions of the instruction in the same activation for the same unit."""
        rows = self.occurrences(int(self.owners[step.row]), int(self.pcs[step.row]))
        return int(np.searchsorted(self._rows_enabled(step.row, step.unit, rows), step.row))

    def _rows_enabled(self, row: int, unit: int, rows: Array) -> Array:
        if self.place(row).by_lane:
            return np.asarray(rows[self.masks[rows] >> unit & 1 == 1])
        return np.asarray(rows[self.masks[rows] != 0])

    def step_at(
        self, key: tuple[tuple[int, int, int], int, int], code: Code, pc: int, unit: int, number: int
    ) -> Execution | None:
        """Return the step of a thread (group, thread, ordinal of the activation) by its number; None if not executed."""
        owner = self._by_key.get((*key, id(code)))
        if owner is None or pc not in self.recorder.places.get(id(code), {}):
            return None
        rows = self.occurrences(owner, pc)
        if not rows.size:
            return None
        rows = self._rows_enabled(int(rows[0]), unit, rows)
        return Execution(int(rows[number]), unit) if number < rows.size else None

    @cached_property
    def _by_key(self) -> dict[tuple[tuple[int, int, int], int, int, int], int]:
        return {(a.group, a.thread, a.ordinal, id(a.code)): a.number for a in self.recorder.activations}


class _Writers:
    """The instructions of a body that write each register byte, predicate and address element."""

    def __init__(self, places: dict[int, PlaceRecord]) -> None:
        self.bytes: dict[int, list[tuple[int, int, bool]]] = {}
        self.predicates: dict[int, list[tuple[int, int, int]]] = {}
        self.addresses: list[tuple[int, int, int]] = []
        self.indirect: list[int] = []
        self.states: dict[tuple[bool, int], list[tuple[int, int, int]]] = {}
        for pc, place in places.items():
            plan = place.plan
            for target in place.targets:
                if target.places is None:
                    self.indirect.append(pc)
                    continue
                by_lane = place.by_lane and len(target.places) % plan.lanes == 0
                flat = 0
                for cell, row in enumerate(target.places.tolist()):
                    for byte in row:
                        unit = cell % plan.lanes if by_lane else 0 if place.by_lane else flat // _DWORD
                        self.bytes.setdefault(byte, []).append((pc, unit, by_lane))
                        flat += 1
            for var in plan.preds_written:
                self.predicates.setdefault(var, []).append((pc, plan.mask_offset, plan.lanes))
            if place.addresses is not None:
                self.addresses.append((pc, *place.addresses))
            if plan.state_written is not None:
                self.states.setdefault(plan.state_written, []).append((pc, 0, 1))


def _control_dependences(code: Code) -> list[tuple[int, ...]]:
    graph = graph_of(steps_of(code.kernel), code.kernel.name)
    on = [set(steps) for steps in graph.deciding_branches]
    # A subroutine is executed because of its call.
    instructions = code.kernel.instructions
    for pc, inst in enumerate(instructions):
        label = inst.get("label")
        if inst.row.flow in _CALLS and isinstance(label, int) and label in graph.at_label:
            on[graph.at_label[label]].add(pc)
    return [tuple(sorted(on[number])) for number in graph.block_of]
