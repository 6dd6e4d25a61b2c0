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
        var = value.var if isinstance(value, General) else value.operand.var if isinstance(value, Lanes) else 0
        here = self.storage.general.get(var) if var else None
        if here is None:
            return None
        if isinstance(value, General):
            type_ = self.names.text.types.get(var, ty.UD)
            start = here.offset + regions.origin(value.row, value.col, type_.size, self.names.grf_bytes)
            elements = regions.lane_elements(value.region, control.exec_size)
        else:
            assert isinstance(value, Lanes)
            type_, start, elements = value.type, here.offset + value.operand.offset, list(range(control.exec_size))
        return self.make_span(here.root, tuple([start + e * type_.size for e in elements]), type_.size, type_, control)

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
        own, root = (self.names.text.types.get(var) for var in (access.data.var, here.root))
        type_ = next((t for t in (own, root) if t is not None and t.size == cell), UNSIGNED[cell])
        row = max(self.names.grf_bytes, -(-lanes * cell // self.names.grf_bytes) * self.names.grf_bytes)
        count, pitch = (1, cell) if access.single else (lanes, row)
        starts = [here.offset + access.data.offset + n * pitch for n in range(len(access.elements))]
        return [
            self.make_span(
                here.root, tuple(range(start, start + count * cell, cell)), cell, type_, access_control(access)
            )
            for start in starts
        ]


def access_control(access: Transfer) -> ExecControl:
    """Return the lanes of the addresses of an access."""
    return UNIFORM if access.single else access.control


def alike(control: ExecControl) -> ExecControl:
    """Return the lanes of an operand: of one for all lanes, those of no lane of its own."""
    return UNIFORM if control.exec_size == 1 else control
