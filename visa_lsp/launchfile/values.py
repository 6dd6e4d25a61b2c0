"""The plain values of a launch file: sizes, arguments, expectations. Arrays are created by the run.

Invariant: values are valid as far as that can be checked without the kernel: words are known, numbers are in range and fit
their type, arrays have a shape and no more bytes than a launch may have.
"""

from __future__ import annotations

import math
from itertools import islice, product
from typing import TYPE_CHECKING

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from visa_lsp.launchfile.npy import NpyHeader

Triple = tuple[int, int, int]
Number = int | float
# A value of an axis of a sweep: a number, a word, or a list such as [16, 1, 1].
AxisValue = int | float | str | tuple[int | float | str, ...]
SweepPoint = tuple[tuple[str, AxisValue], ...]  # a value for each axis, in the order of the file


class GivenArray(Struct, frozen=True):
    """An array: its element type, its shape, and the source of its elements.

    ``source`` is zeros, ones, arange, cycle, random (of ``seed``), values (``numbers``, flat), repeat (``numbers`` again and again) or npy (the file ``path``).
    ``place`` is line and column from 1 of the contents. ``typed``: the launch file has the type.
    """

    dtype: str
    shape: tuple[int, ...]
    source: str
    place: tuple[int, int]
    numbers: tuple[Number, ...] = ()
    seed: int = 0
    path: Path | None = None
    header: NpyHeader | None = None
    typed: bool = True


class GivenBuffer(Struct, frozen=True):
    """A buffer, or null. ``access`` is empty if the ze_info decides it; ``unwritten`` are ranges of undefined bytes."""

    array: GivenArray | None
    undefined: bool = False
    access: str = ""
    unwritten: tuple[tuple[int, int], ...] = ()


class GivenMemory(Struct, frozen=True):
    """Memory at an address."""

    address: int
    array: GivenArray


class GivenPointer(Struct, frozen=True):
    """An address in ``memory``, the memory with this number in the launch file."""

    address: int
    memory: int


class GivenValue(Struct, frozen=True):
    """A number or vector passed by value."""

    array: GivenArray


class GivenLocal(Struct, frozen=True):
    """A size of shared local memory in bytes."""

    size: int


class GivenImage(Struct, frozen=True):
    """An image; ``dims`` are width, height, depth or layers."""

    array: GivenArray
    format: str
    channels: int
    dims: Triple
    undefined: bool = False
    access: str = ""
    order: str = ""


class GivenSampler(Struct, frozen=True):
    """A sampler state."""

    address: str = "none"
    filter: str = "nearest"
    normalized: bool = False


GivenArg = GivenBuffer | GivenPointer | GivenValue | GivenLocal | GivenImage | GivenSampler


class GivenExpectation(Struct, frozen=True):
    """The expected contents of an argument: an array; or, with or without an argument, ``expr`` or ``reference``."""

    arg: int | str | None
    array: GivenArray | None
    rtol: float | None = None
    atol: float | None = None
    ulp: int | None = None
    expr: str = ""
    reference: Path | None = None


class Axis(Struct, frozen=True):
    """An axis and its values in order. If ``is_key``, it replaces a key of the launch file."""

    name: str
    values: tuple[AxisValue, ...]
    is_key: bool


class Sweep(Struct, frozen=True):
    """The axes of the sweep of a launch file."""

    axes: tuple[Axis, ...]

    @property
    def count(self) -> int:
        """The number of points."""
        return math.prod(len(axis.values) for axis in self.axes)

    def points(self) -> Iterator[SweepPoint]:
        """Yield every combination of values; the last axis varies fastest."""
        names = [axis.name for axis in self.axes]
        for values in product(*(axis.values for axis in self.axes)):
            yield tuple(zip(names, values, strict=True))

    def one_at_a_time(self, most: int) -> Iterator[SweepPoint]:
        """Yield points that differ from the first one in a single axis."""
        points = (((axis.name, value),) for axis in self.axes for value in axis.values[1:])
        yield from islice(points, most)


def point_words(point: SweepPoint) -> str:
    """Return a point in words: ``n = 1000, local_size = [16, 1, 1]``."""
    return ", ".join(f"{name} = {value_words(value)}" for name, value in point)


def value_words(value: AxisValue) -> str:
    """Return a value of an axis in the syntax of launch files."""
    return f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else str(value)


class LaunchText(Struct):
    """The values of one launch file. Wrong items are absent and have findings.

    ``places`` are line and column from 1 of arguments (by index or name) and, after a colon, of keys of the file;
    ``args`` has None for a wrong argument; ``reads`` are the files that it names. With a ``sweep`` all other values are
    those at one point.
    """

    kernel: str | None = None
    file: Path | None = None
    files: tuple[Path, ...] = ()
    ze_info: Path | None = None
    zebin: Path | None = None
    platform: str | None = None
    groups: Triple = (1, 1, 1)
    local_size: Triple | None = None
    global_size: Triple | None = None
    global_offset: Triple = (0, 0, 0)
    dimensions: int = 0  # 0: not given
    threads: tuple[int, int] | None = None
    args: tuple[GivenArg | None, ...] | dict[str, GivenArg | None] = ()
    symbols: dict[str, GivenArray] = field(default_factory=dict)
    memory: tuple[GivenMemory, ...] = ()
    expect: tuple[GivenExpectation, ...] = ()
    expect_faults: tuple[str, ...] = ()
    places: dict[int | str, tuple[int, int]] = field(default_factory=dict)
    reads: list[Path] = field(default_factory=list)
    sweep: Sweep | None = None
    names: dict[str, Number] = field(default_factory=dict)  # names for expressions at the point of the sweep
