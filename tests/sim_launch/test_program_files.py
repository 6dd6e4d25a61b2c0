"""Programs of several files: functions and variables of file scope are linked, on the command line and by launch files;
what is recorded instead of carried out stands in both reports.
"""

from __future__ import annotations

import json
import shutil
from functools import partial
from pathlib import Path

import pytest
from msgspec import structs

from visa_lsp.app.assemble import assemble_text
from visa_lsp.app.launch import zebin
from visa_lsp.app.launch.file import parse_launch
from visa_lsp.app.launch.program import link_variables, merge_modules
from visa_lsp.app.launch.ready_run import run_ready
from visa_lsp.app.launch.runner import RunOptions, ready
from visa_lsp.isa import types as ty
from visa_lsp.program.model import FileVariable
from visa_lsp.sema.lower import resolve_text
from visa_lsp.zeinfo.zebin import Section, Zebin

MAIN = """.version 4.1
.kernel "main"
.decl at v_type=G type=ud num_elts=16 align=GRF
.decl value v_type=G type=ud num_elts=16 align=GRF
.decl cell v_type=G type=ud num_elts=16 align=GRF
.decl callee v_type=G type=uq num_elts=1 align=GRF
.decl argument v_type=G type=ud num_elts=16 alias=<%arg, 0>
.decl result v_type=G type=ud num_elts=16 alias=<%retval, 0>
.decl local_id_x v_type=G type=uw num_elts=16 align=GRF
.decl out v_type=T num_elts=1
.input local_id_x offset=32 size=32
.input out offset=64 size=4
.kernel_attr Target="cm"
.kernel_attr SimdSize=16
    mov (M1, 16) value(0,0)<1> local_id_x(0,0)<1;1,0>
    shl (M1, 16) at(0,0)<1> value(0,0)<1;1,0> 0x2:ud
    mov (M1, 16) argument(0,0)<1> value(0,0)<1;1,0>
{}    mov (M1, 16) value(0,0)<1> result(0,0)<1;1,0>
    scatter4_scaled.R (M1, 16) out 0x0:ud at.0 value.0
    ret (M1, 1)
"""
FUNCTION = """.version 4.1
.global_function "{}"
.decl argument v_type=G type=ud num_elts=16 alias=<%arg, 0>
.decl result v_type=G type=ud num_elts=16 alias=<%retval, 0>
.decl cell v_type=G type=ud num_elts=16 align=GRF
    {}
    fret (M1, 1)
"""
ARGS = "groups: [1]\nlocal_size: [16]\nargs: {out: {buffer: {dtype: uint32, shape: [16]}}}\n"
CALL = "    fcall (M1, 16) twice 1 1\n"


@pytest.fixture
def run(here, run):
    Path("main.visaasm").write_text(MAIN.format(CALL))
    Path("twice.visaasm").write_text(
        FUNCTION.format("twice", "shl (M1, 16) result(0,0)<1> argument(0,0)<1;1,0> 0x1:ud")
    )
    Path("main.launch.yaml").write_text(ARGS + f"expect: [{{arg: out, values: {[2 * i for i in range(16)]}}}]\n")
    return partial(run, "run")


def test_files_after_the_first_belong_to_its_program(printed):
    printed("main.visaasm", "twice.visaasm")
    printed("twice.visaasm", "main.visaasm")  # the launch file says whose program it is
    out = printed("main.visaasm", "twice.visaasm", "--launch", "main.launch.yaml")
    assert "launches" not in out
    assert "note: function" not in out  # what is named is not looked for


def test_a_function_that_is_called_is_found_in_the_folder(printed, refused):
    assert "note: function 'twice' is linked from twice.visaasm" in printed("main.visaasm")
    Path("twice.visaasm").rename("OCL_asm0_simd16_f0.visaasm")
    Path("other.visaasm").write_text(FUNCTION.format("unused", "nonsense"))
    assert "from OCL_asm0_simd16_f0.visaasm" in printed("main.visaasm")
    shutil.copy("OCL_asm0_simd16_f0.visaasm", "again.visaasm")
    err = refused("main.visaasm")
    assert err.startswith(
        "main.launch.yaml:1:1: function 'twice', which the kernel calls, is in two files of its folder"
    )
    assert "OCL_asm0_simd16_f0.visaasm and again.visaasm" in err
    assert "files: [OCL_asm0_simd16_f0.visaasm]" in err
    launch = Path("main.launch.yaml")
    launch.write_text(f"files: [again.visaasm]\n{launch.read_text()}")
    printed("main.visaasm")
    Path("again.visaasm").unlink()
    launch.write_text(launch.read_text().replace("files: [again.visaasm]\n", ""))
    Path("OCL_asm0_simd16_f0.visaasm").unlink()
    assert "fcall: the program has no function twice" in printed("main.visaasm", status=1)


def test_without_a_launch_file_the_text_with_the_kernel_is_the_program(printed):
    Path("main.launch.yaml").unlink()
    out = printed("twice.visaasm", "main.visaasm")
    assert out.startswith("main.visaasm: kernel ")
    assert "launches" not in out
    assert "note: function" not in out  # it is given, not looked for


def test_a_function_is_found_in_an_object_of_the_folder(printed, refused):
    Path("dump.isa").write_bytes(assemble_text(Path("twice.visaasm").read_text()).data)
    Path("twice.visaasm").unlink()
    Path("broken.isa").write_bytes(b"CISA twice")
    assert "from dump.isa" in printed("main.visaasm")
    shutil.copy("dump.isa", "more.isa")
    assert "dump.isa and more.isa" in refused("main.visaasm")


def test_a_file_of_the_program_that_is_broken_has_its_own_place(refused):
    Path("twice.visaasm").write_text(Path("twice.visaasm").read_text().replace("shl", "shll"))
    assert refused("main.visaasm", "twice.visaasm", status=1).startswith("twice.visaasm:6:5: error")


def test_faults_of_functions_name_their_own_file(printed):
    text = FUNCTION.format("twice", "add (M1, 16) result(0,0)<1> argument(0,0)<1;1,0> cell(0,0)<1;1,0>")
    Path("twice.visaasm").write_text(text)
    (fault,) = json.loads(printed("main.visaasm", "twice.visaasm", "--format", "json", status=1))["faults"]
    assert (fault["kind"], fault["kernel"], fault["place"]) == ("uninitialised-read", "twice", "twice.visaasm:6")
    assert fault["message"].endswith("; the value is stored by instruction 5, line 20")
    assert fault["excerpt"].startswith("add (M1, 16) result")
    assert (fault["other_place"], fault["other"]) == ("twice.visaasm:5", "the declaration of cell, line 5")


def test_a_function_by_its_address(printed):
    call = '    faddr "twice" callee(0,0)<1>\n    ifcall (M1, 16) callee(0,0)<0;1,0> 1 1\n'
    Path("main.visaasm").write_text(MAIN.format(call))
    printed("main.visaasm", "twice.visaasm")


def test_the_argument_is_destroyed_by_the_call(printed):
    text = MAIN.format(CALL).replace("value(0,0)<1> result(0,0)<1;1,0>", "value(0,0)<1> argument(0,0)<1;1,0>")
    Path("main.visaasm").write_text(text)
    (fault,) = json.loads(printed("main.visaasm", "twice.visaasm", "--format", "json", status=1))["faults"]
    assert fault["kind"] == "uninitialised-read"
    assert "of argument were never written" in fault["message"]


def with_file_variable(text, linkage):
    """Return the program of a text, ``cell`` of each body being a variable of file scope."""
    module = resolve_text(text, "TGLLP").module

    def changed(body):
        variables = tuple(
            structs.replace(v, alias_index=7, alias_scope=1) if body.string(v.name_index) == "cell" else v
            for v in body.variables
        )
        return structs.replace(body, variables=variables, variable_relocs=((7, 0),))

    return structs.replace(
        module,
        variables=(FileVariable(linkage, "shared", ty.UD, 5, 16),),
        kernels=tuple(changed(b) for b in module.kernels),
        functions=tuple(changed(b) for b in module.functions),
    )


@pytest.mark.parametrize(("linkage", "expected"), [(2, 1005), (1, 0)])
def test_variables_of_file_scope_are_the_threads(linkage, expected):
    """A global variable is one for both files, a static one is each file's own."""
    main = MAIN.format("    mov (M1, 16) cell(0,0)<1> 0x5:ud\n" + CALL).replace(
        "result(0,0)<1;1,0>", "cell(0,0)<1;1,0>"
    )
    function = FUNCTION.format("twice", "add (M1, 16) cell(0,0)<1> cell(0,0)<1;1,0> 0x3e8:ud")
    program = merge_modules(
        link_variables(with_file_variable(main, linkage)), with_file_variable(function, 0 if linkage == 2 else 1)
    )
    assert len(program.variables) == (1 if linkage == 2 else 2)
    launch = parse_launch(ARGS, Path("main.launch.yaml"))
    report = run_ready(ready(program, launch, RunOptions(engine="interp", checks="none")))
    assert report.faults == ()
    assert report.buffers[0].array.tolist() == [expected or 5] * 16


def test_recorded_messages_stand_in_both_reports(printed):
    sends = "    raw_sends.1.1.1.1 (M1, 16) 0x12:ud 0x3:ud value.0 at.0 cell.0\n"
    Path("main.visaasm").write_text(MAIN.format(sends + CALL))
    lines = printed("main.visaasm", "twice.visaasm").splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("  message: "))
    assert lines[at] == (
        "  message: raw_sends is recorded only, the descriptor of a message written by hand is not decoded; "
        "sent 1 time, first by main: group (0, 0, 0), thread 0, instruction 3, line 18"
    )
    assert lines[at + 1].startswith("    main.visaasm:18: raw_sends.")
    assert "    src0: 00000000 01000000 02000000 03000000 04000000 05000000 06000000 07000000" in lines
    (message,) = json.loads(printed("main.visaasm", "twice.visaasm", "--format", "json"))["messages"]
    assert (message["kind"], message["count"], message["line"], message["place"]) == (
        "raw_sends",
        1,
        18,
        "main.visaasm:18",
    )
    payload = {part["operand"]: part for part in message["payload"]}
    assert payload["src1"]["bytes"] == 32
    assert bytes.fromhex(payload["src1"]["head"])[4:8] == (4).to_bytes(4, "little")


def test_no_word_is_told_of_a_file_that_is_no_visa_text(run):
    Path("secret.txt").write_text("root:x:0\n")
    Path("main.launch.yaml").write_text("file: secret.txt\ngroups: [1]\nlocal_size: [1]\nargs: []\n")
    status, out, err = run("main.launch.yaml")
    assert status == 1
    assert "secret.txt: not a vISA text" in out + err
    assert "root" not in out + err


@pytest.mark.parametrize(
    ("names", "bases"),
    [
        ((".bss.const",), ["const_base"]),
        ((".data.const", ".bss.const"), ["const_base", ""]),
        ((".data.const", ".bss.global"), ["const_base", "global_base"]),
    ],
)
def test_zeros_are_the_programs_data_if_it_has_no_other(monkeypatch, names, bases):
    sections = tuple(Section(name, 1, 0, 16, 0, bytes(16)) for name in names)
    monkeypatch.setattr(zebin, "_read", lambda *_: Zebin(0, 0, 0, sections, (), (), ()))
    assert [section.base for section in zebin.program_data(b"", Path("x.zebin"))[1]] == bases
