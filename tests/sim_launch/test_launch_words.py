"""What a launch is told before it runs: platforms that do not fit, values of another kind, threads that are not there."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.program import DEFAULT
from visa_lsp.app.launch.program_info import platform_told
from visa_lsp.app.launch.runner import RunOptions, run_text
from visa_lsp.cli.main import main
from visa_lsp.isa.platforms import platform_named
from visa_lsp.sim.launch.config import LaunchError
from visa_lsp.zeinfo.pack import pack_zebin

SLOTS = Path(__file__).with_name("private_slots")
TEXT = """.version 4.1
.kernel "k"
.decl local_id_x v_type=G type=uw num_elts=16 align=GRF
.decl n v_type=G type=d num_elts=1
.decl x v_type=G type=f num_elts=1
.decl at v_type=G type=ud num_elts=16 align=GRF
.decl y v_type=G type=d num_elts=16 align=GRF
.decl out v_type=T num_elts=1
.input local_id_x offset=32 size=32
.input out offset=64 size=4
.input n offset=68 size=4
.input x offset=72 size=4
.kernel_attr Target="cm"
.kernel_attr SimdSize=16
    mov (M1, 16) at(0,0)<1> local_id_x(0,0)<1;1,0>
    shl (M1, 16) at(0,0)<1> at(0,0)<1;1,0> 0x2:ud
    mov (M1, 16) y(0,0)<1> n(0,0)<0;1,0>
    scatter4_scaled.R (M1, 16) out 0x0:ud at.0 y.0
    ret (M1, 1)
"""
ZE_INFO = """---
version: '1.20'
kernels:
  - name: k
    execution_env: {simd_size: 16}
    payload_arguments:
      - {arg_type: arg_bypointer, offset: 0, size: 0, arg_index: 0, addrmode: stateful, addrspace: global, access_type: readwrite}
      - {arg_type: arg_byvalue, offset: 4, size: 4, arg_index: 1}
      - {arg_type: arg_byvalue, offset: 8, size: 4, arg_index: 2}
    per_thread_payload_arguments:
      - {arg_type: local_id, offset: 0, size: 32}
    binding_table_indices:
      - {bti_value: 0, arg_index: 0}
kernels_misc_info:
  - name: k
    args_info:
      - {index: 0, name: out, address_qualifier: __global, access_qualifier: NONE, type_name: 'int*;8', type_qualifiers: NONE}
      - {index: 1, name: n, address_qualifier: __private, access_qualifier: NONE, type_name: 'int;4', type_qualifiers: NONE}
      - {index: 2, name: x, address_qualifier: __private, access_qualifier: NONE, type_name: 'float;4', type_qualifiers: NONE}
...
"""
OUT = "{buffer: {dtype: int32, shape: [16]}}"
HEAD = "groups: [1, 1, 1]\nlocal_size: [16, 1, 1]\n"


@pytest.fixture
def launched(tmp_path):
    """Run ``TEXT`` with what is given beside groups and local size; with ze_info unless ``named``."""

    def run(rest, *, named=False, head=HEAD):
        path = tmp_path / "k.visaasm"
        path.write_text(TEXT)
        if not named:
            path.with_suffix(".zeinfo.yaml").write_text(ZE_INFO)
        launch = parse_launch(head + rest, tmp_path / "k.launch.yaml")
        return run_text(TEXT, launch, RunOptions(path))

    return run


def test_a_value_of_the_right_kind_is_taken(launched):
    report = launched(f"args: [{OUT}, {{value: 36, dtype: int32}}, {{value: 1.5, dtype: float32}}]")
    assert report.buffers[0].array[0] == 36


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize(
    ("n", "x", "message"),
    [
        ("{value: 36, dtype: float32}", "{value: 1.0}", "is of type int32, the value has dtype float32"),
        ("{value: 36.5}", "{value: 1.0}", "is of type int32, but the value is not a whole number"),
        ("{value: 36}", "{value: 1, dtype: int32}", "is of type float32, the value has dtype int32"),
    ],
)
def test_a_value_of_another_kind_is_refused(launched, named, n, x, message):
    args = f"{{out: {OUT}, n: {n}, x: {x}}}" if named else f"[{OUT}, {n}, {x}]"
    with pytest.raises(LaunchError, match=message):
        launched(f"args: {args}", named=named)


def test_too_few_arguments_list_those_that_are_expected(launched):
    with pytest.raises(LaunchError) as caught:
        launched(f"args: [{OUT}]")
    assert "takes 3 arguments, got 1; expected: 0 out: int*, 1 n: int, 2 x: float" in str(caught.value)


def test_missing_names_are_listed_all(launched):
    with pytest.raises(LaunchError, match=r"lacks arguments 1 n: int, 2 x: float"):
        launched(f"args: {{out: {OUT}}}")


def test_inputs_that_nothing_is_given_for_are_listed_all(launched):
    with pytest.raises(LaunchError, match=r"\.input n \(offset=68 size=4\), x \(offset=72 size=4\)"):
        launched(f"args: {{out: {OUT}}}", named=True)


@pytest.mark.parametrize("who", ["99,0", "0,99", "0:0:1,0"])
def test_a_trace_of_a_thread_that_is_not_there_is_refused(tmp_path, capsys, who):
    (tmp_path / "k.visaasm").write_text(TEXT)
    (tmp_path / "k.launch.yaml").write_text(f"{HEAD}args: {{out: {OUT}, n: {{value: 1}}, x: {{value: 1.0}}}}\n")
    assert main(["run", str(tmp_path / "k.visaasm"), "--trace", who]) == 2
    assert f"--trace {who}: no such thread" in capsys.readouterr().err


def test_a_function_in_two_files_names_both(tmp_path):
    text = (SLOTS / "pvc.visaasm").read_text()
    for name in ("a", "b"):
        (tmp_path / f"{name}.visaasm").write_text((SLOTS / "pvc.id.visaasm").read_text())
    launch = parse_launch(
        f"{HEAD}platform: pvc\nfiles: [a.visaasm, b.visaasm]\nargs: [{OUT}]", tmp_path / "k.launch.yaml"
    )
    with pytest.raises(LaunchError) as caught:
        run_text(text, launch, RunOptions(tmp_path / "k.visaasm"))
    assert str(tmp_path / "a.visaasm") in str(caught.value)
    assert str(tmp_path / "b.visaasm") in str(caught.value)


@pytest.mark.parametrize(
    ("text", "ids", "ze_info", "platform", "message"),
    [
        ("pvc", "pvc", "pvc", "tgllp", "TGLLP has no lsc_store"),
        ("pvc", "pvc", "pvc", "dg2", "registers of 64 bytes"),
        ("icllp", "icllp", "bdw", "pvc", "threads of 8 lanes, but PVCXT supports 16 or 32"),
        ("acm-g10", "acm-g10", "acm-g10", "pvc", "threads of 8 lanes, but PVCXT supports 16 or 32"),
        ("xe_hp_sdv", "xe_hp_sdv", "xe_hp_sdv", "tgllp", "reads the thread's number from %sr0"),
    ],
)
def test_a_text_that_does_not_fit_its_platform_is_told_before_the_run(text, ids, ze_info, platform, message):
    body = f"{HEAD}files: [{ids}.id.visaasm]\nze_info: {ze_info}.zeinfo.yaml\nplatform: {platform}\nargs: [{OUT}]\n"
    launch = parse_launch(body, SLOTS / "x.launch.yaml")
    with pytest.raises(LaunchError, match=message) as caught:
        run_text((SLOTS / f"{text}.visaasm").read_text(), launch, RunOptions(SLOTS / "x.visaasm", budget=1000))
    assert "text and platform do not fit" in str(caught.value)
    assert caught.value.place.endswith(":5:11")


def zebin(family):
    """Return a zebin whose only note is that of a product family."""
    version = struct.pack("<3I", 8, 5, 4) + b"IntelGT\0" + b"1.20\0\0\0\0"
    product = struct.pack("<3I", 8, 8, 1) + b"IntelGT\0" + struct.pack("<Q", family)
    packed = pack_zebin("k", b"", ZE_INFO)
    assert version in packed
    return packed.replace(version, product)


@pytest.mark.parametrize(
    ("family", "platform"),
    [(16, "BDW"), (18, "SKL"), (19, "SKL"), (23, "BXT"), (26, "ICLLP"), (29, "TGLLP"), (1210, "TGLLP"), (31, "TGLLP"), (1250, "XeHP_SDV"), (1270, "DG2"), (1271, "PVCXT"), (1274, "BMG"), (7, "TGLLP")],
)  # fmt: skip
def test_the_platform_is_that_of_the_zebin(tmp_path, family, platform):
    (tmp_path / "z.zebin").write_bytes(zebin(family))
    launch = parse_launch(f"{HEAD}zebin: z.zebin\n", tmp_path / "k.launch.yaml")
    assert (platform_told(launch, RunOptions()) or DEFAULT).name == platform


def test_a_zebin_beside_the_program_says_the_platform_too(tmp_path):
    (tmp_path / "p.zebin").write_bytes(zebin(1271))
    launch = parse_launch(HEAD, tmp_path / "k.launch.yaml")
    assert platform_told(launch, RunOptions(tmp_path / "p.visaasm")) is platform_named("pvc")


def test_a_zebin_of_another_platform_is_refused_with_its_place(tmp_path):
    (tmp_path / "z.zebin").write_bytes(zebin(1271))
    launch = parse_launch(f"{HEAD}zebin: z.zebin\nplatform: tgllp\n", tmp_path / "k.launch.yaml")
    with pytest.raises(LaunchError, match="but the zebin is for PVCXT") as caught:
        platform_told(launch, RunOptions())
    assert caught.value.place.endswith("k.launch.yaml:4:11")


def test_source_lines_of_the_text_are_reported_and_not_counted(tmp_path, capsys):
    text = TEXT.replace("    mov (M1, 16) at", '    FILE "k.cl"\n    LOC 2\n    mov (M1, 16) at').replace(
        "    scatter4", "    LOC 3\n    scatter4"
    )
    (tmp_path / "k.visaasm").write_text(text)
    (tmp_path / "k.cl").write_text("kernel void k() {\n  int at;\n  out[id] = n;\n}\n")
    args = "{out: {buffer: {dtype: int32, shape: [15]}}, n: {value: 1}, x: {value: 1.0}}"
    (tmp_path / "k.launch.yaml").write_text(f"{HEAD}args: {args}\n")
    assert main(["run", str(tmp_path / "k.visaasm")]) == 1
    assert "    k.cl:3: out[id] = n;\n" in capsys.readouterr().out
    assert main(["run", str(tmp_path / "k.visaasm"), "--format", "json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert report["faults"][0]["source"] == "k.cl:3"
    assert report["faults"][0]["source_excerpt"] == "out[id] = n;"
    assert report["opcodes"] == {"mov": 2, "ret": 1, "scatter4_scaled": 1, "shl": 1}
    assert report["instructions"] == 5
