"""Arguments by value to bytes, and the element types of OpenCL type names.

Knows numbers only. Invariant: the bytes of a value have the size that the parameter has, or a ``LaunchError`` says why.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.sim.launch.config import LaunchError

if TYPE_CHECKING:
    from visa_lsp.sim.launch.config import ValueArg

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


def cl_dtype(type_name: str) -> np.dtype[Any] | None:
    """Give the element type of ``float4;16``; None for structs, pointers and opaque types."""
    match = _CL_NAME.fullmatch(type_name)
    name = CL_TYPES.get(match[1]) if match else None
    return np.dtype(name) if name else None


def value_bytes(arg: ValueArg, size: int, natural: np.dtype[Any] | None, key: int | str) -> bytes:
    """Give the ``size`` bytes of a value; one without a dtype takes ``natural``, or what its size suggests.

    Raises LaunchError where the value has another size, does not fit its type, or is a float where an integer is asked
    for.
    """
    array = arg.array
    if not arg.typed:
        array = _typed(arg, size, natural, key)
    elif natural is not None and (natural.kind == "f") != (array.dtype.kind == "f"):
        raise LaunchError(
            f"argument {key} is of type {natural.name}, the value has dtype {array.dtype.name}: its bytes would be read as "
            "another number; leave the dtype out",
            key,
        )
    data = array.tobytes()
    if len(data) == size or (len(data) < size <= 4):
        return data + bytes(size - len(data))
    raise LaunchError(
        f"argument {key} takes {size} bytes, {array.size} x {array.dtype.name} are {len(data)}"
        + ("; a vector of three has four numbers" if len(data) * 4 == size * 3 else ""),
        key,
    )


def _typed(arg: ValueArg, size: int, natural: np.dtype[Any] | None, key: int | str) -> np.ndarray[Any, np.dtype[Any]]:
    array = arg.array
    floats = array.dtype.kind == "f"
    each = size // max(1, array.size)
    if natural is None:
        name = {2: "float16", 4: "float32", 8: "float64"}.get(each) if floats else f"int{each * 8}"
        if name is None or each not in (1, 2, 4, 8):
            raise LaunchError(f"argument {key} takes {size} bytes; say which dtype its {array.size} values have", key)
        natural = np.dtype(name)
        if not floats and array.size and int(array.max()) > np.iinfo(natural).max:
            natural = np.dtype(f"u{name}")
    if natural.kind in "iu":
        limits = np.iinfo(natural)
        if floats and not bool(np.all(array == np.trunc(array))):
            raise LaunchError(f"argument {key} is of type {natural.name}, the value is no whole number", key)
        if array.size and not (limits.min <= array.min() and array.max() <= limits.max):
            raise LaunchError(f"argument {key} is of type {natural.name}, the value does not fit into it", key)
    return array.astype(natural)
