"""Common parts of messages to memory: finding the space, moving bytes with accounting, atomics lane by lane.

An address outside its space reads zero and drops its write; observers receive every message before it is executed.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from visa_lsp.isa.lsc_codes import ATOMIC_OP_TEXT
from visa_lsp.isa.model import Trait
from visa_lsp.program.model import General, Inst, RawOperand
from visa_lsp.sim.memory import Buffer, Space
from visa_lsp.sim.observers.hooks import MemoryAccess
from visa_lsp.sim.operands import Fetch, Op, Site, lane_mask
from visa_lsp.sim.registers import SLM_SURFACE, Frame

Array = np.ndarray[Any, np.dtype[Any]]
Open = Callable[["Frame"], "tuple[Space | None, int]"]

SLM_MASK: Final = 0x0FFF_FFFF  # a pointer into shared local memory may carry a tag in its upper bits
STATE_BYTES: Final = {"surface": 64, "sampler": 16}
_ALL: Final = [np.arange(n) for n in range(65)]


def surface(site: Site, name: str = "surface") -> Open:
    """Return a function that finds the memory of a surface field when the instruction runs."""
    pointer = state_pointer(site, name)
    if pointer is not None:
        return _open_pointer(pointer)
    return surface_variable(site, site.integer(name))


def surface_variable(site: Site, number: int) -> Open:
    """Return a function that finds the surface behind a surface variable."""
    cell = site.code.layout.surface_base[number]

    def find(f: Frame) -> tuple[Space | None, int]:
        value = f.surfaces[cell]
        assert f.thread is not None
        return f.thread.machine.space(f, value), value

    return find


def state_pointer(site: Site, name: str) -> Callable[[Frame], int] | None:
    """Return the pointer to the state of a surface or sampler in a general variable (text 4.2); None for a number."""
    operand = site.inst.get(name)
    if isinstance(operand, General):
        first, behind = site.scalar(name), site.integer(f"{name}idx") * STATE_BYTES[name]
        return lambda f: first(f) + behind
    if not isinstance(operand, RawOperand):
        return None
    view = site.raw_view(operand, "<u8", 1, 1, 8)
    return (lambda _f: 0) if view is None else lambda f: int(f.views[view][0, 0])


def _open_pointer(pointer: Callable[[Frame], int]) -> Open:
    def find(f: Frame) -> tuple[Space | None, int]:
        value = pointer(f)
        assert f.thread is not None
        return f.thread.machine.space(f, value), value

    return find


def flat(f: Frame) -> tuple[Space | None, int]:
    """Return the flat address space."""
    assert f.thread is not None
    return f.thread.machine.dispatch.memory, -3


def is_slm(f: Frame, space: Space | None) -> bool:
    """Return whether a space is the group's shared local memory."""
    return f.thread is not None and space is f.thread.group.slm


def places(f: Frame, space: Space | None, at: Array) -> Array:
    """Return addresses without the tag of shared local memory."""
    return np.asarray(at & SLM_MASK) if is_slm(f, space) else at


def lanes_of(mask: int, lanes: int) -> Array:
    """Return the numbers of the lanes of a mask."""
    return _ALL[lanes] if mask == (1 << lanes) - 1 else np.flatnonzero(lane_mask(mask, lanes))


def announce(
    f: Frame,
    kind: str,
    found: tuple[Space | None, int],
    at: Array,
    size: int,
    lanes: Array,
    values: Array | None = None,
    alignment: int = 1,
    changes: Array | None = None,
    compared: Array | None = None,
    unread: Array | None = None,
) -> None:
    """Count a message and notify the observers."""
    thread = f.thread
    assert thread is not None
    machine = thread.machine
    if kind != "write":
        machine.result.reads += at.size * size
    if kind != "read":
        machine.result.writes += at.size * size
    if machine.watched and at.size:
        number = found[1] if found[1] >= SLM_SURFACE else None
        rows = None if values is None else np.ascontiguousarray(values).view(np.uint8).reshape(at.size, size)
        machine.announce_access(
            MemoryAccess(thread, kind, found[0], at, size, lanes, number, rows, alignment, changes, compared, unread)
        )


def for_element(unread: Array | None, element: int, lanes: Array) -> Array | None:
    """Return the mask of unread places of one element of each lane, from the mask of elements."""
    return np.ones(lanes.size, bool) if unread is not None and unread[element] else None


def load(
    f: Frame, found: tuple[Space | None, int], at: Array, size: int, lanes: Array, alignment: int = 1,
    unread: Array | None = None,
) -> Array:  # fmt: skip
    """Return ``size`` bytes at each address: an array (n, size). ``alignment`` is the required one."""
    announce(f, "read", found, at, size, lanes, None, alignment, unread=unread)
    return found[0].load(at, size) if found[0] is not None else np.zeros((at.size, size), np.uint8)


def load32(f: Frame, found: tuple[Space | None, int], at: Array, lanes: Array, unread: Array | None = None) -> Array:
    """Return a dword at each address."""
    announce(f, "read", found, at, 4, lanes, None, 4, unread=unread)
    return found[0].load32(at) if found[0] is not None else np.zeros(at.size, np.uint32)


def store(
    f: Frame, found: tuple[Space | None, int], at: Array, values: Array, lanes: Array, alignment: int = 1
) -> None:
    """Write row i of (n, size) bytes at address i."""
    announce(f, "write", found, at, values.shape[1], lanes, values, alignment)
    if found[0] is not None:
        found[0].store(at, values)


def store32(f: Frame, found: tuple[Space | None, int], at: Array, values: Array, lanes: Array) -> None:
    """Write a dword at each address."""
    announce(f, "write", found, at, 4, lanes, values, 4)
    if found[0] is not None:
        found[0].store32(at, values)


# ---- atomics: (old, first source, second source) as unsigned integers -> new value

Update = Callable[[int, int, int], int]


@dataclass(frozen=True, slots=True)
class CompareExchange:
    """An update that stores one source if the other equals the old value; ``first``: source 0 is compared."""

    equal: Callable[[int, int], bool]
    first: bool = True

    def __call__(self, old: int, a: int, b: int) -> int:
        """Return the new value."""
        compared, value = (a, b) if self.first else (b, a)
        return value if self.equal(old, compared) else old


_FLOATS: Final = {2: np.float16, 4: np.float32, 8: np.float64}


def _sign_extend(value: int, size: int) -> int:
    return value - (1 << 8 * size) if value >> 8 * size - 1 else value


def _float(value: int, size: int) -> Any:
    return np.frombuffer(value.to_bytes(size, "little"), _FLOATS[size])[0]


def _bits(value: Any, size: int) -> int:
    return int.from_bytes(np.array([value], _FLOATS[size]).tobytes(), "little")


def update_of(inst: Inst) -> str:
    """Return the name of an atomic's update, as in ``lsc_codes``; empty for other instructions."""
    code = inst.get("op")
    if inst.row.update or not inst.row.has(Trait.ATOMIC) or not isinstance(code, int):
        return inst.row.update
    return ATOMIC_OP_TEXT.get(code & 31, "")


def integer_updates(size: int) -> dict[str, Update]:
    """Return the updates of integer atomics of ``size`` bytes, by the words of the legacy messages."""
    return {
        "add": lambda o, a, _b: o + a,
        "sub": lambda o, a, _b: o - a,
        "inc": lambda o, _a, _b: o + 1,
        "dec": lambda o, _a, _b: o - 1,
        "predec": lambda o, _a, _b: o - 1,
        "min": lambda o, a, _b: min(o, a),
        "max": lambda o, a, _b: max(o, a),
        "xchg": lambda _o, a, _b: a,
        "load": lambda o, _a, _b: o,
        "and": lambda o, a, _b: o & a,
        "or": lambda o, a, _b: o | a,
        "xor": lambda o, a, _b: o ^ a,
        "minsint": lambda o, a, _b: min(o, a, key=lambda v: _sign_extend(v, size)),
        "maxsint": lambda o, a, _b: max(o, a, key=lambda v: _sign_extend(v, size)),
        "cmpxchg": CompareExchange(operator.eq, first=False),
        "icas": CompareExchange(operator.eq),
    }


def float_updates(size: int) -> dict[str, Update]:
    """Return the updates of float atomics of ``size`` bytes."""

    def number(function: Callable[[Any, Any], Any]) -> Update:
        return lambda o, a, _b: _bits(function(_float(o, size), _float(a, size)), size)

    return {
        "fmax": number(np.fmax),
        "fmin": number(np.fmin),
        "fadd": number(np.add),
        "fsub": number(np.subtract),
        "fcmpwr": CompareExchange(lambda o, a: bool(_float(o, size) == _float(a, size))),
    }


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
    found: tuple[Space | None, int],
    at: Array,
    size: int,
    lanes: Array,
    update: Update,
    first: Array,
    second: Array,
) -> Array:
    """Update each address in lane order; return the old values. ``first`` and ``second``: one unsigned value per address."""
    space, mask = found[0], (1 << 8 * size) - 1
    old = np.zeros(at.size, np.dtype(f"<u{size}"))
    changes = np.zeros(at.size, bool)
    updated: dict[tuple[int, int], tuple[Buffer, int]] = {}  # (buffer, offset) -> the new value
    for i, (address, a, b) in enumerate(zip(at.tolist(), first.tolist(), second.tolist(), strict=True)):
        place = _locate(space, address, size)
        if place is None:
            continue
        buffer, offset = place
        known = updated.get((id(buffer), offset))
        before = (
            known[1] if known is not None else int.from_bytes(buffer.data[offset : offset + size].tobytes(), "little")
        )
        after = update(before, a & mask, b & mask) & mask
        updated[id(buffer), offset] = (buffer, after)
        old[i], changes[i] = before, after != before
        buffer.whole.written |= after != before
    compared = None
    if isinstance(update, CompareExchange):
        compared = (first if update.first else second).astype(old.dtype).view(np.uint8).reshape(at.size, size)
    announce(f, "atomic", found, at, size, lanes, None, size, changes, compared)
    for (_, offset), (buffer, after) in updated.items():
        buffer.data[offset : offset + size] = np.frombuffer(after.to_bytes(size, "little"), np.uint8)
    return old


def atomic_of_lanes(
    site: Site,
    open_: Open,
    at_of: Fetch,
    update: Update,
    size: int,
    cell: int,
    sources: tuple[str, str],
    *,
    less_one: bool = False,
) -> Op:
    """Return an atomic on ``size`` bytes at an address per lane; operands have ``cell`` bytes per lane.

    It returns the old value in ``dst``, minus one if ``less_one``.
    """
    lanes, enable = site.lanes, site.enable()
    dst, first, second = (
        site.raw_view(site.raw(name), f"<u{cell}", 1, lanes, lanes * cell) for name in ("dst", *sources)
    )
    zeros = np.zeros(lanes, np.uint64)

    def op(f: Frame) -> None:
        mask = enable(f)
        if not mask:
            return
        found = open_(f)
        active = lanes_of(mask, lanes)
        at = places(f, found[0], at_of(f)[active])
        a = zeros[active] if first is None else f.views[first][0][active]
        b = zeros[active] if second is None else f.views[second][0][active]
        old = atomic(f, found, at, size, active, update, a, b)
        if dst is not None:
            f.views[dst][0][active] = old - old.dtype.type(1) if less_one else old

    return op


def _locate(space: Space | None, address: int, size: int) -> tuple[Buffer, int] | None:
    if isinstance(space, Buffer):
        return (space, address) if 0 <= address <= space.size - size else None
    return space.find(address, size) if space is not None else None
