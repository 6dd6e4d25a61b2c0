"""From float coordinates to texels: address modes, nearest and linear filters, comparison with a reference.

Follows the OpenCL rules; weights are full f64 here, while the hardware rounds them to eight bits. Knows images and
samplers, no instruction. Formulas say which operations are carried out in which order: in NumPy here, by compiled code
in ``sim.jit.images``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.sim.image_messages import axes
from visa_lsp.sim.lane_formulas import ARRAYS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from visa_lsp.sim.lane_formulas import Lanes, Operations
    from visa_lsp.sim.memory import Image, ImageForm, Sampler

Array = np.ndarray[Any, np.dtype[Any]]
Offsets = tuple[Any, Any, Any]  # texels along u, v, r: numbers, or one per lane
_FAR: Final = 2.0**40  # coordinates beyond are outside of any image, and their numbers still exact


def filter_image(
    image: Image,
    sampler: Sampler,
    u: Array,
    v: Array,
    r: Array,
    offset: Offsets = (0, 0, 0),
    reference: Array | None = None,
) -> Array:
    """Return texels (n, 4) at float coordinates.

    With ``reference``, red is the weight of the texels whose red is at least ``reference``; green and blue are 0, alpha is 1.
    """

    def texels(x: Array, y: Array, z: Array) -> Sequence[Array]:
        colours = image.read(*np.broadcast_arrays(x, y, z))[0]
        return list((colours if reference is None else compare_texels(colours, reference)).T)

    sizes = image.width, image.height, image.depth
    return np.stack(filter_texels(ARRAYS, image.form, sizes, sampler, (u, v, r), offset, texels), axis=1)


def compare_texels(texels: Array, reference: Array) -> Array:
    """Return texels whose red is 1 where the reference is at most the red of the texel, else 0; alpha is 1."""
    out = np.zeros(texels.shape, np.float32)
    out[:, 0] = reference <= texels[:, 0]
    out[:, 3] = 1
    return out


def filter_texels(
    o: Operations,
    form: ImageForm,
    sizes: tuple[Lanes, Lanes, Lanes],
    sampler: Sampler,
    coordinates: tuple[Lanes, Lanes, Lanes],
    offset: Offsets,
    texels: Callable[[Lanes, Lanes, Lanes], Sequence[Lanes]],
) -> Sequence[Lanes]:
    """Return four channels at float coordinates, from a function that gives them at texel numbers."""
    linear, zero = sampler.filter == "linear", o.choose(coordinates[0] < 0.0, 0.0, 0.0)

    def of_axis(axis: int, coordinate: Lanes, size: Lanes, moved: Lanes) -> list[tuple[Lanes, Lanes]]:
        if axis == 2 and form.layered:
            return [(_inside(o, o.whole(o.nearest(_finite(o, coordinate))), size), 1.0)]
        if (True, form.tall or (form.dims >= 2 and not form.layered), form.deep)[axis]:
            return taps(o, coordinate, size, sampler, linear=linear, offset=moved)
        return [(o.whole(zero), 1.0)]

    corners = [of_axis(*axis) for axis in zip(range(3), axes(form, *coordinates, zero), sizes, offset, strict=True)]
    if not linear:
        return texels(*(taps[0][0] for taps in corners))
    total = [zero] * 4
    for x, in_x in corners[0]:
        for y, in_y in corners[1]:
            for z, in_z in corners[2]:
                weight = in_x * in_y * in_z
                total = [o.blend(*pair, weight) for pair in zip(total, texels(x, y, z), strict=True)]
    return [o.single(channel) for channel in total]


def taps(
    o: Operations, coordinate: Lanes, size: Lanes, sampler: Sampler, *, linear: bool, offset: Lanes
) -> list[tuple[Lanes, Lanes]]:
    """Return texel numbers along one axis with their weights; -1 for the border colour."""
    c, mode = _finite(o, coordinate), sampler.address
    if sampler.normalized:
        if mode == "repeat":
            c = (c - o.floor(c)) * o.real(size)
        elif mode == "mirrored_repeat":
            c = o.magnitude(c - 2.0 * o.nearest(0.5 * c)) * o.real(size)
        else:
            c = c * o.real(size)
    c = c + offset
    if not linear:
        return [(_wrap(o, o.whole(o.floor(c)), size, mode), 1.0)]
    low = o.floor(c - 0.5)
    weight, texel = c - 0.5 - low, o.whole(low)
    return [(_wrap(o, texel, size, mode), 1.0 - weight), (_wrap(o, texel + 1, size, mode), weight)]


def _finite(o: Operations, c: Lanes) -> Lanes:
    c = o.choose(o.is_nan(c), 0.0, c)
    return o.choose(c > _FAR, _FAR, o.choose(c < -_FAR, -_FAR, c))


def _wrap(o: Operations, i: Lanes, size: Lanes, mode: str) -> Lanes:
    if mode == "repeat":
        return o.modulo(i, size)
    if mode in ("clamp", "clamp_to_border"):
        return o.choose((i < 0) | (i >= size), -1, i)
    return _inside(o, i, size)


def _inside(o: Operations, i: Lanes, size: Lanes) -> Lanes:
    return o.choose(i >= size, size - 1, o.choose(i < 0, 0, i))
