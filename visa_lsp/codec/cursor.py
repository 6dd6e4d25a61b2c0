"""Declarative reading and writing of the plain records of an object.

A ``Record`` is a list of named integers. ``Cursor`` walks the bytes, never past its end, and tracks the path of the
current field, so that every failure names its byte and its field. Knows no records of objects.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from visa_lsp.codec.errors import CodecError

if TYPE_CHECKING:
    from collections.abc import Iterator

_RANGES: Final = {"B": (0, 0xFF), "H": (0, 0xFFFF), "I": (0, 0xFFFFFFFF), "h": (-0x8000, 0x7FFF)}
_SIZES: Final = {"B": 1, "H": 2, "I": 4, "h": 2}


class Record:
    """Named little-endian integers without padding; ``codes`` are those of ``struct``, ``size`` is in bytes."""

    __slots__ = ("codes", "names", "size", "struct")

    def __init__(self, **fields: str) -> None:
        self.names = tuple(fields)
        self.codes = "".join(fields.values())
        self.struct = struct.Struct("<" + self.codes)
        self.size = self.struct.size

    def pack(self, path: str, *values: int) -> bytes:
        """Return the ``size`` bytes of the record. Raises CodecError with the field if a value does not fit."""
        try:
            return self.struct.pack(*values)
        except struct.error:
            for name, code, value in zip(self.names, self.codes, values, strict=True):
                low, high = _RANGES[code]
                if not low <= value <= high:
                    raise CodecError(
                        f"{value} is out of range; expected {low} to {high}", None, f"{path}.{name}"
                    ) from None
            raise


class Cursor:
    """A place in ``data``: ``pos`` and ``end`` are bytes from its start.

    ``path`` names what is being read. Every method that reads raises CodecError,
    with the byte offset and the field, if too few bytes are left before ``end``.
    """

    __slots__ = ("data", "end", "path", "pos")

    def __init__(self, data: bytes, pos: int = 0, end: int | None = None, path: str = "") -> None:
        self.data = data
        self.pos = pos
        self.end = len(data) if end is None else end
        self.path: list[str | int] = [path] if path else []

    def where(self, name: str = "") -> str:
        """Return the path as text: ``kernels[0].variables[3].name_index``."""
        text = ""
        for part in (*self.path, name):
            if isinstance(part, int):
                text += f"[{part}]"
            elif part:
                text += f".{part}" if text else part
        return text

    def error(self, message: str, name: str = "", offset: int | None = None) -> CodecError:
        """Return a CodecError, to be raised, at byte ``offset``, or here."""
        return CodecError(message, self.pos if offset is None else offset, self.where(name))

    def need(self, size: int, name: str) -> int:
        """Step over ``size`` bytes and return the offset of the first. Raises CodecError if fewer are left."""
        start = self.pos
        if size > self.end - start:
            raise self.error(f"expected {size} bytes, but only {max(self.end - start, 0)} are left", name)
        self.pos = start + size
        return start

    def take(self, size: int, name: str) -> bytes:
        """Return the next ``size`` bytes. Raises CodecError if fewer are left."""
        start = self.need(size, name)
        return self.data[start : start + size]

    def integer(self, code: str, name: str) -> int:
        """Return one little-endian integer of 1, 2 or 4 bytes; ``code`` as in ``Record``.

        Raises CodecError if too few bytes are left.
        """
        size = _SIZES[code]
        start = self.need(size, name)
        return int.from_bytes(self.data[start : start + size], "little", signed=code == "h")

    def record(self, record: Record) -> tuple[int, ...]:
        """Return the values of a record, ``record.size`` bytes.

        Raises CodecError with the first incomplete field if they are cut off.
        """
        start = self.pos
        if record.size > self.end - start:
            for name, code in zip(record.names, record.codes, strict=True):
                self.need(_SIZES[code], name)
        self.pos = start + record.size
        return record.struct.unpack_from(self.data, start)

    def count(self, code: str, name: str, item_size: int) -> int:
        """Return a number of items that take at least ``item_size`` bytes each, checked against the bytes that are left.

        Raises CodecError if fewer are left.
        """
        start = self.pos
        value = self.integer(code, name)
        if value * item_size > self.end - self.pos:
            raise self.error(f"the count is {value}, but only {self.end - self.pos} bytes are left", name, start)
        return value

    def each(self, name: str, count: int) -> Iterator[int]:
        """Yield the place of each item of a list, whose number is in the path meanwhile."""
        self.path += [name, 0]
        for index in range(count):
            self.path[-1] = index
            yield self.pos
        del self.path[-2:]

    def text(self, size: int, name: str) -> str:
        """Read ``size`` bytes as text; bytes that are not UTF-8 survive a round trip.

        Raises CodecError if fewer are left.
        """
        return self.take(size, name).decode("utf-8", "surrogateescape")

    def string(self, name: str) -> str:
        """Return a string that ends with a zero byte. Raises CodecError if there is no zero byte before ``end``."""
        stop = self.data.find(b"\0", self.pos, self.end)
        if stop < 0:
            raise self.error("string without its closing zero byte", name)
        start, self.pos = self.pos, stop + 1
        return self.data[start:stop].decode("utf-8", "surrogateescape")
