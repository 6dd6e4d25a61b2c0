"""Memory outside of registers: buffers, images, the flat address space.

A ``Buffer`` is bytes with a size; a ``Memory`` places buffers in one 64-bit address space with gaps between them. Both
have the same operations on an array of addresses: ``inside``, ``load`` and ``store``. Knows no threads or lanes. No
access leaves a buffer: outside, reads give zero and writes are dropped.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Array = np.ndarray[Any, np.dtype[Any]]

PAGE: Final = 4096
LINE_BYTES: Final = 64  # of a host's cache, because a vector across two lines takes twice as long
FIRST_ADDRESS: Final = 0x1_0000_0000
MAX_REACH_BYTES: Final = 1 << 36  # a 32-bit index times 16 bytes; addresses farther away belong to no buffer


def allocate_aligned(size: int) -> Array:
    """Return ``size`` zero bytes, aligned to a cache line."""
    raw = np.zeros(size + LINE_BYTES - 1, np.uint8)
    skipped = -raw.ctypes.data % LINE_BYTES
    return raw[skipped : skipped + size]


def copy_aligned(array: Array) -> Array:
    """Return a C-contiguous copy of an array, aligned to a cache line."""
    copy = allocate_aligned(array.nbytes).view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def _elements_text(offset: int, last: int, item_bytes: int, shape: Sequence[int]) -> str:
    """Return words for the elements at some bytes: ``, element 16``, for two dimensions ``, element [1, 0]``."""
    start, end = (_index_text(byte // item_bytes, shape) for byte in (offset, last))
    return f", element {start}" if start == end else f", elements {start} to {end}"


def _index_text(index: int, shape: Sequence[int]) -> str:
    """Return an element's index, one number for each dimension. The first dimension has no end here."""
    indices = list[int]()
    for length in shape[:0:-1]:
        index, inner = divmod(index, length)
        indices.insert(0, inner)
    return f"[{', '.join(map(str, (index, *indices)))}]" if indices else str(index)


@dataclass(frozen=True, slots=True)
class NamedPart:
    """A part of a buffer with a name of its own: an array or an argument in shared local memory.

    ``start`` and ``size`` are in bytes. ``item_bytes`` is the size of an element, 0: unknown. ``shape`` is that of an
    array of arrays.
    """

    name: str
    start: int
    size: int
    item_bytes: int
    shape: tuple[int, ...] = ()

    @property
    def shows_elements(self) -> bool:
        """Whether there are several elements, of more than a byte or with several indices."""
        return self.size > self.item_bytes and (self.item_bytes > 1 or len(self.shape) > 1)


class Buffer:
    """Bytes that kernels see, at a virtual address (0: not in the flat space); ``size`` is in bytes.

    ``at`` of its methods is an array of byte offsets from its start, ``size`` the bytes at each of them.
    """

    def __init__(self, name: str, data: bytearray | Array, address: int = 0) -> None:
        self.name = name
        self.parts: Sequence[NamedPart] = ()
        self.address_bits = 32  # fewer where compilers take the rest of an address for a tag
        self.private = False  # each thread has its own part, which later threads reuse
        self.undefined = False  # undefined before the kernel runs
        self.defined: Array | None = None  # a mask of the bytes of an undefined buffer that are written nevertheless
        self.written = False  # whether a kernel has stored to it, even equal bytes; set on ``whole``
        self.access = ""  # readonly, writeonly; empty or readwrite: both allowed
        self._whole: Buffer | None = None
        self.line: Image | None = None  # the same bytes as an image of dwords, for typed messages
        if isinstance(data, bytearray):
            raw = np.frombuffer(data, np.uint8) if data else np.zeros(0, np.uint8)
        else:
            raw = data.reshape(-1).view(np.uint8)
        self.data: Array = raw
        items = raw if isinstance(data, bytearray) else data
        self.item_bytes: int = items.itemsize  # of an element; 1 where the elements are unknown
        self._shape: tuple[int, ...] = items.shape
        self.address = address
        self.size = int(raw.size)
        self._dwords: Array = raw[: self.size & ~3].view(np.uint32)
        self._bytes: dict[int, Array] = {}

    @property
    def whole(self) -> Buffer:
        """The buffer that identifies these bytes for observers: itself, or the buffer behind a view."""
        return (
            self._whole if self._whole is not None else self
        )  # None for itself, because a cycle would keep it until the next garbage collection

    @whole.setter
    def whole(self, buffer: Buffer) -> None:
        self._whole = buffer

    def __repr__(self) -> str:
        return f"Buffer({self.name!r}, {self.size} bytes at {self.address:#x})"

    def locate(self, address: int) -> tuple[Buffer, int]:
        """Return the buffer and the byte offset inside it for reports; negative if the bits of the address are a negative number."""
        bits = next((bits for bits in (32, self.address_bits) if address >> bits - 1 == 1), None)
        return self, address - (1 << bits if bits is not None else 0)

    def span_text(self, offset: int, size: int) -> str:
        """Return words for bytes of the buffer: ``bytes 64-67, element 16 of `y```."""
        part = next((one for one in self.parts if one.start <= offset and offset + size <= one.start + one.size), None)
        offset -= part.start if part is not None else 0
        last = offset + size - 1
        span = f"byte {offset}" if size == 1 else f"bytes {offset}{'-' if offset >= 0 else ' to '}{last}"
        if part is not None:
            elements = _elements_text(offset, last, part.item_bytes, part.shape) if part.shows_elements else ""
            return f"{span}{elements} of {part.name} in {self.name}"
        return f"{span}{self._elements_text(offset, last)} of {self.name}"

    def size_text(self) -> str:
        """Return words for the size of the buffer: ``64 bytes (16 elements)``."""
        if not self._has_elements:
            return f"{self.size} bytes"
        unit = "element" if set(self._shape) == {1} else "elements"
        return f"{self.size} bytes ({'x'.join(map(str, self._shape))} {unit})"

    @property
    def _has_elements(self) -> bool:
        return bool(self._shape) and (self.item_bytes > 1 or len(self._shape) > 1) and 0 not in self._shape

    def _elements_text(self, offset: int, last: int) -> str:
        return _elements_text(offset, last, self.item_bytes, self._shape) if self._has_elements else ""

    def inside(self, offsets: Array, size: int) -> Array | None:
        """Return the mask of accesses of ``size`` bytes that lie inside; None when all do."""
        if offsets.size == 0 or self._fits(offsets, size, 1):
            return None
        return np.asarray((offsets >= 0) & (offsets <= self.size - size))

    def _fits(self, offsets: Array, size: int, alignment: int) -> bool:
        """Return whether all accesses lie inside and are aligned.

        Tests the union of the bits of all offsets, an upper bound.
        """
        bits = int(np.bitwise_or.reduce(offsets))
        if bits < 0 or bits & alignment - 1:
            return False
        return bits <= self.size - size or int(offsets.max()) <= self.size - size

    def load(self, offsets: Array, size: int) -> Array:
        """Return ``size`` bytes at each offset: an array of shape (n, size)."""
        inside = self.inside(offsets, size)
        if inside is None:
            return np.asarray(self.data[offsets[:, None] + _steps(size)])
        rows = np.zeros((offsets.size, size), np.uint8)
        rows[inside] = self.data[offsets[inside][:, None] + _steps(size)]
        return rows

    def store(self, offsets: Array, values: Array) -> None:
        """Write row i of ``values``, bytes of shape (n, size), at offset i; of several rows at one place the last counts."""
        inside = self.inside(offsets, values.shape[1])
        if inside is not None:
            offsets, values = offsets[inside], values[inside]
        self.whole.written |= bool(offsets.size)
        self.data[offsets[:, None] + _steps(values.shape[1])] = values

    def load32(self, offsets: Array) -> Array:
        """Return the dword at each byte offset: an array of shape (n,)."""
        if offsets.size and self._fits(offsets, 4, 4):
            return np.asarray(self._dwords[offsets >> 2])
        return np.asarray(self.load(offsets, 4).view(np.uint32).reshape(-1))

    def store32(self, offsets: Array, values: Array) -> None:
        """Write the dwords ``values``, of shape (n,), at the byte offsets."""
        if offsets.size and self._fits(offsets, 4, 4):
            self.whole.written = True
            self._dwords[offsets >> 2] = values
        else:
            self.store(offsets, np.ascontiguousarray(values, np.uint32).view(np.uint8).reshape(-1, 4))


def _steps(size: int) -> Array:
    return _STEPS[:size] if size <= _STEPS.size else np.arange(size)


_STEPS: Final = np.arange(1024)


@dataclass(frozen=True, slots=True)
class Sampler:
    """A sampler state. ``address``: clamp_to_edge, clamp (border colour 0), repeat, mirrored_repeat, none."""

    address: str = "clamp_to_edge"
    filter: str = "nearest"
    normalized: bool = False


class ImageForm(NamedTuple):
    """The properties of an image beside its sizes; ``tall`` and ``deep`` say whether height and depth are more than 1."""

    format: str
    channels: int
    dims: int
    layered: bool
    tall: bool
    deep: bool

    @property
    def kind(self) -> str:
        """The kind of numbers in texels: norm, int, float."""
        return FORMATS[self.format][0]

    @property
    def channel_type(self) -> np.dtype[Any]:
        """The type of a channel in memory."""
        return FORMATS[self.format][1]

    @property
    def texel_bytes(self) -> int:
        """The size of a texel."""
        return self.channel_type.itemsize * self.channels


class Image(Buffer):
    """A typed surface: texels of ``channels`` values in ``format``.

    Formats: unorm8, snorm8, uint8, sint8, unorm16, snorm16, uint16, sint16, uint32, sint32, float16, float32. Rows are
    ``pitch`` bytes apart, slices ``pitch * height``. ``dims`` counts coordinates: an array index is one of them, and
    the last if ``layered``.
    """

    def __init__(
        self,
        name: str,
        data: bytearray | Array,
        address: int = 0,
        *,
        width: int,
        height: int = 1,
        depth: int = 1,
        channels: int = 4,
        format: str = "unorm8",  # noqa: A002 - the word of the launch file
        pitch: int | None = None,
        dims: int = 2,
        layered: bool | None = None,
    ) -> None:
        super().__init__(name, data, address)
        self.width, self.height, self.depth = width, height, depth
        self.channels, self.format, self.dims = channels, format, dims
        self.layered = layered if layered is not None else dims == 2 and depth > 1
        self.kind, self.channel_type = FORMATS[format]
        self.texel_bytes = self.channel_type.itemsize * channels
        self.pitch = pitch or width * self.texel_bytes
        self.form = ImageForm(format, channels, dims, self.layered, height > 1, depth > 1)

    def size_text(self) -> str:
        """Return words for the size of the image: ``36x20 texels``."""
        lengths = [self.width, self.height, self.depth]
        while lengths[-1] == 1 and len(lengths) > 1:
            lengths.pop()
        return f"{'x'.join(map(str, lengths))} texels"

    def _elements_text(self, offset: int, last: int) -> str:
        if not 0 <= offset <= last < self.size:
            return ""
        start, end = self._texel_text(offset), self._texel_text(last)
        return f", texel {start}" if start == end else f", texels {start} to {end}"

    def _texel_text(self, offset: int) -> str:
        row, in_row = divmod(offset, self.pitch)
        z, y = divmod(row, self.height)
        place = (in_row // self.texel_bytes, y, z)
        axes = 3 if self.depth > 1 else 2 if self.height > 1 else 1
        return f"({', '.join(map(str, place[:axes]))})"

    @property
    def is_integer(self) -> bool:
        """True if texels are read as integers, not as floats."""
        return self.kind == "int"

    def texel_offsets(self, x: Array, y: Array, z: Array) -> tuple[Array, Array]:
        """Return the byte offsets of texels, and the mask of coordinates that lie inside."""
        inside = (x >= 0) & (x < self.width) & (y >= 0) & (y < self.height) & (z >= 0) & (z < self.depth)
        offsets = (z * self.height + y) * self.pitch + x * self.texel_bytes
        return np.where(inside, offsets, 0), inside

    def read(self, x: Array, y: Array, z: Array) -> tuple[Array, Array]:
        """Return four channels per texel as float32 or 32-bit integers, shape (n, 4), and the mask of texels inside.

        Missing colour channels are 0 and a missing alpha is 1. Texels outside are all zero.
        """
        offsets, inside = self.texel_offsets(x, y, z)
        raw = self.load(offsets, self.texel_bytes).view(self.channel_type).reshape(offsets.size, self.channels)
        out = np.zeros((offsets.size, 4), np.int64 if self.is_integer else np.float32)
        out[:, 3] = 1
        if self.kind == "norm":
            top = np.iinfo(self.channel_type).max
            out[:, : self.channels] = np.maximum(raw.astype(np.float64) / top, -1.0)
        else:
            out[:, : self.channels] = raw
        out[~inside] = 0
        return out, inside

    def write(self, x: Array, y: Array, z: Array, values: Array, chosen: Sequence[int] = (0, 1, 2, 3)) -> Array:
        """Store the ``chosen`` of (n, 4) float32 or integer channels in the format; return the mask of texels inside."""
        offsets, inside = self.texel_offsets(x, y, z)
        values = values[:, : self.channels]
        if self.kind == "norm":
            top = np.iinfo(self.channel_type).max
            low = 0.0 if self.channel_type.kind == "u" else -1.0
            values = np.rint(np.clip(np.nan_to_num(values.astype(np.float64), nan=0.0), low, 1.0) * top)
        elif self.kind == "int":
            info = np.iinfo(self.channel_type)
            values = np.clip(values, info.min, info.max)
        channels = values.astype(self.channel_type)
        kept = [c for c in range(self.channels) if c not in chosen]
        if kept:
            old = self.load(offsets, self.texel_bytes).view(self.channel_type).reshape(offsets.size, self.channels)
            channels[:, kept] = old[:, kept]
        texels = np.ascontiguousarray(channels).view(np.uint8).reshape(offsets.size, -1)
        self.store(offsets[inside], texels[inside])
        return inside


FORMATS: Final[dict[str, tuple[str, np.dtype[Any]]]] = {
    "unorm8": ("norm", np.dtype("u1")),
    "snorm8": ("norm", np.dtype("i1")),
    "uint8": ("int", np.dtype("u1")),
    "sint8": ("int", np.dtype("i1")),
    "unorm16": ("norm", np.dtype("<u2")),
    "snorm16": ("norm", np.dtype("<i2")),
    "uint16": ("int", np.dtype("<u2")),
    "sint16": ("int", np.dtype("<i2")),
    "uint32": ("int", np.dtype("<u4")),
    "sint32": ("int", np.dtype("<i4")),
    "float16": ("float", np.dtype("<f2")),
    "float32": ("float", np.dtype("<f4")),
}


class Memory:
    """The flat virtual address space: buffers at distinct addresses, page-aligned, with guard gaps between."""

    def __init__(self, start: int = FIRST_ADDRESS) -> None:
        self._next = start
        self._starts: list[int] = []
        self._buffers: list[Buffer] = []
        self.name = "the flat address space"

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """All buffers, by address."""
        return tuple(self._buffers)

    def allocate(self, name: str, data: bytearray | Array | int) -> Buffer:
        """Return a new buffer; a number is a size in bytes, zeroed."""
        raw = allocate_aligned(data) if isinstance(data, int) else data
        return self.add(Buffer(name, raw))

    def add(self, buffer: Buffer) -> Buffer:
        """Place a buffer: at its own address, or at the next free one if that is 0.

        Raises ValueError if it overlaps another.
        """
        if not buffer.address:
            buffer.address = self._next
        index = bisect_right(self._starts, buffer.address)
        before = self._buffers[index - 1] if index else None
        after = self._buffers[index] if index < len(self._buffers) else None
        if (before and before.address + before.size > buffer.address) or (
            after and buffer.address + buffer.size > after.address
        ):
            raise ValueError(f"{buffer.name} at {buffer.address:#x} overlaps another buffer")
        self._starts.insert(index, buffer.address)
        self._buffers.insert(index, buffer)
        end = buffer.address + buffer.size
        self._next = max(self._next, (end + PAGE - 1) // PAGE * PAGE + PAGE)
        return buffer

    def find(self, address: int, size: int = 1) -> tuple[Buffer, int] | None:
        """Return the buffer with ``size`` bytes at an address, and the byte offset in it; None if there is none."""
        index = bisect_right(self._starts, address) - 1
        if index < 0:
            return None
        buffer = self._buffers[index]
        offset = address - buffer.address
        return (buffer, offset) if offset + size <= buffer.size else None

    def locate(self, address: int) -> tuple[Buffer | None, int]:
        """Return the buffer nearest to an address and the byte offset from its start, negative below it; for reports.

        The buffer is None if the address is far from all.
        """
        index = bisect_right(self._starts, address)
        nearest = self._buffers[index - 1] if index else None
        if index < len(self._buffers):
            above = self._buffers[index]
            gap = above.address - address
            if gap <= PAGE and (nearest is None or gap < address - nearest.address - nearest.size):
                nearest = above
        if nearest is None or address - nearest.address >= MAX_REACH_BYTES:
            return None, address
        return nearest, address - nearest.address

    def _home(self, addresses: Array, size: int) -> tuple[Buffer, Array] | None:
        """Return the one buffer that holds every access, with the offsets in it."""
        if not addresses.size:
            return None
        low, high = int(addresses.min()), int(addresses.max())
        home = self.find(low, high - low + size)
        return (home[0], addresses - home[0].address) if home else None

    def inside(self, addresses: Array, size: int) -> Array | None:
        """Return the mask of accesses of ``size`` bytes, of shape (n,), that lie inside a buffer; None when all do."""
        if not addresses.size or self._home(addresses, size):
            return None
        mask = np.array([self.find(a, size) is not None for a in addresses.tolist()])
        return None if mask.all() else mask

    def load(self, addresses: Array, size: int) -> Array:
        """Return ``size`` bytes at each address: an array of shape (n, size)."""
        home = self._home(addresses, size)
        if home:
            return home[0].load(home[1], size)
        out = np.zeros((addresses.size, size), np.uint8)
        for row, place in self._places(addresses.tolist(), size):
            out[row] = place[0].data[place[1] : place[1] + size]
        return out

    def store(self, addresses: Array, values: Array) -> None:
        """Write row i of ``values``, bytes of shape (n, size), at address i."""
        size = values.shape[1]
        home = self._home(addresses, size)
        if home:
            home[0].store(home[1], values)
            return
        for row, (buffer, offset) in self._places(addresses.tolist(), size):
            buffer.written = True
            buffer.data[offset : offset + size] = values[row]

    def _places(self, addresses: list[int], size: int) -> Iterable[tuple[int, tuple[Buffer, int]]]:
        for row, address in enumerate(addresses):
            place = self.find(address, size)
            if place:
                yield row, place

    def load32(self, addresses: Array) -> Array:
        """Return the dword at each address: an array of shape (n,)."""
        home = self._home(addresses, 4)
        return home[0].load32(home[1]) if home else np.asarray(self.load(addresses, 4).view(np.uint32).reshape(-1))

    def store32(self, addresses: Array, values: Array) -> None:
        """Write the dwords ``values``, of shape (n,), at the addresses."""
        home = self._home(addresses, 4)
        if home:
            home[0].store32(home[1], values)
        else:
            self.store(addresses, np.ascontiguousarray(values, np.uint32).view(np.uint8).reshape(-1, 4))


Space = Buffer | Memory
