"""Effects of the sampler: texel loads, filtered samples, sizes.

Images have one level of detail and one sample per pixel; a load from another level or sample reads outside. The
comparison of a sampler with a reference is "less or equal". The packing of texel offsets with another parameter is that
of an open driver's compiler (Mesa), because public documents do not describe it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.isa import types as ty
from visa_lsp.program.message import OFFSETS, number
from visa_lsp.program.model import General, RawOperand
from visa_lsp.sim import messages
from visa_lsp.sim.filtering import compare_texels, filter_image, taps
from visa_lsp.sim.image_messages import as_image, axes, lane_reader
from visa_lsp.sim.lane_formulas import ARRAYS
from visa_lsp.sim.registers import FIRST_HANDLE
from visa_lsp.sim.values import DTYPE

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.program.message import SampleMessage
    from visa_lsp.sim.filtering import Offsets
    from visa_lsp.sim.memory import Image, Sampler
    from visa_lsp.sim.operands import Fetch, Op, Site
    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]

HANDLE_TAGS: Final = 0xF  # low bits of a handle: states lie at multiples of 16 bytes, compilers use the bits between

# The rows list the parameters of a payload (pages 3D_SAMPLE, 3D_SAMPLE4, 3D_LOAD). One that shares its operand
# with texel offsets has them in its low twelve bits: four bits each for u, v, r as in aoffimmi, or for gathers six for v,
# six for u.


def _result(site: Site, image: Image | None, texels: Array, kind: ty.DataType) -> Array:
    """Return channels (n, 4) in the bits of the destination's type."""
    del site
    if image is not None and image.is_integer:
        # Integers are returned unchanged, because compilers read them through a variable of type f.
        return texels.astype(np.int64).astype(f"<u{kind.size}" if kind.is_float else DTYPE[kind])
    if image is None or kind.is_float:
        return texels.astype(DTYPE[kind] if kind.is_float else np.float32)
    # Texels that are not integers are f32, independent of the variable's type.
    return texels.astype(np.float32).view(f"<u{min(4, kind.size)}") if kind.size == 4 else texels.astype(np.float16)


def _value_of(site: Site) -> SampleMessage:
    """Return the value of the message, and set its lanes."""
    message = site.sample_message()
    site.set_control(message.control)
    return message


def _readers(site: Site, message: SampleMessage) -> dict[str, Fetch]:
    """Return a reader for each parameter of the message; absent ones are zero."""
    return {word: lane_reader(site, operand, site.lanes, kind) for word, operand, kind in message.parameters}


def _texel_message(site: Site, message: SampleMessage, texels_of: Callable[[Frame, Image, Array], Array]) -> Op:
    """Return the op of a load or sample: find the image, read texels (n, 4) of the active lanes, store the channels."""
    lanes, enable, chosen, operand = site.lanes, site.enable(), message.channels, message.data
    kind = site.code.kernel.variable_type(operand.var) or ty.F
    open_ = messages.open_memory(site, message.memory)
    row = -(-lanes * kind.size // site.grf) * site.grf
    view = site.raw_view(operand, f"<u{kind.size}", len(chosen), lanes, row)
    null_mask = None
    if message.null_mask and operand.var:
        after = RawOperand(operand.var, operand.offset + len(chosen) * row)
        null_mask = site.raw_view(after, "<u4", 1, 1, 4)

    def op(f: Frame) -> None:
        mask = enable(f)
        if not mask:
            return
        binding = open_(f)
        image = as_image(binding[0])
        active = messages.lanes_of(mask, lanes)
        if image is None:
            messages.announce(f, "read", binding, np.zeros(active.size, np.int64), 1, active)
        texels = texels_of(f, image, active) if image is not None else np.zeros((active.size, 4), np.float32)
        if view is not None:
            values = np.ascontiguousarray(_result(site, image, texels, kind)).view(f"<u{kind.size}")
            for k, channel in enumerate(chosen):
                f.views[view][k][active] = values[:, channel]
        if null_mask is not None:
            f.views[null_mask][0] = site.full

    return op


def load(site: Site) -> Op:
    """Read texels at integer coordinates. Images have one sample per pixel."""
    message, offset_of = _value_of(site), site.scalar("aoffimmi")
    reads = _readers(site, message)

    def texels_of(f: Frame, image: Image, active: Array) -> Array:
        u, v, r = (reads[n](f)[active].astype(np.int64) for n in ("u", "v", "r"))
        du, dv, dr = texel_offset(offset_of(f))
        u = u + du
        for outer in ("lod", "si"):
            if outer in reads:
                u = np.where(reads[outer](f)[active] == 0, u, -1)
        return image.read(*axes(image.form, u, v + dv, r + dr))[0]

    return _texel_message(site, message, texels_of)


def load_mcs(site: Site) -> Op:
    """Read zeros: images have one sample per pixel, so no multisample control surface exists."""
    return _texel_message(
        site,
        _value_of(site),
        lambda _f, image, active: np.zeros((active.size, 4), np.int64 if image.is_integer else np.float32),
    )


def texel_offset(word: int) -> tuple[int, int, int]:
    """Return the offsets along u, v, r: four signed bits each, u highest."""

    def read_offset(shift: int) -> int:
        bits = word >> shift & 15
        return bits - 16 if bits > 7 else bits

    return read_offset(8), read_offset(4), read_offset(0)


def _lane_offsets(reads: dict[str, Fetch], f: Frame, active: Array, bits: int) -> Offsets:
    """Return the texel offsets per lane along u, v, r, from separate parameters or from the low bits of another one."""
    if "offu" in reads:
        u, v = (reads[n](f)[active].astype(np.int64) for n in ("offu", "offv"))
        return u, v, 0
    if OFFSETS not in reads:
        return 0, 0, 0
    word = reads[OFFSETS](f)[active].astype(np.int64)
    half = 1 << bits - 1

    def read_offset(shift: int) -> Array:
        return (word >> shift & 2 * half - 1 ^ half) - half

    return (read_offset(8), read_offset(4), read_offset(0)) if bits == 4 else (read_offset(0), read_offset(6), 0)


def _sampler(site: Site, message: SampleMessage) -> Callable[[Frame], Sampler]:
    """Return a function that finds the sampler's state: a variable of the table, or a pointer (text 4.2)."""
    if isinstance(message.sampler, General | RawOperand):
        value = messages.pointer_reader(site, message.sampler, message.sampler_index * messages.SAMPLER_STATE_BYTES)
    else:
        bases, number = site.code.layout.sampler_base, message.sampler if isinstance(message.sampler, int) else 0
        cell = bases[number] if number < len(bases) else site.code.layout.sampler_cells - 1
        value = lambda f: int(f.samplers[cell])  # noqa: E731

    def find(f: Frame) -> Sampler:
        assert f.thread is not None
        number = value(f)
        if number >= FIRST_HANDLE:
            number &= ~HANDLE_TAGS
        sampler = f.thread.machine.dispatch.samplers.get(number)
        if sampler is None:
            raise site.fault(f"no sampler is bound to {number:#x}")
        return sampler

    return find


def sample(site: Site) -> Op:
    """Filter an image at float coordinates; images have one level, so that its choice changes nothing."""
    message, offset_of = _value_of(site), site.scalar("aoffimmi")
    reads, state = _readers(site, message), _sampler(site, message)

    def texels_of(f: Frame, image: Image, active: Array) -> Array:
        u, v, r = (reads[n](f)[active].astype(np.float64) for n in ("u", "v", "r"))
        du, dv, dr = texel_offset(offset_of(f))
        lane_u, lane_v, lane_r = _lane_offsets(reads, f, active, 4)
        offset = du + lane_u, dv + lane_v, dr + lane_r
        reference = reads["ref"](f)[active] if "ref" in reads else None
        return filter_image(image, state(f), u, v, r, offset, reference)

    return _texel_message(site, message, texels_of)


def sample4(site: Site) -> Op:
    """Read one channel of the four texels that a bilinear filter would mix: lower left, lower right, upper right, upper left."""
    message, offset_of = _value_of(site), site.scalar("aoffimmi")
    reads, state, channel = _readers(site, message), _sampler(site, message), message.gathered

    def texels_of(f: Frame, image: Image, active: Array) -> Array:
        sampler = state(f)
        x, y, z = axes(image.form, *(reads[n](f)[active].astype(np.float64) for n in ("u", "v", "r")))
        du, dv, _ = (a + b for a, b in zip(texel_offset(offset_of(f)), _lane_offsets(reads, f, active, 6), strict=True))
        (x0, _), (x1, _) = taps(ARRAYS, x, image.width, sampler, linear=True, offset=du)
        (y0, _), (y1, _) = taps(ARRAYS, np.broadcast_to(y, x.shape), image.height, sampler, linear=True, offset=dv)
        layer = np.clip(np.rint(z), 0, image.depth - 1).astype(np.int64)
        texels = [image.read(cx, cy, layer)[0] for cx, cy in ((x0, y1), (x1, y1), (x1, y0), (x0, y0))]
        if "ref" in reads:
            reference = reads["ref"](f)[active]
            return np.stack([compare_texels(four, reference)[:, 0] for four in texels], axis=1)
        return np.stack([four[:, channel] for four in texels], axis=1)

    return _texel_message(site, message, texels_of)


def lod(site: Site) -> Op:
    """Compute the level that a sample would use: red is clamped to the only level, green is not clamped.

    Derivatives are differences within four neighbouring lanes, two by two.
    """
    message = _value_of(site)
    reads, lanes = _readers(site, message), site.lanes
    corner, right, below = (np.arange(lanes) & ~3 | k for k in range(3))

    def texels_of(f: Frame, image: Image, active: Array) -> Array:
        sizes = (image.width, image.height if image.dims > 1 else 0, image.depth if image.dims > 2 else 0)
        rho = np.zeros((2, lanes))
        for name, size in zip("uvr", sizes, strict=True):
            x = reads[name](f).astype(np.float64)
            rho += np.stack([(x[right] - x[corner]) * size, (x[below] - x[corner]) * size]) ** 2
        out = np.zeros((active.size, 4), np.float32)
        out[:, 1] = 0.5 * np.log2(rho.max(axis=0))[active]
        return out

    return _texel_message(site, message, texels_of)


def sample_unorm(site: Site) -> Op:
    """Read a block of 8 by 4 pixels in steps from a corner, as fractions of 16 or 8 bits.

    Each chosen channel takes 32 elements, row by row; if chrominance is halved, red and blue fill only their first 16
    elements, with the even pixels of each row.
    """
    message, form = _value_of(site), number(site.inst, "chan") >> 4 & 3  # the output format, above the channels
    chosen = message.channels
    top, kind = (255, "u1") if form & 2 else (65535, "<u2")
    size = top.bit_length() // 8
    view = site.raw_view(site.raw("dst"), kind, len(chosen), 32, 32 * size)
    corner = [site.read(site.inst.get(n), 1) for n in ("u", "v", "du", "dv")]
    state, open_ = _sampler(site, message), messages.open_memory(site, message.memory)
    column, row = np.arange(32) % 8, np.arange(32) // 8
    even = np.flatnonzero(column % 2 == 0)

    def op(f: Frame) -> None:
        binding = open_(f)
        image = as_image(binding[0])
        if image is None:
            messages.announce(f, "read", binding, np.zeros(1, np.int64), 1, np.zeros(1, np.int64))
        if view is None:
            return
        u, v, du, dv = (float(fetch(f)[0]) for fetch in corner)
        texels = np.zeros((32, 4))
        if image is not None:
            sampler = replace(state(f), normalized=True)
            texels = filter_image(image, sampler, u + column * du, v + row * dv, np.zeros(32))
        values = np.rint(np.clip(texels, 0, 1) * top).astype(np.dtype(kind))
        for k, channel in enumerate(chosen):
            pixels = values[even, channel] if form & 1 and channel in (0, 2) else values[:, channel]
            f.views[view][k][: pixels.size] = pixels

    return op


def resinfo(site: Site) -> Op:
    """Read width, height, depth or layers, and number of levels."""
    message = _value_of(site)
    level = _readers(site, message)["lod"]

    def texels_of(f: Frame, image: Image, active: Array) -> Array:
        sizes = [image.width, image.height if image.dims > 1 else 0, image.depth if image.dims > 2 else 0, 1]
        if image.dims == 2 and image.layered and image.height == 1:
            sizes[1] = image.depth
        rows = np.tile(np.array(sizes, np.int64), (active.size, 1))
        rows[level(f)[active] != 0, :3] = 0
        return rows.astype(np.uint32).view(np.float32)

    return _raw_info(site, message, texels_of)


def sampleinfo(site: Site) -> Op:
    """Read the number of samples per pixel, which is one."""
    return _raw_info(
        site,
        _value_of(site),
        lambda _f, _i, active: np.tile(np.array([1, 0, 0, 0], np.uint32), (active.size, 1)).view(np.float32),
    )


def _raw_info(site: Site, message: SampleMessage, texels_of: Callable[[Frame, Image, Array], Array]) -> Op:
    lanes, enable, chosen = site.lanes, site.enable(), message.channels
    view = site.raw_view(message.data, "<u4", len(chosen), lanes, max(lanes * 4, site.grf))
    open_ = messages.open_memory(site, message.memory)

    def op(f: Frame) -> None:
        mask = enable(f)
        image = as_image(open_(f)[0])
        if not mask or view is None or image is None:
            return
        active = messages.lanes_of(mask, lanes)
        values = texels_of(f, image, active).view(np.uint32)
        for k, channel in enumerate(chosen):
            f.views[view][k][active] = values[:, channel]

    return op


EFFECTS: Final[dict[str, Callable[[Site], Op]]] = {
    "load_3d": load,
    "load_mcs": load_mcs,
    "load": load,
    "sample_3d": sample,
    "sample": sample,
    "sample4": sample4,
    "sample_unorm": sample_unorm,
    "lod": lod,
    "resinfo": resinfo,
    "sampleinfo": sampleinfo,
}
