"""The bits of variables that statements read and write, for folding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import structs

from visa_lsp.flow.bit_accesses import exec_control_of
from visa_lsp.flow.graph import graph_of
from visa_lsp.flow.liveness import Liveness
from visa_lsp.flow.masks import address_taken, reads_of
from visa_lsp.flow.program_steps import steps_of
from visa_lsp.flow.steps import Space, Step, variable_key
from visa_lsp.flow.storage import storage_of
from visa_lsp.isa.message_forms import SampleForm
from visa_lsp.isa.model import FlowClass, Role
from visa_lsp.isa.predefined import FIRST_VARIABLE
from visa_lsp.program import regions
from visa_lsp.program.message import (
    control_of,
    raw_operand,
    register_bytes,
    sample_message_of,
    understood_message_of,
)
from visa_lsp.program.model import Combine, General, Indirect, Inst, Kernel, Predicate, PredicateOperand, RawOperand

Bits = dict[int, int]  # variable key -> bits


class Effects:
    """The steps of a body, and the live bits after each."""

    def __init__(self, kernel: Kernel, grf_bytes: int) -> None:
        self.kernel, self.grf_bytes = kernel, grf_bytes
        self.storage = storage_of(kernel, grf_bytes)
        self.steps = [
            self._with_texels(step, inst)
            for step, inst in zip(steps_of(kernel, self.storage), kernel.instructions, strict=True)
        ]
        self.taken = address_taken(self.steps)
        graph = graph_of(self.steps, kernel.name, calls_end_blocks=True)
        self._strict, self._loose = Liveness(graph), Liveness(graph, masked_writes_kill=True)
        self.graph = graph
        self._behind: dict[int, tuple[Bits, Bits]] = {}
        self._shared = self._find_crossing()

    def _list_sampled_rows(self, inst: Inst) -> Iterator[tuple[RawOperand, int, bool]]:
        """Yield the rows of a message of the sampler: the operand, the bytes of a lane, whether it is written."""
        if not isinstance(inst.row.meaning, SampleForm):
            return
        message = sample_message_of(inst, self.kernel.variable_type)
        if message.control.no_mask:
            return
        for _, operand, type_ in message.parameters:
            yield operand, int(type_[-1]), False
        where = self.storage.general.get(message.data.var)
        cell = where.element if where is not None else 4
        pitch = -(-message.control.exec_size * cell // self.grf_bytes) * self.grf_bytes
        for row in range(len(message.channels)):
            yield RawOperand(message.data.var, message.data.offset + row * pitch), cell, True

    def _with_texels(self, step: Step, inst: Inst) -> Step:
        """Return a step with the bytes that a message of the sampler certainly writes."""
        lanes, certain = control_of(inst).exec_size, 0
        for operand, cell, is_written in self._list_sampled_rows(inst):
            row = self.raw_bytes(operand, cell, lanes) if is_written else None
            certain |= mask_of(row[1], cell) if row is not None else 0
        if not certain:
            return step
        accesses = [
            structs.replace(access, certain=certain & access.possible) if access.writes else access
            for access in step.accesses
        ]
        return structs.replace(step, accesses=tuple(accesses))

    def reads(self, place: int) -> Bits:
        """Return the bits that an instruction may read."""
        bits_by_key: Bits = {}
        for key, bits in reads_of(self.steps[place], self.taken):
            bits_by_key[key] = bits_by_key.get(key, 0) | bits
        return bits_by_key

    def writes(self, place: int) -> Bits:
        """Return the bits that an instruction may write."""
        bits_by_key: Bits = {}
        for access in self.steps[place].accesses:
            if access.writes:
                bits_by_key[access.variable] = bits_by_key.get(access.variable, 0) | access.possible
        if self.steps[place].indirect_write:
            for key, bits in self.taken.items():
                bits_by_key[key] = bits_by_key.get(key, 0) | bits
        return bits_by_key

    def live_behind(self, place: int, key: int) -> int:
        """Return the bits of a variable that may be read after an instruction."""
        if place not in self._behind:
            block = self.graph.block_of[place]
            for liveness, index in ((self._strict, 0), (self._loose, 1)):
                for step, live in liveness.behind_steps(block):
                    pair = self._behind.setdefault(step, ({}, {}))
                    pair[index].update(live)
        strict, loose = self._behind[place]
        return (strict if key in self._shared else loose).get(key, 0)

    def may_fold(self, key: int) -> bool:
        """Return whether the body declares a general variable and never takes its address."""
        return key & 7 == Space.GENERAL and key >> 3 >= FIRST_VARIABLE and key not in self.taken

    def place_bytes(self, value: General, lanes: int) -> tuple[int, list[int], int] | None:
        """Return the root variable of an operand, the first byte of each lane in it, and the size of an element."""
        here = self.storage.general.get(value.var)
        if here is None or not value.var:
            return None
        start = here.offset + regions.origin(value.row, value.col, here.element, self.grf_bytes)
        elements = regions.lane_elements(value.region, lanes)
        return variable_key(Space.GENERAL, here.root), [start + e * here.element for e in elements], here.element

    def raw_bytes(self, value: RawOperand, size: int, lanes: int) -> tuple[int, list[int], int] | None:
        """Return the same for contiguous elements of a raw operand."""
        here = self.storage.general.get(value.var)
        if here is None or not value.var:
            return None
        start = here.offset + value.offset
        return variable_key(Space.GENERAL, here.root), [start + n * size for n in range(lanes)], size

    def _find_crossing(self) -> frozenset[int]:
        """Return the variables through which lanes may exchange values, because one reads the elements of another."""
        owners: dict[int, dict[int, int]] = {}
        crossing: set[int] = set(self.taken)
        seen: set[object] = set()
        for place, inst in enumerate(self.kernel.instructions):
            control = control_of(inst)
            step = self.steps[place]
            if step.flow in (FlowClass.LABEL, FlowClass.SUBROUTINE, FlowClass.NOTE):
                continue
            keys: set[int] = set()
            for key, bytes_, size, writes in self.lanewise(inst):
                if control.exec_size == 1 or (control.no_mask and not writes):
                    continue
                keys.add(key)
                shape = (key, bytes_[0], bytes_[-1], len(bytes_), size, control.mask_offset)
                if shape in seen and len(set(bytes_)) == len(bytes_):
                    continue
                seen.add(shape)
                own = owners.setdefault(key, {})
                for lane, byte_start in enumerate(bytes_, control.mask_offset):
                    for byte in range(byte_start, byte_start + size):
                        if own.setdefault(byte, lane) != lane:
                            crossing.add(key)
            for access in step.accesses:
                if access.variable & 7 == Space.PREDICATE:
                    if not access.writes and not self._by_lane(inst):
                        crossing.add(access.variable)
                elif access.variable not in keys:
                    crossing.add(access.variable)
        return frozenset(crossing)

    def _by_lane(self, inst: Inst) -> bool:
        """Return whether each active lane reads only its own bit of the predicates of an instruction."""
        control, pred = exec_control_of(inst), inst.get("pred")
        if (
            control.no_mask
            or control.exec_size == 1
            or (isinstance(pred, Predicate) and pred.combine is not Combine.NONE)
        ):
            return False
        numbers = any(isinstance(v, PredicateOperand) for v in inst.values)
        return not numbers or isinstance(inst.get("dst"), PredicateOperand)

    def lanewise(self, inst: Inst) -> Iterator[tuple[int, list[int], int, bool]]:
        """Yield the operands with elements of lanes: the root variable, the first byte of each lane, its size, whether it is written."""
        control, message = control_of(inst), understood_message_of(inst)
        for operand, cell, is_written in self._list_sampled_rows(inst):
            elements = self.raw_bytes(operand, cell, control.exec_size)
            if elements is not None:
                yield *elements, is_written
        if message is not None:
            written = {slot.name for slot in inst.row.slots if slot.role is Role.WRITE}
            for part in register_bytes(message, self.grf_bytes):
                operand = raw_operand(inst, part.field)
                for row in range(part.count if part.cell else 0):
                    start = RawOperand(operand.var, operand.offset + part.after + row * part.pitch)
                    elements = self.raw_bytes(start, part.cell, control.exec_size)
                    if elements is not None:
                        yield *elements, part.field in written
            return
        for field, value in zip(inst.row.fields, inst.values, strict=True):
            if isinstance(value, General) and not any(isinstance(v, Indirect) for v in inst.values):
                elements = self.place_bytes(value, control.exec_size)
                if elements is not None:
                    yield *elements, field.name == "dst"


def mask_of(bytes_: Iterable[int], size: int) -> int:
    """Return the bits of elements."""
    bits = 0
    for start in bytes_:
        bits |= (1 << size) - 1 << start
    return bits
