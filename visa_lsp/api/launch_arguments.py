"""Converts Python arguments of a launch: arrays become buffers, numbers values, and None a null buffer.

Knows NumPy and launches, not kernels. Invariant: the kernel works on the caller's array itself if that is contiguous and in
the byte order of the machine; otherwise on a copy, which ``give_back`` writes back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from visa_lsp.api.context import Allocation, PlacedAllocations, Pointer
from visa_lsp.launchfile.arrays import image_dimensions
from visa_lsp.launchfile.tables import TEXELS, words_of
from visa_lsp.program.elements import DTYPES, MAX_SHARED_BYTES
from visa_lsp.sim.launch.config import (
    Arg,
    Array,
    BufferArg,
    ImageArg,
    LaunchError,
    LocalArg,
    NullArg,
    SamplerArg,
    ValueArg,
)

if TYPE_CHECKING:
    ArgumentsByIndexOrName = tuple[Arg, ...] | Mapping[str, Arg]

_ALIGNMENT: Final = 16  # bytes, as any allocator aligns
_ACCESSES: Final = ("", *words_of("Buffer", "access"))


@dataclass(frozen=True, slots=True, eq=False)
class ImageArgument:
    """An image: the axes of the array are (depth or layer), (height), width and, if there are several, channel.

    ``format`` is the texel format, such as ``unorm8`` or ``uint8`` for bytes; the default is the first for the array's type.
    ``channels``: 1, 2 or 4; 0 uses a last axis of 2 or 4.
    """

    array: Array
    format: str = ""
    channels: int = 0
    undefined: bool = False
    access: str = ""


# Their public names.
Buffer, Image, Local, Sampler, Value = BufferArg, ImageArgument, LocalArg, SamplerArg, ValueArg


class PassedArguments:
    """The arguments of one launch: ``args`` for its configuration, ``arrays`` of the caller by index or name."""

    def __init__(self, given: Sequence[Any] | Mapping[Any, Any], placed: PlacedAllocations | None = None) -> None:
        self._placed = placed
        self.arrays: dict[int | str, Array] = {}
        self._work: dict[int, Array] = {}  # the memory of the run, by identity of the caller's array
        self._copies: list[tuple[Array, Array]] = []
        self.args: tuple[Arg, ...] | dict[Any, Arg]
        if isinstance(given, Mapping):
            self.args = {key: self._arg(key, value) for key, value in given.items()}
        elif isinstance(given, Sequence) and not isinstance(given, str | bytes):
            self.args = tuple(self._arg(key, value) for key, value in enumerate(given))
        else:
            raise TypeError(f"expected args as a list or a dict, got {type(given).__name__}")

    def give_back(self) -> None:
        """Copy the results back into arrays that the run could not use directly."""
        for original, copy in self._copies:
            original[...] = copy

    def _arg(self, key: int | str, value: object) -> Arg:
        match value:
            case None | NullArg():
                return NullArg()
            case Allocation() | Pointer():
                if self._placed is None:
                    raise LaunchError(f"argument {key}: a pointer needs the context that it belongs to", key)
                return self._placed.argument(key, value.address if isinstance(value, Allocation) else value)
            case BufferArg():
                return self._buffer(key, value)
            case ImageArgument():
                return self._image(key, value)
            case ValueArg():
                return replace(value, array=_plain(key, np.array(value.array, order="C")))
            case LocalArg():
                _check_local(key, value)
                return value
            case SamplerArg():
                _check_sampler(key, value)
                return value
            case np.ndarray() if value.ndim:
                return self._buffer(key, BufferArg(value))
            case np.ndarray() | np.generic():
                return ValueArg(_plain(key, np.array(value)))
            case bool() | int() | float() | list() | tuple():
                return ValueArg(_numbers(key, value), typed=False)
        raise LaunchError(
            f"argument {key}: expected a NumPy array, a number or a list of numbers, None, or one of visa_lsp.Buffer, Value, "
            f"Local, Image and Sampler, or an allocation; got {type(value).__name__}",
            key,
        )

    def _buffer(self, key: int | str, arg: BufferArg) -> BufferArg:
        return BufferArg(
            self._memory(key, arg.array), arg.undefined, _access(key, arg.access, arg.array), in_place=True
        )

    def _image(self, key: int | str, arg: ImageArgument) -> ImageArg:
        work = self._memory(key, arg.array)
        formats = TEXELS.get(arg.array.dtype.name)
        if formats is None:
            raise LaunchError(
                f"argument {key}: an image cannot hold {arg.array.dtype.name}; known types: {', '.join(TEXELS)}", key
            )
        if arg.format and arg.format not in formats:
            words = " or ".join(formats)
            raise LaunchError(f"argument {key}: texels of {arg.array.dtype.name} are {words}, not '{arg.format}'", key)
        channels, dims = image_dimensions(arg.array.shape, arg.channels)
        if isinstance(dims, str):
            raise LaunchError(f"argument {key}: {dims}", key)
        access = _access(key, arg.access, arg.array)
        return ImageArg(work, arg.format or formats[0], channels, dims, arg.undefined, access, in_place=True)

    def _memory(self, key: int | str, array: Array) -> Array:
        """Return the memory of an array for the run; an array that is passed twice has one memory."""
        if not isinstance(array, np.ndarray):
            raise LaunchError(f"argument {key}: expected a NumPy array, got {type(array).__name__}", key)
        self.arrays[key] = array
        if id(array) not in self._work:
            self._refuse_overlap(key, array)
            self._work[id(array)] = _plain(key, self._own(key, array))
        return self._work[id(array)]

    def _refuse_overlap(self, key: int | str, array: Array) -> None:
        """Raise LaunchError if an array shares memory with another one, because the results of one would replace the other's."""
        for other_key, other in self.arrays.items():
            if (
                other is not array
                and (array.flags.writeable or other.flags.writeable)
                and np.shares_memory(array, other)
            ):
                words = "overlap in memory; pass a copy of one, or one array for both"
                raise LaunchError(f"arguments {other_key} and {key}: the arrays {words}", key)

    def _own(self, key: int | str, array: Array) -> Array:
        if array.dtype.hasobject or not array.dtype.itemsize:
            raise LaunchError(f"argument {key}: unsupported element type {array.dtype}", key)
        flags = array.flags
        if flags.c_contiguous and flags.writeable and array.dtype.isnative and array.ctypes.data % _ALIGNMENT == 0:
            return array.view(np.ndarray)
        copy = np.array(array, array.dtype.newbyteorder("="), order="C")
        if flags.writeable:
            self._copies.append((array, copy))
        return copy


def in_place_of(
    arguments: ArgumentsByIndexOrName, given: tuple[Arg, ...] | Mapping[Any, Arg]
) -> ArgumentsByIndexOrName:
    """Return the arguments of a launch file with some or all replaced by the given ones.

    Raises LaunchError for a name or index that no argument can have.
    """
    if isinstance(given, tuple):
        return given
    if not arguments or not isinstance(arguments, tuple):
        wrong = next((key for key in given if not isinstance(key, str)), None)
        if wrong is not None:
            raise LaunchError(f"expected the names of arguments, got {wrong!r}; or pass all arguments as a list", wrong)
        named = {} if isinstance(arguments, tuple) else arguments
        return {**named, **{str(key): arg for key, arg in given.items()}}
    changed = list(arguments)
    for key, arg in given.items():
        if not isinstance(key, int) or not 0 <= key < len(changed):
            raise LaunchError(
                f"unknown argument {key!r:.40}; the launch file has arguments 0 to {len(changed) - 1}", key
            )
        changed[key] = arg
    return tuple(changed)


def _plain(key: int | str, array: Array) -> Array:
    """Return the same memory with an element type that a launch supports; other types become bytes."""
    if array.dtype.name in DTYPES:
        return array
    if array.dtype.hasobject or not array.dtype.itemsize:
        raise LaunchError(f"argument {key}: unsupported type {array.dtype}", key)
    return array.reshape(-1).view(np.uint8)


def _numbers(key: int | str, value: object) -> Array:
    """Return Python numbers as an array of a type that holds them."""
    try:
        array = np.array(value)
    except (ValueError, OverflowError):
        array = np.zeros(0)
    if array.dtype.kind == "b":
        array = array.astype(np.uint8)
    if array.dtype.name not in DTYPES or array.ndim > 1 or not array.size:
        raise LaunchError(f"argument {key}: expected a number or a list of numbers of at most 64 bits", key)
    return array


def _access(key: int | str, access: str, array: Array) -> str:
    """Return the access of a buffer: ``readonly`` for an array that is not writable."""
    if access not in _ACCESSES:
        raise LaunchError(f"argument {key}: unknown access '{access}'; known: {', '.join(_ACCESSES[1:])}", key)
    return access or ("" if array.flags.writeable else "readonly")


def _check_local(key: int | str, arg: LocalArg) -> None:
    if not isinstance(arg.size, int) or not 1 <= arg.size <= MAX_SHARED_BYTES:
        raise LaunchError(
            f"argument {key}: expected 1 to {MAX_SHARED_BYTES} bytes of shared local memory, got {arg.size!r:.40}", key
        )


def _check_sampler(key: int | str, arg: SamplerArg) -> None:
    for what, word in (("address", arg.address), ("filter", arg.filter)):
        words = words_of("Sampler", what)
        if word not in words:
            raise LaunchError(
                f"argument {key}: unknown {what} of a sampler '{word!s:.40}'; known: {', '.join(words)}", key
            )
