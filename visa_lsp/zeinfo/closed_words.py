"""The closed sets of words of ze_info, each word with its meaning and its first version.

Data only (seed 002 and later versions). Invariant: a renamed or removed word stays here with the version of that
change.
"""

from __future__ import annotations

from typing import Final

from visa_lsp.zeinfo.schema import SchemaWord

_IMAGE: Final = (1, 15)
_FLAT: Final = (1, 64)

WORDS: Final[dict[str, tuple[SchemaWord, ...]]] = {
    "thread_scheduling_mode": (
        SchemaWord("age_based", "The oldest ready thread runs.", (1, 10)),
        SchemaWord("round_robin", "Threads take turns.", (1, 10)),
        SchemaWord("round_robin_stall", "Threads take turns; the turn passes on when a thread has to wait.", (1, 10)),
    ),
    "argument_type": (
        SchemaWord("packed_local_ids", "Local ids x, y, z of a SIMD1 thread: three 16-bit numbers."),
        SchemaWord("local_id", "Local ids of every lane, 16 bits each, one GRF-aligned block for each dimension."),
        SchemaWord("local_size", "Work items of a group in three dimensions (int32x3)."),
        SchemaWord("group_count", "Groups in three dimensions (int32x3)."),
        SchemaWord("work_dimensions", "Number of dimensions of the launch (int32).", (1, 5)),
        SchemaWord("global_size", "Work items of the launch in three dimensions (int32x3)."),
        SchemaWord("enqueued_local_size", "Group size as the host asked for it, not cut at the edges (int32x3)."),
        SchemaWord("global_id_offset", "Offset that is added to every global id (int32x3)."),
        SchemaWord("private_base_stateless", "Address of the private memory that per_thread_memory_buffers requests (int64)."),
        SchemaWord("buffer_offset", "Distance of a buffer argument from the aligned base of its surface.", (1, 2)),
        SchemaWord("printf_buffer", "Address of the buffer that printf writes to.", (1, 3)),
        SchemaWord("implicit_arg_buffer", "Address of the block of implicit arguments (int64)."),
        SchemaWord("arg_byvalue", "A kernel argument passed by its value."),
        SchemaWord("arg_bypointer", "A kernel argument that is a buffer, image, sampler or shared local memory."),
        SchemaWord("buffer_address", "Address of a buffer that is otherwise reached through the binding table.", (1, 17)),
        SchemaWord("image_height", "Height of an image argument.", _IMAGE),
        SchemaWord("image_width", "Width of an image argument.", _IMAGE),
        SchemaWord("image_depth", "Depth of an image argument.", _IMAGE),
        SchemaWord("image_num_mip_levels", "Number of mip levels of an image argument.", _IMAGE),
        SchemaWord("image_channel_data_type", "OpenCL channel type of an image argument.", _IMAGE),
        SchemaWord("image_channel_order", "OpenCL channel order of an image argument.", _IMAGE),
        SchemaWord("image_srgb_channel_order", "sRGB channel order of an image argument.", _IMAGE, (1, 66)),
        SchemaWord("image_array_size", "Layers of an image array argument.", _IMAGE),
        SchemaWord("image_num_samples", "Samples of a multi-sampled image argument.", _IMAGE),
        SchemaWord("flat_image_baseoffset", "Base address of an image read as memory.", _IMAGE, _FLAT),
        SchemaWord("flat_image_height", "Height of an image read as memory.", _IMAGE, _FLAT),
        SchemaWord("flat_image_width", "Width of an image read as memory.", _IMAGE, _FLAT),
        SchemaWord("flat_image_pitch", "Pitch of an image read as memory.", _IMAGE, _FLAT),
        SchemaWord("sampler_address", "OpenCL addressing mode of a sampler argument.", _IMAGE),
        SchemaWord("sampler_normalized", "Whether a sampler argument takes normalized coordinates.", _IMAGE),
        SchemaWord("sampler_snap_wa", "Whether a sampler argument needs the coordinate snap workaround (going out of use).", _IMAGE),
        SchemaWord("sync_buffer", "Address of the buffer for synchronisation between groups (int64).", (1, 22)),
        SchemaWord("rt_global_buffer", "Address of the ray tracing globals (int64).", (1, 26)),
        SchemaWord("const_base", "Base of the program's constant data.", (1, 28)),
        SchemaWord("global_base", "Base of the program's global data.", (1, 28)),
        SchemaWord("assert_buffer", "Address of the buffer that assert writes to (int64).", (1, 30)),
        SchemaWord("indirect_data_pointer", "Address of the indirect data (int64).", (1, 31)),
        SchemaWord("scratch_pointer", "Address of the scratch surface (int64).", (1, 31)),
        SchemaWord("region_group_size", "Size of a region group in three dimensions (int32x3).", (1, 34)),
        SchemaWord("region_group_dimension", "Dimension along which region groups are split (int32).", (1, 34)),
        SchemaWord("region_group_wg_count", "Thread groups of a region group (int32).", (1, 34)),
        SchemaWord("buffer_size", "Size in bytes of a buffer argument (int64).", (1, 40)),
        SchemaWord("region_group_barrier_buffer", "Address of the buffer for region barriers (int64).", (1, 43)),
        SchemaWord("inline_sampler", "Bindless handle of a sampler written in the source.", (1, 44)),
    ),
    "memory_addressing_mode": (
        SchemaWord("stateless", "By address."),
        SchemaWord("stateful", "Through the binding table: binding_table_indices has an entry of the same arg_index."),
        SchemaWord("bindless", "By a handle in the payload."),
        SchemaWord("slm", "An offset in shared local memory."),
        SchemaWord("shared_local_memory", "Old name of slm.", (0, 0), (1, 0), "slm"),
    ),
    "address_space": (
        SchemaWord("global", "Memory of all threads."),
        SchemaWord("local", "Shared local memory of a group."),
        SchemaWord("constant", "Memory that the kernel only reads."),
        SchemaWord("image", "An image."),
        SchemaWord("sampler", "A sampler."),
    ),
    "access_type": (
        SchemaWord("readonly", "The kernel only reads."),
        SchemaWord("writeonly", "The kernel only writes."),
        SchemaWord("readwrite", "The kernel reads and writes."),
    ),
    "allocation_type": (
        SchemaWord("global", "Global memory, for private_space only; its base is in private_base_stateless."),
        SchemaWord("scratch", "Scratch memory of a hardware thread; its offset is in element 5 of r0."),
        SchemaWord("slm", "Shared local memory."),
    ),
    "memory_usage": (
        SchemaWord("private_space", "Private variables, and arguments of stack calls."),
        SchemaWord("spill_fill_space", "Spilled registers, and what stack calls save."),
        SchemaWord("single_space", "Private variables, spills and saved registers in one buffer."),
    ),
    "image_type": tuple(
        SchemaWord(name, doc, _IMAGE)
        for name, doc in (
            ("image_buffer", "One-dimensional, over a buffer."),
            ("image_1d", "One-dimensional."),
            ("image_1d_array", "Array of one-dimensional images."),
            ("image_2d", "Two-dimensional."),
            ("image_2d_array", "Array of two-dimensional images."),
            ("image_3d", "Three-dimensional."),
            ("image_cube", "Cube."),
            ("image_cube_array", "Array of cubes."),
            ("image_2d_depth", "Two-dimensional with depth values."),
            ("image_2d_array_depth", "Array of two-dimensional images with depth values."),
            ("image_2d_msaa", "Two-dimensional, multi-sampled."),
            ("image_2d_msaa_depth", "Two-dimensional, multi-sampled, with depth values."),
            ("image_2d_array_msaa", "Array of multi-sampled images."),
            ("image_2d_array_msaa_depth", "Array of multi-sampled images with depth values."),
            ("image_2d_media", "Two-dimensional, for media reads."),
            ("image_2d_media_block", "Two-dimensional, for media block reads."),
        )
    ),
    "sampler_type": (
        SchemaWord("texture", "A texture sampler.", _IMAGE),
        *(
            SchemaWord(f"sample_8x8{kind and '_' + kind}", f"An 8x8 sampler{kind and ': ' + kind}.", _IMAGE)
            for kind in (
                "", "2dconvolve", "erode", "dilate", "minmaxfilter", "minmax", "centroid", "bool_centroid", "bool_sum",
            )
        ),
    ),
    "sampler_desc_addrmode": (
        SchemaWord("none", "No defined value outside the image.", (1, 20)),
        SchemaWord("clamp_border", "The border colour outside the image.", (1, 20)),
        SchemaWord("clamp_edge", "The nearest texel of the edge outside the image.", (1, 20)),
        SchemaWord("repeat", "The image repeats.", (1, 20)),
        SchemaWord("mirror", "The image repeats, every second time mirrored.", (1, 20)),
    ),
    "sampler_desc_filtermode": (
        SchemaWord("nearest", "The nearest texel.", (1, 20)),
        SchemaWord("linear", "A weighted mean of the neighbours.", (1, 20)),
    ),
    "l1_cache_policy": (
        SchemaWord("wbp", "Write bypass.", (1, 69)),
        SchemaWord("uc", "Not cached.", (1, 69)),
        SchemaWord("wb", "Write back.", (1, 69)),
        SchemaWord("wt", "Write through.", (1, 69)),
        SchemaWord("ws", "Write streaming.", (1, 69)),
    ),
}  # fmt: skip
