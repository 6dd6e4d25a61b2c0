"""Arrays of a launch file: literals, ``.npy`` files, buffers with their first contents, images.

``init`` is zeros, ones, arange, undefined (zeros that a kernel may not count on), ``random: SEED`` (floats uniform in
[0, 1), integers over the whole range of the type), ``values: [...]`` or ``npy: FILE``; the last three may also stand
beside ``dtype`` directly. Invariant: the size of an array is checked before it is allocated.
"""

from __future__ import annotations

import difflib
import math
import re
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import numpy as np

from visa_lsp.reading import opened_file
from visa_lsp.sim.launch.config import DTYPES, MAX_BUFFER_BYTES, Array, BufferArg, ImageArg
from visa_lsp.sim.launch.values import CL_TYPES

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.cli.launch.items import Items
    from visa_lsp.zeinfo.yaml import YamlItem

_PART: Final = 1 << 20
_NPY_HEAD: Final = 1 << 16
_MOST_AXES: Final = 8
_SHORT: Final = re.compile(r"([fiu])(8|16|32|64)")
_KINDS: Final = {"f": "float", "i": "int", "u": "uint"}
_INITS: Final = ("zeros", "ones", "arange", "random", "undefined", "values", "npy")
ACCESSES: Final = ("readonly", "writeonly", "readwrite")
_SOURCES: Final = ("init", "values", "npy", "random")
_TEXEL: Final = {
    "uint8": ("unorm8", "uint8"),
    "int8": ("snorm8", "sint8"),
    "uint16": ("unorm16", "uint16"),
    "int16": ("snorm16", "sint16"),
    "uint32": ("uint32",),
    "int32": ("sint32",),
    "float16": ("float16",),
    "float32": ("float32",),
}


def dtype_of(items: Items, item: YamlItem) -> np.dtype[Any]:
    """Give the element type that an item names."""
    name = items.text(item)
    if name not in DTYPES:
        short = _SHORT.fullmatch(name)
        meant = CL_TYPES.get(name) or (f"{_KINDS[short[1]]}{short[2]}" if short else "")
        near = [meant] if meant in DTYPES else difflib.get_close_matches(name, DTYPES, 1)
        items.fail(
            item,
            f"unknown dtype '{name}'; " + (f"did you mean '{near[0]}'?" if near else f"known are {', '.join(DTYPES)}"),
        )
    return np.dtype(name)


def literal_array(items: Items, item: YamlItem, dtype_item: YamlItem | None) -> Array:
    """Give the array of a number or of (nested) lists of numbers; without a dtype int64 or float64 as it needs."""
    flat: list[int | float] = []
    shape = _flatten(items, item, flat)
    if len(shape) > _MOST_AXES:
        items.fail(item, f"an array has at most {_MOST_AXES} axes, this has {len(shape)}")
    dtype = dtype_of(items, dtype_item) if dtype_item else _natural(items, item, flat)
    return _filled(items, item, flat, dtype).reshape(shape)


def _filled(items: Items, item: YamlItem, flat: list[int | float], dtype: np.dtype[Any]) -> Array:
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        for number in flat:
            if isinstance(number, float) and not number.is_integer():
                items.fail(item, f"{number} is no whole number, the dtype is {dtype.name}")
            if not limits.min <= number <= limits.max:
                items.fail(
                    item, f"{number} does not fit into {dtype.name}, which goes from {limits.min} to {limits.max}"
                )
        return np.array([int(number) for number in flat], dtype=dtype)
    with np.errstate(over="ignore"):
        try:
            return np.array(flat, dtype=np.float64).astype(dtype)
        except OverflowError:
            items.fail(item, f"a number is too large for {dtype.name}")


def _natural(items: Items, item: YamlItem, flat: list[int | float]) -> np.dtype[Any]:
    if any(isinstance(number, float) for number in flat):
        return np.dtype(np.float64)
    low, high = min(flat, default=0), max(flat, default=0)
    if low >= -(1 << 63) and high < 1 << 63:
        return np.dtype(np.int64)
    if low < 0 or high >= 1 << 64:
        items.fail(item, "a number does not fit into 64 bits")
    return np.dtype(np.uint64)


def _flatten(items: Items, item: YamlItem, into: list[int | float]) -> tuple[int, ...]:
    if isinstance(item.value, list):
        shapes = [_flatten(items, entry, into) for entry in item.value]
        for entry, shape in zip(item.value, shapes, strict=True):
            if shape != shapes[0]:
                items.fail(entry, f"rows of different lengths: this one is {list(shape)}, the first {list(shapes[0])}")
        return (len(shapes), *(shapes[0] if shapes else ()))
    if isinstance(item.value, bool) or not isinstance(item.value, int | float):
        items.fail(item, f"a number is expected here, this is {item.kind}")
    into.append(item.value)
    return ()


def load_npy(items: Items, item: YamlItem) -> Array:
    """Give the array of a ``.npy`` file; nothing is unpickled, and large files are refused before they are read.

    Raises LaunchError where the file cannot be read, is no ``.npy`` file, or has a type that buffers cannot have.
    """
    path = items.file(item)
    try:
        with opened_file(path, MAX_BUFFER_BYTES + _NPY_HEAD) as (stream, about):
            shape, fortran, dtype = _npy_header(stream)
            if dtype.newbyteorder("=").name not in DTYPES:
                items.fail(item, f"'{path}' holds {dtype.name}; known are {', '.join(DTYPES)}")
            size = math.prod(shape) * dtype.itemsize
            held = max(0, about.st_size - stream.tell())
            if held < size:
                raise ValueError(f"it has {held} of the {size} bytes that its header tells of")  # noqa: TRY301 - told as all else
            _check_size(items, item, shape, dtype)
            data = stream.read(size)
            array = np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")
    except (OSError, ValueError) as error:
        words = getattr(error, "strerror", None) or str(error) or type(error).__name__
        items.fail(item, f"'{path}' is not an array file that can be read: {words.splitlines()[0]:.200}")
    return np.array(array, dtype=dtype.newbyteorder("="), order="C")


def _npy_header(stream: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether in Fortran's order, and type of a ``.npy`` file; ``ValueError`` where there is no such header."""
    start = stream.read(8)
    if start[:2] == b"PK":
        raise ValueError("this is an archive of arrays (.npz); one .npy array is expected")
    if start[:6] != b"\x93NUMPY" or len(start) < 8:
        raise ValueError("it does not begin as a .npy file does")
    version = start[6]
    if version not in (1, 2, 3):
        raise ValueError(f"it has version {version} of the format; 1 to 3 are known")
    # Version 3 differs from 2 in the characters of field names only, and types with fields are not read.
    read = np.lib.format.read_array_header_1_0 if version == 1 else np.lib.format.read_array_header_2_0
    try:
        shape, fortran, dtype = read(stream)
    except Exception as error:  # noqa: BLE001 - a header is read as Python is, which fails in a dozen ways
        raise ValueError(f"it has no header that can be read: {str(error) or type(error).__name__}") from None
    if dtype.hasobject:
        raise ValueError("it holds Python objects, which are not read")
    if not all(type(n) is int and 0 <= n < 1 << 62 for n in shape) or len(shape) > _MOST_AXES:
        raise ValueError(f"its shape {shape!s:.60} is none")
    return shape, fortran, dtype


def buffer_array(items: Items, item: YamlItem) -> Array:
    """Give the contents of ``{dtype, shape, init | values | npy | random}``."""
    return _array(items, item, items.entries(item, ("dtype", "shape", *_SOURCES), "a buffer"), "a buffer")


def buffer_arg(items: Items, item: YamlItem, access: YamlItem | None) -> BufferArg:
    """Give a buffer: its contents, whether they count, and what may be done with it."""
    keys = dict(items.entries(item, ("dtype", "shape", *_SOURCES, "access"), "a buffer"))
    undefined, how = _undefined(keys), _access(items, keys, access)
    return BufferArg(_array(items, item, keys, "a buffer"), undefined, how)


def _undefined(keys: dict[str, YamlItem]) -> bool:
    """Whether ``init: undefined`` is said; the array is then one of zeros."""
    if "init" not in keys or keys["init"].value != "undefined":
        return False
    said = keys["init"]
    keys["init"] = type(said)("zeros", said.line, said.column, said.key_places)
    return True


def _access(items: Items, keys: dict[str, YamlItem], beside: YamlItem | None) -> str:
    """What ``access`` says, inside of the buffer or beside it."""
    inside = keys.pop("access", None)
    words = [items.word(item, ACCESSES, "access") for item in (inside, beside) if item is not None]
    if len(set(words)) > 1 and beside is not None:
        items.fail(beside, f"access is said twice, as {words[0]} and as {words[1]}")
    return words[0] if words else ""


def _array(items: Items, item: YamlItem, keys: dict[str, YamlItem], what: str) -> Array:
    sources = [key for key in _SOURCES if key in keys]
    if len(sources) > 1:
        items.fail(item, f"{what} has one source of its contents; these are {', '.join(sources)}", sources[1])
    source, value = _source(items, keys, sources[0] if sources else "init")
    shape = _shape(items, keys["shape"]) if "shape" in keys else None
    dtype = dtype_of(items, keys["dtype"]) if "dtype" in keys else None
    if source == "npy" and value is not None:
        array = load_npy(items, value)
        if dtype is not None and array.dtype != dtype:
            items.fail(value, f"the file holds {array.dtype.name}, the dtype says {dtype.name}")
        return _shaped(items, value, array, shape)
    if dtype is None:
        items.fail(item, f"{what} needs a dtype, one of {', '.join(DTYPES)}")
    if source == "values" and value is not None:
        return _shaped(items, value, literal_array(items, value, keys["dtype"]), shape)
    if shape is None:
        items.fail(item, f"{what} needs a shape, such as shape: [1024]")
    _check_size(items, keys["shape"], shape, dtype)
    count = math.prod(shape)
    match source:
        case "zeros":
            return np.zeros(shape, dtype)
        case "ones":
            return np.ones(shape, dtype)
        case "arange":
            return _by_parts(count, dtype, np.arange).reshape(shape)
    seed = items.number(value, 0, (1 << 64) - 1) if value is not None else 0
    random = np.random.default_rng(seed)
    if dtype.kind == "f":
        return _by_parts(count, dtype, lambda start, end: random.random(end - start)).reshape(shape)
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, count, dtype=dtype, endpoint=True).reshape(shape)


def _by_parts(count: int, dtype: np.dtype[Any], part: Callable[[int, int], Array]) -> Array:
    """Fill an array from a wider type without a copy of all of it."""
    out = np.empty(count, dtype)
    for start in range(0, count, _PART):
        end = min(count, start + _PART)
        out[start:end] = part(start, end).astype(dtype)
    return out


def _source(items: Items, keys: dict[str, YamlItem], key: str) -> tuple[str, YamlItem | None]:
    if key != "init":
        return key, keys[key]
    init = keys.get("init")
    if init is None:
        return "zeros", None
    if isinstance(init.value, dict):
        inner = items.entries(init, ("random", "values", "npy"), "init")
        if len(inner) != 1:
            items.fail(init, "init is one of random: SEED, values: [...], npy: FILE")
        return next(iter(inner.items()))
    name = items.word(init, _INITS, "init")
    if name in ("values", "npy"):
        items.fail(init, f"init: {name} needs its value: init: {{{name}: ...}}")
    if name == "undefined":
        items.fail(init, "only a buffer or an image of a launch can be undefined")
    return name, None


def _shape(items: Items, item: YamlItem) -> tuple[int, ...]:
    entries = item.value if isinstance(item.value, list) else [item]
    if len(entries) > _MOST_AXES:
        items.fail(item, f"a shape has at most {_MOST_AXES} axes, this has {len(entries)}")
    shape = tuple(items.number(entry, 0, MAX_BUFFER_BYTES) for entry in entries)
    # What has elements is refused by the size of its type; an axis of nothing does not make the others possible.
    count = math.prod(max(1, n) for n in shape)
    if 0 in shape and count > MAX_BUFFER_BYTES:
        items.fail(item, f"the axes of the shape make {count} elements; at most {MAX_BUFFER_BYTES} bytes are allowed")
    return shape


def _check_size(items: Items, item: YamlItem, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    # An axis of nothing makes the array empty, and does not make the others possible.
    size = math.prod(max(1, n) for n in shape) * dtype.itemsize
    if size > MAX_BUFFER_BYTES:
        items.fail(item, f"the array has {size} bytes; at most {MAX_BUFFER_BYTES} (1 GiB) are allowed")
    items.array_bytes += math.prod(shape) * dtype.itemsize
    if items.array_bytes > MAX_BUFFER_BYTES:
        items.fail(
            item,
            f"the arrays have {items.array_bytes} bytes up to here; at most {MAX_BUFFER_BYTES} (1 GiB) are allowed",
        )


def _shaped(items: Items, item: YamlItem, array: Array, shape: tuple[int, ...] | None) -> Array:
    if shape is None or shape == array.shape:
        return array
    if math.prod(shape) != array.size:
        items.fail(item, f"the shape {list(shape)} has {math.prod(shape)} elements, these are {array.size}")
    return array.reshape(shape)


def image_arg(items: Items, item: YamlItem, access: YamlItem | None = None) -> ImageArg:
    """Give an image: axes (depth or layer, height, width, channel); a last axis of 1, 2 or 4 after width is the channel.

    ``format`` tells how texels read: uint8 as unorm8 unless it says uint8, and so on.
    """
    keys = dict(items.entries(item, ("dtype", "shape", *_SOURCES, "format", "channels", "access"), "an image"))
    undefined, how = _undefined(keys), _access(items, keys, access)
    array = _array(items, item, {k: v for k, v in keys.items() if k not in ("format", "channels")}, "an image")
    formats = _TEXEL.get(array.dtype.name)
    if formats is None:
        items.fail(item, f"an image cannot hold {array.dtype.name}; known are {', '.join(_TEXEL)}")
    name = items.word(keys["format"], formats, "format") if "format" in keys else formats[0]
    axes = list(array.shape)
    if "channels" in keys:
        channels = items.number(keys["channels"], 1, 4)
    else:
        channels = axes[-1] if len(axes) > 1 and axes[-1] in (1, 2, 4) else 1
    # With one channel said and a last axis of 1 behind two others, that axis is the channel, not a width.
    if channels > 1 or (len(axes) > (2 if "channels" in keys else 1) and axes[-1] == 1):
        if axes[-1] != channels:
            items.fail(item, f"the last axis has {axes[-1]} entries, not {channels} channels")
        axes.pop()
    if channels == 3:
        items.fail(item, "an image has 1, 2 or 4 channels")
    if not 1 <= len(axes) <= 3 or 0 in axes:
        items.fail(
            item, f"an image has one to three axes and its channels, none of them empty; this is {list(array.shape)}"
        )
    width, height, depth = [*reversed(axes), 1, 1][:3]
    return ImageArg(array, name, channels, (width, height, depth), undefined, how)
