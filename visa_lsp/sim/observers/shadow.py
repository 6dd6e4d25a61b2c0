"""Shadows of registers and memory: per byte a number that identifies the origin of its value.

0 means defined, ``UNWRITTEN`` never written; the checker assigns another number to each place that read an
uninitialised value. Memory is kept by pages, allocated when they are first touched. Knows no instruction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.isa import predefined

if TYPE_CHECKING:
    from visa_lsp.sim.registers import Frame

Array = np.ndarray[Any, np.dtype[Any]]

UNWRITTEN: Final = 1
_ALL: Final = 0xFFFFFFFF
PAGE: Final = 4096
MAX_PAGES: Final = 1 << 13  # of 8 KiB each: 32 MiB of shared, scratch and private memory
# %arg, %retval, %sp and %fp are undefined until a program writes them (seed 001 "Subroutine and Function Calls").
ARG: Final = 8
EMPTY: Final = (ARG, 9, 10, 11)


class RegisterShadow:
    """The registers of one activation. ``epoch`` counts how often a defined byte became undefined."""

    def __init__(self, frame: Frame, caller: RegisterShadow | None) -> None:
        layout, kernel = frame.code.layout, frame.code.kernel
        self.bytes: Array = np.full(layout.size, UNWRITTEN, np.uint16)
        self.bytes[: layout.predefined_end] = 0
        if caller is not None:
            self.bytes[: layout.predefined_end] = caller.bytes[: layout.predefined_end]
        else:
            for number in EMPTY:
                offset = layout.offset(number)
                self.bytes[offset : offset + layout.byte_size(number)] = UNWRITTEN
        self.pred_bits = [0] + [_ALL] * len(kernel.predicates)
        self.pred_origin = [UNWRITTEN] * len(self.pred_bits)
        self.addresses: Array = np.full(frame.addr.size, UNWRITTEN, np.uint16)
        self.surfaces = [0 if i < predefined.FIRST_SURFACE else UNWRITTEN for i in range(layout.surface_cells)]
        self.samplers = [UNWRITTEN] * (layout.sampler_cells - 1) + [0]
        self.epoch = 0
        # The undefined bits of partly undefined bytes; all eight bits of other undefined bytes are undefined.
        self.partial: dict[int, int] = {}
        self.seen: dict[int, tuple[int, int]] = {}  # instruction -> epoch, lanes that are already checked
        if caller is not None:
            return
        for item in kernel.inputs:
            kind = item.kind & 7
            if kind == 0:
                offset = layout.offset(item.id)
                self.bytes[offset : offset + item.size] = 0
            elif kind == 1:
                self.samplers[layout.sampler_base[item.id]] = 0
            else:
                self.surfaces[layout.surface_base[item.id]] = 0

    def grow(self, size: int) -> None:
        """Extend the register file to ``size`` bytes; the new ones are unwritten."""
        extension: Array = np.full(size - self.bytes.size, UNWRITTEN, np.uint16)
        self.bytes = np.concatenate([self.bytes, extension])
        self.epoch += 1

    def put(self, places: Array, origins: Array | int) -> None:
        """Set the origins of bytes."""
        if isinstance(origins, int):
            if origins and not self.bytes[places].all():
                self.epoch += 1
        elif bool(((self.bytes[places] == 0) & (origins != 0)).any()):
            self.epoch += 1
        self.bytes[places] = origins
        if self.partial:
            for place in np.intersect1d(list(self.partial), places).tolist():
                del self.partial[place]

    def find_undefined_bits(self, places: Array, origins: Array) -> Array:
        """Return the undefined bits of bytes whose origins are given, as a mask for each byte."""
        masks = np.where(origins != 0, 255, 0).astype(np.uint8)
        for place, mask in self.partial.items():
            masks[places == place] &= mask
        return masks

    def put_partial(self, places: Array, masks: Array) -> None:
        """Set the undefined bits of undefined bytes."""
        chosen = (masks != 0) & (masks != 255)
        self.partial.update(zip(places[chosen].tolist(), masks[chosen].tolist(), strict=True))

    def get(self, places: Array) -> Array:
        """Return the origins of the bytes of a fixed operand."""
        return np.asarray(self.bytes[places])

    def find(self, places: Array) -> Array:
        """Return the origins of bytes of an indirect operand, which may lie outside of the file."""
        return np.asarray(self.bytes[np.clip(places, 0, self.bytes.size - 1)])

    def back(self, callee: RegisterShadow, end: int, argument: slice) -> None:
        """Return from a function: take over its predefined variables; ``%arg`` is destroyed."""
        self.epoch += 1
        self.bytes[:end] = callee.bytes[:end]
        self.bytes[argument] = UNWRITTEN
        self.partial = {place: mask for place, mask in self.partial.items() if place >= end}


class MemoryShadow:
    """A memory that is undefined at first, but for bytes in the mask ``defined``; pages beyond the limit count as defined.

    ``is_seen``: later launches see it, so that storing an undefined value there is its use.
    """

    def __init__(self, budget: list[int], defined: Array | None = None) -> None:
        self._defined = defined
        self.is_seen = defined is not None
        self._pages: dict[int, Array] = {}
        self._budget = budget  # remaining pages, shared by all memories of a run

    def get(self, offsets: Array) -> Array:
        """Return the origins of the bytes at offsets."""
        out = np.zeros(offsets.size, np.uint16)
        for page, rows in self._split(offsets):
            cells = self._page(page)
            if cells is not None:
                out[rows] = cells[offsets[rows] & PAGE - 1]
        return out

    def put(self, offsets: Array, origins: Array) -> None:
        """Set the origins of the bytes at offsets."""
        for page, rows in self._split(offsets):
            cells = self._page(page)
            if cells is not None:
                cells[offsets[rows] & PAGE - 1] = origins[rows]

    def _page(self, number: int) -> Array | None:
        page = self._pages.get(number)
        if page is None and self._budget[0] > 0:
            self._budget[0] -= 1
            page = self._pages[number] = np.full(PAGE, UNWRITTEN, np.uint16)
            if self._defined is not None:
                written = self._defined[number * PAGE : (number + 1) * PAGE]
                page[: written.size][written] = 0
        return page

    def free(self) -> None:
        """Return the pages to the budget."""
        self._budget[0] += len(self._pages)
        self._pages.clear()

    @staticmethod
    def _split(offsets: Array) -> list[tuple[int, Array | slice]]:
        pages = offsets >> 12
        first_page = int(pages[0]) if offsets.size else 0
        if not offsets.size:
            return []
        if (pages == first_page).all():
            return [(first_page, slice(None))]
        return [(int(page), np.flatnonzero(pages == page)) for page in np.unique(pages)]
