"""The configuration of a launch: groups, arguments as arrays, expectations. The values behind a launch file.

Knows no file format: launch files, the language server and tests all build these. Invariant: arrays are C-contiguous,
little endian and own their memory; a run writes into a copy of them unless they are ``in_place``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

MAX_GROUP_REGISTER_BYTES: Final = 1 << 28  # of the threads of a group

# Keys of a LaunchError besides arguments; no argument has these names.
GROUPS: Final = ":groups"
LOCAL_SIZE: Final = ":local_size"
ARGUMENTS: Final = ":args"
PLATFORM: Final = ":platform"
GLOBAL_SIZE: Final = ":global_size"

Array = np.ndarray[Any, np.dtype[Any]]
Triple = tuple[int, int, int]


class LaunchError(Exception):
    """An invalid launch. ``arg`` names the argument at fault: an index, a name, or None.

    ``place`` is ``path:line:column`` (from 1) in the launch file, else empty.
    """

    def __init__(self, message: str, arg: int | str | None = None, place: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.arg = arg
        self.place = place

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


@dataclass(frozen=True, slots=True, eq=False)
class BufferArg:
    """A buffer with its initial contents, which count as unwritten if ``undefined``.

    ``access``: ``readonly``, ``writeonly``, ``readwrite``, or empty for the access in ze_info. ``in_place``: a run writes
    into the array itself, not into a copy. ``defined`` is a mask of the bytes of an ``undefined`` buffer that are written
    nevertheless. ``whole`` is the array that ``array`` is a part of, if others of its parts are arguments too.
    """

    array: Array
    undefined: bool = False
    access: str = ""
    in_place: bool = False
    defined: Array | None = None
    whole: Array | None = None


@dataclass(frozen=True, slots=True)
class NullArg:
    """A buffer argument without a buffer."""


@dataclass(frozen=True, slots=True, eq=False)
class ValueArg:
    """A value, or a vector, passed by value. If not ``typed``, its type is that of the parameter."""

    array: Array
    typed: bool = True


@dataclass(frozen=True, slots=True)
class LocalArg:
    """A size of shared local memory in bytes."""

    size: int


@dataclass(frozen=True, slots=True, eq=False)
class ImageArg:
    """An image: the array's axes are (depth or layer), (height), width and, if ``channels``, channel.

    ``format`` is ``unorm8``, ``uint8``, ``sint8``, ``uint16`` .. ``float32``: how a texel is read and written. ``order`` is the order
    of channels that a kernel can query: empty for the usual one, or ``bgra``.
    """

    array: Array
    format: str
    channels: int
    dims: Triple  # width, height, depth or layers
    undefined: bool = False
    access: str = ""
    in_place: bool = False
    order: str = ""


@dataclass(frozen=True, slots=True)
class SamplerArg:
    """A sampler: the rules for reading texels at coordinates.

    ``address``: none, clamp_to_edge, clamp, repeat, mirrored_repeat.
    """

    address: str = "none"
    filter: str = "nearest"
    normalized: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class PlacedMemory:
    """Memory besides the arguments, at a fixed address, to which pointers in memory may lead.

    ``array`` is the ``whole`` of arguments that point into it, or the array of those that point to its start. ``undefined``,
    ``access``, ``in_place`` and ``defined`` are as for a buffer.
    """

    name: str
    array: Array
    address: int
    undefined: bool = False
    access: str = ""
    in_place: bool = False
    defined: Array | None = None


@dataclass(frozen=True, slots=True, eq=False)
class DataSection:
    """Data of the program besides its arguments: constants, globals, printed strings.

    ``symbols`` are places in ``data``; ``pointers`` are places for the address of a symbol (offset, symbol,
    bytes). ``base`` is the payload argument for the section's address, or empty. ``array`` has the contents of a section that
    keeps them from launch to launch, at ``address``.
    """

    name: str
    data: bytes
    base: str = ""
    symbols: Mapping[str, int] = field(default_factory=dict)
    pointers: tuple[tuple[int, str, int], ...] = ()
    array: Array | None = None
    address: int = 0


Arg = BufferArg | NullArg | ValueArg | LocalArg | ImageArg | SamplerArg


@dataclass(frozen=True, slots=True, eq=False)
class Expectation:
    """The expected contents of a buffer; exact without a tolerance. If not ``typed``, in the buffer's type."""

    arg: int | str
    array: Array
    typed: bool = True
    rtol: float | None = None
    atol: float | None = None
    ulp: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class LaunchConfig:
    """A launch. ``args`` is a tuple by OpenCL index, or a mapping by ``.input`` or surface name."""

    kernel: str | None = None
    groups: Triple = (1, 1, 1)
    local_size: Triple | None = None
    global_offset: Triple = (0, 0, 0)
    dimensions: int = 0  # at least so many
    threads: tuple[int, int] | None = None  # media mode
    global_size: Triple | None = None  # work items of the launch, if the last groups may be partial
    args: tuple[Arg, ...] | Mapping[str, Arg] = ()
    symbols: Mapping[str, Array] = field(default_factory=dict)
    sections: tuple[DataSection, ...] = ()
    memory: tuple[PlacedMemory, ...] = ()
    expect: tuple[Expectation, ...] = ()

    @property
    def by_key(self) -> dict[int | str, Arg]:
        """The arguments by index or name, in order."""
        return dict(enumerate(self.args)) if isinstance(self.args, tuple) else dict(self.args.items())
