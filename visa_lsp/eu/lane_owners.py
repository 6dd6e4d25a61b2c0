"""Finds instructions that use values of single lanes as no line of the text does, whether or not a launch shows it.

Each byte of a register that an instruction has written under the mask has an owner: the lane of its element. So have local ids, where hardware
fills registers with them. What a header, a scalar, a message of another layout or an instruction without a mask has written has none. The
owners follow every edge of the code. Reported are, if the text does nothing of the kind:

* a lane that reads a byte whose owner is another lane on every path;
* an instruction with one element for all lanes, which has an owner;
* an instruction without a mask whose source has an owner for each of its lanes.

Finalizers do these things on their own in accumulators, in copies of a kernel that spills registers, and to compare an element with itself.
Code with calls is left out, and C for Metal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.eu.model import LAST_XE_LP, MESSAGE_REGISTERS, Direct, Layout, Payload
from visa_lsp.eu.model import Indirect as MachineIndirect
from visa_lsp.isa.operands import SCALAR_REGION
from visa_lsp.isa.predefined import FIRST_VARIABLE
from visa_lsp.isa.types import ExecControl
from visa_lsp.program import regions
from visa_lsp.program.model import General, Indirect, RawOperand

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from visa_lsp.eu.model import MachineCode, MachineInst
    from visa_lsp.isa.operands import Region
    from visa_lsp.isa.platforms import Platform
    from visa_lsp.isa.types import DataType
    from visa_lsp.program.model import Inst, Kernel

    Array = np.ndarray[Any, np.dtype[Any]]

_NO_OWNER: Final = 1 << 32  # above the bits of the lanes
_CM: Final = 0  # value of the attribute "Target" of C for Metal, whose threads have all lanes
_CLASS, _GENERAL = 7, 0  # bits of the kind of an input, and the class of general variables
_CALLS: Final = ("call", "calla", "ret", "brd", "brc")
_NO_ELEMENTS: Final = ("dpas", "dpasw", "madm")  # whose operands are no elements of lanes
_ACCUMULATOR_READERS: Final = ("mach", "macl", "mac")
_QWORD: Final = 8  # bytes
_LEAST_LANES: Final = 8  # without a mask: shorter vectors are scalars that the finalizer has joined
_OF_LANES: Final = (  # words of messages of the older data ports with an element for each lane
    "untyped surface", "byte gathering", "byte scattering", "dword gathering", "dword scattering", "untyped atomic", "untyped a64",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Bytes:
    """Bytes of the register file with the bits of their lanes, an entry for each."""

    places: Array
    lanes: Array


def lane_faults(kernel: Kernel, code: MachineCode, platform: Platform) -> Iterator[tuple[MachineInst, str]]:
    """Yield each instruction that uses values of single lanes as the text does not, with what it needs."""
    if kernel.int_attribute("Target") == _CM or any(inst.op in _CALLS for inst in code.instructions):
        return
    has_payload = platform.generation <= LAST_XE_LP
    text = TextLanes(kernel, code.grf_bytes, has_payload=has_payload)
    if text.has_unknown_reads:
        return
    flow = _Flow(code)
    for start, owners in flow.owners_before_blocks(text.payload() if has_payload else ()).items():
        for inst in flow.block(start):
            needs = "" if text.mixes else flow.other_lane(inst, owners)
            if not needs and not text.broadcasts and flow.is_broadcast(inst, owners):
                needs = "an element for each lane, because its source has values of single lanes"
            if not needs and not text.unmasked and flow.is_unmasked(inst, owners):
                needs = "the mask, because its source has no values in lanes that are off"
            if needs:
                yield inst, needs
            flow.step(inst, owners)


class TextLanes:
    """The uses that a text makes of values of single lanes.

    ``mixes``: lanes use bytes of other lanes; ``broadcasts``: all lanes read one element; ``unmasked``: lanes that are off use them, too.
    ``has_unknown_reads``: it reads through an address, or a variable that nothing writes, which may have the registers of any other.
    ``has_payload``: inputs that lanes read are such values, too, and lie in the registers that the text names.
    """

    def __init__(self, kernel: Kernel, grf_bytes: int, *, has_payload: bool) -> None:
        self.kernel, self.grf = kernel, grf_bytes
        self._owners: dict[int, Array] = {}
        self._inputs = [given for given in kernel.inputs if given.kind & _CLASS == _GENERAL]
        lines = [(inst, v) for inst in kernel.instructions for v in inst.values if isinstance(v, ExecControl)]
        masked = [(inst, control) for inst, control in lines if not control.no_mask and control.exec_size > 1]
        self._own = {self._root(var)[0] for inst, _ in masked for var in _results(inst)}
        if has_payload:
            self._own |= {v.id for v in self._inputs} & {n for inst, _ in masked for n in self._read(inst)}
        self.broadcasts = self.unmasked = False
        for inst, control in lines:
            for value in inst.values:
                self._use(control, value)
        self.has_unknown_reads = self._has_unknown_reads()
        self.mixes = any(self._is_mixed(v, control) for inst, control in masked for v in inst.values)

    def _has_unknown_reads(self) -> bool:
        values = [v for inst in self.kernel.instructions for v in inst.values]
        written = {v.var for v in values if isinstance(v, RawOperand) or (isinstance(v, General) and _is_result(v))}
        roots = {self._root(n)[0] for n in (*written, *(v.id for v in self._inputs))} | set(range(FIRST_VARIABLE))
        read = {v.var for v in values if isinstance(v, General)}
        return any(isinstance(v, Indirect) for v in values) or not {self._root(n)[0] for n in read} <= roots

    def payload(self) -> Iterator[_Bytes]:
        """Yield the bytes of the first registers that the text reads as values of single lanes."""
        for given in self._inputs:
            owners = self._owners.get(given.id, np.empty(0, np.int64))[: given.size]
            places = np.flatnonzero(owners >= 0) if given.id in self._own else np.empty(0, np.int64)
            yield _Bytes(given.offset + places, 1 << owners[places])

    def _read(self, inst: Inst) -> Iterator[int]:
        """Yield the variables of which lanes read an element each."""
        for value in inst.values:
            if isinstance(value, General) and not _is_result(value) and not _is_scalar(value.region):
                yield self._root(value.var)[0]

    def _use(self, control: ExecControl, value: object) -> None:
        if isinstance(value, RawOperand) and value.var and self._root(value.var)[0] in self._own:
            self.unmasked |= control.no_mask
        elif isinstance(value, General) and not _is_result(value) and self._root(value.var)[0] in self._own:
            is_one = control.exec_size == 1 or value.region == SCALAR_REGION
            self.broadcasts |= is_one
            self.unmasked |= control.no_mask and not is_one

    def _is_mixed(self, value: object, control: ExecControl) -> bool:
        """Return whether an operand has, for some lane, a byte that the text uses for another lane elsewhere."""
        type_ = self.kernel.variable_type(value.var) if isinstance(value, General) else None
        if not isinstance(value, General) or type_ is None or _is_scalar(value.region):
            return False
        region, count = value.region, control.exec_size
        elements = regions.destination_elements(region.horz_stride or 1, count)
        if region.vert_stride is not None:
            elements = regions.source_elements(region, count)
        root, start = self._root(value.var)
        places = _places(start + regions.origin(value.row, value.col, type_.size, self.grf), elements, type_)
        lanes = np.repeat(control.mask_offset + np.arange(count), type_.size)
        owners = self._owners.setdefault(root, np.full(1, -1))
        missing = int(places.max()) + 1 - owners.size
        owners = self._owners[root] = np.append(owners, np.full(max(0, missing), -1))
        is_mixed = bool(((owners[places] >= 0) & (owners[places] != lanes)).any())
        owners[places] = lanes
        return is_mixed

    def _root(self, number: int) -> tuple[int, int]:
        """Return the variable whose bytes a variable has, and the place of its first byte there."""
        variable, start = self.kernel.variable(number), 0
        while variable is not None and variable.alias_index:
            number, start = variable.alias_index, start + variable.alias_offset
            variable = self.kernel.variable(number)
        return number, start


def _results(inst: Inst) -> Iterator[int]:
    """Yield the variables that an instruction writes, and all whole ones of a message."""
    for value in inst.values:
        if isinstance(value, RawOperand) or (isinstance(value, General) and _is_result(value)):
            yield value.var


def _is_result(value: General) -> bool:
    """Return whether an operand is written: its region has a horizontal stride only."""
    return value.region.vert_stride is None


def _is_scalar(region: Region) -> bool:
    return (region.vert_stride, region.horz_stride) == (0, 0)


def _places(start: int, elements: Sequence[int], type_: DataType) -> Array:
    return (start + np.array(elements)[:, None] * type_.size + np.arange(type_.size)).reshape(-1)


class _Flow:
    """The owners of the bytes of general registers and accumulators, along the edges of machine code."""

    def __init__(self, code: MachineCode) -> None:
        self.code, self.grf = code, code.grf_bytes
        starts = Layout(code.grf_bytes).starts
        self.acc, self.size = starts["acc"], starts["f"]
        self._reads = [tuple(self._read(inst)) for inst in code.instructions]
        self._writes = [tuple(self._written(inst)) for inst in code.instructions]
        branches = [inst for inst in code.instructions if inst.targets]
        ends = {place for inst in branches for place in (*inst.landings, inst.index + 1)}
        leaders = sorted({0, *ends} & set(range(len(code.instructions))))
        self._ends = dict(zip(leaders, [*leaders[1:], len(code.instructions)], strict=False))
        self._spills = any("scratch" in f"{i.text} {i.comment}" or i.addressing == "ss" for i in code.instructions)

    def block(self, start: int) -> Sequence[MachineInst]:
        """Return the instructions of a block."""
        return self.code.instructions[start : self._ends[start]]

    def owners_before_blocks(self, payload: Iterable[_Bytes]) -> dict[int, Array]:
        """Return the owners of all bytes ahead of each block; ``payload`` has those at the start."""
        before, work = {0: np.full(self.size, _NO_OWNER)}, {0}
        for given in payload:
            before[0][given.places] = given.lanes
        while work:
            start = min(work)
            work.remove(start)
            owners = before[start].copy()
            for inst in self.block(start):
                self.step(inst, owners)
            for after in self._nexts(self._ends[start] - 1):
                joined = owners | before.get(after, 0)
                if after not in before or (joined != before[after]).any():
                    before[after] = joined
                    work.add(after)
        return before

    def step(self, inst: MachineInst, owners: Array) -> None:
        """Follow an instruction."""
        for written in self._writes[inst.index]:
            owners[written.places] = written.lanes
        if isinstance(inst.dst, MachineIndirect):
            owners |= _NO_OWNER

    def _nexts(self, index: int) -> set[int]:
        inst = self.code.instructions[index]
        nexts = set(inst.landings)
        if "EOT" not in inst.options and (inst.op != "jmpi" or inst.guard is not None):
            nexts.add(index + 1)
        return nexts & self._ends.keys()

    # ---- what is reported

    def other_lane(self, inst: MachineInst, owners: Array) -> str:
        """Return words about a byte whose owner is another lane than the one that reads it; empty if there is none."""
        if inst.no_mask or inst.lanes == 1:
            return ""
        for read in self._reads[inst.index]:
            there = owners[read.places]
            wrong = np.flatnonzero((there & (read.lanes | _NO_OWNER) == 0) & (there != 0))
            if wrong.size:
                wanted, owner = (int(bits[wrong[0]]).bit_length() - 1 for bits in (read.lanes, there))
                place = int(read.places[wrong[0]])
                where = f"r{place // self.grf}" if place < self.acc else f"acc{(place - self.acc) // self.grf}"
                return f"the value of lane {wanted} in {where}, where that of lane {owner} is"
        return ""

    def is_broadcast(self, inst: MachineInst, owners: Array) -> bool:
        """Return whether all lanes read one element that has an owner."""
        if inst.no_mask or inst.lanes == 1 or inst.is_message or len(set(inst.sources)) < len(inst.sources):
            return False
        scalars = (
            s for s in inst.sources if isinstance(s, Direct) and 0 <= s.start < self.size and _is_scalar(s.region)
        )
        return any(bool((owners[s.start : s.start + s.type.size] & _NO_OWNER == 0).all()) for s in scalars)

    def is_unmasked(self, inst: MachineInst, owners: Array) -> bool:
        """Return whether lanes that are off use bytes that have owners."""
        dst = inst.dst
        if not inst.no_mask or inst.lanes < _LEAST_LANES or inst.is_message or not isinstance(dst, Direct):
            return False
        # Parts of products, of qwords by way of a register.
        is_part = inst.op == "mul" and any(isinstance(s, Direct) and s.type.size == _QWORD for s in inst.sources)
        if dst.register.kind == "acc" or is_part or (self._spills and inst.op == "mov"):
            return False
        there = [(owners[read.places], read.lanes) for read in self._reads[inst.index]]
        return any(bool((owned & (_NO_OWNER | lanes) == lanes).all()) for owned, lanes in there)

    # ---- bytes of an instruction

    def _read(self, inst: MachineInst) -> Iterator[_Bytes]:
        if inst.lanes == 1 or inst.op in _NO_ELEMENTS:
            return
        for number, source in enumerate(inst.sources):
            if isinstance(source, Direct) and not inst.is_message and 0 <= source.start < self.size:
                elements = regions.source_elements(source.region, inst.lanes)
                if source.macro is None and len(set(elements)) == inst.lanes:
                    yield self._elements(inst, source, elements)
            elif isinstance(source, Payload) and source.start >= 0:
                yield from self._payload(inst, source, _cell(inst, is_address=number == 0))
        if inst.op in _ACCUMULATOR_READERS:
            yield self._accumulator(inst)

    def _written(self, inst: MachineInst) -> Iterator[_Bytes]:
        dst = inst.dst
        is_own = not inst.no_mask and inst.lanes > 1 and inst.op not in _NO_ELEMENTS
        if isinstance(dst, Payload) and dst.start >= 0:
            yield self._no_owner(dst.start, dst.start + (dst.registers or MESSAGE_REGISTERS) * self.grf)
            if is_own:
                yield from self._payload(inst, dst, _cell(inst, is_address=False))
            return
        for start, end in inst.writes:
            yield self._no_owner(start, end)
        if is_own and isinstance(dst, Direct) and 0 <= dst.start < self.size and dst.macro is None:
            yield self._elements(inst, dst, regions.destination_elements(dst.region.horz_stride or 1, inst.lanes))
        is_explicit = isinstance(dst, Direct) and dst.register.kind == "acc"
        if is_own and not is_explicit and any(start == self.acc for start, _ in inst.writes):
            yield self._accumulator(inst)

    def _elements(self, inst: MachineInst, operand: Direct, elements: Sequence[int]) -> _Bytes:
        places = _places(operand.start, elements, operand.type)
        return self._inside(places, np.repeat(1 << inst.offset + np.arange(inst.lanes), operand.type.size))

    def _payload(self, inst: MachineInst, payload: Payload, cell: int) -> Iterator[_Bytes]:
        """Yield the bytes of a payload with ``cell`` bytes for each lane in a component; none for 0 or another size."""
        size = (payload.registers or 0) * self.grf
        if cell and size and size % (cell * inst.lanes) == 0:
            offsets = np.arange(size)
            yield self._inside(payload.start + offsets, 1 << inst.offset + offsets % (inst.lanes * cell) // cell)

    def _accumulator(self, inst: MachineInst) -> _Bytes:
        lanes = np.arange(4 * inst.lanes)
        return self._inside(self.acc + lanes, 1 << inst.offset + lanes // 4)

    def _no_owner(self, start: int, end: int) -> _Bytes:
        places = np.arange(start, end)
        return self._inside(places, np.full(places.size, _NO_OWNER))

    def _inside(self, places: Array, lanes: Array) -> _Bytes:
        inside = places < self.size
        return _Bytes(places[inside], lanes[inside])


def _cell(inst: MachineInst, *, is_address: bool) -> int:
    """Return the bytes of a lane in a component of a message's payload; 0 where that is not known here."""
    words = f"{inst.text} {inst.comment}"
    if inst.subop in ("ugm", "slm") and (".a32" in words or ".a64" in words):
        return 8 if (".a64" if is_address else ".d64") in words else 4
    if inst.subop in ("dc0", "dc1") and "h+" not in words and any(word in words for word in _OF_LANES):
        return 8 if ("a64" if is_address else "int64") in words else 4
    return 0
