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


def as_image(found: Space | None) -> Image | None:
    """Return an image; a plain buffer counts as a line of dwords."""
    if isinstance(found, Image) or found is None:
        return found
    if isinstance(found, Buffer):
        if found.line is None:
            found.line = Image(
                found.name, found.data, found.address, width=found.size // 4, channels=1, format="uint32", dims=1
            )
            found.line.whole, found.line.private = found, found.private
        return found.line
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
