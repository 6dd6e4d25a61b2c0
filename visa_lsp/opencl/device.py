"""Answers to OpenCL's queries about the simulated device and about kernels, by number, as bytes.

Only what differs from the host's CPU is here. Knows OpenCL's numbers, and platforms by their facts.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING, Final

from visa_lsp import __version__

if TYPE_CHECKING:
    from visa_lsp.app.exec.model import KernelParameter, ProgramKernel
    from visa_lsp.isa.platforms import Platform

_EXTENSIONS: Final = (
    "cl_khr_byte_addressable_store", "cl_khr_fp16", "cl_khr_global_int32_base_atomics",
    "cl_khr_global_int32_extended_atomics", "cl_khr_local_int32_base_atomics", "cl_khr_local_int32_extended_atomics",
    "cl_khr_3d_image_writes", "cl_khr_il_program", "cl_khr_subgroups", "cl_intel_subgroups",
    "cl_intel_required_subgroup_size", "cl_intel_subgroups_short", "cl_intel_unified_shared_memory",
    "cl_intel_device_attribute_query",
)  # fmt: skip
_FEATURES: Final = (  # of OpenCL C 3.0, as the compiler defines them, but for variables of programs, which do not stay
    "atomic_order_acq_rel", "atomic_order_seq_cst", "atomic_scope_device", "generic_address_space", "int64", "subgroups",
    "work_group_collective_functions",
)  # fmt: skip
_IMAGE_FEATURES: Final = ("3d_image_writes", "images", "read_write_images")
_INT64: Final = ("cl_khr_int64_base_atomics", "cl_khr_int64_extended_atomics")
_NAME_VERSION_BYTES: Final = 64
_IDENTITIES: Final = {  # of one device of the platform on the PCI bus
    "BDW": 0x1616, "SKL": 0x1912, "BXT": 0x5A84, "ICLLP": 0x8A52, "TGLLP": 0x9A49, "DG2": 0x56A0, "MTL": 0x7D55, "ARL": 0x7D51,
    "PVC": 0x0BD5, "PVCXT": 0x0BD5, "LNL": 0x64A0, "BMG": 0xE20B, "PTL": 0xB080,
}  # fmt: skip
_SHARED_ACCESS: Final = 3  # by kernels, also atomically
_FP_HALF: Final = 0x3E  # infinities, all roundings, fused multiply-add
_FP_SINGLE: Final = 0xBE  # also exact division
_FP_DOUBLE: Final = 0x3F  # also denormals
_ACCESS: Final = {"__read_only": 0x11A0, "__write_only": 0x11A1, "__read_write": 0x11A2}
_ADDRESS: Final = {"__global": 0x119B, "__local": 0x119C, "__constant": 0x119D}
_QUALIFIERS: Final = {"const": 1, "restrict": 2, "volatile": 4, "pipe": 8}
ERRORS: Final = {
    -4: "CL_MEM_OBJECT_ALLOCATION_FAILURE", -5: "CL_OUT_OF_RESOURCES", -6: "CL_OUT_OF_HOST_MEMORY", -8: "CL_MEM_COPY_OVERLAP",
    -9: "CL_IMAGE_FORMAT_MISMATCH", -10: "CL_IMAGE_FORMAT_NOT_SUPPORTED", -12: "CL_MAP_FAILURE",
    -13: "CL_MISALIGNED_SUB_BUFFER_OFFSET", -14: "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", -18: "CL_DEVICE_PARTITION_FAILED",
    -30: "CL_INVALID_VALUE", -34: "CL_INVALID_CONTEXT", -35: "CL_INVALID_QUEUE_PROPERTIES", -36: "CL_INVALID_COMMAND_QUEUE",
    -37: "CL_INVALID_HOST_PTR", -38: "CL_INVALID_MEM_OBJECT", -40: "CL_INVALID_IMAGE_SIZE", -41: "CL_INVALID_SAMPLER",
    -42: "CL_INVALID_BINARY", -45: "CL_INVALID_PROGRAM_EXECUTABLE", -48: "CL_INVALID_KERNEL", -49: "CL_INVALID_ARG_INDEX",
    -50: "CL_INVALID_ARG_VALUE", -51: "CL_INVALID_ARG_SIZE", -52: "CL_INVALID_KERNEL_ARGS", -53: "CL_INVALID_WORK_DIMENSION",
    -54: "CL_INVALID_WORK_GROUP_SIZE", -55: "CL_INVALID_WORK_ITEM_SIZE", -57: "CL_INVALID_EVENT_WAIT_LIST", -58: "CL_INVALID_EVENT",
    -59: "CL_INVALID_OPERATION", -61: "CL_INVALID_BUFFER_SIZE", -63: "CL_INVALID_GLOBAL_WORK_SIZE", -65: "CL_INVALID_IMAGE_DESCRIPTOR",
}  # fmt: skip
_SUB_GROUP_SIZE: Final = re.compile(r"intel_reqd_sub_group_size\((\d+)\)")
_NO_ACCESS: Final = 0x11A3
_PRIVATE: Final = 0x119E
_VERSION_3: Final = 3 << 22


def max_group_items(platform: Platform) -> int:
    """Return the largest number of work items of a group."""
    return 512 if platform.generation < 125 else 1024


def platform_facts(platform: Platform) -> dict[int, bytes]:
    """Return the answers of clGetPlatformInfo."""
    return {
        0x0900: _text("FULL_PROFILE"),
        0x0901: _text(f"OpenCL 3.0 visa-lsp {__version__}"),
        0x0902: _text("visa-lsp"),
        0x0903: _text("visa-lsp"),
        0x0904: _text(" ".join(_extensions(platform))),
        0x0906: _u32(_VERSION_3),
        0x0907: _versions(_extensions(platform)),
    }


def device_facts(platform: Platform) -> dict[int, bytes]:
    """Return the answers of clGetDeviceInfo that describe the simulated device."""
    items, double = max_group_items(platform), _has_double(platform)
    extensions = _versions(_extensions(platform))
    numbers = {
        0x1001: 0x8086,  # vendor
        0x1002: 96, 0x100C: 1200,  # compute units, MHz
        0x1006: 16, 0x1007: 8, 0x1008: 4, 0x1009: 1, 0x100A: 1, 0x100B: double, 0x1034: 8,  # preferred widths
        0x1036: 16, 0x1037: 8, 0x1038: 4, 0x1039: 1, 0x103A: 1, 0x103B: double, 0x103C: 8,  # native widths
        0x100E: 128, 0x100F: 128, 0x1016: _has_images(platform), 0x1018: 16, 0x104C: 128,  # images and samplers
        0x1021: 8, 0x1022: 1, 0x1028: 1, 0x103E: 1,  # constant arguments, local memory, compiler, linker
        0x1043: 0, 0x104F: 0, 0x1050: 0, 0x1051: 0, 0x1052: 0,  # neither parts nor queues on the device
        0x1055: 0, 0x1056: 0, 0x1057: 0, 0x1071: 0,  # no pipes
        0x105C: 64, 0x105D: 0,  # sub-groups
        0x105E: _VERSION_3, 0x1065: 1, 0x1068: 1, 0x1069: 1,
    }  # fmt: skip
    wide = {
        0x1000: 4,  # a GPU
        0x1004: items, 0x1023: 65536, 0x1067: 16,
        0x101B: _FP_SINGLE, 0x1032: _FP_DOUBLE if double else 0, 0x1033: _FP_HALF,
        0x1011: 16384, 0x1012: 16384, 0x1013: 2048, 0x1014: 2048, 0x1015: 2048, 0x1017: 1024, 0x1040: 1 << 27, 0x1041: 2048,
        0x1044: 0, 0x1045: 0, 0x104E: 0, 0x1053: 1, 0x1070: 0,
    }  # fmt: skip
    texts = {
        0x102B: f"visa-lsp simulator of {platform.name}", 0x102C: "visa-lsp", 0x102D: __version__, 0x102E: "FULL_PROFILE",
        0x102F: f"OpenCL 3.0 visa-lsp {platform.name}", 0x1030: " ".join(_extensions(platform)), 0x103D: "OpenCL C 1.2 ",
        0x105B: "SPIR-V_1.2", 0x103F: "", 0x1072: "",
    }  # fmt: skip
    facts = {name: _u32(value) for name, value in numbers.items()}
    facts |= {name: _u64(value) for name, value in wide.items()}
    facts |= {name: _text(value) for name, value in texts.items()}
    facts |= {
        0x1005: struct.pack("<3Q", items, items, items),
        0x1060: extensions,
        0x1062: b"",
        0x106F: _features(platform),
    }
    facts |= {name: _u64(_SHARED_ACCESS) for name in (0x4190, 0x4191, 0x4192)} | {0x4193: _u64(0), 0x4194: _u64(0)}
    # Version of the architecture, device, slices, sub-slices, execution units in each, threads of a unit, features.
    major, minor = (*(platform.versions or ((0,),))[0], 0)[:2]
    units = (
        major << 22 | minor << 14,
        _IDENTITIES.get(platform.name, 0),
        1,
        6,
        16,
        7 if platform.generation < 125 else 8,
        0,
    )
    facts |= {0x4250 + number: _u32(value) for number, value in enumerate(units)}
    facts[0x4108] = struct.pack(f"<{len(platform.sub_group_sizes)}Q", *platform.sub_group_sizes)
    facts[0x1061] = _named(("SPIR-V", 1, 2))
    facts[0x1066] = _named(*(("OpenCL C", *version) for version in ((1, 0), (1, 1), (1, 2), (2, 0), (3, 0))))
    return facts


def kernel_facts(kernel: ProgramKernel) -> dict[int, bytes]:
    """Return the answers of clGetKernelInfo that depend on the kernel's source."""
    return {0x1195: _text(kernel.attributes)}


def group_facts(kernel: ProgramKernel, platform: Platform) -> dict[int, bytes]:
    """Return the answers of clGetKernelWorkGroupInfo, and the sub-group size that the source requires."""
    return {
        0x11B0: _u64(max_items(kernel, platform)),
        0x11B1: struct.pack("<3Q", *kernel.required),
        0x11B2: _u64(kernel.local_bytes),
        0x11B3: _u64(kernel.lanes),
        0x11B4: _u64(kernel.private_bytes),
        0x410A: _u64(int(size[1]) if (size := _SUB_GROUP_SIZE.search(kernel.attributes)) else 0),
    }


def max_items(kernel: ProgramKernel, platform: Platform) -> int:
    """Return the largest number of work items of a group of the kernel: 64 threads on most devices."""
    return min(max_group_items(platform), 64 * max(1, kernel.lanes))


def argument_facts(parameter: KernelParameter) -> dict[int, bytes]:
    """Return the answers of clGetKernelArgInfo."""
    qualifiers = sum(bit for word, bit in _QUALIFIERS.items() if word in parameter.qualifiers.split())
    return {
        0x1196: _u32(_ADDRESS.get(parameter.address, _PRIVATE)),
        0x1197: _u32(_ACCESS.get(parameter.access, _NO_ACCESS)),
        0x1198: _text(parameter.type),
        0x1199: _u64(qualifiers),
        0x119A: _text(parameter.name),
    }


def _extensions(platform: Platform) -> tuple[str, ...]:
    return (*_EXTENSIONS, *_INT64, *(("cl_khr_fp64",) if _has_double(platform) else ()))


def _features(platform: Platform) -> bytes:
    """Return the optional features of OpenCL C 3.0 that kernels may use."""
    names = (*_FEATURES, *(_IMAGE_FEATURES * _has_images(platform)), *(("fp64",) * _has_double(platform)))
    return _named(*((f"__opencl_c_{name}", 3, 0) for name in sorted(names)))


def _has_double(platform: Platform) -> bool:
    """Return whether the device computes with doubles: all but Xe-LP and the Arc A series."""
    return platform.grf_bytes == 64 or platform.generation in (80, 81, 90, 91, 100, 125)


def _has_images(platform: Platform) -> bool:
    """Return whether the device has samplers and images; those for computing alone have none."""
    return platform.name not in ("PVC", "PVCXT", "CRI")


def _versions(names: tuple[str, ...]) -> bytes:
    return _named(*((name, 1, 0) for name in names))


def _named(*entries: tuple[str, int, int]) -> bytes:
    """Return an array of cl_name_version."""
    return b"".join(
        _u32(major << 22 | minor << 12) + name.encode().ljust(_NAME_VERSION_BYTES, b"\0")
        for name, major, minor in entries
    )


def _text(value: str) -> bytes:
    return value.encode() + b"\0"


def _u32(value: int) -> bytes:
    return struct.pack("<I", value)


def _u64(value: int) -> bytes:
    return struct.pack("<Q", value)
