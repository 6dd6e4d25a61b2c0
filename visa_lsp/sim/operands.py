"""Compiles operands: from a value of the program to closures that read or write lanes of a frame's registers.

A closure is created once per instruction and takes only the frame. Reading returns an array with one element (for all
lanes) or with one per lane, in the storage type of the operand; callers apply modifiers and conversions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.flow.bit_accesses import find_unread_rows
from visa_lsp.isa import types as ty
from visa_lsp.isa.model import Role
from visa_lsp.isa.operands import OperandModifier
from visa_lsp.program import regions
from visa_lsp.program.message import message_of, sample_message_of
from visa_lsp.program.model import (
    Address,
    AddressOf,
    Combine,
    General,
    Immediate,
    Indirect,
    Inst,
    Predicate,
    PredicateOperand,
    RawOperand,
    State,
    Value,
)
from visa_lsp.sim.faults import FaultKind, KernelFault
from visa_lsp.sim.values import DTYPE, immediate, unpack_type

if TYPE_CHECKING:
    from visa_lsp.program.message import Message, SampleMessage
    from visa_lsp.sim.interp import Code
    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]
Op = Callable[["Frame"], "int | None"]
Fetch = Callable[["Frame"], Array]
Enable = Callable[["Frame"], int]
Store = Callable[["Frame", int, Array], None]

TSC: Final = 6
ARG: Final = 8  # followed by %retval, %sp, %fp
HW_ID: Final = 12
CR0: Final = 14
CE0: Final = 15

_MASKS: dict[tuple[int, int], Array] = {}


def lane_mask(mask: int, lanes: int) -> Array:
    """Return a lane mask as an array of booleans, cached."""
    key = (mask, lanes)
    booleans = _MASKS.get(key)
    if booleans is None:
        if len(_MASKS) > 1 << 16:
            _MASKS.clear()
        booleans = np.array([mask >> i & 1 for i in range(lanes)], bool)
        booleans.flags.writeable = False
        _MASKS[key] = booleans
    return booleans


def mask_bits(lanes: Array) -> int:
    """Return booleans as the bits of an integer, lane 0 lowest."""
    return int.from_bytes(np.packbits(lanes, bitorder="little").tobytes(), "little")


@dataclass(frozen=True, slots=True)
class Touch:
    """Bytes of the register file that an instruction reads or writes: for each lane, or ``None`` lanes, for the thread.

    ``places`` has a row of byte numbers for each lane (or one row); ``indirect`` returns the rows at run time. ``field``
    is the operand's name; ``filled``: the bytes are defined before the first write.
    """

    write: bool
    field: str
    var: int
    start: int
    elements: tuple[int, ...]
    size: int
    lanes: int
    raw: bool = False
    indirect: Callable[[Frame], Array] | None = None
    filled: bool = False

    @property
    def places(self) -> Array:
        """The byte numbers, a row for each element."""
        return self.start + np.array(self.elements, np.int64)[:, None] + np.arange(self.size)


class Site:
    """The context of one instruction while it is compiled: its operands, its lanes, its code."""

    def __init__(self, code: Code, inst: Inst, pc: int) -> None:
        self.code = code
        self.inst = inst
        self.pc = pc
        control = inst.get("exec")
        self.set_control(control if isinstance(control, ty.ExecControl) else ty.ExecControl(1, 0, no_mask=True))
        self.grf = code.layout.grf_bytes

    def set_control(self, control: ty.ExecControl) -> None:
        """Set the lanes and the mask of the instruction; some messages have them in other fields."""
        self.control, self.lanes, self.full = control, control.exec_size, (1 << control.exec_size) - 1

    def integer(self, name: str, default: int = 0) -> int:
        """Return the value of an integer field, or log2 of the lanes of an exec byte; ``default`` if there is none."""
        value = self.inst.get(name, default)
        if isinstance(value, ty.ExecControl):
            return value.exec_size.bit_length() - 1
        return value if isinstance(value, int) else default

    def has(self, name: str) -> bool:
        """Return whether the instruction has a field of this name."""
        return name in self.inst.row.index

    def raw(self, name: str) -> RawOperand:
        """Return a raw operand field; ``%null`` if the instruction has none."""
        value = self.inst.get(name)
        return value if isinstance(value, RawOperand) else RawOperand(0, 0)

    def fault(self, message: str) -> KernelFault:
        """Return a KernelFault, to be raised, about this instruction's form."""
        return KernelFault(FaultKind.OPERAND, f"{self.inst.row.mnemonic}: {message}")

    def message(self) -> Message:
        """Return the value of the instruction's message. Raises MessageError if its fields have no meaning."""
        message = message_of(self.inst)
        assert message is not None
        return message

    def sample_message(self) -> SampleMessage:
        """Return the value of the instruction's message to the sampler."""
        return sample_message_of(self.inst, self.code.kernel.variable_type)

    # ---- which lanes

    def enable(self, *, predicate: bool = True) -> Enable:
        """Return the channel enable bits of the instruction."""
        pred = self.inst.get("pred") if predicate else None
        return make_enable(self.control, pred if isinstance(pred, Predicate) else None)

    # ---- vector operands

    def operand_type(self, operand: Value) -> ty.DataType:
        """Return the element type of a vector operand. Raises KernelFault if it names no variable."""
        if isinstance(operand, General | AddressOf):
            type_ = self.code.kernel.variable_type(operand.var)
            if type_ is None:
                raise self.fault(f"there is no variable V{operand.var}")
            return type_
        if isinstance(operand, Indirect):
            return operand.type
        if isinstance(operand, Immediate):
            return unpack_type(operand.type)
        if isinstance(operand, Address):
            return ty.UW
        return ty.UD

    def origin(self, operand: General | AddressOf) -> int:
        """Return the byte offset in the register file of a general operand's first element."""
        size = self.operand_type(operand).size
        return self.code.layout.offset(operand.var) + regions.origin(operand.row, operand.col, size, self.grf)

    def read(self, operand: Value, lanes: int | None = None, dtype: np.dtype[Any] | None = None) -> Fetch:
        """Return a function that returns the lanes of a source: an array with one element, or with one per lane.

        ``dtype`` reinterprets the bits of a general or indirect operand. Raises KernelFault if the operand
        cannot be read.
        """
        lanes = self.lanes if lanes is None else lanes
        type_ = self.operand_type(operand)
        kind = dtype or DTYPE[type_]
        if isinstance(operand, Immediate):
            constant = immediate(operand, lanes)
            if dtype is not None and dtype != constant.dtype:
                constant = constant.view(dtype) if dtype.itemsize == constant.itemsize else constant.astype(dtype)
            return lambda _f: constant
        if isinstance(operand, General):
            return self._read_general(operand, lanes, kind)
        if isinstance(operand, Indirect):
            return self._read_indirect(operand, lanes, kind)
        if isinstance(operand, PredicateOperand):
            var = operand.var
            return lambda f: np.array([f.preds[var]], np.uint32)
        if isinstance(operand, Address):
            base = self.code.layout.address_base[operand.var] + operand.offset
            places = base + np.arange(lanes) % max(1, operand.width)
            return lambda f: f.addr[places].astype(np.uint16)
        if isinstance(operand, State):
            cell = self.state_cell(operand)
            if operand.sampler:
                return lambda f: np.array([f.samplers[cell]], np.int64).astype(np.uint32)
            return lambda f: np.array([f.surfaces[cell]], np.int64).astype(np.uint32)
        raise self.fault(f"cannot read {operand!r}")

    def _read_general(self, operand: General, lanes: int, kind: np.dtype[Any]) -> Fetch:
        root = self.code.layout.root(operand.var)
        if root == CE0:
            return lambda f: np.array([f.emask], np.uint32).view(kind)[:1]
        elements = regions.source_elements(operand.region, lanes)
        start = self.origin(operand)
        self._check_region(operand, elements, kind.itemsize)
        self._touch(operand, start, [e * kind.itemsize for e in elements], kind.itemsize, write=False)
        view, flat = self.code.view_of(start, elements, kind)
        if root == TSC:
            offset = self.code.layout.offset(TSC)

            def timestamp(f: Frame) -> Array:
                f.put(offset, f.thread.clock() if f.thread else 0, 8)
                return f.views[view].reshape(-1)

            return timestamp
        if flat:
            return lambda f: f.views[view]
        return lambda f: f.views[view].reshape(-1)

    def _touch(
        self, operand: Value, start: int, offsets: list[int], size: int, *, write: bool, raw: bool = False
    ) -> None:
        """Record the registers that the instruction touches for observers, except those of the null variable."""
        layout = self.code.layout
        if start < layout.offset(1):
            return
        filled = start < layout.predefined_end and not layout.offset(ARG) <= start < layout.offset(HW_ID)
        var = operand.var if isinstance(operand, General | RawOperand) else 0
        self.code.touch(
            self.pc,
            Touch(write, self._field(operand), var, start, tuple(offsets), size, self.lanes, raw=raw, filled=filled),
        )

    def _field(self, operand: Value) -> str:
        """Return the name of an operand; empty for one that is made up."""
        return next((f.name for f, v in zip(self.inst.row.fields, self.inst.values, strict=True) if v is operand), "")

    def _writes(self, operand: RawOperand) -> bool:
        """Return whether the message writes a raw operand."""
        for slot in self.inst.row.slots:
            if self.inst.get(slot.name) is operand:
                return slot.role is not Role.READ
        # An operand of no field is what follows the data: the residency of pages.
        parts = (part for value in self.inst.values for part in (value if isinstance(value, tuple) else (value,)))
        return all(operand is not part for part in parts)

    def _check_region(self, operand: General, elements: list[int], size: int) -> None:
        """Report an operand that leaves its variable to the observers."""
        if operand.var == 0:
            return
        low, high = regions.byte_range(regions.origin(operand.row, operand.col, size, self.grf), elements, size)
        room = self.code.layout.byte_size(operand.var)
        if low < 0 or high > room:
            name = self.code.kernel.variable_name(operand.var)
            self.code.notes[self.pc] = f"the region touches bytes {low} to {high - 1} of {name}, which has {room}"

    def indirect_places(self, operand: Indirect, lanes: int) -> Callable[[Frame], Array]:
        """Return a function for the byte numbers that the lanes of an indirect operand touch."""
        cells, offsets = self.indirect_cells(operand, lanes)
        return lambda f: f.addr[cells] + offsets

    def indirect_cells(self, operand: Indirect, lanes: int) -> tuple[Array | int, Array]:
        """Return the address elements of the lanes of an indirect operand, one or one for each, and what is added to them."""
        region, cells = operand.region, self.code.layout.address_base[operand.var] + operand.addr_offset
        if region.width is None:
            elements = regions.destination_elements(region.horz_stride or 0, lanes)
        else:
            elements = regions.source_elements(region, lanes)
        offsets = np.array(elements) * operand.type.size + operand.offset
        if region.vert_stride is None and region.width is not None:
            return cells + np.arange(max(1, lanes // region.width)).repeat(region.width)[:lanes], offsets
        return cells, offsets

    def _read_indirect(self, operand: Indirect, lanes: int, kind: np.dtype[Any]) -> Fetch:
        places, size = self.indirect_places(operand, lanes), operand.type.size
        self.code.touch(self.pc, Touch(False, self._field(operand), -1, 0, (), size, lanes, indirect=places))

        def fetch(f: Frame) -> Array:
            offsets = places(f)
            if (offsets & (size - 1)).any() or offsets.min() < 0 or offsets.max() > f.regs.size - size:
                return _gather_bytes(f, offsets, size).view(kind).reshape(-1)
            return np.asarray(f.typed[size][offsets // size].view(kind))

        return fetch

    def state_cell(self, operand: State) -> int:
        """Return the index of a state operand's value in the frame's ``surfaces`` or ``samplers``."""
        if operand.sampler:
            bases = self.code.layout.sampler_base
            if operand.var >= len(bases):
                return self.code.layout.sampler_cells - 1
            return bases[operand.var] + operand.offset
        return self.code.layout.surface_base[operand.var] + operand.offset

    def scalar(self, name: str) -> Callable[[Frame], int]:
        """Return the first element of a vector operand field, as an integer; 0 if it is missing."""
        return self.scalar_of(self.inst.get(name))

    def scalar_of(self, operand: Value) -> Callable[[Frame], int]:
        """Return the first element of an operand, as an integer; 0 if there is none."""
        if isinstance(operand, int):
            given: int = operand
            return lambda _f: given
        if isinstance(operand, RawOperand):
            offset = self.code.layout.offset(operand.var) + operand.offset
            self._touch(operand, offset, [0], 4, write=False, raw=True)
            return lambda f: f.word(offset)
        if operand is None:
            return lambda _f: 0
        if isinstance(operand, Immediate):
            number: int = immediate(operand, 1).item()
            return lambda _f: int(number)
        fetch = self.read(operand, 1)
        modifier = getattr(operand, "modifier", OperandModifier.NONE)
        if modifier is OperandModifier.NEG:
            return lambda f: -int(fetch(f)[0])
        return lambda f: int(fetch(f)[0])

    # ---- destinations

    def write(self, operand: Value, lanes: int | None = None) -> Store:
        """Return a function that stores the lanes set in a mask into a destination.

        Its array has the destination's storage type, and one element or one per lane. Raises KernelFault if the operand
        cannot be written.
        """
        lanes = self.lanes if lanes is None else lanes
        if isinstance(operand, General):
            return self._write_general(operand, lanes)
        if isinstance(operand, Indirect):
            places, kind, size = self.indirect_places(operand, lanes), DTYPE[operand.type], operand.type.size
            self.code.touch(self.pc, Touch(True, self._field(operand), -1, 0, (), size, lanes, indirect=places))

            def store(f: Frame, mask: int, value: Array) -> None:
                offsets = places(f)
                chosen = np.flatnonzero(lane_mask(mask, lanes))
                rows = np.broadcast_to(value.astype(kind), (lanes,))[chosen]
                _scatter_bytes(f, offsets[chosen], np.ascontiguousarray(rows).view(np.uint8).reshape(-1, size))

            return store
        raise self.fault(f"cannot write to {operand!r}")

    def _write_general(self, operand: General, lanes: int) -> Store:
        if operand.var == 0:
            return lambda _f, _mask, _value: None
        kind = DTYPE[self.operand_type(operand)]
        elements = regions.destination_elements(operand.region.horz_stride or 1, lanes)
        self._check_region(operand, elements, kind.itemsize)
        start = self.origin(operand)
        self._touch(operand, start, [e * kind.itemsize for e in elements], kind.itemsize, write=True)
        view, _ = self.code.view_of(start, elements, kind, spread=True)
        full = (1 << lanes) - 1

        def store(f: Frame, mask: int, value: Array) -> None:
            target = f.views[view]
            if value.base is not None and value.strides != target.strides:
                value = value.copy()  # because NumPy may overwrite lanes of the same registers before it has read them
            if mask == full:
                target[...] = value
            elif mask:
                np.copyto(target, value, casting="unsafe", where=lane_mask(mask, lanes))

        if self.code.layout.root(operand.var) != CR0:
            return store
        control = self.code.layout.offset(CR0)

        def store_control(f: Frame, mask: int, value: Array) -> None:
            store(f, mask, value)
            f.set_modes(f.word(control))

        return store_control

    # ---- raw operands

    def raw_view(self, operand: RawOperand, kind: str, rows: int, columns: int, row_bytes: int) -> int | None:
        """Return a view of ``rows`` x ``columns`` elements of type ``kind``; None for ``%null``.

        Rows are ``row_bytes`` bytes apart, columns are contiguous.
        """
        if operand.var == 0:
            return None
        start = self.code.layout.offset(operand.var) + operand.offset
        end = start + (rows - 1) * row_bytes + columns * np.dtype(kind).itemsize
        # Messages fill whole registers, and no other variable uses the last register of a variable.
        size = -(-self.code.layout.byte_size(operand.var) // self.grf) * self.grf
        room = self.code.layout.offset(operand.var) + size
        if end > room:
            name = self.code.kernel.variable_name(operand.var)
            self.code.notes[self.pc] = f"the message reaches {end - room} bytes past the end of {name}"
        width = columns * np.dtype(kind).itemsize
        cell = width // self.lanes if width % self.lanes == 0 else width
        offsets = [row * row_bytes + column for row in range(rows) for column in range(0, width, cell)] if cell else []
        self._touch(operand, start, offsets, cell, write=self._writes(operand), raw=True)
        return self.code.view(start, np.dtype(kind), (rows, columns), (row_bytes, np.dtype(kind).itemsize))

    def unread_rows(
        self, operand: RawOperand, rows: int, columns: int, row_bytes: int
    ) -> Callable[[Frame], Array | None]:
        """Return a function for the rows of a message's destination that no instruction of the body reads, as a mask.

        It returns None if all or none are read. Predefined variables count as read. Only watched runs evaluate it.
        """
        if rows < 2:
            return lambda _f: None
        masks: list[Array | None] = []

        def find(f: Frame) -> Array | None:
            if f.thread is None or not f.thread.machine.watched:
                return None
            if not masks:
                unread = find_unread_rows(self.code.read_bytes, self.code.storage, operand, rows, columns, row_bytes)
                masks.append(np.array(unread) if unread else None)
            return masks[0]

        return find


def make_enable(control: ty.ExecControl, pred: Predicate | None) -> Enable:
    """Return the channel enable bits: execution mask and predicate, lane 0 of the instruction lowest (seed 004)."""
    full, offset = (1 << control.exec_size) - 1, control.mask_offset
    if pred is None:
        if control.no_mask:
            return lambda _f: full
        if offset == 0:
            return lambda f: f.emask & full
        return lambda f: f.emask >> offset & full
    bits = predicate_bits(pred, offset, full)
    if control.no_mask:
        return bits
    return lambda f: f.emask >> offset & bits(f)


def predicate_bits(pred: Predicate, offset: int, full: int) -> Enable:
    """Return the predicate bits of an instruction's lanes, combined and inverted as written."""
    var, flip = pred.var, full if pred.inverse else 0
    if pred.combine is Combine.ANY:
        return lambda f: (full if f.preds[var] >> offset & full else 0) ^ flip
    if pred.combine is Combine.ALL:
        return lambda f: (full if f.preds[var] >> offset & full == full else 0) ^ flip
    return lambda f: (f.preds[var] >> offset & full) ^ flip


def _gather_bytes(f: Frame, offsets: Array, size: int) -> Array:
    inside = (offsets >= 0) & (offsets <= f.regs.size - size)
    out = np.zeros((offsets.size, size), np.uint8)
    out[inside] = f.regs[offsets[inside][:, None] + np.arange(size)]
    if not inside.all() and f.thread:
        f.thread.register_outside(int(offsets[~inside][0]))
    return out


def _scatter_bytes(f: Frame, offsets: Array, rows: Array) -> None:
    size = rows.shape[1]
    inside = (offsets >= 0) & (offsets <= f.regs.size - size)
    f.regs[offsets[inside][:, None] + np.arange(size)] = rows[inside]
    if not inside.all() and f.thread:
        f.thread.register_outside(int(offsets[~inside][0]))


def make_no_op(site: Site) -> Op:
    """Return an op without effect: labels, source positions, lifetimes."""
    del site
    return lambda _f: None
