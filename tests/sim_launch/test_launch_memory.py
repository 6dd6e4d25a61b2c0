"""What a launch file says of a buffer beside its contents, and of work items that do not fill the last group."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.program import module_of_text
from visa_lsp.app.launch.runner import RunOptions, run_text
from visa_lsp.isa.platforms import platform_named
from visa_lsp.program.payload import BindingTableEntry, ExecutionEnv, KernelInfo, PayloadArgument
from visa_lsp.sim.launch.config import BufferArg, ImageArg, LaunchConfig, LaunchError, NullArg
from visa_lsp.sim.launch.prepare import prepare

TEXT = """.version 4.1
.kernel "copy"
.decl local_id_x v_type=G type=uw num_elts=16 align=GRF
.decl at v_type=G type=ud num_elts=16 align=GRF
.decl value v_type=G type=ud num_elts=16 align=GRF
.decl enqueued_local_size v_type=G type=ud num_elts=3 align=dword
.decl local_size v_type=G type=ud num_elts=3 align=dword
.decl global_size v_type=G type=ud num_elts=3 align=dword
.decl source v_type=T num_elts=1
.decl target v_type=T num_elts=1
.input local_id_x offset=32 size=32
.input enqueued_local_size offset=64 size=12
.input local_size offset=76 size=12
.input global_size offset=96 size=12
.input source offset=108 size=4
.input target offset=112 size=4
.kernel_attr Target="cm"
.kernel_attr SimdSize=16
    mov (M1, 16) at(0,0)<1> local_id_x(0,0)<1;1,0>
    mad (M1, 16) at(0,0)<1> %group_id_x(0,0)<0;1,0> enqueued_local_size(0,0)<0;1,0> at(0,0)<1;1,0>
    shl (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x2:ud
BODY    ret (M1, 1)
"""
COPY = """    gather4_scaled.R (M1, 16) source 0x0:ud at.0 value.0
    scatter4_scaled.R (M1, 16) target 0x0:ud at.0 value.0
"""
SIZES = """    mov (M1, 16) value(0,0)<1> local_size(0,0)<0;1,0>
    scatter4_scaled.R (M1, 16) source 0x0:ud at.0 value.0
    mov (M1, 16) value(0,0)<1> global_size(0,0)<0;1,0>
    scatter4_scaled.R (M1, 16) target 0x0:ud at.0 value.0
"""
BOTH = "dtype: uint32, shape: [40], init: zeros"
PLAIN = f"{{buffer: {{{BOTH}}}}}"


def run(source, target=PLAIN, size="groups: [2]\nlocal_size: [16]", body=COPY, checks="all", path="copy.visaasm"):
    where = Path(path)
    launch = parse_launch(f"{size}\nargs:\n  source: {source}\n  target: {target}\n", where)
    return run_text(TEXT.replace("BODY", body), launch, RunOptions(where, engine="interp", checks=checks))


def kinds(report):
    return [fault.kind.value for fault in report.faults]


def arg(text):
    return parse_launch(f"groups: [1]\nargs:\n  - {text}\n", Path("x.launch.yaml")).config.args[0]


def test_a_null_buffer_has_no_memory():
    assert isinstance(arg("{buffer: null}"), NullArg)
    report = run("{buffer: null}")
    assert kinds(report) == ["out-of-bounds"]
    assert "to which nothing is bound" in report.faults[0].message
    assert [buffer.arg for buffer in report.buffers] == ["target"]


def test_a_null_buffer_that_nobody_touches_is_no_fault():
    body = "    scatter4_scaled.R (M1, 16) target 0x0:ud at.0 at.0\n"
    report = run("{buffer: null}", body=body)
    assert report.ok
    assert report.buffers[0].array[:32].tolist() == [4 * i for i in range(32)]


def test_expecting_something_of_a_null_buffer_is_an_error():
    text = f"groups: [1]\nlocal_size: [16]\nargs: {{source: {{buffer: null}}, target: {PLAIN}}}\nexpect: [{{arg: source, values: [1]}}]\n"
    launch = parse_launch(text, Path("x.launch.yaml"))
    with pytest.raises(LaunchError, match="is not a buffer"):
        run_text(TEXT.replace("BODY", COPY), launch, RunOptions(Path("x.visaasm"), engine="interp"))


def test_undefined_contents_are_followed():
    found = arg("{buffer: {dtype: uint32, shape: [40], init: undefined}}")
    assert isinstance(found, BufferArg)
    assert found.undefined
    report = run("{buffer: {dtype: uint32, shape: [40], init: undefined}}")
    assert kinds(report) == ["uninitialised-read"]
    assert "bytes 0-3, element 0 of `source` were never written" in report.faults[0].message


def test_undefined_contents_that_are_written_first_are_defined():
    body = "    scatter4_scaled.R (M1, 16) source 0x0:ud at.0 at.0\n" + COPY
    assert run("{buffer: {dtype: uint32, shape: [40], init: undefined}}", body=body).ok


@pytest.mark.parametrize("where", ["inside", "beside"])
@pytest.mark.parametrize(
    ("of_source", "of_target", "found"),
    [
        ("readonly", "writeonly", []),
        ("readwrite", "readwrite", []),
        ("writeonly", "readwrite", ["wrong-access"]),
        ("readwrite", "readonly", ["wrong-access"]),
    ],
)
def test_access_is_watched(where, of_source, of_target, found):
    form = "{{buffer: {{{0}, access: {1}}}}}" if where == "inside" else "{{buffer: {{{0}}}, access: {1}}}"
    rising = BOTH.replace("zeros", "arange")
    report = run(form.format(rising, of_source), form.format(BOTH, of_target))
    assert kinds(report) == found
    if found:
        word = "reads" if of_source == "writeonly" else "writes"
        assert report.faults[0].message.startswith(f"{word} bytes 0-3, element 0 of `")


def test_an_image_has_access_and_contents_too():
    found = arg("{image: {dtype: float32, shape: [4, 4, 4], init: undefined}, access: readonly}")
    assert isinstance(found, ImageArg)
    assert (found.undefined, found.access) == (True, "readonly")


@pytest.mark.parametrize(("total", "local"), [(33, 16), (40, 16), (31, 32), (16, 16)])
def test_work_items_that_do_not_fill_the_last_group(total, local):
    if total < local:
        with pytest.raises(LaunchError, match="larger than global_size"):
            run(PLAIN, size=f"global_size: [{total}]\nlocal_size: [{local}]")
        return
    report = run(PLAIN, size=f"global_size: [{total}]\nlocal_size: [{local}]", body=SIZES)
    assert report.ok
    sizes, totals = (buffer.array for buffer in report.buffers)
    wanted = [min(local, total - i // local * local) for i in range(total)]
    assert sizes.tolist() == wanted + [0] * (40 - total)
    assert totals.tolist() == [total] * total + [0] * (40 - total)
    assert report.result.groups == -(-total // local)


def test_barriers_wait_for_the_threads_that_a_group_has():
    body = "    barrier\n" + COPY
    report = run(PLAIN.replace("zeros", "arange"), size="global_size: [36]\nlocal_size: [32]", body=body)
    assert report.ok
    assert (report.result.groups, report.result.threads) == (2, 3)
    assert report.buffers[1].array.tolist() == [*range(36), 0, 0, 0, 0]


def test_a_size_needs_that_of_a_group():
    with pytest.raises(LaunchError, match="local_size is missing"):
        run(PLAIN, size="global_size: [33]")


def test_required_groups_must_be_full():
    module, platform = program()
    info = KernelInfo("copy", ExecutionEnv(16, required_work_group_size=(16, 1, 1)))
    with pytest.raises(LaunchError, match="which do not divide"):
        prepare(module, info, LaunchConfig(global_size=(33, 1, 1)), platform)
    assert prepare(module, info, LaunchConfig(global_size=(32, 1, 1)), platform).geometry.groups == (2, 1, 1)
    access = PayloadArgument("arg_bypointer", 0, 8, 0, "stateless", "global", "readonly")
    info = KernelInfo("copy", ExecutionEnv(16), (access,))
    for given, wanted in (("", "readonly"), ("readwrite", "readwrite")):
        config = LaunchConfig(local_size=(16, 1, 1), args=(BufferArg(np.zeros(4, np.int32), access=given),))
        (buffer,) = prepare(module, info, config, platform).dispatch.memory.buffers
        assert buffer.access == wanted


def test_a_null_buffer_is_address_zero_where_ze_info_places_it():
    module, platform = program()
    pointer = PayloadArgument("arg_bypointer", 0, 8, 0, "stateless", "global", "readwrite")
    address = PayloadArgument("buffer_address", 8, 8, 0)
    info = KernelInfo("copy", ExecutionEnv(16), (pointer, address), bindings=(BindingTableEntry(0, 0),))
    prepared = prepare(module, info, LaunchConfig(local_size=(16, 1, 1), args=(NullArg(),)), platform)
    assert prepared.dispatch.payload((0, 0, 0), 0)[64:80] == bytes(16)
    assert prepared.dispatch.surfaces == {}


def program():
    platform = platform_named("TGLLP")
    return module_of_text(TEXT.replace("BODY", COPY), None, platform, []), platform
