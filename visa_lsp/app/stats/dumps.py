"""Figures of native dumps: the compiler's or finalizer's listings of machine code (``.asm``).

Every figure is from the header of the listing, or a count of its lines; nothing is computed from vISA. None means that
the release does not write the figure.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from visa_lsp.toolchain.listing import count_code, read_listing

DUMP_MAGIC: Final = b"//.kernel "
DUMP_SUFFIX: Final = ".asm"


def is_dump(data: bytes) -> bool:
    """Return whether a file is a listing of machine code; ``data`` may be its start."""
    return data.startswith(DUMP_MAGIC)


class DumpFigures(Struct, frozen=True):
    """The figures of a listing. ``simd`` is the width that its code shows, ``spills`` and ``fills`` are messages."""

    path: str
    name: str
    platform: str
    instructions: int
    simd: int
    grf: int | None
    spill_bytes: int
    spills: int
    fills: int
    private_bytes: int
    allocation: str
    dpas: int
    sends: int
    syncs: int
    bank_conflicts: int | None


def figures_of_dump(path: str, text: str) -> DumpFigures:
    """Return the figures of a listing."""
    listing = read_listing(text)
    counts = count_code(listing.lines)
    return DumpFigures(
        path,
        listing.kernel.strip('"'),
        listing.platform,
        listing.instructions,
        counts.simd,
        listing.grf_total,
        listing.spill_bytes,
        counts.spills,
        counts.fills,
        listing.private_bytes,
        listing.allocation,
        counts.dpas,
        counts.sends,
        counts.syncs,
        listing.bank_conflicts,
    )
