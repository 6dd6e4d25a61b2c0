"""The bytes of registers that the lanes of an operand use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.app.read.model import Expr, Lanes, Transfer
from visa_lsp.flow.storage import storage_of
from visa_lsp.isa import types as ty
from visa_lsp.isa.types import DataType, ExecControl
from visa_lsp.program import regions
from visa_lsp.program.model import General, Kernel

if TYPE_CHECKING:
    from visa_lsp.app.read.names import ReadingNames

UNIFORM: Final = ExecControl(1, 0, no_mask=True)
UNSIGNED: Final = {1: ty.UB, 2: ty.UW, 4: ty.UD, 8: ty.UQ}


class Span(Struct, frozen=True):
    """Elements of a root variable: the first byte for each lane, the size of an element; ``lanes`` None: alike for all."""

    root: int
    starts: tuple[int, ...]
    size: int
    type: DataType
    lanes: tuple[int, ...] | None


class Spans:
    """Finds the bytes of operands."""

    def __init__(self, kernel: Kernel, names: ReadingNames) -> None:
        self.names = names
        self.storage = storage_of(kernel, names.grf_bytes)

    def span(self, value: Expr, control: ExecControl) -> Span | None:
        """Return the elements of an operand; None for other operands."""
        lanes = control.exec_size
        if isinstance(value, General):
            here = self.storage.general.get(value.var)
            if here is None or not value.var:
                return None
            type_ = self.names.text.types.get(value.var, ty.UD)
            start = here.offset + regions.origin(value.row, value.col, type_.size, self.names.grf_bytes)
            if value.region.width is None:
                elements = regions.destination_elements(value.region.horz_stride or 1, lanes)
            else:
                elements = regions.source_elements(value.region, lanes)
            starts = tuple([start + e * type_.size for e in elements])
            size = type_.size
        elif isinstance(value, Lanes):
            here = self.storage.general.get(value.operand.var)
            if here is None or not value.operand.var:
                return None
            type_, size = value.type, value.type.size
            starts = tuple([here.offset + value.operand.offset + n * size for n in range(lanes)])
        else:
            return None
        return self.make_span(here.root, starts, size, type_, control)

    def make_span(self, root: int, starts: tuple[int, ...], size: int, type_: DataType, control: ExecControl) -> Span:
        """Return elements with the lanes of an instruction."""
        alike = control.exec_size == 1 or (len(set(starts)) == 1 and len(starts) > 1)
        if alike:
            return Span(root, starts[:1], size, type_, None)
        return Span(root, starts, size, type_, tuple(range(control.mask_offset, control.mask_offset + len(starts))))

    def data_spans(self, access: Transfer) -> list[Span]:
        """Return the registers of an access: a span for each element."""
        here = self.storage.general.get(access.data.var)
        if here is None or not access.data.var:
            return []
        lanes, cell = access.control.exec_size, access.cell
        start = here.offset + access.data.offset
        own = self.names.text.types.get(access.data.var)
        root = self.names.text.types.get(here.root)
        type_ = next((t for t in (own, root) if t is not None and t.size == cell), UNSIGNED[cell])
        if access.single:
            return [Span(here.root, (start + n * cell,), cell, type_, None) for n in range(len(access.elements))]
        row = max(self.names.grf_bytes, -(-lanes * cell // self.names.grf_bytes) * self.names.grf_bytes)
        return [
            self.make_span(
                here.root, tuple([start + n * row + lane * cell for lane in range(lanes)]), cell, type_, access.control
            )
            for n in range(len(access.elements))
        ]


def access_control(access: Transfer) -> ExecControl:
    """Return the lanes of the addresses of an access."""
    return UNIFORM if access.single else access.control
