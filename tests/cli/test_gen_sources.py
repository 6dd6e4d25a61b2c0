"""``gen K.cl``: compiled first, and each kernel shown with its source; what the compiler says; several devices."""

import json
import shutil

import pytest
from fake_tools import fake_tool

needs_both = pytest.mark.skipif(
    shutil.which("ocloc") is None or shutil.which("GenX_IR") is None,
    reason="ocloc or GenX_IR is not installed: apt-get install intel-opencl-icd libigc-tools",
)
SOURCE = "kernel void scale(global float *x, float f) {\n  x[get_global_id(0)] *= f;\n}\n"


@pytest.fixture
def folder(here):
    (here / "k.cl").write_text(SOURCE)
    return here


@needs_both
def test_each_kernel_is_an_object_with_the_lines_of_its_text(run, folder):
    (folder / "k.cl").write_text(SOURCE + SOURCE.replace("scale", "other").replace("*=", "+="))
    status, out, err = run("gen", "k.cl", "--format", "json")
    assert (status, err) == (0, "")
    values = json.loads(out)
    assert [value["kernels"][0]["name"] for value in values] == ["scale", "other"]
    assert {value["platform"] for value in values} == {"TGLLP"}
    assert all(value["kernels"][0]["lines"] for value in values)
    assert [path.name for path in folder.iterdir()] == ["k.cl"]


@needs_both
def test_the_page_has_the_source_tied_to_gen(printed, folder):
    _ = printed("gen", "k.cl", "--platform", "DG2", "--html", "k.html")
    page = (folder / "k.html").read_text()
    gen = page[page.index('<div class="column gen">') :]
    assert '<div class="column source">' in page
    assert 'data-s="2"' in gen
    assert "on DG2" not in page
    assert "<p>DG2 " in page


@pytest.mark.full
@needs_both
def test_several_devices_make_a_table(printed, folder):
    out = printed("gen", "k.cl", "--device", "tgllp,DG2", "--device", "pvc")
    rows = [line.split() for line in out.splitlines()[-4:]]
    assert rows[0][:3] == ["kernel", "device", "SIMD"]
    assert [row[:2] for row in rows[1:]] == [["scale", "tgllp"], ["scale", "dg2"], ["scale", "pvc"]]
    figures = [line for line in out.splitlines() if line.startswith("kernel scale on ")]
    assert [int(row[3]) for row in rows[1:]] == [int(line.split(": ")[1].split()[0]) for line in figures]


@needs_both
def test_a_source_on_standard_input_and_its_options(run, folder):
    (folder / "k.cl").write_text(SOURCE.replace("scale", "NAME"))
    options = ("--stdin-filename", "k.cl", "--compile-options", "-DNAME=called", "--format", "json")
    status, out, err = run("gen", "-", *options, stdin=(folder / "k.cl").read_bytes())
    assert (status, err) == (0, "")
    assert json.loads(out)["kernels"][0]["name"] == "called"


def test_what_the_compiler_says_ends_with_1(run, folder):
    said = "1:2:3: error: use of undeclared identifier 'x'\\nBuild failed with error code: -11"
    ocloc = fake_tool(folder / "bin", f'print("{said}"); sys.exit(245)', "ocloc")
    status, out, err = run("gen", "k.cl", "--ocloc", ocloc)
    assert (status, out) == (1, "")
    assert err.startswith("k.cl:2:3: error V930 compiler-error: ")
