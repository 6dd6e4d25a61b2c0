"""The hover of a region: the element and bytes that each lane accesses, drawn as a small grid of GRF rows.

Computed by ``program.regions``, the function that checks and the simulator use. Knows no protocol and no positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from visa_lsp.ide.index.plain_numbers import number_of
from visa_lsp.ide.prose.markdown import code
from visa_lsp.isa.glossary import meaning
from visa_lsp.isa.model import Role, Slot
from visa_lsp.isa.operands import Region
from visa_lsp.program.regions import byte_range, destination_elements, origin, source_elements
from visa_lsp.sema.model import Body, Symbol, SymbolKind
from visa_lsp.syntax import tree

if TYPE_CHECKING:
    from visa_lsp.isa.types import DataType

_MAX_ROWS: Final = 6


@dataclass(frozen=True, slots=True)
class AccessedBytes:
    """The bytes of a variable that an operand accesses: per lane the element counted from the origin."""

    type: DataType
    start: int  # byte offset of the origin in the variable
    elements: tuple[int, ...]
    write: bool

    @property
    def range(self) -> tuple[int, int]:
        """Half-open range of bytes in the variable."""
        return byte_range(self.start, list(self.elements), self.type.size)


def exec_size_of(statement: tree.Statement) -> int | None:
    """Return the execution size in an instruction's text."""
    if not isinstance(statement, tree.Instruction) or statement.exec is None:
        return None
    size = number_of(statement.exec.size)
    return size if size in (1, 2, 4, 8, 16, 32) else None


def region_of(text: tree.RegionText) -> Region | None:
    """Return the region in the text; None if a number is missing or malformed."""
    horz = number_of(text.horz)
    width = number_of(text.width)
    vert = number_of(text.vert)
    if horz is None or (text.form >= 2 and not width) or (text.form == 3 and vert is None):
        return None
    return Region(vert, width, horz)


def access_of(
    node: tree.Operand, slot: Slot | None, symbol: Symbol | None, exec_size: int | None, grf_bytes: int
) -> AccessedBytes | None:
    """Return the bytes that a general operand accesses; None if the text does not determine them."""
    if not isinstance(node, tree.Ref) or node.region is None or symbol is None or symbol.type is None:
        return None
    if symbol.kind is not SymbolKind.GENERAL:
        return None
    region = region_of(node.region)
    indices = [number_of(i) for i in node.indices] if node.indices else [0, 0]
    if region is None or len(indices) != 2 or exec_size is None:
        return None
    row, col = indices
    if row is None or col is None:
        return None
    write = slot.role is Role.WRITE if slot is not None else node.region.form == 1
    lanes = 1 if slot is not None and slot.scalar else exec_size
    if region.width is None:
        elements = destination_elements(region.horz_stride or 0, lanes)
    else:
        elements = source_elements(region, lanes)
    return AccessedBytes(symbol.type, origin(row, col, symbol.type.size, grf_bytes), tuple(elements), write)


def describe_region(text: tree.RegionText) -> str:
    """Return the numbers of a region in words."""
    region = region_of(text)
    if region is None:
        return meaning("region")
    if region.width is None:
        step = (
            "each lane writes the next element"
            if region.horz_stride == 1
            else f"lanes are {region.horz_stride} elements apart"
        )
        return f"destination region `{region}`: {step}"
    if region.vert_stride is None:
        return f"multi-address region `{region}`: each address gives {region.width} lanes, {region.horz_stride} elements apart"
    if region.is_scalar:
        return f"region `{region}`: every lane reads the same element"
    return (
        f"region `{region}`: rows of {region.width}, elements of a row {region.horz_stride} apart, rows"
        f" {region.vert_stride} apart"
    )


def describe_access(access: AccessedBytes, symbol: Symbol, body: Body) -> str:
    """Return the bytes in words and as a grid, with a warning if they leave the variable."""
    start, end = access.range
    grf = body.platform.grf_bytes
    verb = "writes" if access.write else "reads"
    size = access.type.size
    lines = [f"{verb} bytes {start} to {end - 1} of {code(symbol.name)}"]
    if len(set(access.elements)) == 1:
        lines[0] = f"{verb} one element of {code(symbol.name)}: byte{'s' if size > 1 else ''} {_bytes(start, end)}"
    base, offset = symbol.base()
    if base is not symbol:
        lines.append(f"that is bytes {start + offset} to {end + offset - 1} of {code(base.name)}")
    if symbol.input is not None:
        lines.append(f"in the payload: bytes {symbol.input.offset + start} to {symbol.input.offset + end - 1}")
    if start < 0 or end > symbol.byte_size:
        lines.append(f"**leaves the variable**, which has {symbol.byte_size} bytes")
    return "  \n".join(lines) + "\n\n" + grid(access, grf) + "\n\n" + _legend(access, grf)


def _legend(access: AccessedBytes, grf_bytes: int) -> str:
    """Return the legend of the grid, in one line."""
    done = "writes" if access.write else "reads"
    what = f"each number is the lane that {done} the element at that byte of the row; `0-7` means several lanes"
    return f"*{what}, `·` is none; a row is a register of {grf_bytes} bytes, counted from the start of the variable*"


def _bytes(start: int, end: int) -> str:
    return str(start) if end == start + 1 else f"{start} to {end - 1}"


def grid(access: AccessedBytes, grf_bytes: int) -> str:
    """Return the GRF rows of the variable with a cell per element; a cell lists the lanes that access it."""
    size = access.type.size
    start, end = access.range
    first_row, last_row = start // grf_bytes, (end - 1) // grf_bytes
    lanes: dict[int, list[int]] = {}
    for lane, element in enumerate(access.elements):
        lanes.setdefault(access.start + element * size, []).append(lane)
    cells_per_row = grf_bytes // size
    low, high = 0, cells_per_row - 1
    if first_row == last_row:
        # A single row is cut to the used cells, so that bytes and words stay readable.
        low = max(0, min(lanes) % grf_bytes // size - 1)
        high = min(cells_per_row - 1, max(lanes) % grf_bytes // size + 1)
    shown = range(first_row, min(last_row, first_row + _MAX_ROWS - 1) + 1)
    texts = {offset: _lanes(who) for offset, who in lanes.items()}
    width = max(*(len(t) for t in texts.values()), len(str(grf_bytes - size)))
    head = "byte    " + " ".join(f"{cell * size:>{width}}" for cell in range(low, high + 1))
    lines = [head]
    for row in shown:
        cells = (texts.get(row * grf_bytes + cell * size, "·") for cell in range(low, high + 1))
        lines.append(f"row {row:<3} " + " ".join(f"{cell:>{width}}" for cell in cells))
    if last_row - first_row >= _MAX_ROWS:
        lines.append(f"... to row {last_row}")
    return "```text\n" + "\n".join(lines) + "\n```"


def _lanes(lanes: list[int]) -> str:
    """Return the lanes of one cell: ``3``, ``0-7``, ``0,8,..``."""
    if len(lanes) == 1:
        return str(lanes[0])
    if lanes == list(range(lanes[0], lanes[-1] + 1)):
        return f"{lanes[0]}-{lanes[-1]}"
    return ",".join(map(str, lanes[:2])) + (",.." if len(lanes) > 2 else "")
