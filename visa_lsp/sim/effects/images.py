"""Effects on images without a sampler: typed reads, writes and atomics.

Coordinates count texels. Reads outside give zero, writes outside are dropped; a plain buffer counts as a line of dwords.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.isa import lsc_codes as codes
from visa_lsp.isa.lsc_codes import ATOMIC_OP_TEXT
from visa_lsp.program.model import RawOperand
from visa_lsp.sim import lsc_messages, messages
from visa_lsp.sim.image_messages import Coordinates, as_image, axes, channels, lane_reader

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.sim.memory import Image, Space
    from visa_lsp.sim.operands import Fetch, Op, Site
    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]


def _count(
    f: Frame, kind: str, found: tuple[Space | None, int], image: Image | None, xyz: Coordinates, lanes: Array
) -> None:
    if image is None:
        messages.announce(f, kind, found, np.zeros(lanes.size, np.int64), 1, lanes)
        return
    at, inside = image.texel_offsets(*xyz)
    # The offset after the end represents a texel outside.
    messages.announce(f, kind, (image.whole, found[1]), np.where(inside, at, image.size), image.texel_bytes, lanes)


def _make_texel_op(
    site: Site,
    data: str,
    open_: messages.Open,
    reads: list[Fetch],
    chosen: list[int],
    *,
    write: bool,
    alpha: bool = False,
) -> Op:
    """Return the op of typed reads and writes of the chosen channels. ``alpha``: a read outside gives 1 there."""
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
        xyz: Coordinates = axes(image.form, u, v, r) if image is not None else (u, v, r)
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
            image.write(*xyz, wide, chosen)
            return
        texels, inside = image.read(*xyz)
        if alpha:
            texels[~inside, 3] = 1
        for k, channel in enumerate(chosen):
            f.views[view][k][active] = (
                texels[:, channel]
                .astype(np.int64 if image.is_integer else np.float32)
                .astype("<u4" if image.is_integer else "<f4")
                .view("<u4")
            )

    return op


def _make_texel_message(site: Site, *, write: bool) -> Op:
    reads = [lane_reader(site, site.raw(n), site.lanes) for n in ("u", "v", "r")]
    # Page GATHER4_TYPED: outside, ones are returned in the alpha channel and zeros in the others.
    data = "src" if write else "dst"
    return _make_texel_op(site, data, messages.surface(site), reads, channels(site), write=write, alpha=not write)


def _lsc_reads(site: Site, names: tuple[str, ...] = ("u", "v", "r")) -> list[Fetch]:
    size = codes.ADDRSIZE_BYTES.get(site.integer("addrsize"), 4)
    return [
        _add_offset(lane_reader(site, site.raw(n), site.lanes, f"<i{size}"), site.integer(f"{n}off")) for n in names
    ]


def _add_offset(read: Fetch, offset: int) -> Fetch:
    return (lambda f: read(f) + offset) if offset else read


def _lsc_typed(site: Site, *, write: bool, status: bool = False, sampled: bool = False) -> Op:
    """Return the op of whole texels; ``status`` adds a register of residency, ``sampled``: the fourth coordinate is a sample."""
    mask = site.integer("chmask")
    chosen = [c for c in range(4) if mask >> c & 1] or [0]
    open_, _ = lsc_messages.open_surface(site)
    reads = _lsc_reads(site)
    if sampled:
        reads[0] = _first_sample(reads[0], _lsc_reads(site, ("lod",))[0])
    move = _make_texel_op(site, "src1" if write else "dst", open_, reads, chosen, write=write)
    if not status:
        return move
    told = _lsc_status(site, len(chosen))

    def op(f: Frame) -> None:
        move(f)
        told(f)

    return op


def _first_sample(x: Fetch, sample: Fetch) -> Fetch:
    """Return x, moved outside for samples other than the first, because images have one sample per pixel."""
    return lambda f: np.where(sample(f) == 0, x(f), -1)


def _lsc_status(site: Site, before: int = 0) -> Op:
    """Return one bit per lane after ``before`` registers: set if the pixel lies inside, because all memory is resident."""
    lanes, enable, operand = site.lanes, site.enable(), site.raw("dst")
    row = max(lanes * 4, site.grf)
    view = site.raw_view(RawOperand(operand.var, operand.offset + before * row), "<u4", 1, 1, 4)
    open_, reads = lsc_messages.open_surface(site)[0], _lsc_reads(site)

    def op(f: Frame) -> None:
        mask = enable(f)
        if not mask or view is None:
            return
        image = as_image(open_(f)[0])
        active = messages.lanes_of(mask, lanes)
        inside = np.zeros(active.size, bool)
        if image is not None:
            inside = image.texel_offsets(*axes(image.form, *(read(f)[active].astype(np.int64) for read in reads)))[1]
        f.views[view][0] = sum(1 << int(lane) for lane in active[inside])

    return op


def _lsc_block(site: Site, *, write: bool) -> Op:
    """Return the op of a rectangle of ``width`` bytes by ``height`` rows; reads outside give zero, writes outside are dropped."""
    width, height = site.integer("width"), site.integer("height")
    if not 0 < width * height <= 1 << 16:
        raise site.fault(f"a block of {width} bytes by {height} rows is too large")
    pitch = max(4, 1 << (width - 1).bit_length())
    view = site.raw_view(site.raw("data" if write else "dst"), "u1", height, width, pitch)
    x_of, y_of, open_ = site.scalar("src0"), site.scalar("src1"), lsc_messages.open_surface(site)[0]
    at_x, at_y = np.arange(width) + site.integer("immx"), np.arange(height) + site.integer("immy")
    predicate = site.enable() if site.has("pred") else None

    def op(f: Frame) -> None:
        if view is None or (predicate is not None and not predicate(f)):
            return
        found = open_(f)
        image = as_image(found[0])
        x, y = lsc_messages.sign_extend_dword(x_of(f)) + at_x, lsc_messages.sign_extend_dword(y_of(f)) + at_y
        if image is None:
            messages.announce(f, "write" if write else "read", found, np.zeros(1, np.int64), 1, np.zeros(1, np.int64))
            f.views[view][...] = f.views[view] if write else 0
            return
        rows = (y >= 0) & (y < image.height)
        inside = rows[:, None] & ((x >= 0) & (x < image.width * image.texel_bytes))[None, :]
        at = (y[:, None] * image.pitch + x[None, :])[inside]
        none = np.zeros(at.size, np.int64)
        if write:
            messages.store(f, (image.whole, found[1]), at, f.views[view][inside].reshape(-1, 1), none)
            return
        got = np.zeros((height, width), np.uint8)
        got[inside] = messages.load(f, (image.whole, found[1]), at, 1, none).reshape(-1)
        f.views[view][...] = got

    return op


def _make_texel_atomic_at(
    site: Site, open_: messages.Open, reads: list[Fetch], update: messages.Update, names: tuple[str, str], size: int = 4
) -> Op:
    """Return the op of atomics on the first ``size`` bytes of texels; operands and old values take a dword each."""
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
            offsets, inside = image.texel_offsets(*axes(image.form, u, v, r))
            at = np.where(inside, offsets, image.size)
        whole = image.whole if image is not None else None
        old = messages.atomic(f, (whole, found[1]), at, size, active, update, first(f)[active], second(f)[active])
        if dst is not None:
            f.views[dst][0][active] = old

    return op


def _make_texel_atomic(site: Site) -> Op:
    reads = [lane_reader(site, site.raw(n), site.lanes) for n in ("u", "v", "r")]
    code = site.integer("op")
    size = 2 if code & 0x20 else 4
    word = "predec" if code & 31 == 13 else ATOMIC_OP_TEXT.get(code & 31, "")
    update = {**messages.integer_updates(size), **messages.float_updates(size)}.get(word)
    if update is None:
        raise site.fault(f"there is no atomic operation {code & 31}")
    return _make_texel_atomic_at(site, messages.surface(site), reads, update, ("src0", "src1"), size)


def _lsc_typed_atomic(site: Site) -> Op:
    open_, _ = lsc_messages.open_surface(site)
    size = 2 if site.inst.row.update in messages.bfloat_updates() else 4
    update = lsc_messages.atomic_update(site, size)
    return _make_texel_atomic_at(site, open_, _lsc_reads(site), update, ("src1", "src2"), size)


EFFECTS: Final[dict[str, Callable[[Site], Op]]] = {
    "gather4_typed": lambda s: _make_texel_message(s, write=False),
    "scatter4_typed": lambda s: _make_texel_message(s, write=True),
    "typed_atomic": _make_texel_atomic,
    "lsc_typed_load": lambda s: _lsc_typed(s, write=False),
    "lsc_typed_store": lambda s: _lsc_typed(s, write=True),
    "lsc_typed_atomic": _lsc_typed_atomic,
    "lsc_typed_load_status": _lsc_status,
    "lsc_typed_load_quad_status": lambda s: _lsc_typed(s, write=False, status=True),
    "lsc_typed_load_msrt": lambda s: _lsc_typed(s, write=False, sampled=True),
    "lsc_typed_store_msrt": lambda s: _lsc_typed(s, write=True, sampled=True),
    "lsc_typed_load_block2d": lambda s: _lsc_block(s, write=False),
    "lsc_typed_store_block2d": lambda s: _lsc_block(s, write=True),
}
