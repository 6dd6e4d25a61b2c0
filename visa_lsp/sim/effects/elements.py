"""Effects that move or update elements in memory: gathers, scatters, blocks of owords, loads, stores and atomics.

The value of the message (``program.message``) says everything about its addresses, elements and registers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from visa_lsp.isa.message_forms import MemoryUse
from visa_lsp.program.message import PREDECREMENT, ElementMessage
from visa_lsp.program.model import RawOperand
from visa_lsp.sim import messages

if TYPE_CHECKING:
    from visa_lsp.program.message import Addresses
    from visa_lsp.sim.operands import Fetch, Op, Site
    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]


def make_element_op(site: Site) -> Op:
    """Return the op of a message of elements."""
    message = messages.value_of(site)
    assert isinstance(message, ElementMessage)
    site.set_control(message.control)
    if message.use is MemoryUse.ATOMIC:
        return _make_atomic(site, message)
    move = None if message.use is MemoryUse.TEST else _make_move(site, message)
    if not message.residency:
        assert move is not None
        return move
    return _make_status(site, message, move)


def _make_fetch(site: Site, address: Addresses, lanes: int) -> Fetch:
    """Return a function for the byte addresses of the lanes, as int64."""
    operand, scale, offset, unit = address.operand, address.scale, address.offset, address.unit
    common = site.scalar_of(address.common) if address.common is not None else None
    base = messages.signed_scalar(site, address.base) if address.base is not None else None
    wraps = address.wraps and (address.type.is_signed or scale != 1 or bool(offset) or common is not None)
    zeros, view, start = np.zeros(lanes, np.int64), None, None
    if isinstance(operand, RawOperand):
        kind = f"<{'i' if address.type.is_signed else 'u'}{address.type.size}"
        view = site.raw_view(operand, kind, 1, lanes, lanes * address.type.size)
    else:
        start = messages.signed_scalar(site, operand)

    def fetch(f: Frame) -> Array:
        addresses = zeros if view is None else f.views[view][0].astype(np.int64)
        if start is not None:
            addresses = addresses + start(f)
        if scale != 1:
            addresses = addresses * scale
        if offset:
            addresses = addresses + offset
        if common is not None:
            addresses = addresses + common(f)
        if wraps:
            addresses = addresses & 0xFFFFFFFF
        if unit != 1:
            addresses = addresses * unit
        return addresses if base is None else addresses + base(f)

    return fetch


def _make_move(site: Site, message: ElementMessage) -> Op:
    """Return the op of a load or store: element by element, all active lanes at once; all at once from a single address."""
    size, cell, start, single = message.size, message.cell, message.first, message.single
    write, alignment, address, enable = (
        message.use is MemoryUse.WRITE,
        message.alignment,
        message.address,
        site.enable(),
    )
    columns, offsets = site.lanes, [element * size for element in message.elements]
    steps = np.zeros(1, np.int64)
    if single:
        columns, steps, offsets = len(offsets), np.array(offsets, np.int64), [0]
    dwords, full, grf = size == cell == 4, (1 << columns) - 1, site.grf
    width = columns if dwords else columns * cell
    view = site.raw_view(
        message.data, "<u4" if dwords else "u1", len(offsets), width, 0 if single else message.row(grf)
    )
    row_bytes = cell if single else message.row(grf)
    unread_of = site.unread_rows(message.data, len(message.elements), cell if single else columns * cell, row_bytes)
    at_of = _make_fetch(site, address, 1 if single or address.strided else columns)
    open_ = messages.open_memory(site, message.memory)
    pitch = site.scalar_of(address.pitch)
    each = np.arange(columns)
    no_lanes, no_cells = np.zeros(columns, np.int64), np.zeros((columns, cell), np.uint8)
    no_dwords = np.zeros(columns, np.uint32)

    def move_dwords(
        f: Frame, row: int, binding: messages.Binding, addresses: Array, active: Array, mask: int, unread: Array | None
    ) -> None:
        own = no_dwords if view is None else f.views[view][row]
        lanes = no_lanes if single else active
        if write:
            messages.store32(f, binding, addresses, own if mask == full else own[active], lanes, alignment, row)
            return
        got = messages.load32(f, binding, addresses, lanes, alignment, unread)
        if view is None:
            return
        if mask == full:
            own[...] = got
        else:
            own[active] = got

    def move_cells(
        f: Frame, row: int, binding: messages.Binding, addresses: Array, active: Array, _mask: int, unread: Array | None
    ) -> None:
        own = no_cells if view is None else f.views[view][row].reshape(columns, cell)
        lanes = no_lanes if single else active
        if write:
            stored = np.ascontiguousarray(own[active, start : start + size])
            messages.store(f, binding, addresses, stored, lanes, alignment, row)
            return
        got = messages.load(f, binding, addresses, size, lanes, alignment, unread)
        if view is not None:
            if size != cell:
                own[active] = 0
            own[active, start : start + size] = got

    move = move_dwords if dwords else move_cells

    def op(f: Frame) -> None:
        mask = enable(f)
        if not mask or message.fetches:
            return
        binding = open_(f)
        addresses = at_of(f)
        if single:
            if not mask & 1:
                return
            mask, addresses = full, addresses[0] + steps
        elif address.strided:
            addresses = addresses[0] + each * (pitch(f) or len(offsets) * size)
        addresses = messages.places(f, binding[0], addresses)
        active = messages.lanes_of(mask, columns) if not single else each
        if mask != full:
            addresses = addresses[active]
        unread = None if write else unread_of(f)
        for row, offset in enumerate(offsets):
            skipped = unread if single else messages.for_element(unread, row, active)
            move(f, row, binding, addresses + offset if offset else addresses, active, mask, skipped)

    return op


def _make_status(site: Site, message: ElementMessage, move: Op | None) -> Op:
    """Return the op that writes a bit per lane after the data: set if the memory exists, because it is then resident."""
    lanes, enable, grf = site.lanes, site.enable(), site.grf
    before = len(message.elements) * message.row(grf) if move is not None else 0
    after = RawOperand(message.data.var, message.data.offset + before)
    view = site.raw_view(after, "<u4", 1, 1, 4)
    at_of, open_ = _make_fetch(site, message.address, lanes), messages.open_memory(site, message.memory)

    def op(f: Frame) -> None:
        mask = enable(f)
        if move is not None:
            move(f)
        if not mask or view is None:
            return
        space = open_(f)[0]
        active = messages.lanes_of(mask, lanes)
        addresses = messages.places(f, space, at_of(f)[active])
        inside = None if space is None else space.inside(addresses, message.bytes_per_lane)
        present = np.full(addresses.size, space is not None) if inside is None else inside
        f.views[view][0] = sum(1 << int(lane) for lane in active[present])

    return op


def _make_atomic(site: Site, message: ElementMessage) -> Op:
    """Return the op of atomics lane by lane; the old value is in ``dst``, minus one for a decrement before the read."""
    lanes, enable, cell = site.lanes, site.enable(), message.cell
    update = messages.update_function(site, message.update, message.size)
    open_, at_of = messages.open_memory(site, message.memory), _make_fetch(site, message.address, lanes)
    names = (message.data_field, *message.sources)
    dst, a_view, b_view = (site.raw_view(site.raw(name), f"<u{cell}", 1, lanes, lanes * cell) for name in names)
    zeros, less_one = np.zeros(lanes, np.uint64), message.update == PREDECREMENT

    def op(f: Frame) -> None:
        mask = enable(f)
        if not mask:
            return
        binding = open_(f)
        active = messages.lanes_of(mask, lanes)
        addresses = messages.places(f, binding[0], at_of(f)[active])
        a, b = (zeros[active] if view is None else f.views[view][0][active] for view in (a_view, b_view))
        old = messages.atomic(f, binding, addresses, message.size, active, update, a, b)
        if dst is not None:
            f.views[dst][0][active] = old - old.dtype.type(1) if less_one else old

    return op
