"""From float coordinates to texels: address modes, nearest and linear filters, comparison with a reference.

Follows the OpenCL rules; weights are full f64 here, while the hardware rounds them to eight bits. Knows images and
samplers, no instruction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from visa_lsp.sim.images import axes

if TYPE_CHECKING:
    from visa_lsp.sim.memory import Image, Sampler

Array = np.ndarray[Any, np.dtype[Any]]
Offsets = tuple[Any, Any, Any]  # texels along u, v, r: numbers, or one per lane


def filter_texels(
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
    linear = sampler.filter == "linear"
    corners = _corners(image, sampler, axes(image, u, v, r), offset)
    total: Array = np.zeros((u.size, 4), np.float64)
    for ix, wx in corners[0]:
        for iy, wy in corners[1]:
            for iz, wz in corners[2]:
                texels, _ = image.read(ix, iy, iz)
                if reference is not None:
                    texels = compare_texels(texels, reference)
                if not linear:
                    return np.asarray(texels)
                total += texels.astype(np.float64) * (wx * wy * wz)[:, None]
    return total.astype(np.float32)


def compare_texels(texels: Array, reference: Array) -> Array:
    """Return texels whose red is 1 where the reference is at most the red of the texel, else 0; alpha is 1."""
    out = np.zeros(texels.shape, np.float32)
    out[:, 0] = reference <= texels[:, 0]
    out[:, 3] = 1
    return out


def _corners(
    image: Image, sampler: Sampler, xyz: tuple[Array, Array, Array], offset: Offsets
) -> list[list[tuple[Array, Array]]]:
    """Return the contributing texels along each axis, with their weights."""
    layered_axis = 2 if image.layered else -1
    found = []
    for axis, (coordinate, size) in enumerate(zip(xyz, (image.width, image.height, image.depth), strict=True)):
        if axis == layered_axis:
            found.append([(np.clip(np.rint(coordinate), 0, size - 1).astype(np.int64), np.ones(coordinate.size))])
            continue
        used = size > 1 or axis == 0 or (axis == 1 and image.dims >= 2 and not image.layered)
        if used:
            found.append(taps(coordinate, size, sampler, linear=sampler.filter == "linear", offset=offset[axis]))
        else:
            found.append([(np.zeros(coordinate.size, np.int64), np.ones(coordinate.size))])
    return found


def taps(coordinate: Array, size: int, sampler: Sampler, *, linear: bool, offset: Any) -> list[tuple[Array, Array]]:
    """Return texel numbers along one axis with their weights; -1 for the border colour."""
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
        return [(_wrap(np.floor(c).astype(np.int64), size, mode), np.ones(c.size))]
    low = np.floor(c - 0.5)
    weight = c - 0.5 - low
    first = low.astype(np.int64)
    return [(_wrap(first, size, mode), 1.0 - weight), (_wrap(first + 1, size, mode), weight)]


def _wrap(i: Array, size: int, mode: str) -> Array:
    if mode == "repeat":
        return np.asarray(i % size)
    if mode in ("clamp", "clamp_to_border"):
        return np.where((i < 0) | (i >= size), -1, i)
    return np.clip(i, 0, size - 1)
