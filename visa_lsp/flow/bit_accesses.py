"""The bits of variables that an instruction reads and writes, from its row and operands.

Regions and the values of messages (``program.message``) give exact bytes. The raw operands of other messages may touch
all bytes from their start on and certainly touch none.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from visa_lsp.flow.steps import Access, AccessPurpose, Space, number_of, space_of, variable_key
from visa_lsp.flow.storage import MAX_VARIABLE_BITS, Storage
from visa_lsp.isa.model import FieldKind, FlowClass, Instruction, PredicateUse, Role, Shape, Slot, Trait
from visa_lsp.isa.predefined import FIRST_VARIABLE
from visa_lsp.isa.types import ExecControl
from visa_lsp.program import regions
from visa_lsp.program.message import is_message, register_bytes, understood_message_of
from visa_lsp.program.model import (
    Address,
    AddressOf,
    General,
    Indirect,
    Inst,
    Kernel,
    Predicate,
    PredicateOperand,
    RawOperand,
    State,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from visa_lsp.isa.operands import Region

_HANDLES: Final = {FieldKind.SURFACE: Space.SURFACE, FieldKind.SAMPLER: Space.SAMPLER}
_ONE_LANE: Final = ExecControl(1, 0, no_mask=True)
_ARG, _RETVAL, _SP, _FP = 8, 9, 10, 11
_POINTER: Final = 0xFF
_ALL_LANES: Final = (1 << 32) - 1
_NOTHING: Final[Mapping[str, int]] = {}


@cache
def slots_of(row: Instruction) -> Mapping[str, Slot]:
    """Return the slot of each field, by field name; a field with several slots has that of the register."""
    return {name: slot for slot in reversed(row.slots) for name in slot.name.split(",")}


def is_same_for_any_value(inst: Inst) -> bool:
    """Return whether the result does not depend on the sources: compilers find the active lanes in this way."""
    return inst.row.has(Trait.COMPARES | Trait.CANCELS) and inst.get("src0") == inst.get("src1")


def exec_control_of(inst: Inst) -> ExecControl:
    """Return the execution size and mask of an instruction; one lane without a mask if it has none."""
    control = inst.get("exec")
    return control if isinstance(control, ExecControl) else _ONE_LANE


def accesses_of(inst: Inst, storage: Storage) -> tuple[Access, ...]:
    """Return the accesses of an instruction."""
    return tuple(_accesses(inst, storage, _moved_bytes(inst, storage.grf_bytes)))


def read_bytes_of(kernel: Kernel, storage: Storage) -> dict[int, int]:
    """Return the bytes of each variable that some instruction of a body may read, as bits; aliases count with their root."""
    found: dict[int, int] = {}
    for inst in kernel.instructions:
        for access in accesses_of(inst, storage):
            if space_of(access.variable) is Space.GENERAL and not access.writes:
                root = number_of(access.variable)
                found[root] = found.get(root, 0) | access.possible
    return found


def find_unread_rows(
    read_bytes: Mapping[int, int], storage: Storage, operand: RawOperand, rows: int, columns: int, pitch: int
) -> list[bool]:
    """Return for each row of a message's destination whether no instruction of the body reads it; none if all or no rows are.

    ``read_bytes`` are those of ``read_bytes_of``. Rows of ``columns`` bytes lie ``pitch`` bytes apart. Predefined variables
    count as read.
    """
    place = storage.general.get(operand.var)
    if rows < 2 or place is None or place.root < FIRST_VARIABLE:
        return []
    read = read_bytes.get(place.root, 0) >> place.offset + operand.offset
    unread = [not read >> row * pitch & (1 << columns) - 1 for row in range(rows)]
    return unread if any(unread) and not all(unread) else []


def _moved_bytes(inst: Inst, grf_bytes: int) -> Mapping[str, int]:
    """Return the bytes of raw operands that a message moves, as bits, by field."""
    if not is_message(inst.row.meaning):
        return _NOTHING
    message, found = understood_message_of(inst), dict[str, int]()
    if message is not None:
        for part in register_bytes(message, grf_bytes):
            if part.end <= MAX_VARIABLE_BITS:
                found[part.field] = found.get(part.field, 0) | part.mask
    return found


def touches_indirectly(inst: Inst) -> tuple[bool, bool]:
    """Return whether an instruction reads, and whether it writes, registers that are known only at run time."""
    reads = writes = False
    for number, value in enumerate(inst.values):
        if type(value) is Indirect or (type(value) is tuple and any(type(v) is Indirect for v in value)):
            role = _role(inst.row, inst.row.fields[number].name)
            reads |= role is not Role.WRITE
            writes |= role is not Role.READ
    return reads, writes


@cache
def _role(row: Instruction, field: str) -> Role:
    slot = slots_of(row).get(field)
    return slot.role if slot is not None and slot.role in (Role.WRITE, Role.READ_WRITE) else Role.READ


def _accesses(inst: Inst, storage: Storage, moved: Mapping[str, int]) -> Iterator[Access]:
    row, control = inst.row, exec_control_of(inst)
    for spec, value in zip(row.fields, inst.values, strict=True):
        name = spec.name
        if isinstance(value, Predicate):
            if value.var:
                yield _guard(row, value, control)
        elif isinstance(value, int):
            # In newer messages the value of a general operand may also select the surface.
            if spec.kind in _HANDLES:
                key = variable_key(_HANDLES[spec.kind], value)
                yield Access(name, key, writes=False, possible=1, purpose=AccessPurpose.HANDLE)
        elif value is None or isinstance(value, ExecControl):
            continue
        elif isinstance(value, PredicateOperand) and not isinstance(inst.get("dst"), PredicateOperand):
            # The predicate is read as a number: all of its lanes, whatever the execution size.
            key, lanes = variable_key(Space.PREDICATE, value.var), (1 << control.exec_size) - 1 << control.mask_offset
            yield Access(name, key, writes=False, possible=_ALL_LANES, certain=lanes)
        else:
            for one in value if isinstance(value, tuple) else (value,):
                yield from _operand(row, name, one, control, storage, moved)
    if row.flow is FlowClass.FUNCTION_CALL:
        yield from _arguments(inst, storage)


def _guard(row: Instruction, value: Predicate, control: ExecControl) -> Access:
    lanes = (1 << control.exec_size) - 1 << control.mask_offset
    key = variable_key(Space.PREDICATE, value.var)
    match row.predicate_use:
        case PredicateUse.GUARDS:
            return Access("pred", key, writes=False, possible=lanes, purpose=AccessPurpose.GUARD)
        case PredicateUse.CHOOSES:
            return Access("pred", key, writes=False, possible=lanes)
        case PredicateUse.RECEIVES:
            return Access("pred", key, writes=True, possible=lanes, certain=lanes)


def _operand(
    row: Instruction, name: str, value: Value, control: ExecControl, storage: Storage, moved: Mapping[str, int]
) -> Iterator[Access]:
    """Yield the accesses of a vector or raw operand."""
    role, lanes = _role(row, name), control.exec_size
    match value:
        case General():
            yield from _both(name, role, *_general(row, name, value, lanes, storage))
        case RawOperand():
            yield from _both(name, role, *_raw(value, storage, moved.get(name)))
        case AddressOf():
            key, room = _root(value.var, storage)
            yield Access(name, key, writes=False, possible=room, purpose=AccessPurpose.TAKEN)
        case PredicateOperand():
            # Setting a predicate and logic on predicates work lane by lane.
            bits = (1 << lanes) - 1 << control.mask_offset
            yield from _both(name, role, variable_key(Space.PREDICATE, value.var), bits, bits)
        case Address():
            width = lanes if role is Role.WRITE else max(1, min(value.width, MAX_VARIABLE_BITS))
            bits = _shift((1 << width) - 1, value.offset)
            yield from _both(name, role, variable_key(Space.ADDRESS, value.var), bits, bits)
        case Indirect():
            region = value.region
            several = region.vert_stride is None and region.width is not None
            count = max(1, lanes // (region.width or 1)) if several else 1
            bits = _shift((1 << count) - 1, value.addr_offset)
            key = variable_key(Space.ADDRESS, value.var)
            yield Access(name, key, writes=False, possible=bits, purpose=AccessPurpose.ADDRESSES)
        case State():
            space = Space.SAMPLER if value.sampler else Space.SURFACE
            bit = _shift(1, value.offset)
            yield from _both(name, role, variable_key(space, value.var), bit, bit)


def _both(name: str, role: Role, key: int, possible: int, certain: int) -> Iterator[Access]:
    if role is not Role.WRITE:
        yield Access(name, key, writes=False, possible=possible, certain=certain)
    if role is not Role.READ:
        yield Access(name, key, writes=True, possible=possible, certain=certain)


def _root(number: int, storage: Storage) -> tuple[int, int]:
    root = storage.root(number)
    return variable_key(Space.GENERAL, root), (1 << storage.room.get(root, 0)) - 1


def _general(row: Instruction, name: str, value: General, lanes: int, storage: Storage) -> tuple[int, int, int]:
    """Return key, possible and certain bytes of a general operand."""
    here = storage.general.get(value.var)
    if here is None or value.var == 0:
        return variable_key(Space.GENERAL, storage.root(value.var)), 0, 0
    key, room = variable_key(Space.GENERAL, here.root), storage.room.get(here.root, 0)
    has_region, scalar = _shape(row, name)
    start = here.offset + regions.origin(value.row, value.col, here.element, storage.grf_bytes)
    if not has_region:
        return key, _behind(start, (1 << room) - 1), 0
    touched = _place_region(value.region, 1 if scalar else lanes, here.element, start, room)
    if name == "dst" and row.has(Trait.OWN_SHAPE):
        # The high halves of a wide product are in the registers behind the low ones.
        rows = regions.rows_of_low_halves(value.region.horz_stride or 1, lanes, here.element, storage.grf_bytes)
        touched |= _place_region(value.region, lanes, here.element, start + rows * storage.grf_bytes, room)
    return key, touched, touched


@cache
def _shape(row: Instruction, name: str) -> tuple[bool, bool]:
    """Return whether the region of an operand determines the touched bytes, and whether it is the region of one lane."""
    slot = slots_of(row).get(name)
    if slot is None:
        return False, False
    own_shape = row.has(Trait.OWN_SHAPE) and not row.has(Trait.PRODUCT)
    return slot.shape is Shape.VECTOR and not own_shape, slot.scalar


def _raw(value: RawOperand, storage: Storage, moved: int | None) -> tuple[int, int, int]:
    """Return key, possible and certain bytes of a raw operand, of which the message moves ``moved``."""
    key, room = _root(value.var, storage)
    here = storage.general.get(value.var)
    if here is None or value.var == 0:
        return key, 0, 0
    start = here.offset + value.offset
    if moved is None:
        return key, _behind(start, room), 0
    touched = _shift(moved, start) & room
    return key, touched, touched


def _arguments(inst: Inst, storage: Storage) -> Iterator[Access]:
    """Yield the accesses of a function call to predefined variables."""
    for field, number, writes in (("argsize", _ARG, False), ("retsize", _RETVAL, True)):
        count = inst.get(field)
        if isinstance(count, int) and count:
            bits = (1 << min(count * storage.grf_bytes, storage.room.get(number, 0))) - 1
            yield Access(field, variable_key(Space.GENERAL, number), writes=writes, possible=bits, certain=bits)
    for number in (_SP, _FP):
        yield Access("", variable_key(Space.GENERAL, number), writes=False, possible=_POINTER, certain=_POINTER)


def _behind(start: int, room: int) -> int:
    """Return the bits of a variable from ``start`` on."""
    return room >> max(0, start) << max(0, start)


def _shift(bits: int, by: int) -> int:
    """Return bits shifted up; those beyond all variables are dropped, because a text may hold any number."""
    return bits >> -by if by < 0 else bits << by if by < MAX_VARIABLE_BITS else 0


@lru_cache(4096)
def _place_region(region: Region, lanes: int, size: int, start: int, room: int) -> int:
    """Return the bytes of a region whose first element is at byte ``start`` of ``room``."""
    return _shift(_region(region, lanes, size), start) & (1 << room) - 1


@lru_cache(1024)
def _region(region: Region, lanes: int, size: int) -> int:
    """Return the bytes of a region whose first element is at byte 0."""
    if region.width is None:
        elements = regions.destination_elements(region.horz_stride or 1, lanes)
    else:
        elements = regions.source_elements(region, lanes)
    one = (1 << size) - 1
    found = 0
    for element in elements:
        found |= one << element * size
    return found
