"""The tables of ze_info: every key of seed 002 (1.14), and later keys with their first version.

Data only. Keys without ``since`` are in the oldest numbered version. Invariant: the root table is ``Container``.
"""

from __future__ import annotations

from typing import Final

from visa_lsp.zeinfo.closed_words import WORDS
from visa_lsp.zeinfo.schema import FIRST_VERSION, SchemaKey, SchemaTable, Version

A = SchemaKey

ROOT: Final = "Container"

_OF_ARGUMENT: Final = (
    "arg_type=arg_bypointer,arg_byvalue,buffer_offset,buffer_address,buffer_size,image_*,flat_image_*,sampler_*"
)
_POINTER: Final = "arg_type=arg_bypointer"
_WALK: Final = "x [0, 0, 0], xy [0, 1, 0], xyz [0, 1, 2], yx [1, 0, 0] or zyx [2, 1, 0]"


def _word(
    name: str, words: str, doc: str, *, required: bool = False, since: Version = FIRST_VERSION, when: str = ""
) -> A:
    return A(name, "word", doc, required=required, words=WORDS[words], since=since, when=when)


_CONTAINER: Final = SchemaTable(
    "Container",
    "The whole document.",
    (
        A("version", "str", "Version of ze_info that the document follows, quoted: '1.14'.", required=True, proposals=("'1.14'", "'1.20'", "'1.73'")),
        A("kernels", "Kernel[]", "A description of each kernel for the runtime.", required=True),
        A("functions", "Function[]", "Functions that can be called from outside.", since=(1, 13)),
        A("global_host_access_table", "HostAccess[]", "Host names of global variables.", since=(1, 12)),
        A("kernels_misc_info", "KernelMiscInfo[]", "Facts that no launch needs: names and types of arguments.", since=(1, 19)),
        A("kernels_cost_info", "KernelCostInfo[]", "Estimated costs of loops (experimental).", since=(1, 47)),
        _word("l1_cache_policy", "l1_cache_policy", "Policy of the level 1 cache.", since=(1, 69)),
    ),
)  # fmt: skip
_KERNEL: Final = SchemaTable(
    "Kernel",
    "One kernel as the runtime launches it.",
    (
        A("name", "str", "Name of the kernel.", required=True),
        A("user_attributes", "UserAttribute", "Attributes of the kernel in the source.", since=(1, 18)),
        A("execution_env", "ExecutionEnv", "Demands of the kernel on the machine.", required=True),
        A("payload_arguments", "PayloadArgument[]", "Arguments that all threads of a group share."),
        A("per_thread_payload_arguments", "PerThreadPayloadArgument[]", "Arguments that each thread has for itself."),
        A("binding_table_indices", "BindingTableIndex[]", "The argument behind each surface."),
        A("per_thread_memory_buffers", "PerThreadMemoryBuffer[]", "Memory that each thread needs."),
        A("inline_samplers", "InlineSampler[]", "Samplers written in the source.", since=(1, 20)),
        A("experimental_properties", "ExperimentalProperties", "Facts for early evaluation.", since=(1, 1)),
        A("debug_env", "DebugEnv", "Facts for a debugger.", since=(1, 7)),
    ),
    unique="name",
)
_FUNCTION: Final = SchemaTable(
    "Function",
    "One function that can be called from outside.",
    (
        A("name", "str", "Name of the function.", required=True),
        A("execution_env", "ExecutionEnv", "Demands of the function on the machine.", required=True),
    ),
    unique="name",
)
_USER: Final = SchemaTable(
    "UserAttribute",
    "Attributes of the kernel in the source.",
    (
        A("intel_reqd_sub_group_size", "int32", "Sub-group size that the source requires.", default="0", since=(1, 18)),
        A("intel_reqd_workgroup_walk_order", "int32x3", "Order of dimensions that the source requires.", default="[0, 0, 0]", since=(1, 18)),
        A("invalid_kernel", "str", "The reason why the kernel cannot be used.", since=(1, 18)),
        A("reqd_work_group_size", "int32x3", "Group size that the source requires.", default="[0, 0, 0]", since=(1, 18)),
        A("vec_type_hint", "str", "Vector type that the source suggests.", since=(1, 18)),
        A("work_group_size_hint", "int32x3", "Group size that the source suggests.", default="[0, 0, 0]", since=(1, 18)),
        A("intel_reqd_thread_group_dispatch_size", "int32", "Number of groups that are dispatched together.", default="0", since=(1, 41)),
    ),
)  # fmt: skip


def _flag(name: str, doc: str, since: tuple[int, int] = (1, 0)) -> A:
    return A(name, "bool", doc, default="false", since=since)


_ENV: Final = SchemaTable(
    "ExecutionEnv",
    "Demands of the kernel or function on the machine.",
    (
        A("actual_kernel_start_offset", "int32", "Offset of the code in its section.", removed=(1, 6)),
        A("barrier_count", "int32", "Number of barriers that the code uses.", default="0"),
        _flag("disable_mid_thread_preemption", "A thread may not be interrupted in the middle."),
        A("grf_count", "int32", "Registers of a thread: 128, or 256 where large register files exist.", required=True, proposals=("128", "256")),
        _flag("has_4gb_buffers", "Compiled for buffers of more than 4 GB."),
        _flag("has_device_enqueue", "The kernel enqueues kernels."),
        _flag("has_dpas", "The code has systolic instructions (dpas)."),
        _flag("has_fence_for_image_access", "The code has fences for image accesses."),
        _flag("has_global_atomics", "The code has atomic operations on global memory."),
        _flag("has_multi_scratch_spaces", "Spills and private data have scratch spaces of their own."),
        _flag("has_no_stateless_write", "The code writes through surfaces only."),
        _flag("has_stack_calls", "The program calls functions through the stack (fcall)."),
        _flag("require_disable_eufusion", "Fusion of execution units must be off.", (1, 11)),
        A("inline_data_payload_size", "int32", "Bytes of the cross-thread payload that come in the dispatch itself.", default="0", since=(1, 8)),
        A("offset_to_skip_per_thread_data_load", "int32", "Offset at which the code starts if the hardware has loaded the per-thread data.", default="0"),
        A("offset_to_skip_set_ffid_gp", "int32", "Offset at which the code starts if the fixed function id needs no setting.", default="0"),
        A("required_sub_group_size", "int32", "Sub-group size that the source requires.", default="0"),
        A("required_work_group_size", "int32x3", "Group size that the source requires, such as [256, 2, 1].", default="[0, 0, 0]"),
        A("simd_size", "int32", "Lanes of a thread: 1, 8, 16 or 32.", required=True, proposals=("1", "8", "16", "32")),
        A("slm_size", "int32", "Bytes of shared local memory.", default="0"),
        _flag("subgroup_independent_forward_progress", "Sub-groups of a group may run independently."),
        _word("thread_scheduling_mode", "thread_scheduling_mode", "The order in which threads take turns.", since=(1, 10)),
        A("work_group_walk_order_dimensions", "int32x3", f"Order in which lanes walk the dimensions: {_WALK}.", default="[0, 1, 2]", proposals=("[0, 0, 0]", "[0, 1, 0]", "[0, 1, 2]", "[1, 0, 0]", "[2, 1, 0]")),
        A("indirect_stateless_count", "int32", "Number of indirect accesses by address.", default="0", since=(1, 21)),
        A("eu_thread_count", "int32", "Threads of an execution unit; follows from grf_count if absent.", default="0", since=(1, 24)),
        _flag("has_sample", "The code samples images.", (1, 27)),
        _flag("has_rtcalls", "The code traces rays.", (1, 29)),
        A("private_size", "int32", "Bytes of private data, or of their stack.", default="0", since=(1, 39)),
        A("spill_size", "int32", "Bytes of spilled registers, or of their stack.", default="0", since=(1, 39)),
        A("quantum_size", "int32", "Quantum size; sets quantum dispatch.", default="0", since=(1, 49)),
        A("quantum_walk_order", "int32", "Walk order of a quantum.", default="0", since=(1, 49)),
        A("quantum_partition_dimension", "int32", "Dimension along which quanta are split.", default="0", since=(1, 49)),
        _flag("generate_local_id", "The hardware makes the local ids.", (1, 50)),
        _flag("has_lsc_stores_with_non_default_l1_cache_controls", "Stores request a level 1 caching other than the default.", (1, 52)),
        _flag("require_iab", "The runtime must provide the block of implicit arguments.", (1, 54)),
        _flag("has_printf_calls", "The code itself prints.", (1, 59)),
        _flag("has_indirect_calls", "The code calls through pointers.", (1, 59)),
        _flag("require_assert_buffer", "The code itself uses the assert buffer.", (1, 61)),
        _flag("require_sync_buffer", "The code itself uses the sync buffer.", (1, 61)),
        _flag("has_bindless_image_read", "The code reads bindless images.", (1, 67)),
        A("slm_alloc_mode", "int32", "The compiler (0) or the runtime (1) places SLM arguments.", default="0", since=(1, 73), proposals=("0", "1")),
    ),
)  # fmt: skip
_PAYLOAD: Final = SchemaTable(
    "PayloadArgument",
    "One argument of the cross-thread payload.",
    (
        _word("arg_type", "argument_type", "Kind of the argument.", required=True),
        A("offset", "int32", "Its first byte, counted from the start of the cross-thread payload.", required=True),
        A("size", "int32", "Its size in bytes; 0 if it takes no room.", required=True),
        A("arg_index", "int32", "Number of the kernel argument that it is or belongs to.", default="-1", when=_OF_ARGUMENT),
        _word("addrmode", "memory_addressing_mode", "The way in which the code addresses the memory.", when=_POINTER + ",const_base,global_base,inline_sampler"),
        _word("addrspace", "address_space", "Kind of the memory.", when=_POINTER + ",inline_sampler"),
        _word("access_type", "access_type", "Accesses of the code to the memory.", when=_POINTER),
        A("sampler_index", "int32", "Number of the sampler.", default="-1", since=(1, 4), when=_POINTER + " & addrspace=sampler | arg_type=inline_sampler"),
        A("source_offset", "int32", "Offset of this part in an aggregate passed by value.", default="-1", since=(1, 9), when="arg_type=arg_byvalue"),
        A("slm_alignment", "int32", "Alignment of the shared local memory in bytes.", default="0", since=(1, 14), when=_POINTER + " & addrmode=slm & addrspace=local"),
        _word("image_type", "image_type", "Kind of the image.", since=(1, 15), when="addrspace=image"),
        A("image_transformable", "bool", "The image may be seen as another kind.", default="false", since=(1, 15), when="addrspace=image"),
        _word("sampler_type", "sampler_type", "Kind of the sampler.", since=(1, 15), when="addrspace=sampler"),
        A("is_pipe", "bool", "The argument is a pipe.", default="false", since=(1, 23), when=_POINTER),
        A("is_ptr", "bool", "The value is used as a pointer.", default="false", since=(1, 25), when="arg_type=arg_byvalue,indirect_data_pointer,const_base,global_base,printf_buffer"),
        A("bti_value", "int32", "Binding table index of constant or global data.", default="-1", since=(1, 28), when="arg_type=const_base,global_base"),
    ),
)  # fmt: skip
_PER_THREAD: Final = SchemaTable(
    "PerThreadPayloadArgument",
    "One argument of the per-thread payload.",
    (
        _word("arg_type", "argument_type", "Kind of the argument: local_id or packed_local_ids.", required=True),
        A("offset", "int32", "Its first byte, counted from the start of the per-thread payload.", required=True),
        A("size", "int32", "Its size in bytes.", required=True),
    ),
)
_BINDING: Final = SchemaTable(
    "BindingTableIndex",
    "One surface of the binding table.",
    (
        A("bti_value", "int32", "Number of the surface.", required=True),
        A("arg_index", "int32", "Number of the kernel argument; it is arg_bypointer and stateful.", required=True),
    ),
    unique="bti_value",
)
_BUFFER: Final = SchemaTable(
    "PerThreadMemoryBuffer",
    "Memory that each thread needs.",
    (
        _word("type", "allocation_type", "Place of the memory.", required=True),
        _word("usage", "memory_usage", "Use of the memory.", required=True),
        A("size", "int32", "Bytes of the buffer.", required=True),
        A("slot", "int32", "Number of the scratch buffer.", default="0", when="type=scratch"),
        A(
            "is_simt_thread",
            "bool",
            "Each lane has a buffer of its own, not only each hardware thread.",
            default="false",
            when="type=global",
        ),
    ),
)
_SAMPLER: Final = SchemaTable(
    "InlineSampler",
    "A sampler written in the source.",
    (
        A("sampler_index", "int32", "Number of the sampler.", required=True, since=(1, 20)),
        _word("addrmode", "sampler_desc_addrmode", "Value outside the image.", required=True, since=(1, 20)),
        _word("filtermode", "sampler_desc_filtermode", "Method that combines texels.", required=True, since=(1, 20)),
        A("normalized", "bool", "Coordinates go from 0 to 1.", default="false", since=(1, 20)),
    ),
    unique="sampler_index",
)


def _trace(name: str, what: str) -> A:
    doc = f"Whether the code has a {what} that does not come from a kernel argument: 1 yes, 0 no, -1 unknown."
    return A(name, "int32", doc, default="-1", since=(1, 1))


_EXPERIMENTAL: Final = SchemaTable(
    "ExperimentalProperties",
    "Facts for early evaluation; nothing may depend on them.",
    (
        _trace("has_non_kernel_arg_load", "load"),
        _trace("has_non_kernel_arg_store", "store"),
        _trace("has_non_kernel_arg_atomic", "atomic operation"),
    ),
)
_DEBUG: Final = SchemaTable(
    "DebugEnv",
    "Facts for a debugger.",
    (
        A("sip_surface_bti", "int32", "Binding table index of the system routine's surface.", default="-1", since=(1, 7)),
        A("sip_surface_offset", "int32", "Offset of the system routine's surface.", default="-1", since=(1, 7)),
    ),
)  # fmt: skip
_HOST: Final = SchemaTable(
    "HostAccess",
    "The host's name of a global variable.",
    (
        A("device_name", "str", "Name of the variable in the program.", required=True, since=(1, 12)),
        A("host_name", "str", "Name by which the host finds it.", required=True, since=(1, 12)),
    ),
    unique="device_name",
)
_MISC: Final = SchemaTable(
    "KernelMiscInfo",
    "Facts about a kernel that no launch needs.",
    (
        A("name", "str", "Name of the kernel.", required=True, since=(1, 19)),
        A("args_info", "ArgInfo[]", "Names and types of its arguments.", since=(1, 19)),
    ),
    unique="name",
)
_ARG: Final = SchemaTable(
    "ArgInfo",
    "An argument as the source declares it.",
    (
        A("index", "int32", "Number of the argument.", required=True, since=(1, 19)),
        A("name", "str", "Name of the argument.", since=(1, 19)),
        A("address_qualifier", "str", "__global, __local, __constant or __private.", required=True, since=(1, 19)),
        A("access_qualifier", "str", "__read_only, __write_only, __read_write or NONE.", required=True, since=(1, 19)),
        A("type_name", "str", "Type and size: 'float*;8'.", required=True, since=(1, 19)),
        A("type_qualifiers", "str", "const, restrict, volatile, pipe or NONE.", required=True, since=(1, 19)),
    ),
    unique="index",
)


def _costs(type_: str, *rows: tuple[str, str]) -> tuple[A, ...]:
    return tuple(A(name, type_, doc, required=True, since=(1, 47)) for name, doc in rows)


_COST: Final = (
    SchemaTable(
        "KernelCostInfo",
        "Estimated costs of the loops of a kernel.",
        (
            A("name", "str", "Name of the kernel.", required=True, since=(1, 47)),
            A("kcm_args_sym", "CostSymbol[]", "Arguments that the estimate depends on.", since=(1, 47)),
            A("kcm_loop_count_exps", "CostCount[]", "Number of runs of each loop.", required=True, since=(1, 47)),
            A("Kcm_loop_costs", "CostLoop[]", "Costs of one run of each loop.", required=True, since=(1, 47)),
        ),
        unique="name",
    ),
    SchemaTable(
        "CostSymbol",
        "An argument that a cost estimate depends on.",
        (
            *_costs("int32", ("argNo", "Number of the argument."), ("byteOffset", "Offset behind the pointer.")),
            *_costs("int32", ("sizeInBytes", "Bytes of the symbol.")),
            *_costs("bool", ("isInDirect", "The argument is a pointer to the symbol.")),
        ),
    ),
    SchemaTable(
        "CostCount",
        "Number of runs of a loop: factor * symbol + C.",
        (
            *_costs("float", ("factor", "Factor of the symbol."), ("C", "Constant term.")),
            *_costs("int32", ("argsym_index", "Number of the symbol.")),
        ),
    ),
    SchemaTable(
        "CostLoop",
        "Costs of one run of a loop.",
        _costs("int32", ("cycle", "Cycles."), ("bytes_loaded", "Bytes loaded."), ("bytes_stored", "Bytes stored."),
               ("num_loops", "Loops directly inside.")),
    ),
)  # fmt: skip

TABLES: Final[dict[str, SchemaTable]] = {
    table.name: table
    for table in (
        _CONTAINER, _KERNEL, _FUNCTION, _USER, _ENV, _PAYLOAD, _PER_THREAD, _BINDING, _BUFFER, _SAMPLER, _EXPERIMENTAL,
        _DEBUG, _HOST, _MISC, _ARG, *_COST,
    )
}  # fmt: skip
