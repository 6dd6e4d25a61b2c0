"""Images and samplers of a compiler's dump: the surface of each image, and the state of samplers.

Measured: the binding table has the images that are read through a sampler, then the buffers in the order of the payload,
then the images that are written; within each group by type, and by the order of the source. Invariant: a choice that the
code leaves open is a doubt.
"""

from __future__ import annotations

from itertools import combinations, islice
from typing import TYPE_CHECKING, Final

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from visa_lsp.zeinfo.input_use import InputUse, Surface

COORDINATES: Final = {
    "image_1d": 1,
    "image_buffer": 1,
    "image_1d_array": 2,
    "image_2d": 2,
    "image_2d_array": 3,
    "image_3d": 3,
}
# Types that a text and a launch file cannot distinguish.
TWINS: Final = {"image_1d": "image_buffer", "image_2d": "image_1d_array", "image_3d": "image_2d_array"}
_MAX_CHOICES: Final = 2000
_ORDER: Final = ("image_1d", "image_buffer", "image_2d", "image_1d_array", "image_2d_array", "image_3d")


class Surfaces(Struct, frozen=True):
    """The number of images before the buffers, and the binding table index of each image by its argument."""

    before: int
    numbers: dict[int, int]
    written: frozenset[int] = frozenset()


def surfaces(flow: InputUse, buffers: int, types: Mapping[int, str], access: Mapping[int, str]) -> list[Surfaces]:
    """Return the binding tables that fit the code, the likeliest first. ``types`` and ``access`` are by argument."""
    arguments = sorted(types)
    tables = []
    for many in range(len(arguments) + 1):
        before = len(arguments) - many
        # The last images are tried first, and only a limited number of choices.
        for written in islice(combinations(reversed(arguments), many), _MAX_CHOICES):
            if any((a in written) != (word != "readonly") for a, word in access.items() if a in types):
                continue
            numbers = _numbers(arguments, written, types, before, buffers)
            if _fits(flow, numbers, written, types, before, buffers):
                tables.append(Surfaces(before, numbers, frozenset(written)))
    return tables or [Surfaces(len(arguments), {a: n for n, a in enumerate(arguments)})]


def _numbers(
    arguments: Sequence[int], written: Sequence[int], types: Mapping[int, str], before: int, buffers: int
) -> dict[int, int]:
    def place(argument: int) -> tuple[int, int]:
        return _ORDER.index(types[argument]) if types[argument] in _ORDER else len(_ORDER), argument

    read_images = sorted((a for a in arguments if a not in written), key=place)
    last = sorted(written, key=place)
    return {
        **{argument: number for number, argument in enumerate(read_images)},
        **{argument: before + buffers + number for number, argument in enumerate(last)},
    }


def _fits(
    flow: InputUse,
    numbers: Mapping[int, int],
    written: Sequence[int],
    types: Mapping[int, str],
    before: int,
    buffers: int,
) -> bool:
    for number, surface in flow.surfaces.items():
        if surface.typed == (before <= number < before + buffers):
            return False
        if surface.typed and number >= before + buffers + len(written):
            return False
    return all(
        _image_fits(flow.surfaces[number], types[argument], written=argument in written)
        for argument, number in numbers.items()
        if number in flow.surfaces
    )


def _image_fits(surface: Surface, type_: str, *, written: bool) -> bool:
    if (surface.written and not written) or (surface.sampled and written):
        return False
    return not surface.coordinates or COORDINATES.get(type_, 0) in (0, surface.coordinates)
