"""Effects that move rectangles for the whole thread: media blocks, blocks of images, parts of matrices in flat memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from visa_lsp.isa.message_forms import MemoryUse
from visa_lsp.program.message import BlockMessage
from visa_lsp.program.model import General
from visa_lsp.sim import messages
from visa_lsp.sim.image_messages import as_image
from visa_lsp.sim.memory import Image

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.sim.operands import Op, Site
    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]


def make_block_op(site: Site) -> Op:
    """Return the op of a message that moves a rectangle."""
    message = messages.value_of(site)
    assert isinstance(message, BlockMessage)
    if message.is_matrix:
        return _make_matrix(site, message)
    return _make_edged(site, message) if message.edge else _make_rectangle(site, message)


def _grid(site: Site, message: BlockMessage) -> tuple[int | None, Callable[[Frame], Array], Callable[[Frame], Array]]:
    """Return the view of a rectangle of bytes, and functions for its columns and rows in the image."""
    view = site.raw_view(message.data, "u1", message.height, message.width, message.pitch)
    (x_of, y_of), (by_x, by_y) = (site.scalar(name) for name in message.corner), message.offset
    columns, rows = np.arange(message.width) + by_x, np.arange(message.height) + by_y
    return (
        view,
        lambda f: messages.sign_extend_dword(x_of(f)) + columns,
        lambda f: messages.sign_extend_dword(y_of(f)) + rows,
    )


def _make_rectangle(site: Site, message: BlockMessage) -> Op:
    """Return the op of a rectangle; reads outside of the image give zero, writes outside are dropped."""
    view, columns, rows = _grid(site, message)
    write, open_ = message.use is MemoryUse.WRITE, messages.open_memory(site, message.memory)
    predicate = site.enable() if message.guard is not None else None

    def op(f: Frame) -> None:
        if view is None or (predicate is not None and not predicate(f)):
            return
        binding = open_(f)
        image = as_image(binding[0])
        x, y = columns(f), rows(f)
        if image is None:
            messages.announce(f, "write" if write else "read", binding, np.zeros(1, np.int64), 1, np.zeros(1, np.int64))
            f.views[view][...] = f.views[view] if write else 0
            return
        row_bytes = image.width * image.texel_bytes
        inside = ((y >= 0) & (y < image.height))[:, None] & ((x >= 0) & (x < row_bytes))[None, :]
        offsets = (y[:, None] * image.pitch + x[None, :])[inside]
        none = np.zeros(offsets.size, np.int64)
        if write:
            messages.store(f, (image.whole, binding[1]), offsets, f.views[view][inside].reshape(-1, 1), none)
            return
        got = np.zeros((message.height, message.width), np.uint8)
        got[inside] = messages.load(f, (image.whole, binding[1]), offsets, 1, none).reshape(-1)
        f.views[view][...] = got

    return op


def _make_edged(site: Site, message: BlockMessage) -> Op:
    """Return the op of a read that repeats the pixels at the edge."""
    view, columns, rows = _grid(site, message)
    open_ = messages.open_memory(site, message.memory)

    def op(f: Frame) -> None:
        binding = open_(f)
        space, x, y = binding[0], columns(f), rows(f)
        if isinstance(space, Image):
            row_bytes, lines, line_pitch, texel = (
                space.width * space.texel_bytes,
                space.height,
                space.pitch,
                space.texel_bytes,
            )
        else:
            # Without a surface it reads one place, which checkers report.
            row_bytes = line_pitch = 1 if space is None else 0 if hasattr(space, "find") else space.size
            lines = texel = 1
        if row_bytes == 0 or view is None:
            return
        cx = np.where(x < 0, x % texel, np.where(x >= row_bytes, row_bytes - texel + x % texel, x))
        offsets = (np.clip(y, 0, lines - 1)[:, None] * line_pitch + cx[None, :]).reshape(-1)
        got = messages.load(f, binding, offsets, 1, np.zeros(offsets.size, np.int64))
        f.views[view][...] = got.reshape(message.height, message.width)

    return op


def _make_matrix(site: Site, message: BlockMessage) -> Op:
    """Return the op of blocks of a matrix, given by base, width, height, pitch (each less one) and a corner."""
    size, blocks, height, width = message.size, message.blocks, message.height, message.width
    b, y, x = np.meshgrid(np.arange(blocks), np.arange(height), np.arange(width), indexing="ij")
    cells = message.cell(b, y, x, site.grf).reshape(-1)
    total = blocks * message.block_cells(site.grf)
    view = site.raw_view(message.data, f"<u{size}", 1, total, total * size)
    described = _descriptor(site) if message.described else [site.scalar(f"addr{i}") for i in range(6)]
    base, last_x, last_y, pitch, at_x, at_y = described
    columns, lines = (b * width + x).reshape(-1) + message.offset[0], y.reshape(-1) + message.offset[1]
    enable, write, open_ = site.enable(), message.use is MemoryUse.WRITE, messages.open_memory(site, message.memory)

    def op(f: Frame) -> None:
        if view is None or not enable(f):
            return
        binding = open_(f)
        px, py = messages.sign_extend_dword(at_x(f)) + columns, messages.sign_extend_dword(at_y(f)) + lines
        inside = (px >= 0) & (px * size + size <= last_x(f) + 1) & (py >= 0) & (py <= last_y(f))
        addresses = (base(f) + py * (pitch(f) + 1) + px * size)[inside]
        none = np.zeros(addresses.size, np.int64)
        if write:
            values = np.ascontiguousarray(f.views[view][0][cells[inside]]).view(np.uint8).reshape(-1, size)
            messages.store(f, binding, addresses, values, none)
            return
        got = messages.load(f, binding, addresses, size, none).view(f"<u{size}").reshape(-1)
        f.views[view][0] = 0
        f.views[view][0][cells[inside]] = got

    return op


def _descriptor(site: Site) -> list[Callable[[Frame], int]]:
    """Return a block address in one register (text 4.2): base in two dwords, then width, height, pitch, x and y in one each."""
    where = site.inst.get("addr0")
    start = site.code.layout.offset(where.var) if isinstance(where, General) else 0

    def word(number: int) -> Callable[[Frame], int]:
        offset = start + 4 * number
        return lambda f: f.word(offset) & 0xFFFFFFFF

    low, high = word(0), word(1)
    return [lambda f: low(f) | high(f) << 32, *(word(number) for number in range(2, 7))]
