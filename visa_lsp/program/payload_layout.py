"""The layout of a thread's payload in the register file, in bytes from its start.

Measured on the corpus (628 kernels, 6,323 inputs, eleven platforms): ``.input`` offsets count from the start of the register
file; r0 is one register; local ids follow, per dimension two bytes a lane padded to a register; then the cross-thread bytes.
Up to TGLLP one register is reserved even without local ids. Invariant: pure arithmetic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

EMPTY_ROW_UNTIL: Final = 120  # generation of TGLLP, up to which the register exists even without a per-thread payload
WIDE_GRF_BYTES: Final = 64  # of a register, from PVC on
_LOCAL_ID_BYTES: Final = 2


@dataclass(frozen=True, slots=True)
class Registers:
    """The properties of a platform for the layout: bytes of a register, and whether an empty per-thread row exists."""

    bytes: int
    empty_row: bool

    @property
    def thread_widths(self) -> tuple[int, ...]:
        """The legal numbers of work items of a thread; 8 is not legal with 64-byte registers."""
        return (1, 8, 16, 32) if self.bytes < WIDE_GRF_BYTES else (1, 16, 32)


CANDIDATES: Final = (Registers(32, empty_row=True), Registers(32, empty_row=False), Registers(64, empty_row=False))


def registers(grf_bytes: int, generation: int) -> Registers:
    """Return the layout properties of a platform."""
    return Registers(grf_bytes, generation <= EMPTY_ROW_UNTIL)


def up(value: int, to: int) -> int:
    """Return the lowest multiple of ``to`` that is not below ``value``."""
    return -(-value // to) * to


def id_block(simd: int, grf: int) -> int:
    """Return the number of bytes of the local ids of one dimension."""
    return up(_LOCAL_ID_BYTES * max(1, simd), grf)


@dataclass(frozen=True, slots=True)
class PayloadLayout:
    """The places of one kernel's payload."""

    grf: int
    cross_start: int
    inline_bytes: int
    id_dimensions: int = 0  # of local ids that a thread gets

    @staticmethod
    def of(
        grf: Registers, per_thread_end: int, local_ids: int, said_simd: int, simd: int, inline_bytes: int
    ) -> PayloadLayout:
        """Lay out a payload; ``per_thread_end`` is 0 without a per-thread payload.

        Local ids are laid out for ``simd`` lanes. ``local_ids`` are their bytes in the document, for ``said_simd``
        lanes.
        """
        dimensions = min(3, local_ids // id_block(said_simd, grf.bytes))
        per_thread = dimensions * id_block(simd, grf.bytes)
        if not dimensions and per_thread_end:
            per_thread = up(per_thread_end, grf.bytes)
        if not per_thread_end and grf.empty_row:
            per_thread = grf.bytes
        return PayloadLayout(grf.bytes, grf.bytes + per_thread, inline_bytes, dimensions)

    def place(self, offset: int) -> int:
        """Return the place of a cross-thread offset. Inline data smaller than a register occupies a whole register."""
        if 0 < self.inline_bytes < self.grf and offset >= self.inline_bytes:
            offset += self.grf - self.inline_bytes
        return self.cross_start + offset

    def offset(self, place: int) -> int:
        """Return the cross-thread offset of a place: the inverse of ``place``."""
        offset = place - self.cross_start
        if 0 < self.inline_bytes < self.grf and offset >= self.grf:
            offset -= self.grf - self.inline_bytes
        return offset
