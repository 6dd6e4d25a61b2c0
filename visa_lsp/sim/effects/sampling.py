"""Effects of the sampler: texel loads, filtered samples, sizes.

Images have one level of detail: a load of another level reads outside. Filtering follows the OpenCL rules; weights are
full f64 here, while the hardware rounds them to eight bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.isa import types as ty
from visa_lsp.program.model import RawOperand
from visa_lsp.sim import messages
from visa_lsp.sim.effects.images import as_image, axes, channels, lane_reader
from visa_lsp.sim.memory import Image, Sampler
from visa_lsp.sim.values import DTYPE

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.sim.operands import Fetch, Op, Site
    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]

# Where u, v, r stand among the parameters of each operation (page 3D_SAMPLE).
_PLACES: Final = {
    "sample": (0, 1, 2),
    "sample_3d": (0, 1, 2),
    "sample_lz": (0, 1, 2),
    "sample_b": (1, 2, 3),
    "sample_l": (1, 2, 3),
    "sample_d": (0, 3, 6),
}
_LEVEL: Final = {"sample_l": 0, "load_3d": 2}


def _result(site: Site, image: Image | None, texels: Array, kind: ty.DataType) -> Array:
    """Channels (n, 4) in the bits of the destination's type."""
    del site
    if image is None or kind.is_float:
        return texels.astype(DTYPE[kind] if kind.is_float else np.float32)
    if image.is_integer:
        return texels.astype(np.int64).astype(DTYPE[kind])
    # Texels that are not integers come as f32 whatever the variable's type says.
    return texels.astype(np.float32).view(f"<u{min(4, kind.size)}") if kind.size == 4 else texels.astype(np.float16)


def _parameters(site: Site, numbers: tuple[int, ...], kind: str) -> list[Fetch]:
    payload = site.inst.get("payload")
    operands = payload if isinstance(payload, tuple) else ()
    found = []
    for number in numbers:
        operand = operands[number] if number < len(operands) else RawOperand(0, 0)
        assert isinstance(operand, RawOperand)
        found.append(lane_reader(site, operand, site.lanes, kind))
    return found


def _payload_kind(site: Site, floats: bool) -> str:
    payload = site.inst.get("payload")
    first = payload[0] if isinstance(payload, tuple) and payload else None
    type_ = site.code.kernel.variable_type(first.var) if isinstance(first, RawOperand) else None
    half = type_ is not None and type_.size == 2
    return ("<f2" if half else "<f4") if floats else ("<i2" if half else "<i4")


def _texel_message(
    site: Site, texels_of: Callable[[Frame, Image, Array], Array], chosen: list[int] | None = None
) -> Op:
    """Shared by loads and samples: find the image, ask for texels (n, 4) of the active lanes, store the channels."""
    lanes, enable = site.lanes, site.enable()
    if chosen is None:
        chosen = channels(site)
    operand = site.raw("dst")
    kind = site.code.kernel.variable_type(operand.var) or ty.F
    open_ = messages.surface(site)
    row = -(-lanes * kind.size // site.grf) * site.grf
    view = site.raw_view(operand, f"<u{kind.size}", len(chosen), lanes, row)
    null_mask = None
    if site.integer("op") & 0x100 and operand.var:
        after = RawOperand(operand.var, operand.offset + len(chosen) * row)
        null_mask = site.raw_view(after, "<u4", 1, 1, 4)

    def op(f: Frame) -> None:
        mask = enable(f)
        if not mask:
            return
        found = open_(f)
        image = as_image(found[0])
        active = messages.lanes_of(mask, lanes)
        if image is None:
            messages.announce(f, "read", found, np.zeros(active.size, np.int64), 1, active)
        texels = texels_of(f, image, active) if image is not None else np.zeros((active.size, 4), np.float32)
        if view is not None:
            values = np.ascontiguousarray(_result(site, image, texels, kind)).view(f"<u{kind.size}")
            for k, channel in enumerate(chosen):
                f.views[view][k][active] = values[:, channel]
        if null_mask is not None:
            f.views[null_mask][0] = site.full

    return op


def load_3d(site: Site) -> Op:
    """Read texels at integer coordinates."""
    word = site.inst.row.mnemonic
    if word not in ("load_3d", "load_lz", "load"):
        raise site.fault("multisampled images are not modelled")
    kind = _payload_kind(site, floats=False)
    if word == "load":
        reads = [lane_reader(site, site.raw(n), site.lanes) for n in ("u", "v", "r")]
    else:
        reads = _parameters(site, (0, 1, 3) if word == "load_3d" else (0, 1, 2), kind)
    level = _parameters(site, (2,), kind)[0] if word == "load_3d" else None
    offset_of = site.scalar("aoffimmi")

    def texels_of(f: Frame, image: Image, active: Array) -> Array:
        u, v, r = (read(f)[active].astype(np.int64) for read in reads)
        du, dv, dr = _texel_offset(offset_of(f))
        u = u + du
        if level is not None:
            u = np.where(level(f)[active] == 0, u, -1)
        return image.read(*axes(image, u, v + dv, r + dr))[0]

    return _texel_message(site, texels_of)


def _texel_offset(word: int) -> tuple[int, int, int]:
    u, v, r = (word >> shift & 15 for shift in (8, 4, 0))
    return tuple(x - 16 if x > 7 else x for x in (u, v, r))  # type: ignore[return-value]


def _sampler_cell(site: Site) -> int:
    bases, number = site.code.layout.sampler_base, site.integer("sampler")
    return bases[number] if number < len(bases) else site.code.layout.sampler_cells - 1


def sample_3d(site: Site) -> Op:
    """Filter an image at float coordinates."""
    word = site.inst.row.mnemonic
    numbers = _PLACES.get(word)
    if numbers is None:
        raise site.fault("this form of sampling is not modelled")
    if word == "sample":
        reads = [lane_reader(site, site.raw(n), site.lanes, "<f4") for n in ("u", "v", "r")]
    else:
        reads = _parameters(site, numbers, _payload_kind(site, floats=True))
    offset_of = site.scalar("aoffimmi")
    cell = _sampler_cell(site)

    def texels_of(f: Frame, image: Image, active: Array) -> Array:
        assert f.thread is not None
        sampler = f.thread.machine.dispatch.samplers.get(f.samplers[cell], Sampler())
        u, v, r = (read(f)[active].astype(np.float64) for read in reads)
        return filtered(image, sampler, u, v, r, _texel_offset(offset_of(f)))

    return _texel_message(site, texels_of)


def filtered(
    image: Image, sampler: Sampler, u: Array, v: Array, r: Array, offset: tuple[int, int, int] = (0, 0, 0)
) -> Array:
    """Texels (n, 4) at float coordinates, by the OpenCL rules for address modes and filters."""
    x, y, z = axes(image, u, v, r)
    layer = image.layered
    sizes = (image.width, image.height, image.depth)
    layered_axis = 2 if layer else -1
    linear = sampler.filter == "linear"
    corners: list[list[tuple[Array, Array]]] = []
    for axis, (coordinate, size) in enumerate(zip((x, y, z), sizes, strict=True)):
        if axis == layered_axis:
            corners.append([(np.clip(np.rint(coordinate), 0, size - 1).astype(np.int64), np.ones(coordinate.size))])
            continue
        used = size > 1 or axis == 0 or (axis == 1 and image.dims >= 2 and not layer)
        if not used:
            corners.append([(np.zeros(coordinate.size, np.int64), np.ones(coordinate.size))])
            continue
        corners.append(_taps(coordinate, size, sampler, linear=linear, offset=offset[axis]))
    total: Array = np.zeros((x.size, 4), np.float64)
    for ix, wx in corners[0]:
        for iy, wy in corners[1]:
            for iz, wz in corners[2]:
                texels, _ = image.read(ix, iy, iz)
                if not linear:
                    return np.asarray(texels)
                total += texels.astype(np.float64) * (wx * wy * wz)[:, None]
    return total.astype(np.float32)


def _taps(coordinate: Array, size: int, sampler: Sampler, *, linear: bool, offset: int) -> list[tuple[Array, Array]]:
    """Texel numbers along one axis with their weights; -1 where the border colour is meant."""
    c = np.nan_to_num(coordinate, nan=0.0, posinf=1e9, neginf=-1e9)
    mode = sampler.address
    if sampler.normalized:
        if mode == "repeat":
            c = (c - np.floor(c)) * size
        elif mode == "mirrored_repeat":
            c = np.abs(c - 2.0 * np.rint(0.5 * c)) * size
        else:
            c = c * size
    c = c + offset
    if not linear:
        return [(_wrapped(np.floor(c).astype(np.int64), size, mode), np.ones(c.size))]
    low = np.floor(c - 0.5)
    weight = c - 0.5 - low
    first = low.astype(np.int64)
    return [(_wrapped(first, size, mode), 1.0 - weight), (_wrapped(first + 1, size, mode), weight)]


def _wrapped(i: Array, size: int, mode: str) -> Array:
    if mode == "repeat":
        return np.asarray(i % size)
    if mode in ("clamp", "clamp_to_border"):
        return np.where((i < 0) | (i >= size), -1, i)
    return np.clip(i, 0, size - 1)


def sample4(site: Site) -> Op:
    """One channel of the four texels that a bilinear filter would mix: lower left, lower right, upper right, upper left."""
    if site.inst.row.mnemonic != "sample4":
        raise site.fault("this form of sampling is not modelled")
    reads = _parameters(site, (0, 1, 2), _payload_kind(site, floats=True))
    offset_of, cell, channel = site.scalar("aoffimmi"), _sampler_cell(site), site.integer("chan") & 3

    def texels_of(f: Frame, image: Image, active: Array) -> Array:
        assert f.thread is not None
        sampler = f.thread.machine.dispatch.samplers.get(f.samplers[cell], Sampler())
        x, y, z = axes(image, *(read(f)[active].astype(np.float64) for read in reads))
        du, dv, _ = _texel_offset(offset_of(f))
        (x0, _), (x1, _) = _taps(x, image.width, sampler, linear=True, offset=du)
        (y0, _), (y1, _) = _taps(y, image.height, sampler, linear=True, offset=dv)
        layer = np.clip(np.rint(z), 0, image.depth - 1).astype(np.int64)
        corners = ((x0, y1), (x1, y1), (x1, y0), (x0, y0))
        return np.stack([image.read(cx, cy, layer)[0][:, channel] for cx, cy in corners], axis=1)

    return _texel_message(site, texels_of, [0, 1, 2, 3])


def resinfo(site: Site) -> Op:
    """Width, height, depth or layers, and number of levels."""
    level = lane_reader(site, site.raw("lod"), site.lanes)

    def texels_of(f: Frame, image: Image, active: Array) -> Array:
        sizes = [image.width, image.height if image.dims > 1 else 0, image.depth if image.dims > 2 else 0, 1]
        if image.dims == 2 and image.layered and image.height == 1:
            sizes[1] = image.depth
        rows = np.tile(np.array(sizes, np.int64), (active.size, 1))
        rows[level(f)[active] != 0, :3] = 0
        return rows.astype(np.uint32).view(np.float32)

    return _raw_info(site, texels_of)


def sampleinfo(site: Site) -> Op:
    """One sample per pixel."""
    return _raw_info(
        site, lambda _f, _i, active: np.tile(np.array([1, 0, 0, 0], np.uint32), (active.size, 1)).view(np.float32)
    )


def _raw_info(site: Site, texels_of: Callable[[Frame, Image, Array], Array]) -> Op:
    lanes, enable, chosen = site.lanes, site.enable(), channels(site)
    view = site.raw_view(site.raw("dst"), "<u4", len(chosen), lanes, max(lanes * 4, site.grf))
    open_ = messages.surface(site)

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
    "load_3d": load_3d,
    "load": load_3d,
    "sample_3d": sample_3d,
    "sample": sample_3d,
    "sample4": sample4,
    "resinfo": resinfo,
    "sampleinfo": sampleinfo,
}
