"""Common parts of messages to memory: finding the space, moving bytes with accounting, atomics lane by lane.

An address outside its space reads zero and drops its write; observers receive every message before it is executed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import numpy as np

from visa_lsp.program.message import MemoryKind, Message, MessageError, MessageMemory
from visa_lsp.program.model import General, RawOperand, Value
from visa_lsp.sim.integer_formulas import NUMBERS, UPDATES
from visa_lsp.sim.memory import Buffer, Space
from visa_lsp.sim.observers.hooks import MemoryAccess
from visa_lsp.sim.operands import Site, lane_mask
from visa_lsp.sim.registers import SCRATCH_HANDLE, SCRATCH_SURFACE, SLM_SURFACE, STATELESS_SURFACE, Frame
from visa_lsp.sim.words import FLOAT

Array = np.ndarray[Any, np.dtype[Any]]
Binding = tuple[Space | None, int]  # a space, and the value of its surface variable
Open = Callable[["Frame"], Binding]

SLM_MASK: Final = 0x0FFF_FFFF  # a pointer into shared local memory may carry a tag in its upper bits
SURFACE_STATE_BYTES, SAMPLER_STATE_BYTES = 64, 16
SCRATCH_HEADER: Final = (7, 20)  # r0.5 locates the state of the thread's scratch space, in units of 16 bytes
_ALL: Final = [np.arange(n) for n in range(65)]


def value_of(site: Site) -> Message:
    """Return the value of a site's message. Raises KernelFault if its fields have no meaning."""
    try:
        return site.message()
    except MessageError as error:
        raise site.fault(str(error)) from None


def open_memory(site: Site, memory: MessageMemory) -> Open:
    """Return a function that finds the memory of a message when the instruction runs."""
    match memory.kind:
        case MemoryKind.FLAT:
            return flat
        case MemoryKind.SHARED:
            return _open_number(lambda _f: SLM_SURFACE)
        case MemoryKind.BINDING if memory.number == STATELESS_SURFACE:
            return flat
        case MemoryKind.BINDING:
            number = memory.number
            return _open_number(lambda _f: number)
        case MemoryKind.VARIABLE:
            cell = site.code.layout.surface_base[memory.number]
            return _open_number(lambda f: int(f.surfaces[cell]))
        case MemoryKind.POINTER:
            return _open_number(pointer_reader(site, memory.operand, memory.index * SURFACE_STATE_BYTES))
        case MemoryKind.STATE:
            return _open_number(_state_reader(site, memory))


def _open_number(value: Callable[[Frame], int]) -> Open:
    def find(f: Frame) -> Binding:
        number = value(f)
        assert f.thread is not None
        return f.thread.machine.space(f, number), number

    return find


def pointer_reader(site: Site, operand: Value, offset: int) -> Callable[[Frame], int]:
    """Return the pointer to the state of a surface or sampler in a general variable (text 4.2), ``offset`` bytes further."""
    if isinstance(operand, General):
        pointer = site.scalar_of(operand)
        return lambda f: pointer(f) + offset
    assert isinstance(operand, RawOperand)
    view = site.raw_view(operand, "<u8", 1, 1, 8)
    return (lambda _f: 0) if view is None else lambda f: int(f.views[view][0, 0])


def _state_reader(site: Site, memory: MessageMemory) -> Callable[[Frame], int]:
    """Return the number of a surface from the operand that names its state; the scratch space has names of its own."""
    value, by_header = site.scalar_of(memory.operand), memory.may_be_scratch
    header = site.code.layout.offset(SCRATCH_HEADER[0]) + SCRATCH_HEADER[1]

    def find(f: Frame) -> int:
        number = value(f) & 0xFFFFFFFF
        is_scratch = number == SCRATCH_HANDLE or (by_header and number == f.word(header) >> 4)
        return SCRATCH_SURFACE if is_scratch else number

    return find


def signed_scalar(site: Site, operand: Value) -> Callable[[Frame], int]:
    """Return the first element of an operand as a signed number of 64 bits, in which addresses are computed."""
    value = site.scalar_of(operand)
    return lambda f: (value(f) + (1 << 63)) % (1 << 64) - (1 << 63)


def sign_extend_dword(value: int) -> int:
    """Return the low 32 bits as a signed number."""
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


def flat(f: Frame) -> Binding:
    """Return the flat address space."""
    assert f.thread is not None
    return f.thread.machine.dispatch.memory, -3


def is_slm(f: Frame, space: Space | None) -> bool:
    """Return whether a space is the group's shared local memory."""
    return f.thread is not None and space is f.thread.group.slm


def places(f: Frame, space: Space | None, addresses: Array) -> Array:
    """Return addresses without the tag of shared local memory."""
    return np.asarray(addresses & SLM_MASK) if is_slm(f, space) else addresses


def lanes_of(mask: int, lanes: int) -> Array:
    """Return the numbers of the lanes of a mask."""
    return _ALL[lanes] if mask == (1 << lanes) - 1 else np.flatnonzero(lane_mask(mask, lanes))


def announce(
    f: Frame,
    kind: str,
    binding: Binding,
    addresses: Array,
    size: int,
    lanes: Array,
    values: Array | None = None,
    alignment: int = 1,
    changes: Array | None = None,
    compared: Array | None = None,
    unread: Array | None = None,
    element: int = 0,
) -> None:
    """Count a message and notify the observers."""
    thread = f.thread
    assert thread is not None
    machine = thread.machine
    if kind != "write":
        machine.result.reads += addresses.size * size
    if kind != "read":
        machine.result.writes += addresses.size * size
    if machine.watched and addresses.size:
        number = binding[1] if binding[1] >= SLM_SURFACE else None
        rows = None if values is None else np.ascontiguousarray(values).view(np.uint8).reshape(addresses.size, size)
        machine.announce_access(
            MemoryAccess(
                thread,
                kind,
                binding[0],
                addresses,
                size,
                lanes,
                number,
                rows,
                alignment,
                changes,
                compared,
                unread,
                element,
            )
        )


def for_element(unread: Array | None, element: int, lanes: Array) -> Array | None:
    """Return the mask of unread places of one element of each lane, from the mask of elements."""
    return np.ones(lanes.size, bool) if unread is not None and unread[element] else None


def load(
    f: Frame, binding: Binding, addresses: Array, size: int, lanes: Array, alignment: int = 1,
    unread: Array | None = None,
) -> Array:  # fmt: skip
    """Return ``size`` bytes at each address: an array (n, size). ``alignment`` is the required one."""
    announce(f, "read", binding, addresses, size, lanes, None, alignment, unread=unread)
    return binding[0].load(addresses, size) if binding[0] is not None else np.zeros((addresses.size, size), np.uint8)


def load32(
    f: Frame, binding: Binding, addresses: Array, lanes: Array, alignment: int = 4, unread: Array | None = None
) -> Array:
    """Return a dword at each address."""
    announce(f, "read", binding, addresses, 4, lanes, None, alignment, unread=unread)
    return binding[0].load32(addresses) if binding[0] is not None else np.zeros(addresses.size, np.uint32)


def store(
    f: Frame, binding: Binding, addresses: Array, values: Array, lanes: Array, alignment: int = 1, element: int = 0
) -> None:
    """Write row i of (n, size) bytes at address i."""
    announce(f, "write", binding, addresses, values.shape[1], lanes, values, alignment, element=element)
    if binding[0] is not None:
        binding[0].store(addresses, values)


def store32(
    f: Frame, binding: Binding, addresses: Array, values: Array, lanes: Array, alignment: int = 4, element: int = 0
) -> None:
    """Write a dword at each address."""
    announce(f, "write", binding, addresses, 4, lanes, values, alignment, element=element)
    if binding[0] is not None:
        binding[0].store32(addresses, values)


# ---- atomics: (old, first source, second source) as unsigned integers -> new value

Update = Callable[[int, int, int], int]


@dataclass(frozen=True, slots=True)
class CompareExchange:
    """An update that stores one source if the other equals the old value; ``compares_a``: source 0 is compared."""

    equal: Callable[[int, int], bool]
    compares_a: bool = True

    def __call__(self, old: int, a: int, b: int) -> int:
        """Return the new value."""
        compared, value = (a, b) if self.compares_a else (b, a)
        return value if self.equal(old, compared) else old


# Words of float atomics, and whether they choose: they take their second operand of two equal ones, and the old value stays.
FLOAT_UPDATES: Final = {"fmax": ("max", True), "fmin": ("min", True), "fadd": ("add", False), "fsub": ("sub", False)}
_FLOATS: Final = {2: np.float16, 4: np.float32, 8: np.float64}


def _float(value: int, size: int) -> Any:
    return np.frombuffer(value.to_bytes(size, "little"), _FLOATS[size])[0]


def _bits(value: Any, size: int) -> int:
    return int.from_bytes(np.array([value], _FLOATS[size]).tobytes(), "little")


def update_function(site: Site, word: str, size: int) -> Update:
    """Return the update of an atomic on ``size`` bytes. Raises KernelFault if the operation is not modelled for that size."""
    updates = {**integer_updates(size), **float_updates(size), **(bfloat_updates() if size == 2 else {})}
    if word not in updates:
        raise site.fault("this atomic operation is not modelled")
    return updates[word]


def integer_updates(size: int) -> dict[str, Update]:
    """Return the updates of integer atomics of ``size`` bytes, by the words of the legacy messages."""
    top = 1 << 8 * size - 1

    def update(word: str, old: int, a: int, b: int) -> int:
        value: int = UPDATES[word](NUMBERS, old, a, b, top)
        return value

    exchanges = {"cmpxchg": CompareExchange(operator.eq, compares_a=False), "icas": CompareExchange(operator.eq)}
    return {**{word: partial(update, word) for word in UPDATES}, **exchanges}


def float_updates(size: int) -> dict[str, Update]:
    """Return the updates of float atomics of ``size`` bytes, by the rules of the words of instructions."""

    def update(word: str, is_choice: bool, old: int, a: int, _b: int) -> int:
        sources = [np.array([_float(bits, size)]) for bits in (old, a)]
        return _bits(FLOAT[word](*(reversed(sources) if is_choice else sources))[0], size)

    exchange = CompareExchange(lambda o, a: bool(_float(o, size) == _float(a, size)))
    return {**{name: partial(update, *rule) for name, rule in FLOAT_UPDATES.items()}, "fcmpwr": exchange}


def bfloat_updates() -> dict[str, Update]:
    """Return the updates of bfloat16 atomics: the upper halves of f32 numbers, results rounded to nearest even."""

    def wide(bits: int) -> Any:
        return np.frombuffer((bits << 16).to_bytes(4, "little"), np.float32)[0]

    def narrow(value: Any) -> int:
        bits = _bits(value, 4)
        if np.isnan(value):
            return bits >> 16 | 0x40
        return bits + 0x7FFF + (bits >> 16 & 1) >> 16

    def number(function: Callable[[Any, Any], Any]) -> Update:
        return lambda o, a, _b: narrow(function(wide(o), wide(a)))

    return {
        "bfadd": number(np.add),
        "bfsub": number(np.subtract),
        "bfmin": number(np.fmin),
        "bfmax": number(np.fmax),
        "bfcas": CompareExchange(lambda o, a: bool(wide(o) == wide(a))),
    }


def atomic(
    f: Frame,
    binding: Binding,
    addresses: Array,
    size: int,
    lanes: Array,
    update: Update,
    a_values: Array,
    b_values: Array,
) -> Array:
    """Update each address in lane order; return the old values. ``a_values`` and ``b_values``: one unsigned value per address."""
    space, mask = binding[0], (1 << 8 * size) - 1
    old = np.zeros(addresses.size, np.dtype(f"<u{size}"))
    changes = np.zeros(addresses.size, bool)
    updated: dict[tuple[int, int], tuple[Buffer, int]] = {}  # (buffer, offset) -> the new value
    for i, (address, a, b) in enumerate(zip(addresses.tolist(), a_values.tolist(), b_values.tolist(), strict=True)):
        place = _locate(space, address, size)
        if place is None:
            continue
        buffer, offset = place
        latest = updated.get((id(buffer), offset))
        before = (
            latest[1] if latest is not None else int.from_bytes(buffer.data[offset : offset + size].tobytes(), "little")
        )
        after = update(before, a & mask, b & mask) & mask
        updated[id(buffer), offset] = (buffer, after)
        old[i], changes[i] = before, after != before
        buffer.whole.written |= after != before
    compared = None
    if isinstance(update, CompareExchange):
        compared = (
            (a_values if update.compares_a else b_values).astype(old.dtype).view(np.uint8).reshape(addresses.size, size)
        )
    announce(f, "atomic", binding, addresses, size, lanes, None, size, changes, compared)
    for (_, offset), (buffer, after) in updated.items():
        buffer.data[offset : offset + size] = np.frombuffer(after.to_bytes(size, "little"), np.uint8)
    return old


def _locate(space: Space | None, address: int, size: int) -> tuple[Buffer, int] | None:
    if isinstance(space, Buffer):
        return (space, address) if 0 <= address <= space.size - size else None
    return space.find(address, size) if space is not None else None
