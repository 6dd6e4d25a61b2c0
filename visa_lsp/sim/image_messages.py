"""Common parts of messages on images: the image of a surface, coordinates of its shape, operands lane by lane."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.sim.memory import Buffer, Image, ImageForm

if TYPE_CHECKING:
    from visa_lsp.program.model import RawOperand
    from visa_lsp.sim.memory import Space
    from visa_lsp.sim.operands import Fetch, Site

Array = np.ndarray[Any, np.dtype[Any]]
Coordinates = tuple[Array, Array, Array]
_LINE: Final = ImageForm("uint32", 1, 1, layered=False, tall=False, deep=False)


def lane_reader(site: Site, operand: RawOperand, lanes: int, kind: str = "<i4") -> Fetch:
    """Return one element per lane of a raw operand; zeros for ``%null``."""
    dtype = np.dtype(kind)
    view = site.raw_view(operand, kind, 1, lanes, lanes * dtype.itemsize)
    if view is None:
        zeros = np.zeros(lanes, dtype)
        return lambda _f: zeros
    return lambda f: f.views[view][0]


def as_image(space: Space | None) -> Image | None:
    """Return an image; a plain buffer counts as a line of dwords."""
    if isinstance(space, Image) or space is None:
        return space
    if isinstance(space, Buffer):
        if space.line is None:
            space.line = Image(
                space.name, space.data, space.address, width=space.size // 4, channels=1, format="uint32", dims=1
            )
            space.line.whole, space.line.private = space, space.private
        return space.line
    return None


def form_of(buffer: Buffer) -> tuple[ImageForm, tuple[int, int, int, int]]:
    """Return the form of a buffer as an image, and its width, height, depth and pitch: without making one, which would keep it alive."""
    if isinstance(buffer, Image):
        return buffer.form, (buffer.width, buffer.height, buffer.depth, buffer.pitch)
    return _LINE, (buffer.size // 4, 1, 1, buffer.size)


def axes(form: ImageForm, u: Any, v: Any, r: Any, zero: Any = 0) -> tuple[Any, Any, Any]:
    """Return texel x, y, z from the coordinates that an image of a form uses."""
    if form.dims == 1:
        return u, zero, zero
    if form.dims == 2:
        return (u, zero, v) if form.layered and not form.tall else (u, v, zero)
    return u, v, r
