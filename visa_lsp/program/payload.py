"""The facts of a kernel's ze_info about its launch: arguments and their places, bindings, sizes.

Values only, named after the keys of ze_info (seed 002, and later keys of compilers). This module knows neither
YAML nor machines. Invariant: offsets of ``payload`` count from the first byte after ``%r0`` and the per-thread data.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

from msgspec import Struct, field

from visa_lsp.program.elements import cl_bytes, cl_element

_NAMED: Final = 40  # arguments that a message lists
KIND_WORDS: Final = {
    "value": "a value", "buffer": "a buffer", "local": "local", "image": "an image", "sampler": "a sampler",
}  # fmt: skip


class PayloadArgument(Struct, frozen=True):
    """An entry of ``payload_arguments`` or ``per_thread_payload_arguments``; absent words are empty, numbers -1."""

    arg_type: str
    offset: int
    size: int
    arg_index: int = -1
    addrmode: str = ""
    addrspace: str = ""
    access_type: str = ""
    sampler_index: int = -1
    source_offset: int = -1
    slm_alignment: int = 0
    image_type: str = ""
    sampler_type: str = ""
    bti_value: int = -1

    @property
    def kind(self) -> str:
        """The kind of the argument, a key of ``KIND_WORDS``; empty for entries without an argument."""
        if self.arg_type == "arg_byvalue":
            return "value"
        if self.arg_type.startswith(("image_", "flat_image_")):
            return "image"
        if self.arg_type.startswith("sampler_"):
            return "sampler"
        if self.arg_type not in ("arg_bypointer", "buffer_address"):
            return ""
        if self.arg_type == "arg_bypointer" and (self.addrmode == "slm" or self.addrspace == "local"):
            return "local"
        if self.addrspace == "image" or (self.arg_type == "arg_bypointer" and self.addrspace == "sampler"):
            return self.addrspace
        return "buffer"


class BindingTableEntry(Struct, frozen=True):
    """A binding table entry: argument ``arg_index`` is the surface with number ``bti_value``."""

    bti_value: int
    arg_index: int


class ThreadBuffer(Struct, frozen=True):
    """Memory that each thread (or, with ``is_simt_thread``, each lane) needs for itself."""

    type: str
    usage: str
    size: int
    slot: int = 0
    is_simt_thread: bool = False


class InlineSampler(Struct, frozen=True):
    """A sampler defined in the kernel's source."""

    sampler_index: int
    addrmode: str
    filtermode: str
    normalized: bool = False


class ArgumentInfo(Struct, frozen=True):
    """The facts of the source about an argument (``kernels_misc_info``)."""

    index: int
    name: str = ""
    type_name: str = ""
    address_qualifier: str = ""
    access_qualifier: str = ""
    type_qualifiers: str = ""


class ExecutionEnv(Struct, frozen=True):
    """The ``execution_env`` of a kernel, as far as a launch depends on it."""

    simd_size: int
    grf_count: int = 128
    slm_size: int = 0
    barrier_count: int = 0
    inline_data_payload_size: int = 0
    private_size: int = 0
    has_stack_calls: bool = False
    required_work_group_size: tuple[int, int, int] = (0, 0, 0)
    walk_order: tuple[int, int, int] = field(default=(0, 1, 2), name="work_group_walk_order_dimensions")


class LocalArray(Struct, frozen=True):
    """An array in shared local memory that a kernel declares; a variable has no shape.

    ``start`` and ``item_bytes``, of an element, are in bytes; ``element`` is its type in OpenCL.
    """

    name: str
    start: int
    shape: tuple[int, ...]
    item_bytes: int
    element: str

    @property
    def size(self) -> int:
        """The size in bytes."""
        return prod(self.shape) * self.item_bytes


class RecordField(Struct, frozen=True):
    """A field of a structure: its first byte, its type in OpenCL, and the elements of an array (0: none)."""

    name: str
    start: int
    type_name: str
    count: int = 0


class Record(Struct, frozen=True):
    """A structure that a source declares, of ``size`` bytes. Its fields are numbers, vectors and arrays of these."""

    name: str
    size: int
    fields: tuple[RecordField, ...]

    def field_at(self, byte: int, size: int) -> RecordField | None:
        """Return the number of so many bytes at a byte; None if there is none."""
        own = (one for one in self.fields if one.start == byte and not one.count)
        return next((one for one in own if cl_bytes(one.type_name) == size), None)


class KernelInfo(Struct, frozen=True):
    """The facts of ze_info about one kernel, with the local arrays of its source where that is known."""

    name: str
    env: ExecutionEnv
    payload: tuple[PayloadArgument, ...] = ()
    per_thread: tuple[PayloadArgument, ...] = ()
    bindings: tuple[BindingTableEntry, ...] = ()
    thread_buffers: tuple[ThreadBuffer, ...] = ()
    inline_samplers: tuple[InlineSampler, ...] = ()
    arguments: tuple[ArgumentInfo, ...] = ()
    local_arrays: tuple[LocalArray, ...] = ()
    records: tuple[Record, ...] = ()
    user_attributes: tuple[tuple[str, str], ...] = ()  # of the source: name, and values separated by commas

    @property
    def argument_count(self) -> int:
        """The number of arguments of the source: one more than the highest index."""
        seen = [a.arg_index for a in self.payload] + [a.index for a in self.arguments]
        return max(seen, default=-1) + 1

    def argument_name(self, index: int) -> str:
        """Return the source's name of an argument; empty if unknown."""
        return next((a.name for a in self.arguments if a.index == index), "")

    def local_array_at(self, byte: int) -> LocalArray | None:
        """Return the declared array at a byte of shared local memory; None if there is none, or it is unknown."""
        return next((array for array in self.local_arrays if array.start <= byte < array.start + array.size), None)

    def type_of(self, index: int) -> str:
        """Return the source's type of an argument, ``float4`` or ``int*``; empty if unknown."""
        return next((a.type_name.partition(";")[0] for a in self.arguments if a.index == index), "")

    def pointee_of(self, index: int) -> str:
        """Return the source's type of the elements of a buffer argument, ``float4``; empty if unknown."""
        return self.type_of(index).replace("*", "").strip()

    def record_of(self, index: int) -> Record | None:
        """Return the structure that the elements of a buffer argument are; None if they are none, or it is unknown."""
        return next((one for one in self.records if one.name == self.pointee_of(index)), None)

    def element_of(self, index: int) -> str:
        """Return the element type of an argument by value; empty if unknown, and for structs."""
        return next((cl_element(a.type_name) for a in self.arguments if a.index == index), "")

    def describe_argument(self, index: int) -> str:
        """Return words for an argument: number, name, and its type or expected kind."""
        entry = next((a for a in self.payload if a.arg_index == index), None)
        what = self.type_of(index) or KIND_WORDS["value" if entry is None else entry.kind or "buffer"]
        name = self.argument_name(index)
        return f"{index} {name}: {what}" if name else f"{index}: {what}"

    def describe_arguments(self, indexes: Sequence[int]) -> str:
        """Return words for arguments; if there are many, only for the first."""
        rest = f" and {len(indexes) - _NAMED} more" if len(indexes) > _NAMED else ""
        return ", ".join(self.describe_argument(index) for index in indexes[:_NAMED]) + rest

    def value_size(self, entry: PayloadArgument) -> tuple[int, bool]:
        """Return the bytes of an argument by value that entries take, and whether padding may follow them, as in a struct."""
        ends = [
            a.source_offset + a.size
            for a in self.payload
            if a.arg_type == "arg_byvalue" and a.arg_index == entry.arg_index and a.source_offset >= 0
        ]
        whole = max(ends, default=entry.size)
        size_text = next((a.type_name.rpartition(";")[2] for a in self.arguments if a.index == entry.arg_index), "")
        declared = int(size_text) if size_text.isdecimal() and len(size_text) < 10 else 0
        # The last byte of a struct may occupy a dword of the payload.
        size = min(whole, declared) if ends and declared else whole
        return size, len(ends) > 1 or (declared > whole and not self.element_of(entry.arg_index))
