"""The memory of one launch: buffers, images, samplers, SLM and symbols, each argument placed once.

Knows memory, not payloads. Invariant: arrays of the configuration are copied, so that a configuration can run again.
Arrays ``in_place`` are not copied; the same array given twice is then one buffer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from visa_lsp.program.elements import MAX_BUFFER_BYTES
from visa_lsp.program.payload_layout import up
from visa_lsp.sim.launch.config import (
    Array,
    BufferArg,
    DataSection,
    ImageArg,
    LaunchError,
    LocalArg,
    PlacedMemory,
    SamplerArg,
)
from visa_lsp.sim.memory import Buffer, Image, Memory, NamedPart, Sampler, copy_aligned
from visa_lsp.sim.registers import FIRST_HANDLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from visa_lsp.program.payload import InlineSampler, LocalArray

_HANDLE_STEP: Final = 64
_SAMPLER_ADDRESSES: Final = {
    "clamp_edge": "clamp_to_edge",
    "clamp_border": "clamp",
    "mirror": "mirrored_repeat",
    "repeat": "repeat",
    "none": "none",
}
_DIMS: Final = {
    "image_buffer": 1,
    "image_1d": 1,
    "image_1d_array": 2,
    "image_2d": 2,
    "image_2d_media": 2,
    "image_2d_array": 3,
    "image_3d": 3,
}


class World:
    """The state that the threads of one launch share. ``name_of`` returns the source's name of an argument, or an empty one."""

    def __init__(self, slm_bytes: int = 0, name_of: Callable[[int], str] = lambda _: "") -> None:
        self.memory = Memory()
        self._name_of = name_of
        self.surfaces: dict[int, Buffer] = {}
        self.samplers: dict[int, Sampler] = {}
        self.symbols: dict[str, int] = {}
        self.arrays: dict[int | str, Array] = {}  # argument -> its live contents
        self.buffers: dict[int | str, Buffer] = {}  # argument -> the memory that holds them
        self.slm_bytes = self._static_slm_bytes = slm_bytes
        self._in_place: dict[int, Buffer] = {}  # by identity of their array
        self._locals: dict[int | str, int] = {}
        self.shared_parts: list[NamedPart] = []
        self._handles = FIRST_HANDLE

    def buffer(self, key: int | str, arg: BufferArg | ImageArg, image_type: str = "", access: str = "") -> Buffer:
        """Return the buffer or image of an argument, placed by the first call. ``access`` is that of ze_info."""
        if key not in self.buffers and arg.in_place and id(arg.array) in self._in_place:
            self.arrays[key] = arg.array
            self.buffers[key] = self._in_place[id(arg.array)]
        if key not in self.buffers:
            name = self._describe(key)
            if isinstance(arg, BufferArg) and arg.whole is not None:
                self.arrays[key], self.buffers[key] = self._part(name, arg.array, arg.whole)
                return self.buffers[key]
            array = arg.array if arg.in_place else copy_aligned(arg.array)
            if isinstance(arg, ImageArg):
                buffer: Buffer = _image(name, arg, array, image_type)
            else:
                buffer = Buffer(name, array)
            buffer.undefined, buffer.access = arg.undefined, arg.access or access
            buffer.defined = arg.defined if isinstance(arg, BufferArg) else None
            self.arrays[key] = array
            self.buffers[key] = self.memory.add(buffer)
            if arg.in_place and isinstance(arg, BufferArg):
                self._in_place[id(array)] = buffer
        return self.buffers[key]

    def _describe(self, key: int | str) -> str:
        """Return words for an argument: its name if it has one."""
        known = self._name_of(key) if isinstance(key, int) else ""
        return f"`{known or key}`" if known or isinstance(key, str) else f"argument {key}"

    def _part(self, name: str, array: Array, whole: Array) -> tuple[Array, Buffer]:
        """Return the array and buffer of a part of a buffer, which is placed by the first of its parts."""
        around = self._in_place.get(id(whole))
        if around is None:
            around = self._in_place[id(whole)] = self.memory.add(Buffer(name, whole))
        elif not around.name.startswith("`"):
            around.name = f"{name}, {around.name}"
        start = array.ctypes.data - whole.ctypes.data
        own = around.data[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
        part = Buffer(name, own, around.address + start)
        part.whole = around
        return own, part

    def add_memory(self, placed: tuple[PlacedMemory, ...]) -> None:
        """Place memory at its own addresses."""
        for one in placed:
            array = one.array if one.in_place else copy_aligned(one.array)
            buffer = self._in_place[id(one.array)] = self.memory.add(Buffer(one.name, array, one.address))
            buffer.undefined, buffer.access, buffer.defined = one.undefined, one.access, one.defined

    def add_local_arrays(self, arrays: Iterable[LocalArray]) -> None:
        """Name the arrays in shared local memory that the kernel itself declares."""
        self.shared_parts += [NamedPart(f"`{a.name}`", a.start, a.size, a.item_bytes, a.shape) for a in arrays]

    def local(self, key: int | str, arg: LocalArg, alignment: int, item_bytes: int = 0) -> int:
        """Return the value of an argument in shared local memory, reserved by the first call.

        ``item_bytes`` is the size of its elements, 0 if that is unknown. The arguments begin at 0, because the kernel itself adds the size of its own arrays.
        """
        if key not in self._locals:
            self._locals[key] = up(self.slm_bytes - self._static_slm_bytes, max(1, alignment))
            start = self._static_slm_bytes + self._locals[key]
            self.slm_bytes = start + arg.size
            self.shared_parts.append(NamedPart(self._describe(key), start, arg.size, item_bytes))
        return self._locals[key]

    def scratch_space(self, name: str, size: int, *, private: bool = False) -> Buffer:
        """Place ``size`` bytes of additional memory: private data, a printf buffer.

        Raises LaunchError if they are more than ``MAX_BUFFER_BYTES``.
        """
        if size > MAX_BUFFER_BYTES:
            raise LaunchError(
                f"{name} needs {size} bytes; at most {MAX_BUFFER_BYTES} (1 GiB) are allowed: launch fewer groups"
            )
        buffer = self.memory.allocate(name, size)
        buffer.private = private
        return buffer

    def surface_handle(self, buffer: Buffer) -> int:
        """Return a bindless handle for a surface."""
        self._handles += _HANDLE_STEP
        self.surfaces[self._handles] = buffer
        return self._handles

    def sampler_handle(self, sampler: Sampler) -> int:
        """Return a bindless handle for a sampler."""
        self._handles += _HANDLE_STEP
        self.samplers[self._handles] = sampler
        return self._handles

    def add_symbols(self, symbols: Mapping[str, Array]) -> None:
        """Place the data of symbols."""
        for name, array in symbols.items():
            self.symbols[name] = self.memory.add(Buffer(name, array.copy())).address

    def add_sections(self, sections: tuple[DataSection, ...]) -> list[tuple[DataSection, Buffer]]:
        """Place the program's data, then apply its relocations; return the sections with data, each with its memory.

        Raises LaunchError if a relocation names no known symbol, or lies outside of its section.
        """
        contents = ((s, bytearray(s.data) if s.array is None else s.array) for s in sections if s.data)
        placed = [(s, self.memory.add(Buffer(s.name, data, s.address))) for s, data in contents]
        for section, buffer in placed:
            self.symbols.update({name: buffer.address + at for name, at in section.symbols.items()})
            if section.base:
                self.symbols[section.base] = buffer.address
        for section, buffer in placed:
            for at, name, size in section.pointers:
                address = self.symbols.get(name)
                if address is None or not 0 <= at <= buffer.size - size:
                    raise LaunchError(
                        f"{section.name} has a relocation at byte {at} to '{name}' that cannot be applied"
                    )
                raw = buffer.data[at : at + size]
                moved = int.from_bytes(raw.tobytes(), "little") + address
                raw[:] = list((moved & (1 << 8 * size) - 1).to_bytes(size, "little"))
        return placed


def kept_sections(sections: tuple[DataSection, ...]) -> tuple[DataSection, ...]:
    """Return sections that keep their contents from launch to launch, with their relocations applied. Raises as ``add_sections``."""
    placed = World().add_sections(sections)
    return tuple(replace(s, pointers=(), array=buffer.data, address=buffer.address) for s, buffer in placed)


def inline_sampler(sampler: InlineSampler) -> Sampler:
    """Return the state of a sampler defined in the source."""
    address = _SAMPLER_ADDRESSES.get(sampler.addrmode, sampler.addrmode)
    return Sampler(address, sampler.filtermode, sampler.normalized)


def argument_sampler(arg: SamplerArg) -> Sampler:
    """Return the state of a sampler argument."""
    return Sampler(arg.address, arg.filter, arg.normalized)


def _image(name: str, arg: ImageArg, array: Array, image_type: str) -> Image:
    width, height, depth = arg.dims
    if image_type == "image_1d_array":
        height, depth = 1, max(height, depth)
    axes = 3 if depth > 1 else 2 if height > 1 else 1
    return Image(
        name,
        array,
        width=width,
        height=height,
        depth=depth,
        channels=arg.channels,
        format=arg.format,
        dims=_DIMS.get(image_type, axes),
        layered=image_type.endswith("array") if image_type else None,
    )
