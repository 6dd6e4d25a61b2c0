"""The command ``stats``: figures of texts and objects, limits, baselines, exit status."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING

import corpus
import pytest

from visa_lsp.cli.main import main
from visa_lsp.codec.encode import encode
from visa_lsp.lsp.jobs.command_answers import stats as figures
from visa_lsp.sema.lower import resolve_text

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """.version 4.1
.kernel "k"
.decl A v_type=G type=d num_elts=16 align=GRF
.decl B v_type=G type=d num_elts=16 align=GRF
.decl C v_type=G type=d num_elts=16 align=GRF
.decl P1 v_type=P num_elts=16
.decl OUT v_type=T num_elts=1
.input A offset=64 size=64
.kernel_attr SimdSize=16
.kernel_attr Target="3d"
    mov (M1, 16) B(0,0)<1> 0x3:d
again:
    add (M1, 16) C(0,0)<1> A(0,0)<1;1,0> B(0,0)<1;1,0>
    cmp.lt (M1, 16) P1 C(0,0)<1;1,0> 0x0:d
    (P1) goto (M1, 16) again
    oword_st (4) OUT 0x0:ud C.0
    ret (M1, 1)
"""
R0 = 1


@pytest.fixture
def stats(run, here):
    (here / "k.visaasm").write_text(TEXT)
    return functools.partial(run, "stats")


def kernels(answer: tuple[int, str, str]) -> list[dict]:
    status, out, err = answer
    assert (status, err) == (0, "")
    return json.loads(out)["kernels"]


def test_json_has_the_figures_of_a_kernel(stats):
    [kernel] = kernels(stats("k.visaasm", "--format", "json"))
    assert kernel["name"] == "k"
    assert kernel["by_family"] == {"arith": 1, "compare": 1, "data_port": 1, "flow": 1, "mov": 1, "simd_flow": 1}
    counts = ("instructions", "variables", "blocks", "loops", "sends", "grf_bytes")
    assert [kernel[key] for key in counts] == [6, 3, 3, 1, 1, 32]
    assert (kernel["pressure"]["max"], kernel["pressure"]["line"]) == (6 + R0, 13)
    assert kernel["pressure"]["variables"] == ["A", "B", "C"]
    assert kernel["pressure"]["live"][2] == {"name": "C", "takes": 2.0, "first": 13, "last": 15}
    assert (kernel["flags"]["max"], kernel["flags"]["line"], kernel["flags"]["variables"]) == (1, 14, ["P1"])
    assert kernel["addresses"]["max"] == 0
    assert kernel["lines"] == [
        {"line": line, "pressure": R0 + rows, "loop_depth": depth}
        for line, rows, depth in ((11, 4, 0), (12, 4, 1), (13, 6, 1), (14, 6, 1), (15, 6, 1), (16, 0, 0), (17, 0, 0))
    ]


def test_an_object_has_the_figures_and_lines_of_the_text_that_dis_prints(stats, tmp_path):
    (tmp_path / "k.isa").write_bytes(encode(resolve_text(TEXT).module))
    assert main(["dis", "k.isa", "-o", "again.visaasm"]) == 0
    of_object, of_text = (kernels(stats(name, "--format", "json"))[0] for name in ("k.isa", "again.visaasm"))
    assert of_object | {"path": ""} == of_text | {"path": ""}


def test_the_size_of_a_row_is_the_platforms_else_that_of_the_launch_file_else_what_the_text_shows(stats, tmp_path):
    (tmp_path / "pvc.launch.yaml").write_text("platform: PVCXT\nfile: k.visaasm\ngroups: [1, 1, 1]\nargs: []\n")
    (tmp_path / "said.visaasm").write_text("// GRF size: 64 bytes (said)\n" + TEXT)
    sizes = [
        kernels(stats(*words, "--format", "json"))[0]["grf_bytes"]
        for words in (
            ("k.visaasm",),
            ("k.visaasm", "--platform", "PVCXT"),
            ("k.visaasm", "--launch", "pvc.launch.yaml"),
            ("k.visaasm", "--launch", "pvc.launch.yaml", "--platform", "DG2"),
            ("said.visaasm",),
        )
    ]
    assert sizes == [32, 64, 64, 32, 64]


def test_a_launch_file_with_a_mistake_is_told_with_its_place(stats, tmp_path):
    (tmp_path / "l.launch.yaml").write_text("platfrom: TGLLP\n")
    status, out, err = stats("k.visaasm", "--launch", "l.launch.yaml")
    assert (status, out) == (2, "")
    assert "l.launch.yaml:1:1: " in err


def test_one_kernel_is_a_page_and_several_are_a_table(stats, tmp_path):
    status, out, _ = stats("k.visaasm")
    assert status == 0
    assert "needs up to 7 GRF rows of 32 bytes at line 13, 1 flag of 16 bits, 0 address elements" in out
    assert "heaviest lines of the innermost loops: 13 (7 rows, depth 1)" in out
    (tmp_path / "other.visaasm").write_text(TEXT.replace('"k"', '"other"'))
    status, out, _ = stats("k.visaasm", "other.visaasm")
    head, *rows = out.splitlines()
    assert head.split()[:3] == ["kernel", "instructions", "sends"]
    assert [row.split() for row in rows] == [
        [name, "6", "1", "3", "1", "7", "13", "1", f"{name}.visaasm"] for name in ("k", "other")
    ]


def test_a_text_with_errors_is_told_as_asm_tells_it_and_others_are_still_counted(stats, tmp_path):
    (tmp_path / "bad.visaasm").write_text(TEXT.replace("0x3:d", "V99(0,0)<1;1,0>"))
    status, out, err = stats("bad.visaasm", "k.visaasm", "--format", "json")
    assert status == 1
    assert err.startswith("bad.visaasm:11:28: error V101 undeclared-name")
    assert [one["path"] for one in json.loads(out)["kernels"]] == ["k.visaasm"]


def test_standard_input_is_an_input(stats):
    [kernel] = kernels(stats("-", "--format", "json", "--stdin-filename", "in.visaasm", stdin=TEXT.encode()))
    assert kernel["path"] == "in.visaasm"


def test_max_pressure_fails_above_it(stats):
    assert stats("k.visaasm", "--max-pressure", "7")[0] == 0
    status, out, err = stats("k.visaasm", "--max-pressure", "6", "--format", "json")
    assert status == 1
    assert err == "k.visaasm:13: kernel 'k' needs 7 GRF rows, more than --max-pressure 6\n"
    assert json.loads(out)["kernels"]


def test_a_baseline_fails_what_has_become_worse_and_nothing_else(stats, tmp_path):
    assert stats("k.visaasm", "--write-baseline", "known.json")[0] == 0
    known = json.loads((tmp_path / "known.json").read_text())
    assert known["kernels"] == [{"path": "k.visaasm", "kernel": "k", "pressure": 7}]
    assert stats("k.visaasm", "--baseline", "known.json")[0] == 0
    (tmp_path / "new.visaasm").write_text(TEXT.replace('"k"', '"new"'))
    assert stats("new.visaasm", "k.visaasm", "--baseline", "known.json")[0] == 0
    heavier = TEXT.replace("C v_type=G type=d num_elts=16", "C v_type=G type=d num_elts=64")
    (tmp_path / "k.visaasm").write_text(heavier)
    status, _, err = stats("k.visaasm", "--baseline", "known.json")
    assert (status, err) == (1, "k.visaasm:12: kernel 'k' needs 13 GRF rows, 6 more than the 7 of known.json\n")
    assert stats("k.visaasm", "--baseline", "known.json", "--write-baseline")[0] == 0
    assert stats("k.visaasm", "--baseline", "known.json")[0] == 0


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"version": 1, "kernels": [1]}', '{"version": 1, "findings": []}', "\0"]
)
def test_a_file_that_is_no_baseline_is_refused(stats, tmp_path, text):
    (tmp_path / "known.json").write_text(text)
    status, out, err = stats("k.visaasm", "--baseline", "known.json")
    assert (status, out) == (2, "")
    assert "known.json: " in err


def test_a_baseline_is_never_written_over_an_input(stats, tmp_path):
    (tmp_path / "input.json").write_text(TEXT)
    assert stats("input.json", "--write-baseline", "input.json")[0] == 2
    assert (tmp_path / "input.json").read_text() == TEXT


def test_lives_are_the_lines_where_a_variable_counts_with_its_aliases():
    text = TEXT.replace(".decl P1", ".decl H v_type=G type=w num_elts=32 alias=<B, 0>\n.decl P1").replace(
        "A(0,0)<1;1,0> B(", "A(0,0)<1;1,0> C("
    )
    text = text.replace("again:\n", "    mov (M1, 16) C(0,0)<1> H(0,0)<2;1,0>\nagain:\n")
    [found] = figures(text, None, {"platform": "TGLLP", "lives": "all"})["kernels"]
    line = text.splitlines().index("again:") + 1
    assert {one["name"]: (one["aliases"], one["takes"], one["runs"]) for one in found["lives"]} == {
        "A": ([], 2.0, (((line - 2), line + 3),)),
        "B": (["H"], 2.0, ((line - 2, line - 2),)),
        "C": ([], 2.0, ((line - 1, line + 3),)),
    }
    assert "lives" not in figures(text, None, {})["kernels"][0]


@pytest.mark.parametrize("path", corpus.reference_texts()[::12], ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_texts_and_their_objects_have_the_same_figures(stats, path: Path):
    platform = path.parent.name
    pair = [stats(str(p), "--platform", platform, "--format", "json") for p in (path, path.with_suffix(".isa"))]
    (of_text,), (of_object,) = (json.loads(out)["kernels"] for _, out, _ in pair)
    shown = ("name", "instructions", "blocks", "loops", "sends", "by_family")
    assert [of_text[key] for key in shown] == [of_object[key] for key in shown]
    assert of_text["pressure"]["max"] == of_object["pressure"]["max"]
    assert [line["pressure"] for line in of_text["lines"]] == [line["pressure"] for line in of_object["lines"]]


def test_a_folder_stands_for_its_texts_and_objects(stats, tmp_path):
    (tmp_path / "d/deep").mkdir(parents=True)
    for name in ("d/a.visaasm", "d/deep/b.visaasm"):
        (tmp_path / name).write_text(TEXT)
    assert [kernel["path"] for kernel in kernels(stats("d", "--format", "json"))] == [
        "d/a.visaasm",
        "d/deep/b.visaasm",
    ]
