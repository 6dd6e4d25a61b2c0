"""Creates the arrays of a launch: from values, by a rule, or from a ``.npy`` file.

``zeros``, ``ones``, ``arange``, ``cycle``, ``random`` (floats uniform in [0, 1), integers over the whole range of the type),
``values``, ``repeat`` and ``npy``. Invariant: the launch file was validated when it was read; sizes are known before anything is allocated.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.app.output_files import replace_file
from visa_lsp.launchfile.npy import MAX_NPY_BYTES
from visa_lsp.program.elements import is_float
from visa_lsp.safe_io import open_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from visa_lsp.launchfile.values import GivenArray
    from visa_lsp.sim.launch.config import Array

_PART: Final = 1 << 20
_CYCLE: Final = 16  # elements


def create_array(given: GivenArray) -> Array:
    """Create a C-contiguous little-endian array.

    Raises ValueError or OSError with a message if a ``.npy`` file has changed since it was validated.
    """
    dtype, count = np.dtype(given.dtype), math.prod(given.shape)
    match given.source:
        case "values":
            return _literal(given, dtype).reshape(given.shape)
        case "repeat":
            return np.resize(_literal(given, dtype), count).reshape(given.shape)
        case "npy":
            return _load_array(given, dtype).reshape(given.shape)
        case "ones":
            return np.ones(given.shape, dtype)
        case "arange":
            return _by_parts(count, dtype, np.arange).reshape(given.shape)
        case "cycle":
            return _by_parts(count, dtype, lambda start, end: np.arange(start, end) % _CYCLE).reshape(given.shape)
        case "random":
            return _random(given.seed, count, dtype).reshape(given.shape)
    return np.zeros(given.shape, dtype)


def write_array(path: Path, array: Array) -> None:
    """Write a ``.npy`` file as a whole. Raises OSError or ValueError if it cannot be written."""
    with replace_file(path, is_default=True) as stream:
        np.save(stream, array, allow_pickle=False)


def _literal(given: GivenArray, dtype: np.dtype[Any]) -> Array:
    if not is_float(given.dtype):
        return np.array([int(number) for number in given.numbers], dtype=dtype)
    with np.errstate(over="ignore"):
        return np.array(given.numbers, dtype=np.float64).astype(dtype)


def _load_array(given: GivenArray, dtype: np.dtype[Any]) -> Array:
    header, path = given.header, given.path
    assert header is not None
    assert path is not None
    with open_file(path, MAX_NPY_BYTES) as (stream, _):
        stream.seek(header.start)
        data = stream.read(header.size)
    if len(data) < header.size:
        raise ValueError(f"cannot read the array file '{path}': it was truncated")
    order = dtype.newbyteorder(">" if header.big_endian else "<")
    array = np.frombuffer(data, order).reshape(header.shape, order="F" if header.fortran else "C")
    return np.array(array, dtype=dtype, order="C")


def _random(seed: int, count: int, dtype: np.dtype[Any]) -> Array:
    random = np.random.default_rng(seed)
    if dtype.kind == "f":
        return _by_parts(count, dtype, lambda start, end: random.random(end - start))
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, count, dtype=dtype, endpoint=True)


def _by_parts(count: int, dtype: np.dtype[Any], part: Callable[[int, int], Array]) -> Array:
    """Fill an array from a wider type part by part, without a full copy."""
    out = np.empty(count, dtype)
    for start in range(0, count, _PART):
        end = min(count, start + _PART)
        with np.errstate(over="ignore"):  # float16 ends at 65504
            out[start:end] = part(start, end).astype(dtype)
    return out
