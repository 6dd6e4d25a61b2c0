"""Effects that move blocks for the whole thread, whatever its mask: owords, media blocks.

Block messages ignore the execution mask (seed 004 "Predication").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.sim import messages
from visa_lsp.sim.lsc_messages import sign_extend_dword
from visa_lsp.sim.memory import Image

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.sim.operands import Op, Site
    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]


def _owords(site: Site, data: str, address: str, *, scale: int, write: bool, wide: bool = False) -> Op:
    """Return the op of consecutive owords, moved dword by dword, so that a block at the end of a buffer is moved in part."""
    dwords = 4 << site.integer("n")
    view = site.raw_view(site.raw(data), "<u4", 1, dwords, dwords * 4)
    unread_of = site.unread_rows(site.raw(data), dwords, 4, 4)
    base = site.scalar(address)
    open_ = messages.flat if wide else messages.surface(site)
    steps = np.arange(dwords) * 4
    lanes = np.zeros(dwords, np.int64)

    def op(f: Frame) -> None:
        found = open_(f)
        at = messages.places(f, found[0], base(f) * scale + steps)
        if write:
            values = f.views[view][0] if view is not None else np.zeros(dwords, np.uint32)
            messages.store32(f, found, at, values, lanes)
        else:
            got = messages.load32(f, found, at, lanes, unread_of(f))
            if view is not None:
                f.views[view][0] = got

    return op


def _media(site: Site, *, write: bool) -> Op:
    """Return the op of a rectangle of bytes of a 2D surface; reads outside repeat the edge, writes outside are dropped."""
    width, height = site.integer("width"), site.integer("height")
    pitch = max(4, 1 << (width - 1).bit_length())
    view = site.raw_view(site.raw("src" if write else "dst"), "u1", height, width, pitch)
    x_of, y_of, open_ = site.scalar("x"), site.scalar("y"), messages.surface(site)
    columns, rows = np.arange(width), np.arange(height)

    def op(f: Frame) -> None:
        found = open_(f)
        space = found[0]
        x, y = sign_extend_dword(x_of(f)) + columns, sign_extend_dword(y_of(f)) + rows
        if isinstance(space, Image):
            row_bytes, lines, line_pitch = space.width * space.texel_bytes, space.height, space.pitch
        else:
            size = space.size if space is not None and not hasattr(space, "find") else 0
            row_bytes, lines, line_pitch = size, 1, size
        inside = ((y >= 0) & (y < lines))[:, None] & ((x >= 0) & (x < row_bytes))[None, :]
        if write:
            at = (y[:, None] * line_pitch + x[None, :])[inside]
            values = f.views[view][inside] if view is not None else np.zeros(at.size, np.uint8)
            messages.store(f, found, at, values.reshape(-1, 1), np.zeros(at.size, np.int64))
            return
        if row_bytes == 0 or view is None:
            return
        texel = space.texel_bytes if isinstance(space, Image) else 1
        cx = np.where(x < 0, x % texel, np.where(x >= row_bytes, row_bytes - texel + x % texel, x))
        cy = np.clip(y, 0, lines - 1)
        at = (cy[:, None] * line_pitch + cx[None, :]).reshape(-1)
        got = messages.load(f, found, at, 1, np.zeros(at.size, np.int64))
        f.views[view][...] = got.reshape(height, width)

    return op


EFFECTS: Final[dict[str, Callable[[Site], Op]]] = {
    "oword_ld": lambda s: _owords(s, "dst", "offset", scale=16, write=False),
    "oword_ld_unaligned": lambda s: _owords(s, "dst", "offset", scale=1, write=False),
    "oword_st": lambda s: _owords(s, "src", "offset", scale=16, write=True),
    "svm_block_ld": lambda s: _owords(s, "data", "address", scale=1, write=False, wide=True),
    "svm_block_st": lambda s: _owords(s, "data", "address", scale=1, write=True, wide=True),
    "media_ld": lambda s: _media(s, write=False),
    "media_st": lambda s: _media(s, write=True),
}
