"""What an argument of a kernel gets that nobody has given: a guess from its type and its name, and the words for it.

Knows ze_info and the objects that launch files are written as, no program and no file. Invariant: a guess follows from the
ze_info alone, so that a form, a run and a written launch file have the same one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from visa_lsp.program.elements import CL_TYPES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from visa_lsp.program.payload import KernelInfo, PayloadArgument

Spec = dict[str, Any]

ELEMENTS: Final = 4096
_LOCAL_BYTES: Final = 16384  # four local arguments fit into what a group has
_SIDE: Final = 64  # texels, and what a count is at most: a buffer has room for its square
_LAYERS: Final = 4
_BY_SIZE: Final = {1: "uint8", 2: "uint16", 4: "int32", 8: "int64"}
_BYTES: Final = {"8": 1, "16": 2, "32": 4, "64": 8}
# Names that count something: as many as there are work items is what they are likely to be compared with.
_COUNTS: Final = re.compile(
    r"(?:[nmk]|[wh]|dim|nx|ny|nz|inner|outer|hl|kn|lim)_?\d?"
    r"|.*(?:num|count|size|len|width|height|depth|rows?|cols?|columns?|limit|total|items|elements|taps|buckets|stride|pitch|iter|maxit).*",
    re.IGNORECASE,
)
_VECTOR: Final = re.compile(r"(\D+?)(2|3|4|8|16)?")
_SHAPES: Final = {
    "image_buffer": [ELEMENTS], "image_1d": [_SIDE], "image_1d_array": [_LAYERS, _SIDE], "image_2d": [_SIDE, _SIDE],
    "image_2d_array": [_LAYERS, _SIDE, _SIDE], "image_3d": [_LAYERS, _SIDE, _SIDE],
}  # fmt: skip
_POINTERS: Final = ("arg_bypointer", "buffer_address", "buffer_offset")


@dataclass(frozen=True, slots=True)
class DefaultArgument:
    """An argument's default: its kind, the object that a launch file has for it, and in words what is assumed."""

    kind: str
    launch: Spec
    words: str


def default_argument(
    info: KernelInfo, index: int, items: int, types: Mapping[str, str] | None = None
) -> DefaultArgument:
    """Guess an argument of a launch of so many work items.

    ``types`` are element types of buffers by name, where the ze_info was made from a text and knows none.
    """
    entries = [p for p in info.payload if p.arg_index == index]
    element, width = _declared(info, index)
    pointer = next((e for e in entries if e.arg_type in _POINTERS), None)
    if pointer is None:
        return _value(info, index, entries, element, width, items)
    match pointer.addrspace:
        case "local":
            return DefaultArgument("local", {"local": _LOCAL_BYTES}, f"{_LOCAL_BYTES} bytes of shared local memory")
        case "image":
            return _image(entries)
        case "sampler":
            state = {"address": "clamp_to_edge", "filter": "nearest", "normalized": False}
            return DefaultArgument("sampler", {"sampler": state}, "clamps to the edge, takes the nearest texel")
    if types is not None:
        place = next((f"bti({b.bti_value})" for b in info.bindings if b.arg_index == index), "")
        element = types.get(info.argument_name(index)) or types.get(place, "float32")
    return _buffer(element)


def _declared(info: KernelInfo, index: int) -> tuple[str, int]:
    """The NumPy name of an argument's element type, empty where it is none that has one, and how many a vector has."""
    told = next((a.type_name for a in info.arguments if a.index == index), "")
    match = _VECTOR.fullmatch(told.split(";")[0].rstrip("*").strip())
    if match is None or match[1] not in CL_TYPES:
        return "", 0
    count = int(match[2] or 1)
    return CL_TYPES[match[1]], 4 if count == 3 else count


def _buffer(element: str) -> DefaultArgument:
    """A buffer of a known type counts up, so that what is read can be told apart; of another it holds zeros."""
    if not element:
        spec: Spec = {"dtype": "uint8", "shape": [16 * ELEMENTS], "init": "zeros"}
        return DefaultArgument("buffer", {"buffer": spec}, f"a buffer of {16 * ELEMENTS} zero bytes")
    spec = {"dtype": element, "shape": [ELEMENTS], "init": "arange"}
    return DefaultArgument("buffer", {"buffer": spec}, f"a buffer of {ELEMENTS} {element}: 0, 1, 2, ...")


def _image(entries: Sequence[PayloadArgument]) -> DefaultArgument:
    kind = next((e.image_type for e in entries if e.image_type), "image_2d")
    shape = _SHAPES.get(kind, _SHAPES["image_2d"])
    spec = {"dtype": "uint8", "shape": [*shape, 4], "init": "zeros"}
    return DefaultArgument(
        "image", {"image": spec}, f"an image of {'x'.join(map(str, shape))} black texels, 4 channels of uint8"
    )


def _value(
    info: KernelInfo, index: int, entries: Sequence[PayloadArgument], element: str, width: int, items: int
) -> DefaultArgument:
    size = max((e.offset + e.size for e in entries), default=4) - min((e.offset for e in entries), default=0)
    if element and width > 1:
        return DefaultArgument("value", {"values": [1] * width, "dtype": element}, f"{width} times 1, as {element}")
    told = _bytes_of(info, index)
    if not element and (len(entries) > 1 or size not in _BY_SIZE):
        told = told or max((e.source_offset + e.size for e in entries), default=size)
        return DefaultArgument("value", {"values": [0] * told, "dtype": "uint8"}, f"a struct of {told} zero bytes")
    dtype = element or _BY_SIZE.get(size, "int32")
    name = info.argument_name(index)
    if dtype.startswith(("int", "uint")) and _COUNTS.fullmatch(name) and _bits(dtype) > 8:
        count = min(items, _SIDE)
        why = "the number of work items" if count == items else f"buffers have room for {_SIDE} x {_SIDE} elements"
        return DefaultArgument("value", {"value": count, "dtype": dtype}, f"{count}, {why}, as {dtype}")
    return DefaultArgument("value", {"value": 1, "dtype": dtype}, f"1, as {dtype}")


def _bits(dtype: str) -> int:
    return int(dtype.lstrip("uintfloa"))


def _bytes_of(info: KernelInfo, index: int) -> int:
    told = next((a.type_name.rpartition(";")[2] for a in info.arguments if a.index == index), "")
    return int(told) if told.isdecimal() and len(told) < 6 else 0
