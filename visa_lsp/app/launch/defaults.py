"""What an argument of a kernel gets that nobody has given: a guess from its type and its name, and the words for it.

Knows ze_info and the objects that launch files are written as, no program and no file. Invariant: a guess follows from the
ze_info alone, so that a form, a run and a written launch file have the same one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.program.elements import CL_TYPES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from visa_lsp.program.payload import KernelInfo, PayloadArgument

Spec = dict[str, Any]

Triple = tuple[int, int, int]

_ROOMY_ELEMENTS: Final = 1 << 16
_MAX_ROOMY_ELEMENTS: Final = 1 << 22
_TEXELS: Final = 4096
_LOCAL_BYTES: Final = 16384  # four local arguments fit into what a group has
_SIDE: Final = 64  # texels
_LAYERS: Final = 4
_MIN_EXTENT: Final = 24  # of fewer elements nothing tells a table from one element too many
_BY_SIZE: Final = {1: "uint8", 2: "uint16", 4: "int32", 8: "int64"}
_BYTES: Final = {"8": 1, "16": 2, "32": 4, "64": 8}
# Names that count something: as many as there are work items is what they are likely to be compared with.
_COUNTS: Final = re.compile(
    r"(?:[nmk]|[wh]|dim|nx|ny|nz|inner|outer|hl|kn|lim)_?\d?"
    r"|.*(?:num|count|size|len|width|height|depth|rows?|cols?|columns?|limit|total|items|elements|taps|buckets|stride|pitch|iter|maxit).*",
    re.IGNORECASE,
)
_NAMELESS: Final = re.compile(r"(?:V\d+)?")  # the compiler's names say nothing
# Names of arrays that have an end for each start: with one element more than there are rows.
_STARTS: Final = re.compile(
    r".*(?:(?:row|col|ind|seg|adj).*ptr|off|offs|offsets?|starts?|begins?|bounds|delim\w*|xadj|rows?)_?\d?",
    re.IGNORECASE,
)
_VECTOR: Final = re.compile(r"(\D+?)(2|3|4|8|16)?")
_SHAPES: Final = {
    "image_buffer": [_TEXELS], "image_1d": [_SIDE], "image_1d_array": [_LAYERS, _SIDE], "image_2d": [_SIDE, _SIDE],
    "image_2d_array": [_LAYERS, _SIDE, _SIDE], "image_3d": [_LAYERS, _SIDE, _SIDE],
}  # fmt: skip
_POINTERS: Final = ("arg_bypointer", "buffer_address", "buffer_offset")


@dataclass(frozen=True, slots=True)
class DefaultSizes:
    """The sizes that default arguments follow from.

    ``count`` is what counts are, if not as many as there are work items along x. ``bytes`` are those that a trial run
    touches of each buffer, by argument; a buffer that is not in it is roomy. ``cycle``: the values of buffers repeat.
    ``nameless``: integers without a name of the source count as well.
    """

    local: Triple
    groups: Triple = (1, 1, 1)
    count: int = 0
    bytes: Mapping[int, int] = field(default_factory=dict)
    cycle: bool = False
    nameless: bool = False

    @property
    def across(self) -> int:
        """The work items along x."""
        return self.local[0] * self.groups[0]

    @property
    def items(self) -> int:
        """The work items of the launch."""
        return prod(self.local) * prod(self.groups)

    @property
    def roomy(self) -> int:
        """Elements that suffice where nothing tells how many are needed: one for each work item, and the square of a count."""
        return max(_ROOMY_ELEMENTS, min(max(self.across**2, self.items), _MAX_ROOMY_ELEMENTS))

    @property
    def extents(self) -> tuple[int, ...]:
        """Numbers of elements that a buffer is likely to have, the likeliest first."""
        found = (self.count, self.across, self.items)
        return tuple(n for n in dict.fromkeys(found) if n >= _MIN_EXTENT)


@dataclass(frozen=True, slots=True)
class DefaultArgument:
    """An argument's default: its kind, the object that a launch file has for it, and in words what is assumed.

    ``overrun``: a trial run reaches further into the buffer than it is long.
    """

    kind: str
    launch: Spec
    words: str
    overrun: bool = False


def is_count(info: KernelInfo, index: int, *, nameless: bool = False) -> bool:
    """Return whether an argument is likely to be compared with the id of a work item."""
    element, width = _declared(info, index)
    return (
        not any(e.arg_type in _POINTERS for e in info.payload if e.arg_index == index)
        and width < 2
        and (not element or element.startswith(("int", "uint")))
        and (_NAMELESS if nameless else _COUNTS).fullmatch(info.argument_name(index)) is not None
    )


def default_argument(
    info: KernelInfo, index: int, sizes: DefaultSizes, types: Mapping[str, str] | None = None
) -> DefaultArgument:
    """Guess an argument of a launch.

    ``types`` are element types of buffers by name, where the ze_info was made from a text and knows none.
    """
    entries = [p for p in info.payload if p.arg_index == index]
    element, width = _declared(info, index)
    pointer = next((e for e in entries if e.arg_type in _POINTERS), None)
    if pointer is None:
        return _value(info, index, entries, element, width, sizes)
    match pointer.addrspace:
        case "local":
            return DefaultArgument("local", {"local": _LOCAL_BYTES}, f"{_LOCAL_BYTES} bytes of shared local memory")
        case "image":
            return _image(entries)
        case "sampler":
            state = {"address": "clamp_to_edge", "filter": "nearest", "normalized": False}
            return DefaultArgument("sampler", {"sampler": state}, "clamps to the edge, takes the nearest texel")
    name = info.argument_name(index)
    if types is not None:
        place = next((f"bti({b.bti_value})" for b in info.bindings if b.arg_index == index), "")
        element = types.get(name) or types.get(place, "float32")
    return _buffer(element, max(1, width), index, name, sizes)


def _declared(info: KernelInfo, index: int) -> tuple[str, int]:
    """Return the NumPy name of an argument's element type, empty where it is none that has one, and how many a vector has."""
    told = next((a.type_name for a in info.arguments if a.index == index), "")
    match = _VECTOR.fullmatch(told.split(";")[0].rstrip("*").strip())
    if match is None or match[1] not in CL_TYPES:
        return "", 0
    count = int(match[2] or 1)
    return CL_TYPES[match[1]], 4 if count == 3 else count


def _buffer(element: str, width: int, index: int, name: str, sizes: DefaultSizes) -> DefaultArgument:
    """Return a buffer of a known type counts up, so that what is read can be told apart; of another it holds zeros."""
    unit = _bits(element) // 8 if element else 1
    touched = sizes.bytes.get(index)
    if touched is None:
        count = reached = sizes.roomy * (width if element else 16)
    else:
        width = width if element or touched % 4 else 4  # what is in a struct is mostly made of dwords
        vectors = -(-touched // (unit * width)) or sizes.across
        reached = vectors * width
        count = reached if _STARTS.fullmatch(name) else width * fitted(vectors, sizes.extents)
    more = f"; a trial run reaches {reached}" if reached > count else ""
    if not element:
        spec: Spec = {"dtype": "uint8", "shape": [count], "init": "zeros"}
        return DefaultArgument("buffer", {"buffer": spec}, f"a buffer of {count} zero bytes{more}", bool(more))
    init, words = ("cycle", "0, 1, ..., 15, 0, ...") if sizes.cycle else ("arange", "0, 1, 2, ...")
    spec = {"dtype": element, "shape": [count], "init": init}
    return DefaultArgument("buffer", {"buffer": spec}, f"a buffer of {count} {element}: {words}{more}", bool(more))


def fitted(reached: int, extents: Sequence[int]) -> int:
    """Return how many elements a buffer is meant to have of which a run reaches so many.

    A record for each of one more work item than there are, and one element or one row more than a plane has, are taken for one
    too many.
    """
    planes = {a * b: a for a in extents for b in extents if a <= b}
    for plane, row in planes.items():
        if reached - plane in (1, row, row + 1):
            return plane
    if reached in planes or any(reached % extent == 0 for extent in extents):
        return reached
    for more in (0, 1):
        for extent in extents:
            size = -(-reached // (extent + more))
            # The longer the records, the more numbers could be some.
            if size <= extent // 8 and (extent + more - 1) * size < reached:
                return extent * size
    return reached


def _image(entries: Sequence[PayloadArgument]) -> DefaultArgument:
    kind = next((e.image_type for e in entries if e.image_type), "image_2d")
    shape = _SHAPES.get(kind, _SHAPES["image_2d"])
    spec = {"dtype": "uint8", "shape": [*shape, 4], "init": "zeros"}
    return DefaultArgument(
        "image", {"image": spec}, f"an image of {'x'.join(map(str, shape))} black texels, 4 channels of uint8"
    )


def _value(
    info: KernelInfo, index: int, entries: Sequence[PayloadArgument], element: str, width: int, sizes: DefaultSizes
) -> DefaultArgument:
    size = max((e.offset + e.size for e in entries), default=4) - min((e.offset for e in entries), default=0)
    if element and width > 1:
        return DefaultArgument("value", {"values": [1] * width, "dtype": element}, f"{width} times 1, as {element}")
    told = _bytes_of(info, index)
    if not element and (len(entries) > 1 or size not in _BY_SIZE):
        told = told or max((e.source_offset + e.size for e in entries), default=size)
        return DefaultArgument("value", {"values": [0] * told, "dtype": "uint8"}, f"a struct of {told} zero bytes")
    dtype = element or _BY_SIZE.get(size, "int32")
    if (is_count(info, index) or (sizes.nameless and is_count(info, index, nameless=True))) and _bits(dtype) > 8:
        count = sizes.count or sizes.across
        why = "the number of work items" if count == sizes.across else "not a multiple of the group size"
        return DefaultArgument("value", {"value": count, "dtype": dtype}, f"{count}, {why}, as {dtype}")
    return DefaultArgument("value", {"value": 1, "dtype": dtype}, f"1, as {dtype}")


def _bits(dtype: str) -> int:
    return int(dtype.lstrip("uintfloa"))


def _bytes_of(info: KernelInfo, index: int) -> int:
    told = next((a.type_name.rpartition(";")[2] for a in info.arguments if a.index == index), "")
    return int(told) if told.isdecimal() and len(told) < 6 else 0
