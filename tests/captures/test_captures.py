"""Captures of real enqueues: each runs and gives what the device gave; ``import`` writes what ``run`` runs."""

import json
import shutil

import numpy as np
import pytest
from capture_files import archive_of, names, pickled, saved, unpack, write_runner
from tiers import first

from visa_lsp.app.captures.folder import CaptureFolder
from visa_lsp.app.captures.importing import import_capture, is_capture, read_capture
from visa_lsp.app.captures.program_files import options_of
from visa_lsp.app.captures.tensors import read_tensor
from visa_lsp.app.compile.build import build_source, read_source
from visa_lsp.app.errors import UserError
from visa_lsp.app.launch.opencl import CompilerWords
from visa_lsp.cli.main import main

needs_compiler = pytest.mark.skipif(shutil.which("ocloc") is None, reason="ocloc is not installed")
_TOOL = CompilerWords("", None, None)
# Expectations of the twelve captures, which have six programs: buffers, local memory, structs, images, vectors, atomics.
_EXPECTED = {"axpy": [0], "sums": [1], "move": [0], "smooth": [1], "turn": [1, 2], "count": [1]}


def _run(capsys, *words):
    status = main(["run", *map(str, words), "--format", "json"])
    return status, json.loads(capsys.readouterr().out)


@needs_compiler
@pytest.mark.parametrize("name", first(1, names()))
def test_a_recorded_enqueue_gives_what_the_device_gave(name, tmp_path, capsys):
    status, report = _run(capsys, unpack(name, tmp_path))
    assert [e["arg"] for e in report["expectations"] if e["ok"]] == _EXPECTED[name.rpartition("_")[2]]
    assert (status, report["faults"]) == (0, [])


def test_twelve_enqueues_of_six_programs_are_read(tmp_path):
    captures = [read_capture(str(unpack(name, tmp_path))) for name in names()]
    assert len(captures) == 12
    assert {capture.kernel for capture in captures} == set(_EXPECTED)
    assert captures[1].local_size is None
    assert captures[1].global_offset == (32, 0, 0)
    assert all(is_capture(capture.name) for capture in captures)


@needs_compiler
def test_import_writes_a_launch_that_runs_and_overwrites_nothing(printed, refused, tmp_path, capsys):
    capture = unpack("Enqueue_1_axpy", tmp_path)
    target = tmp_path / "out"
    done = json.loads(printed("import", str(capture), "-o", str(target), "--format", "json"))
    assert done["kernel"] == "axpy"
    assert done["launch"] == str(target / "axpy.launch.yaml")
    assert sorted(done["written"]) == sorted(str(path) for path in target.iterdir())
    assert done["assumed"] == ["local_size: [96, 1, 1]; the driver chose one, which is not recorded"]
    assert (target / "kernel.cl").read_bytes() == (capture / "kernel.cl").read_bytes().rstrip(b"\0")
    assert "  - {value: -1.0, dtype: float32}  # a\n" in (target / "axpy.launch.yaml").read_text()
    status, report = _run(capsys, target / "axpy.launch.yaml")
    assert status == 0
    assert [e["ok"] for e in report["expectations"]] == [True]
    assert "exists already, and import overwrites no file" in refused("import", str(capture), "-o", str(target))


@needs_compiler
def test_a_corrupted_result_leads_to_its_store(printed, tmp_path, capsys):
    capture = unpack("Enqueue_2_sums", tmp_path)
    result = next((capture / "Post").glob("*_Arg_1_*"))
    data = np.frombuffer(result.read_bytes(), np.uint32).copy()
    data[2] += 1
    result.write_bytes(data.tobytes())
    out = printed("run", str(capture), status=1)
    assert f"[2]: got {data[2] - 1}, expected {data[2]}" in out
    words = f"visa-lsp import {capture} -o DIR; visa-lsp why DIR/sums.launch.yaml --value 'out[2]'"
    assert f"for the cause: {words}\n" in out
    assert main(["import", str(capture), "-o", str(tmp_path / "DIR")]) == 0
    capsys.readouterr()
    assert main(["why", str(tmp_path / "DIR" / "sums.launch.yaml"), "--value", "out[2]", "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["nodes"][0]["text"].startswith("scatter_scaled")


@needs_compiler
def test_spirv_and_tensors_of_triton_run_and_agree(tmp_path, capsys):
    source = unpack("Enqueue_0_axpy", tmp_path) / "kernel.cl"
    zebin = build_source(read_source(str(source)), "tgllp").zebin
    spirv = next(section.data for section in zebin.sections if section.name == ".spv")
    capture = write_runner(tmp_path / "runner", spirv)
    status, report = _run(capsys, capture)
    assert status == 0
    assert [(e["arg"], e["ok"]) for e in report["expectations"]] == [(0, True)]
    assert report["buffers"][0]["shape"] == [4, 16]
    (capture / "cpp_outs_0.pt").unlink()
    assert any("no output of SPIRVRunner" in note for note in read_capture(str(capture)).notes)


@pytest.mark.full
@needs_compiler
def test_a_device_binary_runs_by_its_spirv_or_its_visa(tmp_path, capsys):
    capture, compiled = unpack("Enqueue_0_axpy", tmp_path), tmp_path / "compiled"
    assert main(["compile", str(capture / "kernel.cl"), "--device", "DG2", "-o", str(compiled)]) == 0
    assert (
        main(
            ["asm", "--platform", "DG2", "--zebin", str(compiled / "axpy.visaasm"), "-o", str(compiled / "visa.zebin")]
        )
        == 0
    )
    capsys.readouterr()
    (capture / "kernel.cl").unlink()
    for name, *options in (("kernel.zebin",), ("visa.zebin", "--platform", "DG2")):
        shutil.copy(compiled / name, capture / "DeviceBinary0.bin")
        status, report = _run(capsys, capture, *options)
        assert (status, report["platform"], name) == (0, "DG2", name)


@needs_compiler
def test_options_of_the_command_line_do_not_apply_where_a_capture_has_them(refused, tmp_path):
    capture = unpack("Enqueue_0_axpy", tmp_path)
    for option in (["--init"], ["--launch", "x.yaml"]):
        assert f"{option[0]} does not apply to a capture" in refused("run", str(capture), *option)


def test_an_argument_without_its_kind_is_told_by_the_kernel(tmp_path, monkeypatch):
    """The launch file by the ze_info alone, without a compiler."""
    from visa_lsp.app.captures import importing
    from visa_lsp.app.captures.program_files import ProgramFiles

    ze_info = """
version: '1.20'
kernels:
  - name: axpy
    execution_env: {grf_count: 128, simd_size: 16, required_work_group_size: [32, 1, 1]}
    payload_arguments:
      - {arg_type: arg_bypointer, offset: 0, size: 0, arg_index: 0, addrmode: stateful, addrspace: global, access_type: readwrite}
      - {arg_type: arg_bypointer, offset: 0, size: 0, arg_index: 1, addrmode: stateful, addrspace: global, access_type: readonly}
      - {arg_type: arg_byvalue, offset: 0, size: 4, arg_index: 2}
      - {arg_type: arg_bypointer, offset: 8, size: 8, arg_index: 3, addrmode: stateful, addrspace: global, access_type: readwrite}
"""
    capture = unpack("Enqueue_0_axpy", tmp_path)
    (capture / "Argument2.bin").write_bytes(b"\1\2\3\4")
    (capture / "Argument3.bin").write_bytes(bytes(8))
    files = ProgramFiles({"axpy.visaasm": b""}, "kernel.zebin", ze_info, "DG2")
    monkeypatch.setattr(importing, "program_files", lambda *_: files)
    made = import_capture(read_capture(str(capture)), tmp_path / "out", _TOOL, None)
    assert made.launch.read_text() == (
        "kernel: axpy\nzebin: kernel.zebin\nlocal_size: [64, 1, 1]\ngroups: [4, 1, 1]\nplatform: DG2\nargs:\n"
        "  - {buffer: {npy: axpy.arg0.npy}}\n  - {buffer: {npy: axpy.arg1.npy}}\n"
        "  - {values: [1, 2, 3, 4], dtype: uint8}\n  - {buffer: null}\n"
        "expect:\n  - {arg: 0, npy: axpy.arg0.expected.npy}\n"
    )
    (capture / "worksizes.txt").write_text("100 \n0 \n0 \n")
    # The recorder leaves what it knew of an earlier kernel at the same address.
    (capture / "Sampler0.txt").write_text("CL_SAMPLER_FILTER_MODE = CL_FILTER_LINEAR")
    (capture / "Local1.txt").write_text("64")
    (capture / "Argument4.bin").write_bytes(bytes(4))
    made = import_capture(read_capture(str(capture)), tmp_path / "more", _TOOL, None)
    assert "local_size: [32, 1, 1]\nglobal_size: [100, 1, 1]\n" in made.launch.read_text()
    assert "args:\n  - {buffer: {npy: axpy.arg0.npy}}\n  - {buffer: {npy: axpy.arg1.npy}}\n" in made.launch.read_text()
    assert made.notes == ("the kernel takes 4 arguments; the records of arguments from 4 on are ignored",)


def test_build_options_reach_the_compiler_only_if_they_name_no_file(tmp_path):
    capture = unpack("Enqueue_0_axpy", tmp_path)
    options = (
        '-cl-std=CL3.0 -D N=4 -DWORDS="a b" -I "/some where" -I/x -include /etc/passwd -x spir -ze-opt-level=2 -w @file'
    )
    (capture / "buildOptions.txt").write_text(options)
    passed, notes = options_of(read_capture(str(capture)))
    assert passed == '-cl-std=CL3.0 -D N=4 -DWORDS="a b" -ze-opt-level=2 -w'
    assert notes == ("build options that are not passed to the compiler: -include /etc/passwd @file",)


def test_tensors_are_read_as_the_runner_copies_them(tmp_path):
    def tensor(data):
        (tmp_path / "t.pt").write_bytes(data)
        return read_tensor(CaptureFolder(str(tmp_path)), "t.pt")

    array = np.arange(24, dtype=np.int32).reshape(4, 6)
    whole = tensor(saved(array))
    assert (whole.dtype, whole.shape, whole.data) == ("int32", (4, 6), array.tobytes())
    part = tensor(saved(array, size=(2, 6), strides=(6, 1), offset=6))
    assert part.data == array[1:3].tobytes()
    turned = tensor(saved(array, size=(6, 4), strides=(1, 6)))
    assert (turned.is_contiguous, turned.shape, turned.data) == (False, (24,), array.tobytes())
    one = tensor(saved(array, size=(1, 24), strides=(77, 1)))
    assert (one.is_contiguous, one.shape) == (True, (1, 24))
    number = tensor(saved(array[0, :1], size=(), strides=()))
    assert (number.shape, number.data) == ((), array[0, :1].tobytes())
    none = tensor(saved(array[:0]))
    assert (none.shape, none.data) == ((0, 6), b"")
    # The form of the types that have no storage of their own; the memo and short opcodes as newer protocols have them.
    described = pickled(array.view(np.int64), storage="UntypedStorage").replace(b"_v2", b"_v3")
    described = described.replace(b")RtR.", b")Rctorch\nbfloat16\ntR.")
    files = {"x/data.pkl": described, "x/data/0": array.tobytes()}
    assert tensor(archive_of(files)).dtype == "uint16"
    for word in (b"complex32", b"object"):
        bad = archive_of({**files, "x/data.pkl": described.replace(b"bfloat16", word)})
        with pytest.raises(UserError, match="describes no tensor of numbers"):
            tensor(bad)


def test_blue_first_becomes_red_first(tmp_path, monkeypatch):
    from visa_lsp.app.captures import importing
    from visa_lsp.app.captures.program_files import ProgramFiles

    capture = unpack("Enqueue_6_smooth", tmp_path)
    for name in ("Image_MetaData_0.txt", "Image_MetaData_1.txt"):
        (capture / name).write_text((capture / name).read_text().replace("4277", "4278"))
    ze_info = """
kernels:
  - name: smooth
    execution_env: {grf_count: 128, simd_size: 16}
    payload_arguments:
      - {arg_type: arg_bypointer, offset: 0, size: 0, arg_index: 0, addrmode: stateful, addrspace: image, access_type: readonly}
      - {arg_type: arg_bypointer, offset: 0, size: 0, arg_index: 1, addrmode: stateful, addrspace: image, access_type: writeonly}
      - {arg_type: arg_bypointer, offset: 0, size: 0, arg_index: 2, addrmode: stateful, addrspace: sampler, access_type: readwrite}
"""
    monkeypatch.setattr(importing, "program_files", lambda *_: ProgramFiles({}, "kernel.zebin", ze_info, None))
    launch = import_capture(read_capture(str(capture)), tmp_path / "out", _TOOL, None).launch
    before = np.frombuffer(next((capture / "Pre").glob("*_Arg_0_*")).read_bytes(), np.uint8).reshape(8, 16, 4)
    assert (np.load(tmp_path / "out" / "smooth.arg0.npy") == before[..., [2, 1, 0, 3]]).all()
    assert "{sampler: {address: clamp_to_edge, filter: nearest, normalized: false}}" in launch.read_text()
    assert "- {arg: 1, npy: smooth.arg1.expected.npy, atol: 1}" in launch.read_text()
