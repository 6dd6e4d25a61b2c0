"""Arguments into payloads: each ``arg_type``, and launches without ze_info."""

import numpy as np
import pytest

from visa_lsp.isa import predefined
from visa_lsp.isa.platforms import platform_named
from visa_lsp.isa.types import DF, UD, UQ, UW, F, W
from visa_lsp.program.model import Attribute, Input, Kernel, Module, StateVariable, Variable
from visa_lsp.program.payload import (
    ArgumentInfo,
    BindingTableEntry,
    ExecutionEnv,
    InlineSampler,
    KernelInfo,
    PayloadArgument,
    ThreadBuffer,
)
from visa_lsp.sim.launch.config import (
    BufferArg,
    ImageArg,
    LaunchConfig,
    LaunchError,
    LocalArg,
    SamplerArg,
    ValueArg,
)
from visa_lsp.sim.launch.prepare import choose_kernel, prepare
from visa_lsp.sim.memory import Sampler

TGLLP = platform_named("TGLLP")
BUFFER = BufferArg(np.arange(8, dtype=np.float32))
IMAGE = ImageArg(np.zeros((5, 7, 4), np.uint8), "unorm8", 4, (7, 5, 1))


def module(*inputs, surfaces=(), simd=8, name="k"):
    """Return a kernel with inputs (name, type, elements, offset) and (surface name, offset)."""
    strings = [name, *predefined.POOL_PREFIX]
    variables, states, entries = [], [], []
    for label, type_, elements, offset in inputs:
        strings.append(label)
        variables.append(Variable(len(strings) - 1, type_, 0, elements))
        entries.append(Input(0, predefined.FIRST_VARIABLE + len(variables) - 1, offset, elements * type_.size))
    for label, offset in surfaces:
        strings.append(label)
        states.append(StateVariable(len(strings) - 1, 1))
        entries.append(Input(2, predefined.FIRST_SURFACE + len(states) - 1, offset, 4))
    strings.append("SimdSize")
    attribute = Attribute(len(strings) - 1, 4, simd.to_bytes(4, "little"))
    kernel = Kernel(
        True,
        tuple(strings),
        variables=tuple(variables),
        surfaces=tuple(states),
        inputs=tuple(entries),
        attributes=(attribute,),
    )
    return Module(kernels=(kernel,))


def info(*payload, **more):
    return KernelInfo("k", more.pop("env", ExecutionEnv(8)), payload=tuple(payload), **more)


def launch(ze_info, *args, **more):
    config = LaunchConfig(groups=(2, 3, 1), local_size=(8, 2, 1), global_offset=(5, 0, 0), args=args, **more)
    return prepare(module(), ze_info, config, TGLLP)


def cross(prepared, offset, size):
    """Bytes of the cross-thread data: behind r0 and the row that stands for local ids on TGLLP."""
    return prepared.dispatch.payload((0, 0, 0), 0)[64 + offset : 64 + offset + size]


def words(prepared, offset, count):
    return np.frombuffer(cross(prepared, offset, 4 * count), np.uint32).tolist()


@pytest.mark.parametrize(
    ("arg_type", "size", "wanted"),
    [
        ("global_id_offset", 12, [5, 0, 0]),
        ("local_size", 12, [8, 2, 1]),
        ("enqueued_local_size", 12, [8, 2, 1]),
        ("group_count", 12, [2, 3, 1]),
        ("global_size", 12, [16, 6, 1]),
        ("work_dimensions", 4, [2]),
    ],
)
def test_sizes_of_the_launch(arg_type, size, wanted):
    prepared = launch(info(PayloadArgument(arg_type, 32, size)))
    assert words(prepared, 32, len(wanted)) == wanted


def test_buffers_have_addresses_bindings_and_no_offset():
    stateless = PayloadArgument("arg_bypointer", 8, 8, 0, "stateless", "global")
    stateful = PayloadArgument("arg_bypointer", 0, 0, 0, "stateful", "global")
    address, offset = PayloadArgument("buffer_address", 16, 8, 0), PayloadArgument("buffer_offset", 24, 4, 0)
    prepared = launch(info(stateful, stateless, address, offset, bindings=(BindingTableEntry(3, 0),)), BUFFER)
    surface = prepared.dispatch.surfaces[3]
    assert np.frombuffer(cross(prepared, 8, 16), np.uint64).tolist() == [surface.address] * 2
    assert cross(prepared, 24, 4) == bytes(4)
    assert prepared.dispatch.memory.find(surface.address) == (surface, 0)
    surface.data[:4] = 0xFF
    assert np.isnan(prepared.arrays[0][0])
    assert BUFFER.array[0] == 0


def test_bindless_surfaces_and_samplers_have_handles():
    image = PayloadArgument("arg_bypointer", 0, 8, 0, "bindless", "image", image_type="image_2d")
    sampler = PayloadArgument("arg_bypointer", 8, 8, 1, "bindless", "sampler")
    inline = PayloadArgument("inline_sampler", 16, 8, sampler_index=1)
    samplers = (InlineSampler(1, "mirror", "linear", normalized=True),)
    prepared = launch(info(image, sampler, inline, inline_samplers=samplers), IMAGE, SamplerArg("repeat"))
    handles = np.frombuffer(cross(prepared, 0, 24), np.uint64).tolist()
    assert prepared.dispatch.surfaces[handles[0]].width == 7
    assert prepared.dispatch.samplers[handles[1]] == Sampler("repeat", "nearest", normalized=False)
    assert prepared.dispatch.samplers[handles[2]] == Sampler("mirrored_repeat", "linear", normalized=True)


def test_local_arguments_begin_at_0_because_the_kernel_adds_the_size_of_its_arrays():
    env = ExecutionEnv(8, slm_size=100)
    first = PayloadArgument("arg_bypointer", 0, 8, 0, "slm", "local", slm_alignment=16)
    second = PayloadArgument("arg_bypointer", 8, 4, 1, "slm", "local", slm_alignment=4)
    prepared = launch(info(first, second, env=env), LocalArg(10), LocalArg(8))
    assert words(prepared, 0, 3) == [0, 0, 12]
    assert prepared.dispatch.slm_bytes == 120


def test_image_shape_and_sampler_state():
    names = ("image_width", "image_height", "image_depth", "image_channel_order", "image_channel_data_type")
    entries = [PayloadArgument(name, 4 * at, 4, 0) for at, name in enumerate(names)]
    snap = PayloadArgument("sampler_snap_wa", 32, 4, 1)
    prepared = launch(info(*entries, snap), IMAGE, SamplerArg("clamp"))
    assert words(prepared, 0, 5) == [7, 5, 1, 0x10B5, 0x10D2]
    assert words(prepared, 32, 1) == [0xFFFFFFFF]


def test_private_memory_is_there_for_every_lane():
    buffers = (ThreadBuffer("global", "private_space", 32, is_simt_thread=True),)
    prepared = launch(info(PayloadArgument("private_base_stateless", 0, 8), thread_buffers=buffers))
    (address,) = np.frombuffer(cross(prepared, 0, 8), np.uint64).tolist()
    threads = 2 * 3 * 2
    assert prepared.dispatch.memory.find(address, 32 * 8 * threads)


def test_printf_buffer_counts_its_first_dword():
    prepared = launch(info(PayloadArgument("printf_buffer", 0, 8)))
    assert prepared.printf.data[:8].tolist() == [4, 0, 0, 0, 0, 0, 0, 0]


def test_program_data_are_symbols():
    table = np.arange(3, dtype=np.int32)
    prepared = launch(info(PayloadArgument("const_base", 0, 8)), symbols={"const_base": table})
    assert np.frombuffer(cross(prepared, 0, 8), np.uint64)[0] == prepared.dispatch.symbols["const_base"]
    with pytest.raises(LaunchError, match="needs the program's data, const_base"):
        launch(info(PayloadArgument("const_base", 0, 8)))


@pytest.mark.parametrize(
    ("type_name", "size", "value", "wanted"),
    [
        ("float;4", 4, 2, np.float32(2).tobytes()),
        ("uint;4", 4, 7, np.uint32(7).tobytes()),
        ("half;2", 4, 1.5, np.float16(1.5).tobytes() + b"\0\0"),
        ("double;8", 8, 1, np.float64(1).tobytes()),
        ("char;1", 4, -1, b"\xff\0\0\0"),
        ("struct P;4", 4, 9, np.int32(9).tobytes()),
    ],
)
def test_a_value_without_dtype_has_the_type_of_the_parameter(type_name, size, value, wanted):
    said = info(PayloadArgument("arg_byvalue", 0, size, 0), arguments=(ArgumentInfo(0, "a", type_name),))
    assert cross(launch(said, ValueArg(np.array(value), typed=False)), 0, size) == wanted


def test_a_struct_by_value_is_taken_in_parts():
    parts = [PayloadArgument("arg_byvalue", at, 4, 0, source_offset=8 - at) for at in (0, 4, 8)]
    prepared = launch(info(*parts), ValueArg(np.array([1, 2, 3], np.int32)))
    assert words(prepared, 0, 3) == [3, 2, 1]


def test_a_struct_by_value_may_end_with_padding():
    said = info(PayloadArgument("arg_byvalue", 0, 12, 0, source_offset=0), arguments=(ArgumentInfo(0, "s", "S;16"),))
    assert words(launch(said, ValueArg(np.arange(16, dtype=np.uint8))), 0, 3) == [0x03020100, 0x07060504, 0x0B0A0908]


@pytest.mark.parametrize(
    ("entry", "args", "words"),
    [
        (PayloadArgument("arg_byvalue", 0, 16, 0), (ValueArg(np.zeros(3, np.float32)),), "a vector of three has four"),
        (PayloadArgument("arg_byvalue", 0, 4, 0), (ValueArg(np.zeros(1)),), "takes 4 bytes, 1 x float64 are 8"),
        (PayloadArgument("arg_byvalue", 0, 4, 0), (BUFFER,), "argument 0 is passed by value; got a buffer"),
        (
            PayloadArgument("arg_bypointer", 0, 8, 0, "stateless", "global"),
            (LocalArg(4),),
            "is a buffer; got shared local memory",
        ),
        (PayloadArgument("arg_bypointer", 0, 0, 0, "stateful", "image"), (BUFFER,), "is an image; got a buffer"),
        (PayloadArgument("arg_byvalue", 0, 4, 0), (), "takes 1 arguments, got 0"),
        (PayloadArgument("arg_byvalue", 0, 4, 0), (BUFFER, BUFFER), "takes 1 arguments, got 2"),
        (PayloadArgument("rtdq", 0, 4), (), "'rtdq', which launches do not support"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(entry, args, words):
    with pytest.raises(LaunchError) as error:
        launch(info(entry), *args)
    assert words in error.value.message


def test_arguments_may_go_by_their_names_in_the_source():
    said = info(
        PayloadArgument("arg_byvalue", 0, 4, 0),
        PayloadArgument("buffer_address", 8, 8, 1),
        arguments=(ArgumentInfo(0, "a", "int;4"), ArgumentInfo(1, "x", "float*;8")),
        bindings=(BindingTableEntry(0, 1),),
    )
    config = LaunchConfig(local_size=(8, 1, 1), args={"x": BUFFER, "a": ValueArg(np.array(3), typed=False)})
    prepared = prepare(module(), said, config, TGLLP)
    assert words(prepared, 0, 1) == [3]
    assert list(prepared.arrays) == ["x"]
    assert prepared.dispatch.surfaces[0] is prepared.dispatch.memory.buffers[0]


def test_group_sizes_that_the_kernel_requires():
    said = info(env=ExecutionEnv(8, required_work_group_size=(4, 2, 1)))
    assert prepare(module(), said, LaunchConfig(), TGLLP).geometry.local_size == (4, 2, 1)
    with pytest.raises(LaunchError, match=r"requires local_size \[4, 2, 1\]"):
        prepare(module(), said, LaunchConfig(local_size=(8, 1, 1)), TGLLP)
    with pytest.raises(LaunchError, match="local_size is missing"):
        prepare(module(), None, LaunchConfig(), TGLLP)
    with pytest.raises(LaunchError, match="exceed the limit of 16777216 threads"):
        prepare(module(), None, LaunchConfig(groups=(1 << 20, 1 << 20, 1), local_size=(8, 1, 1)), TGLLP)


def test_kernels_are_chosen_by_name():
    program = Module(kernels=(*module(name="one").kernels, *module(name="two").kernels))
    assert choose_kernel(program, "two").name == "two"
    with pytest.raises(LaunchError, match="'two'"):
        choose_kernel(program, "twoo")
    with pytest.raises(LaunchError, match="several kernels"):
        choose_kernel(program, None)


# Without ze_info.

NAMED = (("local_id_x", UW, 8, 32), ("a", F, 1, 64), ("p", UQ, 1, 72), ("n", UD, 1, 80), ("local_size", UD, 3, 84))


def by_name(program, args, **more):
    return prepare(program, None, LaunchConfig(local_size=(8, 1, 1), args=args, **more), TGLLP)


def test_inputs_are_filled_by_name():
    args = {"a": ValueArg(np.array(2), typed=False), "p": BUFFER, "n": ValueArg(np.array(9), typed=False), "t": BUFFER}
    prepared = by_name(module(*NAMED, surfaces=(("t", 96),)), args)
    payload = prepared.dispatch.payload((0, 0, 0), 0)
    assert np.frombuffer(payload[32:48], np.uint16).tolist() == list(range(8))
    assert np.frombuffer(payload[64:68], np.float32)[0] == 2
    assert prepared.dispatch.memory.find(int(np.frombuffer(payload[72:80], np.uint64)[0]))[0].name == "`p`"
    assert np.frombuffer(payload[80:100], np.uint32).tolist() == [9, 8, 1, 1, 0]
    assert prepared.dispatch.surfaces[0].name == "`t`"


def test_binding_table_entries_have_a_name_too():
    prepared = by_name(module(), {"bti(4)": BUFFER})
    assert prepared.dispatch.surfaces[4].name == "`bti(4)`"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"a": BUFFER}, "no argument for .input p (offset=72 size=8)"),
        ({"a": BUFFER, "q": BUFFER}, "no .input 'q'; its inputs are"),
        ({"locl_size": BUFFER}, "did you mean 'local_size'?"),
        ((BUFFER,), "has 3 inputs (a, p, n), got 1 arguments"),
        ({"a": BUFFER, "p": BUFFER, "n": BUFFER}, "has 4 bytes; the address of a buffer needs 8"),
        (
            {"a": SamplerArg(), "p": BUFFER, "n": LocalArg(4)},
            ".input a is a general variable; an argument of kind sampler does not fit",
        ),
    ],
)
def test_inputs_that_cannot_be_filled_are_named(args, words):
    with pytest.raises(LaunchError) as error:
        by_name(module(*NAMED), args)
    assert words in error.value.message


def test_a_dump_without_ze_info_takes_its_arguments_in_order():
    ids = [(f"V{40 + n}", W, 8, 32 + 32 * n) for n in range(3)]
    rest = [("V38", UD, 8, 128), ("V67", UQ, 1, 160), ("V34", DF, 1, 168), ("V46", UD, 1, 176), ("V39", UD, 3, 180)]
    program = module(*((n, t, 16, o) for n, t, _, o in ids), *rest)
    prepared = by_name(program, (BUFFER, ValueArg(np.array(0.5), typed=False)), global_offset=(7, 0, 0))
    payload = prepared.dispatch.payload((0, 0, 0), 0)
    assert np.frombuffer(payload[32:48], np.uint16).tolist() == list(range(8))
    assert np.frombuffer(payload[128:152], np.uint32).tolist() == [7, 0, 0, 8, 1, 1]
    assert np.frombuffer(payload[168:176], np.float64)[0] == 0.5
    assert np.frombuffer(payload[180:192], np.uint32).tolist() == [8, 1, 1]
    assert prepared.dispatch.surfaces[0].name == "argument 0"
