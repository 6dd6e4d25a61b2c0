"""The encoding of arguments into the payload by ze_info: one function for each ``arg_type``.

Knows ze_info's words; ``layout`` knows the places of bytes, ``world`` the memory. Invariant: every entry of
``payload_arguments`` is written, or the launch is refused with a message.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

import numpy as np

from visa_lsp.program.elements import cl_element, element_bytes
from visa_lsp.sim.launch.config import (
    ARGUMENTS,
    LOCAL_SIZE,
    Arg,
    BufferArg,
    ImageArg,
    LaunchConfig,
    LaunchError,
    LocalArg,
    NullArg,
    SamplerArg,
    ValueArg,
)
from visa_lsp.sim.launch.value_bytes import value_bytes
from visa_lsp.sim.launch.world import World, argument_sampler, inline_sampler
from visa_lsp.sim.memory import Buffer
from visa_lsp.sim.registers import SCRATCH_HANDLE

if TYPE_CHECKING:
    from collections.abc import Callable

    from visa_lsp.isa.platforms import Platform
    from visa_lsp.program.payload import KernelInfo, PayloadArgument
    from visa_lsp.sim.launch.layout import Geometry

PRINTF_BYTES: Final = 4 << 20
CONCURRENT_GROUPS: Final = 64  # groups at once; an engine that runs more must assign the numbers of threads differently
MAX_ARGUMENTS: Final = 4096  # because a payload has room for some hundreds
_INDIRECT_BYTES: Final = 64  # one cache line, if the whole payload is inline
# Size, version, dimensions, lanes; local and global size; printf; first id; table of local ids; groups, padding; two unused.
_IMPLICIT_BLOCK: Final = "<4B3I3QQ3QQ3I4xQQ"
_PRINTF_FIRST: Final = 4  # the first dword counts the bytes in use, itself included
# cl_channel_order and cl_channel_type of OpenCL's headers.
_CHANNEL_ORDER: Final = {1: 0x10B0, 2: 0x10B2, 4: 0x10B5, "bgra": 0x10B6}
_CHANNEL_TYPE: Final = {
    "snorm8": 0x10D0,
    "snorm16": 0x10D1,
    "unorm8": 0x10D2,
    "unorm16": 0x10D3,
    "sint8": 0x10D7,
    "sint16": 0x10D8,
    "sint32": 0x10D9,
    "uint8": 0x10DA,
    "uint16": 0x10DB,
    "uint32": 0x10DC,
    "float16": 0x10DD,
    "float32": 0x10DE,
}
_KINDS: Final = {
    BufferArg: "a buffer",
    NullArg: "a null buffer",
    ValueArg: "a value",
    LocalArg: "shared local memory",
    ImageArg: "an image",
    SamplerArg: "a sampler",
}


class Arguments:
    """The arguments of one launch, written entry by entry."""

    def __init__(
        self, info: KernelInfo, config: LaunchConfig, geometry: Geometry, world: World, platform: Platform
    ) -> None:
        self.info = info
        self.platform = platform
        self.config = config
        self.geometry = geometry
        self.world = world
        self.printf: Buffer | None = None
        self.indirect: Buffer | None = None  # the memory of the payload after its inline part
        self._args = self._by_index()

    def bind(self) -> None:
        """Fill the binding table and the table of samplers."""
        images = {a.arg_index: a.image_type for a in self.info.payload if a.image_type}
        for binding in self.info.bindings:
            arg = self._arg(binding.arg_index)
            if isinstance(arg, BufferArg | ImageArg):
                surface = self.world.buffer(
                    self.key(binding.arg_index),
                    arg,
                    images.get(binding.arg_index, ""),
                    self._access(binding.arg_index),
                )
                self.world.surfaces[binding.bti_value] = surface.whole if self.offset(binding.arg_index) else surface
        for sampler in self.info.inline_samplers:
            self.world.samplers[sampler.sampler_index] = inline_sampler(sampler)

    def encode(self, entry: PayloadArgument) -> bytes:
        """Return the bytes of one entry of the payload; at most ``entry.size``.

        Raises LaunchError if a launch has no value for entries of its type, or the argument does not fit it.
        """
        make = _IMPLICIT.get(entry.arg_type)
        if make is not None:
            return make(self, entry)[: entry.size]
        raise LaunchError(
            f"kernel '{self.info.name}' takes a payload argument of type '{entry.arg_type}', which launches do not support"
        )

    def _by_index(self) -> tuple[Arg, ...]:
        count = self.info.argument_count
        if count > MAX_ARGUMENTS:
            raise LaunchError(
                f"the ze_info of '{self.info.name}' has {count} arguments; at most {MAX_ARGUMENTS} are allowed"
            )
        args = self.config.args
        if isinstance(args, tuple):
            given = args
        else:
            names = {self.info.argument_name(index): index for index in range(count)}
            for name in args:
                if name not in names:
                    known = ", ".join(n for n in names if n) or "not named in the ze_info; give them as a list"
                    raise LaunchError(
                        f"kernel '{self.info.name}' has no argument '{name}'; its arguments are {known}", name
                    )
            missing = [name for name in names if name not in args]
            if missing:
                which = "argument" if len(missing) == 1 else "arguments"
                raise LaunchError(
                    f"kernel '{self.info.name}' lacks {which} {self.info.describe_arguments([names[n] for n in missing])}",
                    ARGUMENTS,
                )
            given = tuple(args[self.info.argument_name(index)] for index in range(count))
        if len(given) != count:
            expected = f"; expected: {self.info.describe_arguments(range(count))}" if count else ""
            raise LaunchError(
                f"kernel '{self.info.name}' takes {count} arguments, got {len(given)}{expected}", ARGUMENTS
            )
        return given

    def key(self, index: int) -> int | str:
        """Return the key of an argument in the launch: its index, or its name if the launch has a mapping."""
        return index if isinstance(self.config.args, tuple) else self.info.argument_name(index)

    def _arg(self, index: int) -> Arg:
        if not 0 <= index < len(self._args):
            raise LaunchError(f"the ze_info of '{self.info.name}' refers to argument {index}, which does not exist")
        return self._args[index]

    def wrong(self, entry: PayloadArgument, wanted: str) -> LaunchError:
        """Return the LaunchError for an argument of the wrong kind."""
        name = self.info.argument_name(entry.arg_index)
        given = _KINDS[type(self._arg(entry.arg_index))]
        return LaunchError(
            f"argument {entry.arg_index}{f' ({name})' if name else ''} is {wanted}; got {given}",
            self.key(entry.arg_index),
        )

    def offset(self, index: int) -> int:
        """Return the distance of a pointer from the start of its surface, which is all memory of its allocation.

        0 for a kernel that does not add it, and for other arguments: their surface begins where they point.
        """
        arg = self._arg(index)
        if not isinstance(arg, BufferArg) or not any(one.array is arg.whole for one in self.config.memory):
            return 0
        assert arg.whole is not None
        takes = any(p.arg_type == "buffer_offset" and p.arg_index == index for p in self.info.payload)
        return arg.array.ctypes.data - arg.whole.ctypes.data if takes else 0

    def by_value(self, entry: PayloadArgument) -> bytes:
        """Return the bytes of an argument by value, or of its part in the entry.

        Raises LaunchError if the argument is a buffer, image or sampler, or a value of another size.
        """
        arg = self._arg(entry.arg_index)
        if not isinstance(arg, ValueArg):
            raise self.wrong(entry, "passed by value")
        whole, is_padded = self.info.value_size(entry)
        natural = self.info.element_of(entry.arg_index)
        if is_padded and arg.typed and arg.array.nbytes >= whole:
            data = arg.array.tobytes()  # a struct with only padding at its end
        else:
            data = value_bytes(arg, whole, natural, self.key(entry.arg_index))
        start = max(0, entry.source_offset)
        return data[start : start + entry.size]

    def by_pointer(self, entry: PayloadArgument) -> bytes:
        """Return the address, offset or handle of an argument by pointer, as ``entry.size`` bytes.

        Empty if the binding table has it. Raises LaunchError if the argument is of another kind.
        """
        arg = self._arg(entry.arg_index)
        key = self.key(entry.arg_index)
        if entry.addrmode == "slm" or entry.addrspace == "local":
            if not isinstance(arg, LocalArg):
                raise self.wrong(entry, "shared local memory (local: BYTES)")
            element = cl_element(self.info.type_of(entry.arg_index).replace("*", "") + ";4")
            item_bytes = element_bytes(element) if element else 0
            return _number(self.world.local(key, arg, entry.slm_alignment or 16, item_bytes), entry.size)
        if entry.addrspace == "sampler":
            if not isinstance(arg, SamplerArg):
                raise self.wrong(entry, "a sampler")
            state = argument_sampler(arg)
            if entry.addrmode == "bindless":
                return _number(self.world.sampler_handle(state), entry.size)
            self.world.samplers[max(0, entry.sampler_index)] = state
            return _number(max(0, entry.sampler_index), entry.size)
        surface = self._surface(entry)
        if entry.addrmode == "stateful" or surface is None:
            return b"" if surface is not None else bytes(entry.size)
        if entry.addrmode == "bindless":
            return _number(self.world.surface_handle(surface), entry.size)
        return _number(surface.address, entry.size)

    def address(self, entry: PayloadArgument) -> bytes:
        """Return the address of a buffer as 8 bytes; zero for none.

        Raises LaunchError if the argument is not a buffer.
        """
        surface = self._surface(entry)
        return _number(surface.address if surface is not None else 0, 8)

    def _access(self, index: int) -> str:
        """Return the access of a kernel to an argument by ze_info; empty if it has none."""
        return next((a.access_type for a in self.info.payload if a.arg_index == index and a.access_type), "")

    def _surface(self, entry: PayloadArgument) -> Buffer | None:
        """Return the buffer or image of an entry; None for a null buffer."""
        arg = self._arg(entry.arg_index)
        image = entry.addrspace == "image" or entry.arg_type.startswith(("image_", "flat_image_"))
        if isinstance(arg, NullArg) and not image:
            return None
        if not isinstance(arg, ImageArg if image else BufferArg):
            raise self.wrong(entry, "an image" if image else "a buffer")
        return self.world.buffer(self.key(entry.arg_index), arg, entry.image_type, self._access(entry.arg_index))

    def image(self, entry: PayloadArgument) -> ImageArg:
        """Return the image of an entry for its shape. Raises LaunchError if the argument is not an image."""
        arg = self._arg(entry.arg_index)
        if not isinstance(arg, ImageArg):
            raise self.wrong(entry, "an image")
        return arg

    def sampler(self, entry: PayloadArgument) -> SamplerArg:
        """Return the sampler of an entry for its state. Raises LaunchError if the argument is not a sampler."""
        arg = self._arg(entry.arg_index)
        if not isinstance(arg, SamplerArg):
            raise self.wrong(entry, "a sampler")
        return arg

    def private_base(self, entry: PayloadArgument) -> bytes:
        """Reserve private memory for every thread, or for every lane of it, and return its address.

        Raises LaunchError if a group has more threads than the platform has numbers for, or the memory is larger
        than a buffer may be.
        """
        # Kernels find their part by the thread's number, which is unique only among threads that run at the same time.
        groups = self.geometry.groups[0] * self.geometry.groups[1] * self.geometry.groups[2]
        numbers, threads = self.platform.thread_number, self.geometry.threads
        slots = numbers.slot(threads - 1) + 1
        each = sum(
            b.size * (self.geometry.simd if b.is_simt_thread else 1)
            for b in self.info.thread_buffers
            if b.type == "global" and b.usage == "private_space"
        )
        # A kernel with its private data in scratch space still has the argument, but does not use it.
        if not each:
            return _number(0, entry.size)
        if slots > numbers.codes:
            raise LaunchError(
                f"a group of {threads} threads needs more thread numbers than {self.platform.name} has; kernel '{self.info.name}' "
                "addresses its private memory by thread number: make the group smaller",
                LOCAL_SIZE,
            )
        size = each * slots * min(groups, CONCURRENT_GROUPS)
        return _number(self.world.scratch_space("private memory", size, private=True).address, entry.size)

    def printf_address(self) -> int:
        """Return the address of the printf buffer; the first call reserves it."""
        if self.printf is None:
            self.printf = self.world.scratch_space("printf buffer", PRINTF_BYTES)
            self.printf.data[:4] = list(struct.pack("<I", _PRINTF_FIRST))
        return self.printf.address

    def buffer_bytes(self, entry: PayloadArgument) -> int:
        """Return the size of a buffer in bytes; zero for none. Raises LaunchError if the argument is not a buffer."""
        surface = self._surface(entry)
        return surface.size if surface is not None else 0

    def implicit_buffer(self, entry: PayloadArgument) -> bytes:
        """Place the block of implicit arguments that functions read, and return its address.

        The table of local ids that it points to has three padded rows for each thread of a full group.
        """
        geometry = self.geometry
        rows = np.zeros((geometry.threads, 3, geometry.id_stride // 2), np.uint16)
        rows[:, :, : geometry.simd] = geometry.local_ids()
        ids = self.world.memory.add(Buffer("table of local ids", rows))
        block = struct.pack(
            _IMPLICIT_BLOCK, struct.calcsize(_IMPLICIT_BLOCK), 0, geometry.dimensions, geometry.simd,
            *geometry.local_size, *geometry.totals, self.printf_address(), *geometry.global_offset, ids.address,
            *geometry.groups, 0, 0,
        )  # fmt: skip
        buffer = self.world.scratch_space("implicit arguments", len(block))
        buffer.data[:] = np.frombuffer(block, np.uint8)
        return _number(buffer.address, entry.size)

    def indirect_data(self, entry: PayloadArgument) -> bytes:
        """Reserve memory for the payload after its inline part, and return its address."""
        end = max(argument.offset + argument.size for argument in self.info.payload)
        self.indirect = self.world.scratch_space(
            "indirect data", max(_INDIRECT_BYTES, end - self.info.env.inline_data_payload_size)
        )
        return _number(self.indirect.address, entry.size)

    def base(self, entry: PayloadArgument) -> bytes:
        """Return the address of the program's constant or global data, or the handle of its surface.

        Raises LaunchError if the launch has no such data.
        """
        address = self.world.symbols.get(entry.arg_type)
        if address is None:
            raise LaunchError(
                f"kernel '{self.info.name}' needs the program's data, {entry.arg_type}; "
                f"give it under symbols: {{{entry.arg_type}: {{dtype: uint8, npy: FILE}}}}"
            )
        found = self.world.memory.find(address)
        if found is not None and entry.bti_value >= 0:
            self.world.surfaces[entry.bti_value] = found[0]
        if found is not None and entry.addrmode == "bindless":
            return _number(self.world.surface_handle(found[0]), entry.size)
        return _number(address, entry.size)

    def inline_sampler_handle(self, entry: PayloadArgument) -> bytes:
        """Return the bindless handle of a sampler defined in the source.

        Raises LaunchError if the ze_info does not describe the sampler.
        """
        state = next((s for s in self.info.inline_samplers if s.sampler_index == entry.sampler_index), None)
        if state is None:
            raise LaunchError(f"the ze_info of '{self.info.name}' has no inline sampler {entry.sampler_index}")
        return _number(self.world.sampler_handle(inline_sampler(state)), entry.size)


def _number(value: int, size: int) -> bytes:
    return (value & ((1 << 64) - 1)).to_bytes(8, "little")[: size or 8]


def _three(values: tuple[int, ...]) -> bytes:
    return struct.pack("<3I", *(value & 0xFFFFFFFF for value in values))


def _layers(a: Arguments, entry: PayloadArgument) -> int:
    lines = any(p.image_type == "image_1d_array" and p.arg_index == entry.arg_index for p in a.info.payload)
    return a.image(entry).dims[1 if lines else 2]


def _snap(a: Arguments, entry: PayloadArgument) -> bytes:
    state = a.sampler(entry)
    return _number(0xFFFFFFFF if (state.address, state.filter) == ("clamp", "nearest") else 0, 4)


# CLK_ADDRESS_NONE and its likes of OpenCL C, which kernels compare with; not CL_ADDRESS_NONE of the host.
_ADDRESS_CODE: Final = {
    "none": 0,
    "clamp_to_edge": 2,
    "clamp": 4,
    "repeat": 6,
    "mirrored_repeat": 8,
}
_IMPLICIT: Final[dict[str, Callable[[Arguments, PayloadArgument], bytes]]] = {
    "arg_byvalue": Arguments.by_value,
    "arg_bypointer": Arguments.by_pointer,
    "buffer_address": Arguments.address,
    "buffer_offset": lambda a, e: _number(a.offset(e.arg_index), 4),
    "global_id_offset": lambda a, _: _three(a.geometry.global_offset),
    "local_size": lambda a, _: _three(a.geometry.local_size),
    "enqueued_local_size": lambda a, _: _three(a.geometry.enqueued or a.geometry.local_size),
    "group_count": lambda a, _: _three(a.geometry.groups),
    "global_size": lambda a, _: _three(a.geometry.totals),
    "work_dimensions": lambda a, _: _number(a.geometry.dimensions, 4),
    "private_base_stateless": Arguments.private_base,
    "printf_buffer": lambda a, e: _number(a.printf_address(), e.size),
    "buffer_size": lambda a, e: _number(a.buffer_bytes(e), e.size),
    "implicit_arg_buffer": Arguments.implicit_buffer,
    "indirect_data_pointer": Arguments.indirect_data,
    "scratch_pointer": lambda _a, e: _number(SCRATCH_HANDLE, e.size),
    "const_base": Arguments.base,
    "global_base": Arguments.base,
    "inline_sampler": Arguments.inline_sampler_handle,
    "image_width": lambda a, e: _number(a.image(e).dims[0], 4),
    "image_height": lambda a, e: _number(a.image(e).dims[1], 4),
    "image_depth": lambda a, e: _number(a.image(e).dims[2], 4),
    "image_array_size": lambda a, e: _number(_layers(a, e), 4),
    "image_channel_order": lambda a, e: _number(_CHANNEL_ORDER[a.image(e).order or a.image(e).channels], 4),
    "image_channel_data_type": lambda a, e: _number(_CHANNEL_TYPE[a.image(e).format], 4),
    "image_num_mip_levels": lambda _a, _e: bytes(4),
    "image_num_samples": lambda _a, _e: bytes(4),
    "image_srgb_channel_order": lambda _a, _e: bytes(4),
    "sampler_snap_wa": _snap,
    "sampler_address": lambda a, e: _number(_ADDRESS_CODE[a.sampler(e).address], 4),
    "sampler_normalized": lambda a, e: _number(int(a.sampler(e).normalized), 4),
}
