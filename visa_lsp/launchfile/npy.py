"""Reads the header of a ``.npy`` file: shape, order and type. Loads no library, unpickles and executes nothing.

Invariant: invalid bytes raise ``ValueError`` with a message of one line.
"""

from __future__ import annotations

import ast
import math
import re
from typing import BinaryIO, Final

from msgspec import Struct

from visa_lsp.program.elements import DTYPES, MAX_BUFFER_BYTES, element_bytes

MAX_AXES: Final = 8
MAX_NPY_BYTES: Final = MAX_BUFFER_BYTES + (1 << 16)  # of a file, including its header
_MAX_HEADER_BYTES: Final = 10_000
_DESCR: Final = re.compile(r"([<>=|]?)([biufcSUVmMaOe?bBhHlLqQdgGFD])(\d*)(\[\w+\])?")
_KINDS: Final = {"i": "int", "u": "uint", "f": "float"}
_OTHERS: Final = {
    "b": "bool", "?": "bool", "c": "complex", "S": "bytes", "a": "bytes", "U": "str", "V": "void", "m": "timedelta64",
    "M": "datetime64", "g": "longdouble", "F": "complex64", "D": "complex128", "G": "clongdouble",
}  # fmt: skip
# Type codes of one letter, as NumPy defines them on Linux.
_LETTERS: Final = {
    "b": "int8", "B": "uint8", "h": "int16", "H": "uint16", "i": "int32", "I": "uint32", "l": "int64", "L": "uint64",
    "q": "int64", "Q": "uint64", "e": "float16", "f": "float32", "d": "float64",
}  # fmt: skip
_OLD_NUMBER: Final = re.compile(r"\b(\d+)L\b")  # written by Python 2


class NpyHeader(Struct, frozen=True):
    """The header of an array file. ``dtype`` is a type of ``DTYPES``; ``start`` is the offset of the elements."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: str
    big_endian: bool
    start: int

    @property
    def size(self) -> int:
        """The number of bytes of the elements."""
        return math.prod(self.shape) * element_bytes(self.dtype)


class OtherTypeError(ValueError):
    """The array has a type that no buffer has; the message is its name."""


def read_header(stream: BinaryIO, file_bytes: int) -> NpyHeader:
    """Read the header of a file of ``file_bytes`` bytes.

    Raises ValueError with one line if the header is invalid, and OtherTypeError if the type of the array is not in
    ``DTYPES``.
    """
    start = stream.read(8)
    if start[:2] == b"PK":
        raise ValueError("expected one .npy array, found an archive of arrays (.npz)")
    if start[:6] != b"\x93NUMPY" or len(start) < 8:
        raise ValueError("not a .npy file: wrong first bytes")
    version = start[6]
    if version not in (1, 2, 3):
        raise ValueError(f"unknown version {version} of the format; known versions: 1 to 3")
    width = 2 if version == 1 else 4
    length = int.from_bytes(stream.read(width), "little")
    if length > _MAX_HEADER_BYTES:
        raise ValueError(f"unreadable header: {length} bytes, at most {_MAX_HEADER_BYTES} are supported")
    head = stream.read(length)
    if len(head) < length:
        raise ValueError("unreadable header: the file ends inside it")
    shape, fortran, descr = _fields(head, version)
    dtype, big = _element(descr)
    if not all(type(n) is int and 0 <= n < 1 << 62 for n in shape) or len(shape) > MAX_AXES:
        raise ValueError(f"invalid shape {shape!s:.60}")
    header = NpyHeader(shape, fortran, dtype, big, 8 + width + length)
    if file_bytes - header.start < header.size:
        raise ValueError(
            f"truncated: the header promises {header.size} bytes, found {max(0, file_bytes - header.start)}"
        )
    return header


def _fields(head: bytes, version: int) -> tuple[tuple[int, ...], bool, object]:
    unreadable = "unreadable header"
    try:
        text = head.decode("latin-1" if version < 3 else "utf-8")
        try:
            fields = ast.literal_eval(text)
        except SyntaxError:
            fields = ast.literal_eval(_OLD_NUMBER.sub(r"\1", text))
    except Exception as error:  # noqa: BLE001 - a header is parsed like Python source, which raises many exceptions
        words = (str(error) or type(error).__name__).splitlines()[0]
        raise ValueError(f"{unreadable}: {words:.100}") from None
    if not isinstance(fields, dict) or set(fields) != {"descr", "fortran_order", "shape"}:
        raise ValueError(f"{unreadable}: expected a map of descr, fortran_order and shape")
    shape, fortran = fields["shape"], fields["fortran_order"]
    if not isinstance(shape, tuple) or not all(isinstance(n, int) for n in shape) or not isinstance(fortran, bool):
        raise ValueError(f"{unreadable}: shape is {shape!r:.60}, fortran_order {fortran!r:.60}")
    return shape, fortran, fields["descr"]


def _element(descr: object) -> tuple[str, bool]:
    """Return the element type, and whether its bytes are big-endian."""
    if isinstance(descr, list | tuple):
        raise OtherTypeError("void")
    match = _DESCR.fullmatch(descr) if isinstance(descr, str) else None
    if isinstance(descr, str) and descr in DTYPES:
        return descr, False
    if match is None:
        raise ValueError(f"unreadable header: unknown type {descr!r:.60}")
    order, kind, size, unit = match.groups()
    name = _LETTERS.get(kind, "") if not size else f"{_KINDS.get(kind, '?')}{int(size) * 8}" if len(size) < 4 else ""
    if name in DTYPES and not unit:
        return name, order == ">"
    if kind == "O":
        raise ValueError("Python objects are not supported")
    other = _OTHERS.get(kind, _KINDS.get(kind, kind))
    raise OtherTypeError(f"{other}{int(size) * 8}" if kind in "cfiu" and size and len(size) < 4 else other)
