"""The command ``compile`` and ``run K.cl``: files, findings in every format, devices; with a fake compiler and the real one."""

import json
import re
import shutil
from pathlib import Path

import pytest
from corpus import BESIDE, HAS_MORE, OWN
from fake_tools import fake_tool
from tiers import first

from visa_lsp.app.check.formats.table import FORMATS
from visa_lsp.app.compile.build import build_source, read_source
from visa_lsp.app.rule_registry import rule_called
from visa_lsp.toolchain.ocloc import CompilerCall, compile_source

needs_compiler = pytest.mark.skipif(
    shutil.which("ocloc") is None, reason="ocloc is not installed: apt-get install intel-opencl-icd"
)
SOURCE = "kernel void scale(global float *x, float f) {\n  x[get_global_id(0)] *= f;\n}\n"
DEVICES = {"TGLLP": "tgllp", "DG2": "acm-g10", "PVCXT": "pvc"}


@pytest.fixture
def folder(here):
    (here / "k.cl").write_text(SOURCE)
    return here


@pytest.fixture
def compiler(folder):
    """Return a compiler that says these words and ends with this status; its zebin is that of a real one."""

    def make(words="", status=245, more=""):
        return fake_tool(folder / "bin", f"print({words!r}); {more}\nsys.exit({status})", "ocloc")

    return make


# ---- a compiler that is not there, or has a bad day


def test_without_the_compiler_the_way_to_get_it_is_told(run, folder, monkeypatch):
    monkeypatch.setenv("PATH", str(folder))
    for command in ("compile", "run", "gen"):
        status, out, err = run(command, "k.cl")
        assert status == 2
        assert "apt-get install intel-opencl-icd" in out + err


@pytest.mark.parametrize(
    ("more", "seconds", "words"),
    [
        ("time.sleep(1000)", "1", "the compiler did not end within 1 seconds"),
        ("", "100", "the compiler ended with status 245: unheard of"),
    ],
)
def test_a_compiler_that_fails_is_told_in_words(printed, folder, compiler, more, seconds, words):
    out = printed("compile", "k.cl", "--ocloc", compiler("unheard of", more=more), "--timeout", seconds, status=1)
    assert out == f"k.cl:1:1: error V930 compiler-error: {words}\n"
    assert sorted(path.name for path in folder.iterdir()) == ["bin", "k.cl"]


def test_a_program_with_a_suffix_is_found(folder):
    """Releases since 2025 put ``.bin`` behind the name whatever they are told."""
    tool = fake_tool(
        folder / "bin", "open(sys.argv[sys.argv.index('-output') + 1] + '.bin', 'w').write('zebin')", "ocloc"
    )
    assert compile_source(folder / "k.cl", b"", CompilerCall(tool, "lnl")).program == b"zebin"


@pytest.mark.parametrize(
    ("platform", "device"),
    [
        ("dg2", "dg2"),
        ("DG2", "dg2"),
        ("nvl-hx", "nvl-hx"),
        ("xe2", "bmg"),
        ("lnl-b0", "lnl-b0"),
        ("20.04.4", "20.04.4"),
    ],
)
def test_a_source_is_compiled_for_the_device_of_a_platform(run, folder, compiler, platform, device):
    more = "print(sys.argv[sys.argv.index('-device') + 1])"
    for command in (("run", "k.cl", "--platform"), ("compile", "k.cl", "--device")):
        status, out, err = run(*command, platform, "--ocloc", compiler(more=more))
        assert status != 0
        assert f"with status 245: {device}\n" in out + err


def test_a_source_without_a_kernel_is_told_so(run, folder, compiler):
    (folder / "k.cl").write_text("// nothing\n")
    status, out, _ = run("compile", "k.cl", "--ocloc", compiler())
    assert (status, out.partition("compiler-error: ")[2]) == (
        1,
        "the compiler found no kernel: expected `kernel void`\n",
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "Unrecognized build options: -x\nBuild failed with error code: -11",
            "the compiler does not know the option '-x'",
        ),
        ("Error: Cannot get HW Info for device foo.", "the compiler does not know the device 'foo'"),
    ],
)
def test_an_unknown_device_or_option_is_the_users_mistake(run, folder, compiler, words, said):
    status, out, err = run("compile", "k.cl", "--ocloc", compiler(words))
    assert (status, out) == (2, "")
    assert said in err


LOG = """\
In file included from 1:2:
/somewhere/h.h:7:3: warning: something odd
1:2:5: error: use of undeclared identifier 'get_global_id'
  x[get_global_id(0)] *= f;
    ^
1:1:12: note: declared here
1:1:1: fatal error: too many errors
Build failed with error code: -11
Command was: ocloc compile
"""


def test_messages_stand_at_their_words(printed, folder, compiler):
    out = printed("compile", "k.cl", "--ocloc", compiler(LOG), "--format", "json", status=1)
    found = [
        (f["line"], f["column"], f["end_column"], f["severity"], f["message"]) for f in json.loads(out)[0]["findings"]
    ]
    assert found == [
        (1, 1, 7, "error", "too many errors"),
        (2, 1, 28, "warning", "/somewhere/h.h:7:3: something odd"),
        (2, 5, 18, "error", "use of undeclared identifier 'get_global_id'"),
    ]


def test_a_source_that_is_named_by_its_path_is_the_source(run, folder, compiler):
    """So it is with ``-g``."""
    path = folder / "k.cl"
    words = f"{path}:2:3: error: one\nIn file included from {path}:1:\n/else/h.h:7:1: error: two\nBuild failed"
    _, out, _ = run("compile", "k.cl", "--ocloc", compiler(words), "--format", "concise")
    assert out.splitlines()[:2] == [
        "k.cl:1:1: error V930 compiler-error: /else/h.h:7:1: two",
        "k.cl:2:3: error V930 compiler-error: one",
    ]


@pytest.mark.full
@needs_compiler
def test_messages_stand_at_their_words_whatever_the_options(run, folder):
    (folder / "k.cl").write_text("kernel void k(global int *p) {\n  p[0] = q;\n}\n")
    reports = [run("compile", "k.cl", "--format", "concise", *more) for more in ((), ("--options", "-g"))]
    assert reports[0] == reports[1]
    assert reports[0][1].startswith("k.cl:2:10: error V930")


def test_notes_belong_to_their_error(run, folder, compiler):
    _, out, _ = run("compile", "k.cl", "--ocloc", compiler(LOG), "--format", "full", "--color", "never")
    assert "note: declared here" in out
    assert "1 | kernel void scale" in out


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_of_check_tells_what_the_compiler_says(printed, folder, compiler, name):
    out = printed("compile", "k.cl", "--ocloc", compiler(LOG), "--format", name, status=1)
    assert "too many errors" in out


def test_columns_count_bytes_and_places_beyond_the_text_are_clamped(run, folder, compiler):
    (folder / "k.cl").write_text("/* é */ foo;\n")
    _, out, _ = run(
        "compile", "k.cl", "--ocloc", compiler("1:1:10: error: a\n1:9999:9999: error: b"), "--format", "json"
    )
    places = [(f["line"], f["column"], f["end_column"]) for f in json.loads(out)[0]["findings"]]
    assert places[0] == (1, 9, 12)
    assert places[1][0] == 2


def test_a_fault_in_inline_assembly_is_told_once_with_its_line(run, folder, compiler):
    (folder / "k.cl").write_text('kernel void k(global int *p) {\n  __asm__("frob (M1, 16) %0");\n}\n')
    words = "error: parsing vISA inline assembly failed:\nnear line 2: syntax error, unexpected IDENT\n\nerror: backend compiler failed build.\n"
    more = (
        "[open(f'OCL_asm_simd{n}_k.inline.visaasm', 'w').write('.version 4.1\\nfrob (M1, 16) V1\\n') for n in (8, 16)]"
    )
    _, out, _ = run("compile", "k.cl", "--ocloc", compiler(words * 2, more=more))
    assert out == (
        "k.cl:2:12: error V930 compiler-error: parsing vISA inline assembly failed: syntax error, unexpected IDENT: "
        "`frob (M1, 16) V1`\n"
    )


def test_an_unsupported_sub_group_size_is_reported_at_its_attribute(run, folder, compiler):
    (folder / "k.cl").write_text(
        "// intel_reqd_sub_group_size(8)\n__attribute__((intel_reqd_sub_group_size(16))) kernel void a() {}\n"
        "__attribute__((intel_reqd_sub_group_size(8))) kernel void b() {}\n"
    )
    words = "in kernel 'b': Kernel compiled with required subgroup size 8, which is unsupported on this platform"
    assert run("compile", "k.cl", "--ocloc", compiler(f"error: {words}"))[1] == (
        f"k.cl:3:16: error V930 compiler-error: {words}\n"
    )


def test_rules_of_the_compiler_are_explained(run):
    assert rule_called("compiler-error").code == "V930"
    assert "Authority" in run("explain", "V931")[1]


# ---- the real compiler


@needs_compiler
def test_everything_of_a_program_is_written(run, folder):
    status, out, err = run("compile", "k.cl", "-o", "new/built", "--keep-ir")
    assert (status, err) == (0, "")
    names = {path.name for path in (folder / "new" / "built").iterdir()}
    assert {
        "k.zebin",
        "k.zeinfo.yaml",
        "scale.visaasm",
        "scale.asm",
        "scale.launch.yaml",
        "k.spv",
        "k.optimized.ll",
    } <= names
    assert re.search(r"^scale +tgllp +32 +\d+ +128 +0$", out, re.MULTILINE)
    assert run("run", "new/built/scale.launch.yaml")[0] == 0
    with_lines = (folder / "new" / "built" / "scale.visaasm").read_text()
    assert run("compile", "k.cl", "-o", "plain", "--no-debug-info")[0] == 0
    without = (folder / "plain" / "scale.visaasm").read_text()
    assert [word in text for text in (with_lines, without) for word in ("FILE ", "LOC ")] == [True, True, False, False]
    assert sorted(path.name for path in folder.iterdir()) == ["k.cl", "new", "plain"]


@pytest.mark.full
@needs_compiler
def test_a_launch_file_that_is_there_is_kept_and_a_text_is_replaced(printed, run, folder):
    assert run("compile", "k.cl")[0] == 0
    (folder / "scale.launch.yaml").write_text("mine")
    (folder / "scale.visaasm").write_text("old")
    out = printed("compile", "k.cl")
    assert "scale.launch.yaml exists and is kept" in out
    assert (folder / "scale.launch.yaml").read_text() == "mine"
    assert ".kernel" in (folder / "scale.visaasm").read_text()


@pytest.mark.full
@needs_compiler
def test_several_devices_have_a_folder_each_and_make_a_table(printed, folder):
    out = printed("compile", "k.cl", "-o", "out", "--device", "tgllp,PVCXT", "--device", "acm-g10")
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["acm-g10", "pvc", "tgllp"]
    rows = [line.split() for line in out.splitlines() if line.startswith("scale ")]
    assert [row[1] for row in rows] == ["tgllp", "pvc", "acm-g10"]
    assert all(int(row[3]) > 5 for row in rows)


@pytest.mark.full
@needs_compiler
def test_json_tells_files_kernels_and_assumptions(run, folder):
    status, out, err = run("compile", "k.cl", "missing.cl", "-o", "out", "--device", "tgllp,pvc", "--format", "json")
    first, second, missing = json.loads(out)
    assert (status, err.startswith("visa-lsp: missing.cl: ")) == (2, True)
    assert [first["device"], second["device"], missing["input"]] == ["tgllp", "pvc", "missing.cl"]
    assert sorted(first["written"]) == sorted(str(path) for path in Path("out/tgllp").iterdir())
    assert [kernel["name"] for kernel in first["kernels"]] == ["scale"]
    assert any("scale.launch.yaml" in words for words in first["assumed"])
    assert first["findings"] == []
    again = json.loads(run("compile", "k.cl", "-o", "out/tgllp", "--format", "json")[1])
    assert "is kept" in again[0]["notes"][0]


@needs_compiler
def test_other_reports_for_programs_stand_alone_on_standard_output(run, folder):
    status, out, err = run("compile", "k.cl", "-o", "out", "--format", "jsonl")
    assert (status, out) == (0, "")
    assert "written:" in err


@needs_compiler
def test_options_reach_the_compiler_and_includes_are_found(printed, run, folder):
    (folder / "with blank").mkdir()
    (folder / "with blank" / "h.h").write_text("#ifndef N\n#error no N\n#endif\n")
    (folder / "with blank" / "k.cl").write_text(f'#include "h.h"\n{SOURCE}')
    assert run("compile", "with blank/k.cl", "-o", "out", "--options", "-DN=4")[0] == 0
    out = printed("compile", "with blank/k.cl", "-o", "out", status=1)
    assert out.startswith("with blank/k.cl:1:1: error V930 compiler-error: ")
    assert "h.h:2:2: no N" in out


@needs_compiler
def test_a_source_on_standard_input_is_compiled(run, folder):
    assert run("compile", "-", "-o", "out", stdin=SOURCE.encode())[0] == 0
    assert (folder / "out" / "scale.visaasm").exists()


@needs_compiler
def test_opencl_is_run_as_it_stands(run, folder):
    status, out, err = run("run", "k.cl", "--format", "json")
    assert (status, err) == (0, "")
    assert json.loads(out)["kernel"] == "scale"
    assert sorted(path.name for path in folder.iterdir()) == ["k.cl"]


@needs_compiler
def test_opencl_is_run_as_its_launch_file_says(printed, run, folder):
    (folder / "k.cl").write_text(SOURCE + SOURCE.replace("scale", "other").replace("*=", "+="))
    launch = "kernel: other\nplatform: DG2\ngroups: [1]\nlocal_size: [8]\nargs: [{buffer: {dtype: float32, shape: [8], init: arange}}, {value: 2}]\n"
    (folder / "k.launch.yaml").write_text(f"{launch}expect: [{{arg: 0, values: [2, 3, 4, 5, 6, 7, 8, 9]}}]\n")
    status, out, _ = run("run", "k.cl")
    assert status == 0, out
    assert "kernel other on DG2" in out
    (folder / "k.launch.yaml").write_text(launch.replace("[8]", "[64]", 1))
    out = printed("run", "k.cl", status=1)
    assert "k.cl: other.visaasm:" in out
    assert "/visa-lsp-" not in out
    (folder / "k.launch.yaml").write_text(launch.replace("other", "none"))
    status, out, err = run("run", "k.cl")
    assert status == 2
    assert "unknown kernel 'none'; known kernels: scale, other" in out + err


@needs_compiler
def test_opencl_that_does_not_compile_is_not_run(run, folder):
    (folder / "k.cl").write_text("kernel void k(global int *p) { p[0] = q; }")
    status, out, err = run("run", "k.cl")
    assert status == 1
    assert "k.cl:1:39: error V930 compiler-error: " in out + err


READERS = {"read": [], "stats": [], "why": ["--value", "x[3]"], "prove": ["--property", "bounds"]}


@pytest.mark.parametrize("command", first(2, READERS))
@needs_compiler
def test_opencl_is_read_as_it_stands(run, folder, command):
    """Also counted, explained and proved, if there is Z3; nothing is written beside it, and texts have its name."""
    if command == "prove":
        pytest.importorskip("z3")
    (folder / "wrong.cl").write_text("kernel void k(global int *p) { p[0] = q; }")
    status, out, err = run(command, "k.cl", *READERS[command])
    assert (status, err, "/visa-lsp-" in out) == (0, "", False)
    assert "k.cl: scale.visaasm" in out or command == "read"
    status, out, err = run(command, "wrong.cl", *READERS[command])
    assert status == (2 if command == "prove" else 1)
    assert "'q'" in err
    assert sorted(path.name for path in folder.iterdir()) == ["k.cl", "wrong.cl"]


def _programs():
    for root in (OWN, BESIDE) if HAS_MORE else (OWN,):
        sources = root / "cl" if root == OWN else root / "dev" / "cl"
        found = [(p, d, sources / f"{d.name}.cl") for p in DEVICES for d in sorted((root / "run" / p).iterdir())]
        yield from found[:: 7 if root == OWN else 23]


@needs_compiler
@pytest.mark.parametrize(
    "program",
    first(1, _programs()),
    ids=lambda program: f"{program[0]}-{program[1].name}",
)
def test_texts_are_those_of_the_corpus(program):
    """The corpus was made by the same release; a text for another SIMD size than its ze_info tells was thrown away."""
    platform, folder, source = program
    build = build_source(read_source(str(source)), DEVICES[platform])
    if build.program is None:
        build = build_source(read_source(str(source)), DEVICES[platform], "-cl-std=CL2.0")
    assert build.platform == platform
    texts = {text.name: text for text in build.texts}
    compared = 0
    for path in folder.glob("*.visaasm"):
        text = path.read_text(encoding="utf-8")
        made = texts.get(path.stem)
        if made is not None and f"SimdSize={made.simd}" in text:
            assert made.text == text, path
            compared += 1
    assert compared
