"""Effects on texels of images without a sampler: typed reads, writes and atomics.

Coordinates count texels. Reads outside give zero, writes outside are dropped; a plain buffer counts as a line of dwords.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from visa_lsp.isa.message_forms import MemoryUse
from visa_lsp.program.message import TexelMessage
from visa_lsp.program.model import RawOperand
from visa_lsp.sim import messages
from visa_lsp.sim.image_messages import Coordinates, as_image, axes, lane_reader

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.program.message import Coordinate
    from visa_lsp.sim.memory import Image
    from visa_lsp.sim.operands import Fetch, Op, Site
    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]


def make_texel_op(site: Site) -> Op:
    """Return the op of a message to texels."""
    message = messages.value_of(site)
    assert isinstance(message, TexelMessage)
    if message.use is MemoryUse.ATOMIC:
        return _make_atomic(site, message)
    if message.use is MemoryUse.TEST:
        return _make_status(site, message, 0)
    move = _make_move(site, message)
    if not message.residency:
        return move
    tell = _make_status(site, message, len(message.channels))

    def op(f: Frame) -> None:
        move(f)
        tell(f)

    return op


def _count(f: Frame, kind: str, binding: messages.Binding, image: Image | None, xyz: Coordinates, lanes: Array) -> None:
    if image is None:
        messages.announce(f, kind, binding, np.zeros(lanes.size, np.int64), 1, lanes)
        return
    offsets, inside = image.texel_offsets(*xyz)
    # The offset after the end represents a texel outside.
    messages.announce(
        f, kind, (image.whole, binding[1]), np.where(inside, offsets, image.size), image.texel_bytes, lanes
    )


def _places(site: Site, message: TexelMessage) -> Callable[[Frame, Array, Image | None], Coordinates]:
    """Return a function for the texels of the active lanes: x, y, z of an image, or u, v, r without one."""

    def reader(coordinate: Coordinate) -> Fetch:
        read = lane_reader(site, coordinate.operand, site.lanes, f"<i{message.type.size}")
        return (lambda f: read(f) + coordinate.offset) if coordinate.offset else read

    reads = [reader(coordinate) for coordinate in message.coordinates]
    sample = reader(message.sample) if message.sample is not None else None

    def places(f: Frame, active: Array, image: Image | None) -> Coordinates:
        u, v, r = (read(f)[active].astype(np.int64) for read in reads)
        if sample is not None:  # images have one sample per pixel, so that the others lie outside
            u = np.where(sample(f)[active] == 0, u, -1)
        return axes(image.form, u, v, r) if image is not None else (u, v, r)

    return places


def _make_move(site: Site, message: TexelMessage) -> Op:
    """Return the op of typed reads and writes of the chosen channels."""
    lanes, enable, chosen, write = site.lanes, site.enable(), message.channels, message.use is MemoryUse.WRITE
    view = site.raw_view(message.data, "<u4", len(chosen), lanes, max(lanes * 4, site.grf))
    open_, places = messages.open_memory(site, message.memory), _places(site, message)

    def op(f: Frame) -> None:
        mask = enable(f)
        if not mask:
            return
        binding = open_(f)
        image = as_image(binding[0])
        active = messages.lanes_of(mask, lanes)
        xyz = places(f, active, image)
        _count(f, "write" if write else "read", binding, image, xyz, active)
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
        if message.alpha:
            texels[~inside, 3] = 1
        for k, channel in enumerate(chosen):
            f.views[view][k][active] = (
                texels[:, channel]
                .astype(np.int64 if image.is_integer else np.float32)
                .astype("<u4" if image.is_integer else "<f4")
                .view("<u4")
            )

    return op


def _make_status(site: Site, message: TexelMessage, before: int) -> Op:
    """Return one bit per lane after ``before`` registers: set if the pixel lies inside, because all memory is resident."""
    lanes, enable, row = site.lanes, site.enable(), max(site.lanes * 4, site.grf)
    view = site.raw_view(RawOperand(message.data.var, message.data.offset + before * row), "<u4", 1, 1, 4)
    open_, places = messages.open_memory(site, message.memory), _places(site, message)

    def op(f: Frame) -> None:
        mask = enable(f)
        if not mask or view is None:
            return
        image = as_image(open_(f)[0])
        active = messages.lanes_of(mask, lanes)
        inside = np.zeros(active.size, bool)
        if image is not None:
            inside = image.texel_offsets(*places(f, active, image))[1]
        f.views[view][0] = sum(1 << int(lane) for lane in active[inside])

    return op


def _make_atomic(site: Site, message: TexelMessage) -> Op:
    """Return the op of atomics on the first bytes of texels; operands and old values take a dword each."""
    lanes, enable, update = site.lanes, site.enable(), messages.update_function(site, message.update, message.size)
    read_a, read_b = (lane_reader(site, site.raw(name), lanes, "<u4") for name in message.sources)
    dst = site.raw_view(message.data, "<u4", 1, lanes, lanes * 4)
    open_, places = messages.open_memory(site, message.memory), _places(site, message)

    def op(f: Frame) -> None:
        mask = enable(f)
        if not mask:
            return
        binding = open_(f)
        image = as_image(binding[0])
        active = messages.lanes_of(mask, lanes)
        positions, whole, xyz = np.full(active.size, -1, np.int64), None, places(f, active, image)
        if image is not None:
            offsets, inside = image.texel_offsets(*xyz)
            positions, whole = np.where(inside, offsets, image.size), image.whole
        old = messages.atomic(
            f, (whole, binding[1]), positions, message.size, active, update, read_a(f)[active], read_b(f)[active]
        )
        if dst is not None:
            f.views[dst][0][active] = old

    return op
