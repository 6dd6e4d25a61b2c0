"""The bytes that an operand touches, for checks, hover and simulator.

Source: seed 004 "Region-based Addressing". Offsets are bytes from the start of the variable (for an alias: of the
alias), which need not lie inside it: callers check that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from visa_lsp.isa.operands import Region


def origin(row: int, col: int, type_size: int, grf_bytes: int) -> int:
    """Return the byte offset of the region origin: ``row`` in GRF rows, ``col`` in elements of ``type_size`` bytes."""
    return row * grf_bytes + col * type_size


def source_elements(region: Region, exec_size: int) -> list[int]:
    """Return the element number, relative to the origin, that each lane of a source reads; ``exec_size`` entries.

    ``exec_size`` is in lanes, the region in elements. A multi-address region (null vertical stride) gives the offsets
    within each row only.
    """
    return list_strided_elements(region.vert_stride or 0, region.width or 1, region.horz_stride or 0, exec_size)


def list_strided_elements(vert_stride: int, width: int, horz_stride: int, exec_size: int) -> list[int]:
    """Return ``source_elements`` for the three numbers of a region; ``width`` is at least 1."""
    return [(lane // width) * vert_stride + (lane % width) * horz_stride for lane in range(exec_size)]


def lane_elements(region: Region, exec_size: int) -> list[int]:
    """Return the elements of a region by lane, of a source or of a destination, which has no width."""
    if region.width is None:
        return destination_elements(region.horz_stride or 1, exec_size)
    return source_elements(region, exec_size)


def destination_elements(horz_stride: int, exec_size: int) -> list[int]:
    """Return the element number, relative to the origin, that each lane of a destination writes; ``exec_size`` entries."""
    return [lane * horz_stride for lane in range(exec_size)]


def rows_of_low_halves(horz_stride: int, exec_size: int, type_size: int, grf_bytes: int) -> int:
    """Return the number of registers of the low halves of a wide product, behind which the high ones lie."""
    return -(-exec_size * horz_stride * type_size // grf_bytes)


def byte_range(start: int, elements: list[int], type_size: int) -> tuple[int, int]:
    """Return the half-open byte range from the lowest to the highest element.

    ``start`` is the byte offset of the origin, ``elements`` are counted from it, ``type_size`` is in bytes.
    """
    return start + min(elements) * type_size, start + (max(elements) + 1) * type_size
