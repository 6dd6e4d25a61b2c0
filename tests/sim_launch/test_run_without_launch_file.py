"""``visa-lsp run`` without a launch file: what is taken, what is said of it, and the launch file that ``--init`` writes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from corpus import place
from tiers import first

from visa_lsp.app.assemble import assemble_text
from visa_lsp.cli.main import main
from visa_lsp.lsp.jobs.run_process import perform

EXAMPLES = Path(__file__).parents[2] / "examples"
DUMP = "OCL_asm0123456789abcdef_simd32_entry_0001.visaasm"
SOURCE = """\
constant float TABLE[4] = {1.0f, 2.5f, 3.5f, 9.0f};
kernel void squares(global int *out, global const int *in, int n) {
  int i = get_global_id(0);
  if (i < n) out[i] = in[i] * in[i];
}
kernel void scale(global float *y, global const float *x, float a) {
  int i = get_global_id(0);
  y[i] = a * x[i] + TABLE[i & 3];
}
"""


@pytest.fixture
def run(here, run):
    return partial(run, "run")


def axpy(text: str = "saxpy.visaasm", info: str = "axpy.zeinfo.yaml") -> None:
    folder = place("run/TGLLP/axpy")
    shutil.copy(folder / "saxpy.visaasm", text)
    if info:
        shutil.copy(folder / f"axpy{info[info.index('.') :]}", info)


def test_a_text_runs_and_what_is_assumed_is_printed(printed):
    axpy()
    lines = printed("saxpy.visaasm").splitlines()
    assert [line.strip() for line in lines if "assumed: " in line] == [
        "assumed: the ze_info is that of axpy.zeinfo.yaml, for kernel 'saxpy'",
        "assumed: platform: TGLLP, the default",
        "assumed: groups: [3, 1, 1]",
        "assumed: local_size: [32, 1, 1], one thread of SIMD32",
        "assumed: argument 0 (y): a buffer of 96 float32: 0, 1, 2, ...",
        "assumed: argument 1 (x): a buffer of 96 float32: 0, 1, 2, ...",
        "assumed: argument 2 (a): 1.5, as float32",
        "assumed: argument 3 (n): 96, the number of work items, as int32",
    ]
    assert "  arg y (argument 0): float32 96: 0.0, 2.5, 5.0, 7.5, 10.0, 12.5, 15.0, 17.5, ..." in lines
    assert not [line for line in lines if line.startswith("  note:")]  # nothing is given twice


def test_json_has_what_is_assumed_and_the_launch_file_that_says_it(printed):
    axpy()
    report = json.loads(printed("saxpy.visaasm", "--format", "json"))
    assert report["assumed"][1] == "platform: TGLLP, the default"
    Path("saxpy.launch.yaml").write_text(report["launch_text"])
    again = json.loads(printed("saxpy.visaasm", "--format", "json"))
    assert (again["assumed"], again["buffers"]) == ([], report["buffers"])
    assert "launch_text" not in again


@pytest.mark.parametrize("name", first(1, [DUMP, "OCL_asm0123456789abcdef_simd32_saxpy.isaasm", "anything.visaasm"]))
@pytest.mark.parametrize("info", ["axpy.zeinfo.yaml", "z.zebin", ""])
def test_a_dumped_text_is_known_by_what_is_in_it(printed, name, info):
    axpy(name, info)
    if info == "z.zebin":
        Path(info).rename("z")  # as ocloc calls it where it is told no more
    out = printed(name)
    expected = {"axpy.zeinfo.yaml": "that of axpy.zeinfo.yaml", "z.zebin": "that of z", "": "inferred from the program"}
    assert f"assumed: the ze_info is {expected[info]}" in out
    assert ("of the zebin" in out) is (info == "z.zebin")
    assert "): float32 96: 0.0, " in out


def test_a_text_of_another_simd_size_than_its_program_is_told(printed):
    axpy()
    text = Path("axpy.zeinfo.yaml").read_text()
    Path("axpy.zeinfo.yaml").write_text(text.replace("simd_size:       32", "simd_size:       16"))
    shutil.copy("saxpy.visaasm", "OCL_asm0_simd16_entry_0001.visaasm")
    note = "the text is SIMD32, but the ze_info of axpy.zeinfo.yaml has simd_size 16"
    assert note in printed("saxpy.visaasm")
    Path("better.zeinfo.yaml").write_text(text)
    out = printed("saxpy.visaasm")
    assert note not in out
    assert "better.zeinfo.yaml" in out


def test_a_ze_info_of_the_texts_own_name_is_meant_even_if_it_is_damaged(refused):
    axpy()
    Path("saxpy.zeinfo.yaml").write_text("kernels: [")
    assert refused("saxpy.visaasm").startswith("saxpy.zeinfo.yaml:1:")
    Path("axpy.zeinfo.yaml").unlink()
    Path("saxpy.zeinfo.yaml").write_text("version: '1.20'\nkernels: []\n")
    assert "saxpy.zeinfo.yaml' " in refused("saxpy.visaasm")


def test_a_text_written_by_hand_goes_by_its_names(printed):
    shutil.copy(EXAMPLES / "saxpy.visaasm", "lone.visaasm")
    printed("--init", "--expect", "lone.visaasm")
    assert "x: {buffer: {dtype: " in Path("lone.launch.yaml").read_text()
    printed("lone.visaasm")


def test_init_writes_the_launch_file_once(printed, refused, run):
    axpy()
    out = printed("--init", "saxpy.visaasm")
    assert out.startswith("saxpy.launch.yaml, saxpy.odd.launch.yaml: ")
    text = Path("saxpy.launch.yaml").read_text()
    assert "# argument 3 (n): 96, the number of work items, as int32\n" in text
    assert "expect" not in text
    out = printed("saxpy.visaasm")
    assert out.startswith("saxpy.launch.yaml: kernel saxpy")
    assert "\nsaxpy.odd.launch.yaml: kernel saxpy" in out
    assert out.endswith("2 launches: 2 passed, 0 failed\n")
    answer = perform(Path("saxpy.visaasm").read_text(), "saxpy.visaasm", {})
    assert (answer["ok"], [one["launch"] for one in answer["launches"]]) == (
        True,
        ["saxpy.launch.yaml", "saxpy.odd.launch.yaml"],
    )
    assert "saxpy.launch.yaml: exists already" in refused("--init", "saxpy.visaasm")
    assert Path("saxpy.launch.yaml").read_text() == text
    report = json.loads(printed("--init", "saxpy.visaasm", "--launch", "other.yaml", "--format", "json"))
    assert (report["ok"], report["written"], report["launch_text"]) == (True, ["other.yaml", "other.odd.yaml"], text)
    refused("--expect", "saxpy.visaasm")
    assert "): float32 79: 0.0, " in printed("saxpy.odd.launch.yaml")
    printed("other.odd.yaml")


def test_init_with_expect_writes_what_the_run_has_changed(printed, refused):
    axpy()
    assert "note: written: saxpy.launch.yaml, saxpy.arg0.npy" in printed("--init", "--expect", "saxpy.visaasm")
    assert Path("saxpy.launch.yaml").read_text().endswith("expect:\n  - {arg: 0, npy: saxpy.arg0.npy}\n")
    assert np.load("saxpy.arg0.npy")[:4].tolist() == [0, 2.5, 5, 7.5]
    assert "expect arg 0: holds" in printed("saxpy.visaasm")
    Path("saxpy.launch.yaml").unlink()
    assert "saxpy.arg0.npy: exists already" in refused("--init", "--expect", "saxpy.visaasm")
    assert not Path("saxpy.launch.yaml").exists()


def test_nothing_is_expected_of_a_run_with_faults(printed):
    axpy()
    text = Path("saxpy.visaasm").read_text()
    Path("saxpy.visaasm").write_text(
        text.replace("gather4_scaled.R (M1, 16) T6 0x0:ud", "gather4_scaled.R (M1, 16) T6 0x7fffff00:ud")
    )
    assert Path("saxpy.visaasm").read_text() != text
    assert "saxpy.launch.yaml is not written" in printed("--init", "--expect", "saxpy.visaasm", status=1)
    assert not Path("saxpy.launch.yaml").exists()


def test_functions_alone_do_not_run(refused):
    shutil.copy(place("run/TGLLP/deep") / "up.visaasm", "up.visaasm")
    assert refused("up.visaasm").startswith("up.visaasm: no kernel found, only functions (up)")


def test_data_that_no_zebin_has_is_zeros_and_is_said(printed):
    folder = place("run/TGLLP/lookup")
    shutil.copy(folder / "lut.visaasm", "lut.visaasm")
    shutil.copy(folder / "lookup.zeinfo.yaml", "lookup.zeinfo.yaml")
    words = "data WAVE, STEP: 65536 zero bytes each, because no zebin in the folder has the data of the program"
    assert f"assumed: {words}" in printed("lut.visaasm")
    shutil.copy(folder / "lookup.zebin", "lookup.zebin")
    out = printed("lut.visaasm")
    assert "assumed: data" not in out
    assert "(scale): a buffer of 4 int32" in out  # a trial has the data too
    assert "platform: TGLLP, that of the zebin" in out


def test_asm_packs_the_ze_info_of_the_folder(here, capsys):
    axpy()
    assert main(["asm", "--zebin", "saxpy.visaasm"]) == 0
    assert "using the ze_info of axpy.zeinfo.yaml" in capsys.readouterr().err
    Path("axpy.zeinfo.yaml").unlink()
    assert main(["asm", "--zebin", "saxpy.visaasm"]) == 0  # not from the zebin that is written
    assert "warning: kernel 'saxpy'" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("ocloc") is None, reason="needs ocloc")
@pytest.mark.parametrize("where", first(1, [("tgllp", "TGLLP"), ("acm-g10", "DG2"), ("pvc", "PVCXT")]), ids=" ".join)
def test_a_fresh_dump_folder_runs_as_it_is(printed, tmp_path, where):
    device, platform = where
    Path("k.cl").write_text(SOURCE)
    words = f"ocloc compile -file k.cl -device {device} --format zebin -output z -output_no_suffix".split()
    dumping = {**os.environ, "IGC_ShaderDumpEnable": "1", "IGC_DumpToCurrentDir": "1"}
    done = subprocess.run(words, env=dumping, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout
    texts = sorted(tmp_path.glob("OCL_asm*_entry_*.visaasm"))
    found = {}
    for path in texts:
        report = json.loads(printed(path.name, "--format", "json"))
        assert f" {path.name.partition('_simd')[0]}." in report["assumed"][0]
        assert report["assumed"][1].startswith(f"platform: {platform}, ")
        found[report["kernel"]] = report["buffers"][0]["head"][:4]
    assert found == {"squares": [0, 1, 4, 9], "scale": [1.0, 4.0, 6.5, 13.5]}


MATRIX = """.version 4.1
.kernel "m"
.kernel_attr Target="3d"
.kernel_attr SimdSize=16
.decl A v_type=G type=uq num_elts=1 align=qword
.decl D v_type=G type=f num_elts=128 align=wordx32
.decl S v_type=G type=ud num_elts=128 align=wordx32
.decl T v_type=G type=ud num_elts=64 align=wordx32
.input A offset=96 size=8
    dpas.bf.bf.8.8 (M1, LANES) D.0 %null.0 S.0 T(0,0)
    ret (M1, 1)
"""


@pytest.mark.parametrize(("lanes", "platform", "other"), [(16, "PVCXT", "DG2"), (8, "DG2", "PVC")])
@pytest.mark.parametrize("ending", ["visaasm", "isa"])
def test_the_platform_is_one_for_which_the_assembler_reports_nothing(run, capsys, lanes, platform, other, ending):
    path = Path(f"m.{ending}")
    text = MATRIX.replace("LANES", str(lanes))
    path.write_bytes(text.encode() if ending == "visaasm" else assemble_text(text).data)
    assert f"kernel m on {platform}," in run(path, "--engine", "interp")[1]
    if ending == "visaasm":
        status, out, err = run(path, "--platform", other)
        assert (status, out) == (1, "")
        assert main(["asm", str(path), "--platform", other, "-o", "x.isa"]) == 1
        assert err.splitlines() == [line for line in capsys.readouterr().err.splitlines() if ": error " in line]


def test_eight_lanes_are_refused_where_registers_are_long(printed, refused):
    Path("m.visaasm").write_text(
        MATRIX.replace("SimdSize=16", "SimdSize=8").replace(
            "    dpas.bf.bf.8.8 (M1, LANES) D.0 %null.0 S.0 T(0,0)\n", ""
        )
    )
    said = refused("m.visaasm", "--platform", "BMG")
    assert said == "platform: 'm' has threads of 8 lanes, but BMG supports 16 or 32; text and platform do not fit\n"
    printed("m.visaasm", "--engine", "interp")


def test_a_text_with_errors_is_refused_as_the_assembler_does(refused):
    text = MATRIX.replace("    dpas.bf.bf.8.8 (M1, LANES) D.0 %null.0 S.0 T(0,0)\n", "")
    Path("m.visaasm").write_text(text.replace(".input A", ".input T offset=64 size=256\n.input A"))
    assert "V123" in refused("m.visaasm", status=1)
