"""The element types of a launch's arrays and of OpenCL's types, and the size limits of a launch.

Names and numbers only, for reading, checking and running a launch. Invariant: needs no array library.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from msgspec import Struct

from visa_lsp.isa.types import BF, DataType

MAX_BUFFER_BYTES: Final = (
    1 << 30
)  # of one array, and of all arrays of a launch file, because a run works on copies of them
MAX_SHARED_BYTES: Final = 1 << 24  # of a group's shared local memory; hardware has 64 to 128 KiB

DTYPES: Final = (
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
)

CL_TYPES: Final = {
    "bool": "uint8",
    "char": "int8",
    "uchar": "uint8",
    "short": "int16",
    "ushort": "uint16",
    "int": "int32",
    "uint": "uint32",
    "long": "int64",
    "ulong": "uint64",
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "size_t": "uint64",
}
_CL_NAME: Final = re.compile(r"([a-z_]+?)(2|3|4|8|16)?(;\d+)?")
_WIDTH: Final = re.compile(r"\d+")
_FLOAT_OF_SIZE: Final = {2: "float16", 4: "float32", 8: "float64"}


@lru_cache(maxsize=64)
def cl_element(type_name: str) -> str:
    """Return the element type of ``float4;16``; empty for structs, pointers and opaque types."""
    match = _CL_NAME.fullmatch(type_name)
    return CL_TYPES.get(match[1], "") if match else ""


def cl_bytes(type_name: str) -> int:
    """Return the size in bytes of ``float4``; 0 for structs, pointers and opaque types. A vector of three has four numbers."""
    match, element = _CL_NAME.fullmatch(type_name), cl_element(type_name)
    count = int(match[2] or 1) if match is not None else 0
    return element_bytes(element) * (4 if count == 3 else count) if element else 0


def element_of(type_: DataType) -> str:
    """Return the element type of an array of values of a vISA type; unsigned integers of its size if there is none."""
    name = f"{'float' if type_.is_float else 'int' if type_.is_signed else 'uint'}{type_.bits}"
    return name if name in DTYPES and type_ is not BF else f"uint{type_.bits}"


@lru_cache(maxsize=64)
def element_bytes(dtype: str) -> int:
    """Return the size in bytes of an element of a type of ``DTYPES``."""
    match = _WIDTH.search(dtype)
    assert match is not None
    return int(match[0]) // 8


def is_float(dtype: str) -> bool:
    """Return whether elements of a type of ``DTYPES`` are floats."""
    return dtype.startswith("float")


def integer_limits(dtype: str) -> tuple[int, int]:
    """Return the least and the greatest value of an integer type of ``DTYPES``."""
    bits = 8 * element_bytes(dtype)
    return (0, (1 << bits) - 1) if dtype.startswith("u") else (-(1 << bits - 1), (1 << bits - 1) - 1)


class GivenNumbers(Struct, frozen=True):
    """The facts about the numbers of an argument by value: count, type and range.

    ``typed``: the launch has the type; otherwise ``dtype`` is a type that holds the numbers. ``whole``: no number has a
    fraction.
    """

    count: int
    dtype: str
    typed: bool
    low: float = 0
    high: float = 0
    whole: bool = True


def chosen_element(given: GivenNumbers, size: int, natural: str) -> str:
    """Return the type of the numbers in a parameter of ``size`` bytes; empty if unknown.

    It is their own type, else that of the parameter (``natural``), else one with the size of each number.
    """
    if given.typed:
        return given.dtype
    if natural:
        return natural
    each = size // max(1, given.count)
    if is_float(given.dtype):
        return _FLOAT_OF_SIZE.get(each, "")
    if each not in (1, 2, 4, 8):
        return ""
    signed = f"int{each * 8}"
    return f"u{signed}" if given.count and given.high > integer_limits(signed)[1] else signed


def misfit(given: GivenNumbers, size: int, natural: str, who: str) -> str:
    """Return the reason why numbers do not fit a parameter of ``size`` bytes with ``natural`` elements, if known.

    Empty if they fit. ``who`` names the argument in the message.
    """
    chosen = chosen_element(given, size, natural)
    if not chosen:
        return f"{who} takes {size} bytes; say which dtype its {given.count} values have"
    if given.typed:
        if natural and is_float(natural) != is_float(given.dtype):
            return (
                f"{who} is of type {natural}, the value has dtype {given.dtype}: its bytes would be read as "
                "another number; leave the dtype out"
            )
    elif not is_float(chosen):
        if is_float(given.dtype) and not given.whole:
            return f"{who} is of type {chosen}, but the value is not a whole number"
        low, high = integer_limits(chosen)
        if given.count and not (low <= given.low and given.high <= high):
            return f"{who} is of type {chosen}, but the value does not fit into it"
    given_bytes = given.count * element_bytes(chosen)
    if given_bytes == size or given_bytes < size <= 4:
        return ""
    return f"{who} takes {size} bytes, {given.count} x {chosen} are {given_bytes}" + (
        "; a vector of three has four numbers" if given_bytes * 4 == size * 3 else ""
    )
