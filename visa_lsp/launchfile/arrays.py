"""Validates arrays of a launch file: literals, ``.npy`` files, buffers with their initial contents, images.

Allocates nothing; the result describes how to create an array. Invariant: shape, elements and type of a result match, and
all arrays of a file together have at most ``MAX_BUFFER_BYTES``.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from visa_lsp.launchfile import rules
from visa_lsp.launchfile.checks import Checks
from visa_lsp.launchfile.npy import MAX_AXES
from visa_lsp.launchfile.tables import TABLES, TEXELS, words_of
from visa_lsp.launchfile.values import GivenArray, GivenBuffer, GivenImage, Number
from visa_lsp.program.elements import CL_TYPES, DTYPES, MAX_BUFFER_BYTES, element_bytes, integer_limits, is_float

if TYPE_CHECKING:
    from collections.abc import Sequence

    from visa_lsp.zeinfo.yaml import YamlItem

_DTYPE_CODE: Final = re.compile(r"([fiu])(8|16|32|64)")
_KINDS: Final = {"f": "float", "i": "int", "u": "uint"}
_SOURCES: Final = ("init", "values", "repeat", "npy", "random")
_INITS: Final = words_of("Buffer", "init")
_VALUED: Final = tuple(key for key in TABLES["Init"].names if key not in _INITS)
_ACCESSES: Final = words_of("Buffer", "access")
_GIB: Final = f"the limit is {MAX_BUFFER_BYTES} (1 GiB)"

Entries = dict[str, "YamlItem"]


class ArrayChecks(Checks):
    """Checks of arrays; counts the bytes of all valid ones."""

    array_bytes = 0

    # Elements.

    def dtype(self, item: YamlItem) -> str | None:
        """Return the element type that an item names."""
        written = item.value if isinstance(item.value, str) else ""
        short = _DTYPE_CODE.fullmatch(written)
        meant = CL_TYPES.get(written) or (f"{_KINDS[short[1]]}{short[2]}" if short else "")
        return self.word(item, DTYPES, "dtype", meant if meant in DTYPES else "")

    def literal(self, item: YamlItem, dtype_item: YamlItem | None) -> GivenArray | None:
        """Return the array of a number or of (nested) lists of numbers; without a dtype int64 or float64, as needed."""
        flat: list[Number] = []
        shape = self._flatten(item, flat)
        dtype = self.dtype(dtype_item) if dtype_item is not None else None
        if shape is None:
            return None
        if len(shape) > MAX_AXES:
            self.add(rules.SHAPE, item, f"expected at most {MAX_AXES} axes, got {len(shape)}")
            return None
        if dtype_item is None:
            dtype = self._natural(item, flat)
        if dtype is None or not self._fits(item, flat, dtype):
            return None
        place = (item.line, item.column)
        return GivenArray(dtype, shape, "values", place, tuple(flat), typed=dtype_item is not None)

    def _fits(self, item: YamlItem, flat: list[Number], dtype: str) -> bool:
        if is_float(dtype):
            try:
                for number in flat:
                    float(number)
            except OverflowError:
                self.add(rules.RANGE, item, f"the number is too large for {dtype}")
                return False
            return True
        low, high = integer_limits(dtype)
        for number in flat:
            if isinstance(number, float) and not number.is_integer():
                self.add(rules.RANGE, item, f"{number} is not a whole number, but the dtype is {dtype}")
                return False
            if not low <= number <= high:
                self.add(rules.RANGE, item, f"{number} does not fit into {dtype}: expected {low} to {high}")
                return False
        return True

    def _natural(self, item: YamlItem, flat: list[Number]) -> str | None:
        if any(isinstance(number, float) for number in flat):
            return "float64"
        low, high = min(flat, default=0), max(flat, default=0)
        if low >= -(1 << 63) and high < 1 << 63:
            return "int64"
        if low < 0 or high >= 1 << 64:
            self.add(rules.RANGE, item, "the number does not fit into 64 bits")
            return None
        return "uint64"

    def _flatten(self, item: YamlItem, into: list[Number]) -> tuple[int, ...] | None:
        if isinstance(item.value, list):
            row_shape: tuple[int, ...] | None = None
            for entry in item.value:
                shape = self._flatten(entry, into)
                if shape is None:
                    return None
                row_shape = shape if row_shape is None else row_shape
                if shape != row_shape:
                    words = f"rows of different lengths: the first row is {list(row_shape)}, this one {list(shape)}"
                    self.add(rules.SHAPE, entry, words)
                    return None
            return (len(item.value), *(row_shape or ()))
        if isinstance(item.value, bool) or not isinstance(item.value, int | float):
            self.add(rules.WRONG_TYPE, item, f"expected a number, got {item.kind}")
            return None
        into.append(item.value)
        return ()

    # Files of arrays.

    def npy(self, item: YamlItem) -> GivenArray | None:
        """Return the array of a ``.npy`` file after reading its header only; without a folder the shape is unknown."""
        name = self.file(item)
        place = (item.line, item.column)
        if name is None:
            return None
        if self.folder is None or not self.folder.asks(name):
            return GivenArray("", (), "npy", place)
        try:
            header = self.folder.header(name)
        except ValueError as error:
            self.add(rules.ARRAY_FILE, item, str(error))
            return None
        if not self._size_is_good(item, header.shape, header.dtype):
            return None
        path = self.folder.path(name)
        return GivenArray(header.dtype, header.shape, "npy", place, path=path, header=header)

    # Contents.

    def symbol(self, item: YamlItem) -> GivenArray | None:
        """Return the contents of ``{dtype, shape, init | values | repeat | npy | random}``."""
        read = self.entries(item, TABLES["Symbol"])
        if read is None:
            return None
        return self.contents(item, *read, "a buffer")

    def contents(self, item: YamlItem, keys: Entries, sure: bool, what: str) -> GivenArray | None:
        """Return contents that cannot be undefined, from the keys of a map."""
        if "init" in keys and keys["init"].value == "undefined":
            self.add(rules.WRONG_WORD, keys["init"], "only a buffer or an image of a launch can be undefined")
            return None
        return self._array(item, keys, sure, what)

    def buffer(self, item: YamlItem, access: YamlItem | None) -> GivenBuffer | None:
        """Return a buffer: its contents, whether they are undefined, and its access."""
        read = self.entries(item, TABLES["Buffer"])
        if read is None:
            return None
        keys, sure = read
        how = self._access(keys, access)
        array = self._array(item, keys, sure, "a buffer")
        ranges = self._ranges(keys["unwritten"]) if "unwritten" in keys else ()
        return None if array is None else GivenBuffer(array, _is_undefined(keys), how, ranges)

    def _ranges(self, item: YamlItem) -> tuple[tuple[int, int], ...]:
        pairs = []
        for entry in self.sequence(item) or ():
            ends = self.sequence(entry) or ()
            if len(ends) != 2:
                self.add(rules.RANGE, entry, f"expected two numbers, [FIRST, END], got {len(ends)}")
                continue
            start, end = (self.number(number, 0, MAX_BUFFER_BYTES) for number in ends)
            if start is not None and end is not None:
                pairs.append((start, end))
        return tuple(pairs)

    def _access(self, keys: Entries, beside: YamlItem | None) -> str:
        """Return the value of ``access``, inside the buffer or beside it."""
        given = [item for item in (keys.get("access"), beside) if item is not None]
        words = [word for item in given if (word := self.word(item, _ACCESSES, "access")) is not None]
        if len(set(words)) > 1 and beside is not None:
            self.add(rules.CONFLICT, beside, f"access is given twice, as {words[0]} and as {words[1]}")
        return words[0] if words else ""

    def _array(self, item: YamlItem, keys: Entries, sure: bool, what: str) -> GivenArray | None:
        """Return the contents from the keys of a map.

        ``sure`` means that no key is misspelt, so a missing key is really missing.
        """
        sources = [key for key in _SOURCES if key in keys]
        if len(sources) > 1:
            words = f"{what} takes one source of its contents, got {', '.join(sources)}"
            self.add(rules.CONFLICT, self.key(item, sources[1]), words)
            return None
        source, value = self._source(keys, sources[0] if sources else "init")
        shape = self._shape(keys["shape"]) if "shape" in keys else None
        if source == "npy" and value is not None:
            dtype = self.dtype(keys["dtype"]) if "dtype" in keys else None
            array = self.npy(value)
            if array is not None and dtype and array.dtype and array.dtype != dtype:
                words = f"the file holds {array.dtype}, but the dtype is {dtype}"
                self.add(rules.ARRAY_FILE, value, words)
                return None
            return self._reshape(value, array, shape)
        if "dtype" not in keys:
            self._report_missing(item, sure, f"{what} needs a dtype, one of {', '.join(DTYPES)}")
            if source == "values" and value is not None:
                self.literal(value, None)
            return None
        if source == "values" and value is not None:
            return self._reshape(value, self.literal(value, keys["dtype"]), shape)
        dtype = self.dtype(keys["dtype"])
        if "shape" not in keys:
            self._report_missing(item, sure, f"{what} needs a shape, such as shape: [1024]")
        seed = self.number(value, 0, (1 << 64) - 1) if source == "random" and value is not None else 0
        if not source or dtype is None or shape is None or seed is None:
            return None
        if not self._size_is_good(keys["shape"], shape, dtype):
            return None
        if source == "repeat" and value is not None:
            array = self.literal(value, keys["dtype"])
            if array is not None and not array.numbers:
                self.add(rules.SHAPE, value, "there are no elements to repeat")
                return None
            return None if array is None else replace(array, shape=shape, source=source)
        return GivenArray(dtype, shape, source, (item.line, item.column), seed=seed)

    def _report_missing(self, item: YamlItem, sure: bool, words: str) -> None:
        if sure:
            self.add(rules.MISSING_KEY, item, words)

    def _source(self, keys: Entries, key: str) -> tuple[str, YamlItem | None]:
        """Return the source of contents and its item; an empty word if the source is invalid."""
        if key != "init":
            return key, keys[key]
        init = keys.get("init")
        if init is None:
            return "zeros", None
        if isinstance(init.value, dict):
            read = self.entries(init, TABLES["Init"])
            if read is not None and len(read[0]) == 1:
                return next(iter(read[0].items()))
            if read is not None and read[1]:
                self.add(
                    rules.CONFLICT, init, "init takes one of random: SEED, values: [...], repeat: [...], npy: FILE"
                )
            return "", None
        if init.value in _VALUED:
            name = str(init.value)
            self.add(rules.CONFLICT, init, f"init: {name} needs its value: init: {{{name}: ...}}")
            return "", None
        word = self.word(init, _INITS, "init")
        return ("zeros" if word == "undefined" else word or ""), None

    def _shape(self, item: YamlItem) -> tuple[int, ...] | None:
        entries: Sequence[YamlItem] = item.value if isinstance(item.value, list) else [item]
        if len(entries) > MAX_AXES:
            self.add(rules.SHAPE, item, f"expected at most {MAX_AXES} axes, got {len(entries)}")
            return None
        axes = [self.number(entry, 0, MAX_BUFFER_BYTES) for entry in entries]
        shape = tuple(n for n in axes if n is not None)
        if len(shape) < len(axes):
            return None
        # Axes are multiplied without zeros, because an empty axis must not hide axes that are too long.
        count = math.prod(max(1, n) for n in shape)
        if 0 in shape and count > MAX_BUFFER_BYTES:
            words = f"the shape has {count} elements; the limit is {MAX_BUFFER_BYTES} bytes"
            self.add(rules.SHAPE, item, words)
            return None
        return shape

    def _size_is_good(self, item: YamlItem, shape: tuple[int, ...], dtype: str) -> bool:
        # An empty axis makes the array empty, but must not hide axes that are too long.
        size = math.prod(max(1, n) for n in shape) * element_bytes(dtype)
        if size > MAX_BUFFER_BYTES:
            self.add(rules.SHAPE, item, f"the array has {size} bytes; {_GIB}")
            return False
        total = self.array_bytes + math.prod(shape) * element_bytes(dtype)
        if total > MAX_BUFFER_BYTES:
            self.add(rules.SHAPE, item, f"the arrays have {total} bytes up to here; {_GIB}")
            return False
        self.array_bytes = total
        return True

    def _reshape(self, item: YamlItem, array: GivenArray | None, shape: tuple[int, ...] | None) -> GivenArray | None:
        if array is None or shape is None or shape == array.shape:
            return array
        if _is_known(array) and math.prod(shape) != math.prod(array.shape):
            elements = math.prod(array.shape)
            words = f"the shape {list(shape)} has {math.prod(shape)} elements, got {elements}"
            self.add(rules.SHAPE, item, words)
            return None
        return replace(array, shape=shape)

    # Images.

    def image(self, item: YamlItem, access: YamlItem | None) -> GivenImage | None:
        """Return an image: axes (depth or layer, height, width, channel); a last axis of 1, 2 or 4 after width is the channel.

        ``format`` is the texel format; by default uint8 reads as unorm8, and so on.
        """
        read = self.entries(item, TABLES["Image"])
        if read is None:
            return None
        keys, sure = read
        how = self._access(keys, access)
        channels = self.number(keys["channels"], 1, 4) if "channels" in keys else 0
        array = self._array(item, keys, sure, "an image")
        formats = TEXELS.get(array.dtype) if array is not None and array.dtype else ()
        if array is not None and formats is None:
            self.add(rules.WRONG_WORD, item, f"an image cannot hold {array.dtype}; known types: {', '.join(TEXELS)}")
            return None
        words = formats or words_of("Image", "format")
        name = self.word(keys["format"], words, "format") if "format" in keys else words[0]
        order = self.word(keys["order"], words_of("Image", "order"), "order") if "order" in keys else ""
        if array is None or channels is None or name is None or order is None:
            return None
        if not _is_known(array):
            return GivenImage(array, name, 1, (1, 1, 1), _is_undefined(keys), how, order)
        dimensions = image_dimensions(array.shape, channels)
        if isinstance(dimensions[1], str):
            self.add(rules.SHAPE, item, dimensions[1])
            return None
        return GivenImage(array, name, dimensions[0], dimensions[1], _is_undefined(keys), how, order)


def _is_known(array: GivenArray) -> bool:
    return array.source != "npy" or array.header is not None


def _is_undefined(keys: Entries) -> bool:
    """Return whether ``init`` is ``undefined``; the array then holds zeros."""
    return "init" in keys and keys["init"].value == "undefined"


def image_dimensions(shape: tuple[int, ...], said: int) -> tuple[int, tuple[int, int, int] | str]:
    """Return the channels, and width, height and depth or layers, of an image; or an error message about its shape.

    ``said`` is the number of channels in the launch file, 0 if missing.
    """
    axes = list(shape)
    channels = said or (axes[-1] if len(axes) > 1 and axes[-1] in (1, 2, 4) else 1)
    # With ``channels: 1`` a last axis of 1 after two others is the channel, not a width.
    if channels > 1 or (len(axes) > (2 if said else 1) and axes[-1] == 1):
        if not axes or axes[-1] != channels:
            return channels, f"the last axis has {axes[-1] if axes else 'no'} entries, not {channels} channels"
        axes.pop()
    if channels == 3:
        return channels, "an image has 1, 2 or 4 channels"
    if not 1 <= len(axes) <= 3 or 0 in axes:
        return (
            channels,
            f"expected one to three axes and the channels, none of them empty; got {list(shape)}",
        )
    width, height, depth = [*reversed(axes), 1, 1][:3]
    return channels, (width, height, depth)
