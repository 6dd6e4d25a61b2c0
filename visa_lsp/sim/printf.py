"""Decodes the buffer that a kernel's ``printf`` fills.

The buffer starts with the number of bytes in use, including this number. Each record is the address of the format
string (a qword), then the arguments: a dword for the type, the length of a vector, and the value. Scalars of up to four
bytes take a dword, others a qword; strings are addresses (measured on kernels of the 2022 compiler). Invariant:
decoding ends for any content, and the text names undecodable records.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from visa_lsp.sim.memory import Buffer, Memory

_START: Final = 4
_MAX_TEXT: Final = 1 << 20
_MAX_STRING: Final = 4096
_STRING: Final = 5
# By type number: the bytes in the buffer, and the format of ``struct``.
_TYPES: Final = {
    1: (4, "<b3x"),
    2: (4, "<h2x"),
    3: (4, "<i"),
    4: (4, "<f"),
    5: (8, "<Q"),
    6: (8, "<q"),
    7: (8, "<Q"),
    8: (8, "<d"),
}
_ELEMENTS: Final = {9: 1, 10: 2, 11: 3, 12: 6, 13: 4, 14: 8}
_LENGTH_MODIFIER_BITS: Final = {"hh": 8, "h": 16, "hl": 32, "l": 64, "ll": 64}
_ZEROS: Final = re.compile(r"\.?0*p")
_DIRECTIVE: Final = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\d{0,4})(?:\.(?P<precision>\d{0,4}))?(?:v(?P<vector>\d+))?(?P<length>hh|hl|h|ll|l)?(?P<kind>[a-zA-Z%])"
)

Value = int | float | str
Argument = tuple[Value, ...]


def text_of(buffer: Buffer, memory: Memory) -> str:
    """Return the printed text of the kernel."""
    data = buffer.data
    end = min(int.from_bytes(data[:_START].tobytes(), "little"), buffer.size)
    raw = data[:end].tobytes()
    records = _Records(raw, memory)
    return records.text()


class _Records:
    """A walk over the records of a buffer."""

    def __init__(self, raw: bytes, memory: Memory) -> None:
        self.raw = raw
        self.memory = memory
        self.at = _START

    def text(self) -> str:
        out: list[str] = []
        size = 0
        while self.at + 8 <= len(self.raw) and size < _MAX_TEXT:
            place = self.at
            address = self._number("<Q", 8)
            form = self._string(address)
            if form is None:
                out.append(f"[no format string at {address:#x}, byte {place} of the printf buffer]\n")
                break
            piece = self._format(form)
            out.append(piece)
            size += len(piece)
            if piece.endswith("]\n") and self.at > len(self.raw):
                break
        return "".join(out)

    def _number(self, kind: str, size: int) -> int:
        value = struct.unpack_from(kind, self.raw, self.at)[0]
        self.at += size
        return int(value)

    def _string(self, address: int) -> str | None:
        place = self.memory.find(address)
        if place is None:
            return None
        rest = place[0].data[place[1] : place[1] + _MAX_STRING].tobytes()
        return rest.split(b"\0", 1)[0].decode("utf-8", "replace")

    def _format(self, form: str) -> str:
        out, last = [], 0
        for match in _DIRECTIVE.finditer(form):
            out.append(form[last : match.start()])
            last = match.end()
            if match["kind"] == "%":
                out.append("%")
                continue
            argument = self._argument()
            if argument is None:
                return "".join(out) + "[the printf buffer ends here]\n"
            out.append(",".join(_one(match, value) for value in argument))
        out.append(form[last:])
        return "".join(out)

    def _argument(self) -> Argument | None:
        if self.at + 4 > len(self.raw):
            self.at = len(self.raw) + 1
            return None
        kind, count = self._number("<I", 4), 1
        if kind in _ELEMENTS and self.at + 4 <= len(self.raw):
            kind, count = _ELEMENTS[kind], self._number("<I", 4)
        size, layout = _TYPES.get(kind, (0, ""))
        if not size or count > 16 or self.at + count * size > len(self.raw):
            self.at = len(self.raw) + 1
            return None
        values: list[Value] = []
        start, self.at = self.at, self.at + count * size
        # Short elements of a vector are packed into the space of as many dwords.
        step = struct.calcsize(layout.removesuffix("3x").removesuffix("2x")) if count > 1 else size
        for i in range(count):
            value = struct.unpack_from(layout, self.raw.ljust(self.at + 4, b"\0"), start + i * step)[0]
            if kind == _STRING:
                value = self._string(value) or "(null)"
            values.append(value)
        return tuple(values)


def _one(match: re.Match[str], value: Value) -> str:
    """Return a value formatted by a directive as in C."""
    kind = match["kind"]
    head = "%" + match["flags"] + match["width"] + ("" if match["precision"] is None else "." + match["precision"])
    if kind in "diuxXo" and isinstance(value, int | float):
        number = int(value)
        bits = _LENGTH_MODIFIER_BITS.get(match["length"])
        if bits is not None and kind in "uxXo":
            number &= (1 << bits) - 1
        if kind in "uxXo" and number < 0:
            number &= 0xFFFFFFFF if number >= -(1 << 31) else (1 << 64) - 1
        return (head + ("d" if kind == "u" else kind)) % number
    if kind in "fFeEgGaA" and isinstance(value, int | float):
        if kind in "aA":
            text = _ZEROS.sub("p", float(value).hex())
            return text.upper() if kind == "A" else text
        return (head + kind) % float(value)
    if kind == "c" and isinstance(value, int):
        return (head + "c") % chr(value & 255)
    if kind == "p" and isinstance(value, int):
        return f"{value:#x}"
    return (head + "s") % value
