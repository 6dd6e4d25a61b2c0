"""What a kernel's ze_info says about its launch: arguments and where they lie, bindings, sizes.

Values only, named after the keys of ze_info (seed 002, and keys that compilers write since). This module knows neither
YAML nor machines. Invariant: offsets of ``payload`` count from the first byte behind ``%r0`` and the per-thread data.
"""

from __future__ import annotations

from msgspec import Struct


class PayloadArgument(Struct, frozen=True):
    """One entry of ``payload_arguments`` or ``per_thread_payload_arguments``; absent words are empty, numbers -1."""

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


class BindingTableEntry(Struct, frozen=True):
    """A binding table entry: argument ``arg_index`` is the surface of number ``bti_value``."""

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
    """A sampler that is written in the kernel's source."""

    sampler_index: int
    addrmode: str
    filtermode: str
    normalized: bool


class ArgumentInfo(Struct, frozen=True):
    """What the source says about an argument (``kernels_misc_info``)."""

    index: int
    name: str
    type_name: str
    address_qualifier: str = ""
    access_qualifier: str = ""


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
    walk_order: tuple[int, int, int] = (0, 1, 2)


class KernelInfo(Struct, frozen=True):
    """All that ze_info says about one kernel."""

    name: str
    env: ExecutionEnv
    payload: tuple[PayloadArgument, ...] = ()
    per_thread: tuple[PayloadArgument, ...] = ()
    bindings: tuple[BindingTableEntry, ...] = ()
    thread_buffers: tuple[ThreadBuffer, ...] = ()
    inline_samplers: tuple[InlineSampler, ...] = ()
    arguments: tuple[ArgumentInfo, ...] = ()

    @property
    def argument_count(self) -> int:
        """How many arguments the source has: one more than the highest index that is mentioned."""
        seen = [a.arg_index for a in self.payload] + [a.index for a in self.arguments]
        return max(seen, default=-1) + 1

    def argument_name(self, index: int) -> str:
        """Give the source's name of an argument; empty where it is not told."""
        return next((a.name for a in self.arguments if a.index == index), "")
