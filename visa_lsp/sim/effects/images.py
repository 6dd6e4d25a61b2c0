"""Effects on images without a sampler: typed reads, writes and atomics.

Coordinates count texels. Reads outside give zero, writes outside are dropped; a plain buffer counts as a line of dwords.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.isa import lsc_codes as codes
from visa_lsp.isa.lsc_codes import ATOMIC_OP_TEXT
from visa_lsp.sim import messages
from visa_lsp.sim.effects import lsc
from visa_lsp.sim.memory import Buffer, Image

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.program.model import RawOperand
    from visa_lsp.sim.memory import Space
    from visa_lsp.sim.operands import Fetch, Op, Site
    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]
Coordinates = tuple[Array, Array, Array]


def lane_reader(site: Site, operand: RawOperand, lanes: int, kind: str = "<i4") -> Fetch:
    """One element per lane of a raw operand; zeros for ``%null``."""
    dtype = np.dtype(kind)
    view = site.raw_view(operand, kind, 1, lanes, lanes * dtype.itemsize)
    if view is None:
        zeros = np.zeros(lanes, dtype)
        return lambda _f: zeros
    return lambda f: f.views[view][0]


def as_image(found: Space | None) -> Image | None:
    """An image; a plain buffer counts as a line of dwords."""
    if isinstance(found, Image) or found is None:
        return found
    if isinstance(found, Buffer):
        return Image(found.name, found.data, found.address, width=found.size // 4, channels=1, format="uint32", dims=1)
    return None


def axes(image: Image, u: Array, v: Array, r: Array) -> Coordinates:
    """Texel x, y, z from the coordinates that the image's shape uses."""
    zero = np.zeros_like(u)
    if image.dims == 1:
        return u, zero, zero
    if image.dims == 2:
        return (u, zero, v) if image.layered and image.height == 1 else (u, v, zero)
    return u, v, r


def _count(
    f: Frame, kind: str, found: tuple[Space | None, int], image: Image | None, xyz: Coordinates, lanes: Array
) -> None:
    if image is None:
        messages.announce(f, kind, found, np.zeros(lanes.size, np.int64), 1, lanes)
        return
    at, inside = image.texel_offsets(*xyz)
    # A texel outside has no offset of its own: one behind the end stands for it.
    messages.announce(f, kind, (image, found[1]), np.where(inside, at, image.size), image.texel_bytes, lanes)


def _typed(site: Site, data: str, open_: messages.Open, reads: list[Fetch], chosen: list[int], *, write: bool) -> Op:
    """Typed reads and writes: whole texels, the chosen channels in registers."""
    lanes, enable = site.lanes, site.enable()
    view = site.raw_view(site.raw(data), "<u4", len(chosen), lanes, max(lanes * 4, site.grf))

    def op(f: Frame) -> None:
        mask = enable(f)
        if not mask:
            return
        found = open_(f)
        image = as_image(found[0])
        active = messages.lanes_of(mask, lanes)
        u, v, r = (read(f)[active].astype(np.int64) for read in reads)
        xyz: Coordinates = axes(image, u, v, r) if image is not None else (u, v, r)
        _count(f, "write" if write else "read", found, image, xyz, active)
        if image is None or view is None:
            if view is not None and not write:
                f.views[view][:, active] = 0
            return
        bits = np.int32 if image.is_integer else np.float32
        if write:
            texels = np.zeros((active.size, 4), bits)
            for k, channel in enumerate(chosen):
                texels[:, channel] = f.views[view][k][active].view(bits)
            wide = texels.astype(np.int64) if image.is_integer else texels
            if image.is_integer and image.channel_type.kind == "u":
                wide = texels.view(np.uint32).astype(np.int64)
            image.write(*xyz, wide)
            return
        texels, _ = image.read(*xyz)
        for k, channel in enumerate(chosen):
            f.views[view][k][active] = (
                texels[:, channel]
                .astype(np.int64 if image.is_integer else np.float32)
                .astype("<u4" if image.is_integer else "<f4")
                .view("<u4")
            )

    return op


def channels(site: Site) -> list[int]:
    """Numbers of the channels of a channel mask."""
    return [c for c in range(4) if site.integer("chan") >> c & 1]


def _typed_message(site: Site, *, write: bool) -> Op:
    reads = [lane_reader(site, site.raw(n), site.lanes) for n in ("u", "v", "r")]
    return _typed(site, "src" if write else "dst", messages.surface(site), reads, channels(site), write=write)


def _lsc_reads(site: Site) -> list[Fetch]:
    size = codes.ADDRSIZE_BYTES.get(site.integer("addrsize"), 4)
    return [lane_reader(site, site.raw(n), site.lanes, f"<i{size}") for n in ("u", "v", "r")]


def _lsc_typed(site: Site, *, write: bool) -> Op:
    mask = site.integer("chmask")
    chosen = [c for c in range(4) if mask >> c & 1] or [0]
    open_, _ = lsc.open_surface(site)
    return _typed(site, "src1" if write else "dst", open_, _lsc_reads(site), chosen, write=write)


def _typed_atomic_at(
    site: Site, open_: messages.Open, reads: list[Fetch], update: messages.Update, names: tuple[str, str]
) -> Op:
    lanes, enable = site.lanes, site.enable()
    first, second = (lane_reader(site, site.raw(n), lanes, "<u4") for n in names)
    dst = site.raw_view(site.raw("dst"), "<u4", 1, lanes, lanes * 4)

    def op(f: Frame) -> None:
        mask = enable(f)
        if not mask:
            return
        found = open_(f)
        image = as_image(found[0])
        active = messages.lanes_of(mask, lanes)
        u, v, r = (read(f)[active].astype(np.int64) for read in reads)
        at = np.full(active.size, -1, np.int64)
        if image is not None:
            offsets, inside = image.texel_offsets(*axes(image, u, v, r))
            at = np.where(inside, offsets, image.size)
        old = messages.atomic(f, (image, found[1]), at, 4, active, update, first(f)[active], second(f)[active])
        if dst is not None:
            f.views[dst][0][active] = old

    return op


def _typed_atomic(site: Site) -> Op:
    reads = [lane_reader(site, site.raw(n), site.lanes) for n in ("u", "v", "r")]
    word = ATOMIC_OP_TEXT.get(site.integer("op") & 31, "")
    update = {**messages.integer_updates(4), **messages.float_updates(4)}.get(word)
    if update is None or site.integer("op") & 0x20:
        raise site.fault("this atomic operation is not modelled")
    return _typed_atomic_at(site, messages.surface(site), reads, update, ("src0", "src1"))


def _lsc_typed_atomic(site: Site) -> Op:
    open_, _ = lsc.open_surface(site)
    return _typed_atomic_at(site, open_, _lsc_reads(site), lsc.atomic_update(site, 4), ("src1", "src2"))


EFFECTS: Final[dict[str, Callable[[Site], Op]]] = {
    "gather4_typed": lambda s: _typed_message(s, write=False),
    "scatter4_typed": lambda s: _typed_message(s, write=True),
    "typed_atomic": _typed_atomic,
    "lsc_typed_load": lambda s: _lsc_typed(s, write=False),
    "lsc_typed_store": lambda s: _lsc_typed(s, write=True),
    "lsc_typed_atomic": _lsc_typed_atomic,
}
