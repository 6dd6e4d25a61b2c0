"""Structs by value in a compiler's dump, reassembled from a sequence of scalars.

Measured: each member has its own dword or several, in the order of the source; padding after the last member is a
member too, so that the members of a struct extend to its end. Knows sizes and alignment only. Invariant: a split is
``sure`` if it is the only way to fill the structs with naturally aligned members.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.zeinfo.emit.entries import type_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from visa_lsp.zeinfo.emit.slots import InputSlot

_VECTORS: Final = (16, 8, 4, 2)
_MAX_PIECES: Final = 400
_MAX_SPLITS: Final = 20_000


class Parts(Struct, frozen=True):
    """The members of one struct, each with its place in it."""

    parts: list[tuple[InputSlot, int]]
    sure: bool


def struct_parts(pieces: Sequence[InputSlot], sizes: Sequence[int]) -> list[Parts] | None:
    """Split the pieces into structs of these sizes; return None if they do not fit."""
    if len(pieces) > _MAX_PIECES:
        return None
    best: tuple[int, list[Parts]] | None = None
    for number, split in enumerate(_splits(pieces, sizes)):
        guesses = sum(not parts.sure for parts in split)
        if best is None or guesses < best[0]:
            best = guesses, split
        if not guesses or number > _MAX_SPLITS:
            break
    return best[1] if best else None


def _splits(pieces: Sequence[InputSlot], sizes: Sequence[int]) -> Iterator[list[Parts]]:
    if not sizes:
        if not pieces:
            yield []
        return
    for count in range(len(pieces) - len(sizes) + 1, 0, -1):
        parts = _place_members(pieces[:count], sizes[0])
        if parts is None:
            continue
        for rest in _splits(pieces[count:], sizes[1:]):
            yield [parts, *rest]


def _place_members(pieces: Sequence[InputSlot], size: int) -> Parts | None:
    """Place members by their natural alignment, else runs of one type as vectors, else one after another."""
    plain, end = _lay(pieces, vectors=False)
    if end == size:
        return Parts(plain, sure=True)
    wide, wide_end = _lay(pieces, vectors=True)
    if wide_end == size:
        return Parts(wide, sure=False)
    return Parts(plain, sure=False) if end < size else None


def _lay(pieces: Sequence[InputSlot], *, vectors: bool) -> tuple[list[tuple[InputSlot, int]], int]:
    places: list[tuple[InputSlot, int]] = []
    offset = index = 0
    while index < len(pieces):
        each = type_bytes(pieces[index].type)
        run = 1
        while index + run < len(pieces) and pieces[index + run].type == pieces[index].type:
            run += 1
        many = next((v for v in _VECTORS if v <= run), 1) if vectors else 1
        offset = -(-offset // (each * many)) * each * many
        for piece in pieces[index : index + many]:
            places.append((piece, offset))
            offset += piece.size
        index += many
    return places, offset
