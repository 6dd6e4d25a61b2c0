"""Effects that read and write one place per lane: gathers, scatters and atomics of surfaces and of flat memory.

Offsets into surfaces are 32-bit unsigned and wrap; flat addresses are 64-bit. Where a message returns several
channels or blocks, each starts at its own register.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.isa.lsc_codes import ATOMIC_OP_TEXT
from visa_lsp.isa.types import ExecControl
from visa_lsp.sim import messages

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.program.model import RawOperand
    from visa_lsp.sim.operands import Fetch, Op, Site
    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]


def _offsets(site: Site, name: str, lanes: int, *, wide: bool = False) -> Fetch:
    """Return the per-lane offsets plus the global one, as int64."""
    operand = site.raw(name)
    size = 8 if wide else 4
    view = site.raw_view(operand, f"<u{size}", 1, lanes, lanes * size)
    base = site.scalar("goff") if site.has("goff") else None
    if view is None:
        zeros = np.zeros(lanes, np.int64)
        return lambda f: zeros + (base(f) if base else 0)
    if wide:
        if base is None:
            return lambda f: f.views[view][0].astype(np.int64)
        return lambda f: f.views[view][0].astype(np.int64) + base(f)
    if base is None:
        return lambda f: f.views[view][0].astype(np.int64)
    # Unsigned 32-bit arithmetic wraps.
    return lambda f: (f.views[view][0].astype(np.int64) + base(f)) & 0xFFFFFFFF


def _channels(site: Site, data: str, offset: str, *, wide: bool, write: bool) -> Op:
    """Return the op of RGBA messages: channel c of a lane is 4 c bytes after its address."""
    lanes = site.lanes
    chosen = [c for c in range(4) if site.integer("chan") >> c & 1]
    row = max(lanes * 4, site.grf)
    view = site.raw_view(site.raw(data), "<u4", len(chosen), lanes, row)
    unread_of = site.unread_rows(site.raw(data), len(chosen), lanes * 4, row)
    at_of = _offsets(site, offset, lanes, wide=wide)
    open_ = messages.flat if wide else messages.surface(site)
    enable, full = site.enable(), site.full

    def op(f: Frame) -> None:
        mask = enable(f)
        if not mask:
            return
        found = open_(f)
        active = messages.lanes_of(mask, lanes)
        at = messages.places(f, found[0], at_of(f))
        if mask != full:
            at = at[active]
        unread = None if write else unread_of(f)
        for k, channel in enumerate(chosen):
            where = at + 4 * channel if channel else at
            if write:
                values = f.views[view][k][active] if view is not None else np.zeros(active.size, np.uint32)
                messages.store32(f, found, where, values, active)
            else:
                got = messages.load32(f, found, where, active, messages.for_element(unread, k, active))
                if view is not None:
                    if mask == full:
                        f.views[view][k] = got
                    else:
                        f.views[view][k][active] = got

    return op


def _cells(
    site: Site,
    open_: messages.Open,
    at_of: Fetch,
    data: RawOperand,
    lanes: int,
    enable: Callable[[Frame], int],
    *,
    memory_bytes: int,
    cell_bytes: int,
    blocks: int,
    write: bool,
    alignment: int = 1,
) -> Op:
    """Return the op that moves ``blocks`` rows of one cell per lane, the low ``memory_bytes`` of each cell."""
    row = max(lanes * cell_bytes, site.grf if blocks > 1 else 1)
    view = site.raw_view(data, "u1", blocks, lanes * cell_bytes, row)
    unread_of = site.unread_rows(data, blocks, lanes * cell_bytes, row)

    def op(f: Frame) -> None:
        mask = enable(f)
        if not mask:
            return
        found = open_(f)
        active = messages.lanes_of(mask, lanes)
        at = messages.places(f, found[0], at_of(f)[active])
        unread = None if write else unread_of(f)
        for block in range(blocks):
            where = at + block * memory_bytes
            if write:
                cells = np.zeros((lanes, cell_bytes), np.uint8)
                if view is not None:
                    cells = f.views[view][block].reshape(lanes, cell_bytes)
                messages.store(f, found, where, cells[active][:, :memory_bytes], active, alignment)
            else:
                skipped = messages.for_element(unread, block, active)
                got = messages.load(f, found, where, memory_bytes, active, alignment, skipped)
                if view is not None:
                    cells = f.views[view][block].reshape(lanes, cell_bytes)
                    cells[active, :memory_bytes] = got
                    cells[active, memory_bytes:] = 0

    return op


def _move_scaled(site: Site, *, write: bool) -> Op:
    """Return the op of gather_scaled and scatter_scaled: 1, 2 or 4 bytes per lane, each in its own dword."""
    data = site.raw("src" if write else "dst")
    if site.integer("n") > 2:
        raise site.fault("a lane moves 1, 2 or 4 bytes")
    return _cells(
        site, messages.surface(site), _offsets(site, "off", site.lanes), data, site.lanes, site.enable(),
        memory_bytes=1 << site.integer("n"), cell_bytes=4, blocks=1, write=write,
    )  # fmt: skip


def _plain(site: Site, *, write: bool) -> Op:
    """Return the op of gather and scatter: 8, 16 or 1 offsets in elements, the mask in the element count."""
    control = site.inst.get("n")
    if isinstance(control, ExecControl):
        site.control, site.lanes, site.full = control, control.exec_size, (1 << control.exec_size) - 1
    size = 1 << site.integer("eltsize")
    offsets = _offsets(site, "off", site.lanes)
    data = site.raw("src" if write else "dst")
    return _cells(
        site, messages.surface(site), lambda f: offsets(f) * size, data, site.lanes, site.enable(),
        memory_bytes=size, cell_bytes=4, blocks=1, write=write,
    )  # fmt: skip


def _qwords(site: Site, *, write: bool) -> Op:
    """Return the op of qw_gather and qw_scatter: whole qwords."""
    data = site.raw("src" if write else "dst")
    return _cells(
        site, messages.surface(site), _offsets(site, "off", site.lanes), data, site.lanes, site.enable(),
        memory_bytes=8, cell_bytes=8, blocks=1 << site.integer("n"), write=write, alignment=8,
    )  # fmt: skip


def _svm(site: Site, *, write: bool) -> Op:
    """Return the op of svm_gather and svm_scatter: blocks of 1, 4 or 8 bytes."""
    block, count = site.integer("block"), 1 << site.integer("n")
    size = {0: 1, 1: 4}.get(block, 8)
    # The bytes of one lane are packed in its own dword or qword; larger blocks are in rows of one per lane.
    memory, cell, blocks = (count, max(4, count), 1) if size == 1 else (size, size, count)
    return _cells(
        site, messages.flat, _offsets(site, "address", site.lanes, wide=True), site.raw("data"), site.lanes, site.enable(),
        memory_bytes=memory, cell_bytes=cell, blocks=blocks, write=write, alignment=size,
    )  # fmt: skip


def _atomic(site: Site, offset: str, *, wide: bool) -> Op:
    code = site.integer("op")
    size = 2 if code & 0x20 else 8 if code & 0x40 else 4
    word = "predec" if code & 31 == 13 else ATOMIC_OP_TEXT.get(code & 31, "")
    update = {**messages.integer_updates(size), **messages.float_updates(size)}.get(word)
    if update is None:
        raise site.fault(f"there is no atomic operation {code & 31}")
    open_ = messages.flat if wide else messages.surface(site)
    at_of = _offsets(site, offset, site.lanes, wide=wide)
    return messages.atomic_of_lanes(
        site, open_, at_of, update, size, max(4, size), ("src0", "src1"), less_one=word == "predec"
    )


EFFECTS: Final[dict[str, Callable[[Site], Op]]] = {
    "gather4_scaled": lambda s: _channels(s, "dst", "off", wide=False, write=False),
    "scatter4_scaled": lambda s: _channels(s, "src", "off", wide=False, write=True),
    "svm_gather4scaled": lambda s: _channels(s, "data", "address", wide=True, write=False),
    "svm_scatter4scaled": lambda s: _channels(s, "data", "address", wide=True, write=True),
    "gather_scaled": lambda s: _move_scaled(s, write=False),
    "scatter_scaled": lambda s: _move_scaled(s, write=True),
    "gather": lambda s: _plain(s, write=False),
    "scatter": lambda s: _plain(s, write=True),
    "qw_gather": lambda s: _qwords(s, write=False),
    "qw_scatter": lambda s: _qwords(s, write=True),
    "svm_gather": lambda s: _svm(s, write=False),
    "svm_scatter": lambda s: _svm(s, write=True),
    "dword_atomic": lambda s: _atomic(s, "off", wide=False),
    "svm_atomic": lambda s: _atomic(s, "address", wide=True),
}
