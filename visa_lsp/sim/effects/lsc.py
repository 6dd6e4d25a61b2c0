"""Effects of the load/store controller: loads, stores, atomics, blocks, and typed messages.

Lanes are laid out as on the documentation page LSC_UNTYPED: vector element v of all lanes fills row v of registers; a
transposed message moves one lane's elements side by side. Two data sizes are narrower in memory than in a register.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.isa import lsc_codes as codes
from visa_lsp.program.model import General, RawOperand
from visa_lsp.sim import messages
from visa_lsp.sim.lsc_messages import atomic_update, open_surface, sign_extend_dword

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.sim.memory import Space
    from visa_lsp.sim.operands import Fetch, Op, Site
    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]

_ADDRESS_KIND: Final = {1: "<u2", 2: "<u4", 3: "<u8", 5: "<u4", 6: "<i4"}


def _addresses(site: Site, operand: RawOperand, lanes: int) -> Fetch:
    size = codes.ADDRSIZE_BYTES.get(site.integer("addrsize"), 4)
    kind = _ADDRESS_KIND.get(site.integer("addrsize"), "<u4")
    view = site.raw_view(operand, kind, 1, lanes, lanes * size)
    scale = site.integer("immscale", 1) or 1
    offset = site.integer("immoffset")
    wrap = 0xFFFFFFFF if size <= 4 and site.integer("addrtype") != codes.ADDRTYPE_FLAT else None
    zeros = np.zeros(lanes, np.int64)

    def fetch(f: Frame) -> Array:
        at = zeros if view is None else f.views[view][0].astype(np.int64)
        if scale != 1:
            at = at * scale
        if offset:
            at = at + offset
        return at if wrap is None else at & wrap

    return fetch


@dataclass(frozen=True, slots=True)
class _Data:
    """The layout of one vector element in memory and in registers."""

    memory: int
    register: int
    high: bool

    @staticmethod
    def of(site: Site) -> _Data:
        size = codes.DATASIZES.get(site.integer("datasize"))
        if size is None:
            raise site.fault(f"there is no data size {site.integer('datasize')}")
        return _Data(size.memory_bytes, size.register_bytes, size.high_half)


def _elements(site: Site, *, quad: bool) -> list[int]:
    """Return the numbers of the vector elements that move."""
    if quad:
        return [c for c in range(4) if site.integer("chmask") >> c & 1]
    return list(range(codes.ELEMS_VALUE.get(site.integer("elems"), 1)))


def _transfer(site: Site, *, write: bool, quad: bool = False, strided: bool = False) -> Op:
    data, lanes, enable = _Data.of(site), site.lanes, site.enable()
    elements = _elements(site, quad=quad)
    open_, base = open_surface(site)
    transposed = site.integer("order") == codes.ORDER_TRANSPOSED
    operand = site.raw("src1" if write else "dst")
    row = max(site.grf, -(-lanes * data.register // site.grf) * site.grf)
    if transposed:
        view = site.raw_view(operand, "u1", 1, len(elements) * data.register, len(elements) * data.register)
        unread_of = site.unread_rows(operand, len(elements), data.register, data.register)
    else:
        view = site.raw_view(operand, "u1", len(elements), lanes * data.register, row)
        unread_of = site.unread_rows(operand, len(elements), lanes * data.register, row)
    at_of = _addresses(site, site.raw("src0"), 1 if strided or transposed else lanes)
    pitch = site.scalar("pitch") if strided else None
    steps = np.arange(lanes)
    packed = len(elements) * data.memory
    # The pages require no alignment. Compilers read packed structures one element a lane at any byte, vectors at multiples of
    # four (qwords too: the printf buffer of PVC).
    alignment = min(4, data.memory) if len(elements) > 1 or transposed else 1
    at_high = 2 if data.high else 0
    low, high = at_high, at_high + data.memory

    def one(
        f: Frame, cells: Array, found: tuple[Space | None, int], at: Array, active: Array, unread: Array | None
    ) -> None:
        """Move the memory bytes of the active rows of (n, register bytes) cells."""
        if write:
            messages.store(f, found, at, np.ascontiguousarray(cells[active, low:high]), active, alignment)
        else:
            got = messages.load(f, found, at, data.memory, active, alignment, unread)
            if data.memory != data.register:
                cells[active] = 0
            cells[active, low:high] = got

    def op(f: Frame) -> None:
        mask = enable(f)
        if not mask or (view is None and not write):
            return
        found = open_(f)
        at = at_of(f) + base(f)
        if pitch is not None:
            at = at[0] + steps * (pitch(f) or packed)
        at = messages.places(f, found[0], at)
        unread = None if write else unread_of(f)
        if transposed:
            if view is not None and mask & 1:
                cells = f.views[view][0].reshape(len(elements), data.register)
                each = np.arange(len(elements))
                one(f, cells, found, at[0] + each * data.memory, each, unread)
            return
        active = messages.lanes_of(mask, lanes)
        at = at[active]
        for k, element in enumerate(elements):
            cells = np.zeros((lanes, data.register), np.uint8)
            if view is not None:
                cells = f.views[view][k].reshape(lanes, data.register)
            one(f, cells, found, at + element * data.memory, active, messages.for_element(unread, k, active))

    return op


def _status(site: Site, *, quad: bool) -> Op:
    """Load, or only test the addresses, and return one bit per lane: set if the memory exists, because it is then resident."""
    data, lanes, enable = _Data.of(site), site.lanes, site.enable()
    elements = _elements(site, quad=quad)
    move = _transfer(site, write=False, quad=True) if quad else None
    row = max(site.grf, -(-lanes * data.register // site.grf) * site.grf)
    operand = site.raw("dst")
    after = RawOperand(operand.var, operand.offset + (len(elements) * row if quad else 0))
    view = site.raw_view(after, "<u4", 1, 1, 4)
    open_, base = open_surface(site)
    at_of = _addresses(site, site.raw("src0"), lanes)

    def op(f: Frame) -> None:
        mask = enable(f)
        if move is not None:
            move(f)
        if not mask or view is None:
            return
        space = open_(f)[0]
        active = messages.lanes_of(mask, lanes)
        at = messages.places(f, space, at_of(f)[active] + base(f))
        missing = np.ones(at.size, bool) if space is None else ~_inside(space, at, (max(elements) + 1) * data.memory)
        f.views[view][0] = sum(1 << int(lane) for lane in active[~missing])

    return op


def _inside(space: Space, at: Array, size: int) -> Array:
    found = space.inside(at, size)
    return np.ones(at.size, bool) if found is None else found


def _atomic(site: Site) -> Op:
    data = _Data.of(site)
    open_, base = open_surface(site)
    at_of = _addresses(site, site.raw("src0"), site.lanes)
    return messages.atomic_of_lanes(
        site, open_, lambda f: at_of(f) + base(f), atomic_update(site, data.memory), data.memory, data.register,
        ("src1", "src2"),
    )  # fmt: skip


def _block2d(site: Site, *, write: bool) -> Op:
    """Return the op of blocks of a surface in flat memory, given by base, width, height, pitch (each less one) and a corner."""
    data = _Data.of(site)
    width, height, blocks = site.integer("width"), site.integer("height"), max(1, site.integer("blocks", 1))
    transposed = site.integer("order") == codes.ORDER_TRANSPOSED
    vnni = bool(site.integer("vnni"))
    size = data.memory
    per_dword = max(1, 4 // size)
    row_size = height if transposed else width
    row_pitch = 1 << (row_size - 1).bit_length()
    rows = width if transposed else height
    per_register = site.grf // size
    if vnni:
        rows = -(-rows // per_dword) * per_dword
    block_pitch = -(-row_pitch * rows // per_register) * per_register
    # Where element (block, y, x) lies in registers, in elements.
    b, y, x = np.meshgrid(np.arange(blocks), np.arange(height), np.arange(width), indexing="ij")
    major, minor = (x, y) if transposed else (y, x)
    if vnni:
        inner = major // per_dword * per_dword * row_pitch + minor * per_dword + major % per_dword
    else:
        inner = major * row_pitch + minor
    cells = (b * block_pitch + inner).reshape(-1)
    total = blocks * block_pitch
    view = site.raw_view(site.raw("src1" if write else "dst"), f"<u{size}", 1, total, total * size)
    if site.integer("payload"):
        base, last_x, last_y, pitch, at_x, at_y = _descriptor(site)
    else:
        base, last_x, last_y, pitch, at_x, at_y = (site.scalar(f"addr{i}") for i in range(6))
    imm_x, imm_y = site.integer("immx"), site.integer("immy")
    columns, lines = (b * width + x).reshape(-1), y.reshape(-1)
    enable = site.enable()

    def op(f: Frame) -> None:
        if view is None or not enable(f):
            return
        found = messages.flat(f)
        px = sign_extend_dword(at_x(f)) + imm_x + columns
        py = sign_extend_dword(at_y(f)) + imm_y + lines
        inside = (px >= 0) & (px * size + size <= last_x(f) + 1) & (py >= 0) & (py <= last_y(f))
        at = (base(f) + py * (pitch(f) + 1) + px * size)[inside]
        none = np.zeros(at.size, np.int64)
        if write:
            values = np.ascontiguousarray(f.views[view][0][cells[inside]]).view(np.uint8).reshape(-1, size)
            messages.store(f, found, at, values, none)
            return
        got = messages.load(f, found, at, size, none).view(f"<u{size}").reshape(-1)
        f.views[view][0] = 0
        f.views[view][0][cells[inside]] = got

    return op


def _descriptor(site: Site) -> tuple[Callable[[Frame], int], ...]:
    """Return a block address in one register (text 4.2): base in two dwords, then width, height, pitch, x and y in one each."""
    where = site.inst.get("addr0")
    start = site.code.layout.offset(where.var) if isinstance(where, General) else 0

    def word(number: int) -> Callable[[Frame], int]:
        at = start + 4 * number
        return lambda f: f.word(at) & 0xFFFFFFFF

    low, high = word(0), word(1)
    return (lambda f: low(f) | high(f) << 32, *(word(number) for number in range(2, 7)))


EFFECTS: Final[dict[str, Callable[[Site], Op]]] = {
    "lsc_load": lambda s: _transfer(s, write=False),
    "lsc_store": lambda s: _transfer(s, write=True),
    "lsc_load_quad": lambda s: _transfer(s, write=False, quad=True),
    "lsc_store_quad": lambda s: _transfer(s, write=True, quad=True),
    "lsc_load_strided": lambda s: _transfer(s, write=False, strided=True),
    "lsc_store_strided": lambda s: _transfer(s, write=True, strided=True),
    "lsc_load_block2d": lambda s: _block2d(s, write=False),
    "lsc_store_block2d": lambda s: _block2d(s, write=True),
    "lsc_atomic": _atomic,
    "lsc_load_status": lambda s: _status(s, quad=False),
    "lsc_load_quad_status": lambda s: _status(s, quad=True),
}
