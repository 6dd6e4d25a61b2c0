"""Surfaces and flat memory as bytes, one element at a time; atomics on Python numbers.

Outside a surface reads give zeros and writes are dropped, element by element.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tests.support.model.numbers import decode, encode, exact, limits, round_number
from tests.support.model.words import total

if TYPE_CHECKING:
    from tests.support.model.state import State

SLM_TAG = 0x0FFF_FFFF  # what of a pointer into shared local memory is an offset


class Space:
    """The target of a message: ``find`` gives the bytes and the offset that hold an access, or None."""

    def __init__(self, state: State, value: int | None) -> None:
        """``value`` is a surface's (binding table index, -1 slm, -2 scratch); None is the flat address space."""
        self.state, self.value = state, value
        self.flat = value is None or value in (0xFF, 0xFD)
        self.slm = value in (-1, 0xFE)
        known = state.surfaces.get(value) if value is not None else None
        self.surface = known
        self.data = state.slm if self.slm else state.scratch if value == -2 else known.data if known else None

    def find(self, address: int, size: int):
        """Return the bytearray and offset of an access that lies inside."""
        if self.flat:
            for surface in self.state.flat:
                if surface.base <= address and address + size <= surface.base + len(surface.data):
                    return surface.data, address - surface.base
            return None
        if self.data is None:
            return None
        if self.slm:
            address &= SLM_TAG
        return (self.data, address) if address >= 0 and address + size <= len(self.data) else None

    def read(self, address: int, size: int) -> bytes:
        """Return the bytes of one element, zeros outside."""
        place = self.find(address, size)
        return bytes(size) if place is None else bytes(place[0][place[1] : place[1] + size])

    def write(self, address: int, data: bytes) -> None:
        """Write one element; drop it outside."""
        place = self.find(address, len(data))
        if place is not None:
            place[0][place[1] : place[1] + len(data)] = data


FLOAT_KIND = {2: "hf", 4: "f", 8: "df"}


def float_kind(word: str, size: int) -> str:
    """Return the type of the numbers of a float atomic; empty for others."""
    return "" if not word.startswith(("f", "bf")) else "bf" if word.startswith("b") else FLOAT_KIND[size]


def update(word: str, old: bytes, first: bytes, second: bytes) -> bytes:
    """Return the new bytes of an atomic by the words of the older messages; float words by the width of the data."""
    size = len(old)
    unsigned, signed = {1: "ub", 2: "uw", 4: "ud", 8: "uq"}[size], {1: "b", 2: "w", 4: "d", 8: "q"}[size]
    o, a, b = (decode(x, unsigned) for x in (old, first, second))
    so, sa = decode(old, signed), decode(first, signed)
    if word.startswith(("f", "bf")):
        return _float_update(word, old, first, second)
    result = {
        "add": o + a, "sub": o - a, "inc": o + 1, "dec": o - 1, "min": min(o, a), "max": max(o, a), "xchg": a, "load": o,
        "cmpxchg": a if o == b else o, "icas": b if o == a else o, "and": o & a, "or": o | a, "xor": o ^ a,
        "minsint": min(so, sa), "maxsint": max(so, sa),
    }[word]  # fmt: skip
    return encode(result, unsigned)


def _float_update(word: str, old: bytes, first: bytes, second: bytes) -> bytes:
    kind = "bf" if word.startswith("bf") else FLOAT_KIND[len(old)]
    word = word.removeprefix("b")
    o, a = decode(old, kind), decode(first, kind)
    if word in ("fcmpwr", "fcas"):
        return second if o == a else old
    if word in ("fmin", "fmax"):
        if math.isnan(o) or math.isnan(a):
            return first if math.isnan(o) else old
        return encode((min if word == "fmin" else max)(o, a), kind)
    sign = -1 if word == "fsub" else 1
    return encode(round_number(total(exact(o), exact(sign * a)), kind), kind)


def clamp(value: int, kind: str) -> int:
    """Return an integer in the range of a type."""
    low, high = limits(kind)
    return min(max(value, low), high)
