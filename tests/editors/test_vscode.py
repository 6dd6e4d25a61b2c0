"""VS Code itself: the .vsix in an empty profile, driven by a browser, and tests inside its extension host."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from editors import ROOT
from exec_host import needs_host
from vscode import Window, run_npm, why_missing

pytestmark = pytest.mark.skipif(bool(why_missing()), reason=why_missing() or "it is here")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "examples", tmp_path / "project"))


def compiled(folder: Path) -> Path:
    """Return the files that ``ocloc -g`` writes: a source and its text."""
    folder.mkdir()
    shutil.copy(ROOT / "tests/own/cl/axpy.cl", folder / "axpy.cl")
    shutil.copy(ROOT / "tests/own/dev/TGLLP/axpy.g.saxpy.visaasm", folder / "axpy.visaasm")
    return folder


def without_registers(file: Path) -> None:
    """Write a ze_info that lacks what it must have."""
    document = (ROOT / "examples" / "mandelbrot.zeinfo.yaml").read_text()
    file.write_text("\n".join(line for line in document.splitlines() if "grf_count" not in line))


def hosts(folder: Path) -> None:
    """Write a folder with vISA in OpenCL and in C++, a mistake in each, and a source without one."""
    folder.mkdir()
    (folder / "visa-lsp.toml").write_text("")
    body = (
        '  asm("mul (M1,16)   %0(0,0)<1> %0(0,0)<1;1,0> %1(0,0)<1;1,0>\\n"\n'
        '      "mov (M1, 16) %0(0,0)<1> nope(0,0)<1;1,0>\\n"\n      : "+rw"(value) : "rw"(by));\n  return value;\n}\n'
    )
    (folder / "kernel.cpp").write_text("// C++\nfloat scale(float value, float by) {\n" + body)
    (folder / "kernel.cl").write_text(
        "// OpenCL\nfloat scale(float value, float by) {\n" + body.replace("asm(", "__asm__(")
    )
    (folder / "run.cpp").write_text(
        "[[sycl::reqd_sub_group_size(16)]] float scale(float value, float by) {\n"
        '  asm("mul (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> %1(0,0)<1;1,0>\\n" : "+rw"(value) : "rw"(by));\n  return value;\n}\n'
    )


def test_the_extension_by_itself(vsix: Path):
    """Its types are checked whenever it is built."""
    for command in ("test", "test:grammar"):
        run_npm(vsix.parent, "run", "--silent", command)


def test_inside_the_extension_host(window: Window, project: Path):
    """One folder for all: the examples, what ``ocloc -g`` leaves, a dump, and vISA in other languages."""
    launch = (project / "saxpy.launch.yaml").read_text()
    (project / "wrong.launch.yaml").write_text(
        launch.replace("      1, 3.5,", "      1, 4.5,") + "file: saxpy.visaasm\n"
    )
    compiled(project / "compiled")
    (project / "dump").mkdir()
    for name in ("mandelbrot.visaasm", "other.visaasm", "third.visaasm"):
        shutil.copy(ROOT / "examples" / "mandelbrot.visaasm", project / "dump" / name)
    (project / "dump" / "mandelbrot.asm").write_text(
        "//.kernel mandel\n//.platform TGLLP\n//.instCount 1\n//.RA type\tTRIVIAL_RA\n        nop (16|M0) // $0\n"
    )
    hosts(project / "hosts")
    seen = {line["test"] for line in window.run("host_tests.mjs", project) if "test" in line}
    basics = {
        "activation",
        "status",
        "squiggle",
        "quick fix",
        "several ranges are formatted at once",
        "snippets",
        "code lens",
        "run results",
        "run of unsaved text",
        "proofs",
    }
    basics |= {
        "quick run",
        "testing view",
        "what a failed test says",
        "a test that takes too long",
        "assembling",
        "task",
    }
    basics |= {
        "the flow graph follows text and cursor",
        "two programs side by side",
        "untitled text",
        "settings are live",
    }
    basics |= {"what the manifest names is there", "restart"}
    launches = {
        "a launch file has a language of its own",
        "findings, and a quick fix for a misspelt key",
        "the schema is there for the YAML extension",
    }
    sources = {
        "an instruction leads to the source",
        "faults of a run are marked in text and source, until an edit",
        "a setting turns on counts in the source, which lead back",
        "so does the command at the cursor",
        "a text that changes changes the counts",
        "the setting turns them off",
    }
    dumps = {
        "the header is folded at the first opening",
        "what was unfolded stays unfolded",
        "a text that is opened at a declaration shows it",
        "types stand nowhere, or on the line of the cursor",
        "nothing is counted that is not there, and no name is a link",
        "a native dump has its figures and leads to its text",
    }
    embedded = {
        "alone on the language",
        "beside another server of the language",
        "a document is not formatted by two",
        "a block is formatted by its action",
        "a block is opened from its lens and saved back",
        "an edit of the host is shown in the block",
        "a block is run from its lens",
        "the compiler is asked",
        "what a string cannot say is refused",
    }
    assert seen == basics | launches | sources | dumps | embedded


def test_a_folder_of_ze_info_alone(window: Window, tmp_path: Path):
    """It wakes the extension."""
    folder = tmp_path / "documents"
    folder.mkdir()
    shutil.copy(ROOT / "examples" / "mandelbrot.zeinfo.yaml", folder)
    without_registers(folder / "wrong.ze_info")
    lines = window.run("host_tests.mjs", folder, "zeinfo.js")
    wanted = {"ze_info wakes the extension", "findings in a .ze_info file", "hover on a key"}
    assert wanted == {line["test"] for line in lines if "test" in line}


def test_a_file_without_a_folder(window: Window, tmp_path: Path):
    lone = tmp_path / "lone.ze_info"
    without_registers(lone)
    lines = window.run("host_tests.mjs", lone, "lone.js")
    assert {"a lone .ze_info file wakes the extension"} == {line["test"] for line in lines if "test" in line}


@needs_host
def test_a_program_under_visa_lsp(window: Window, tmp_path: Path):
    """It is that of `docs/exec.md`, with its fault and without."""
    (source,) = re.findall(r"```c\n(.*?)```", (ROOT / "docs" / "exec.md").read_text(), re.DOTALL)
    folder = tmp_path / "programs"
    folder.mkdir()
    for name, text in [("sums", source), ("right", source.replace("x[i + 1]", "x[i]"))]:
        (folder / f"{name}.c").write_text(text)
        subprocess.run(["gcc", "-w", "-o", folder / name, folder / f"{name}.c", "-lOpenCL"], check=True)
    lines = window.run("host_tests.mjs", folder, "exec.js")
    wanted = {"the first fault of a program is debugged", "a program without a fault is not debugged"}
    assert wanted == {line["test"] for line in lines if "test" in line}


def test_what_a_user_sees(window: Window, project: Path, tmp_path: Path):
    window.run("views.mjs", project, tmp_path / "pictures")
    assert {
        "hover.png",
        "problems.png",
        "run-image.png",
        "run-findings.png",
        "quick-run.png",
    } <= {p.name for p in (tmp_path / "pictures").iterdir()}


def test_results_are_readable(window: Window, project: Path, tmp_path: Path):
    lines = window.run("results.mjs", project, tmp_path / "pictures")
    assert {
        "what is not as expected comes first",
        "inputs are folded",
        "only differences, by keyboard",
        "in other themes",
        "a large matrix is a table that turns its pages",
        "pixels are an image by themselves",
        "a failed test shows both sides",
    } <= {line["step"] for line in lines if "step" in line}
    assert {"run-failed.png", "testing-failed.png"} <= {p.name for p in (tmp_path / "pictures").iterdir()}


def test_the_views_that_show(window: Window, project: Path, tmp_path: Path):
    window.run("shown.mjs", project, tmp_path / "pictures")
    made = {p.name for p in (tmp_path / "pictures" / "themes").iterdir()}
    assert {"flow-dark-modern.png", "flow-light-high-contrast.png"} <= made
    assert {"flow.png", "isa.png", "zebin.png"} <= {p.name for p in (tmp_path / "pictures").iterdir()}


def test_pseudo_code_beside_a_text(window: Window, project: Path, tmp_path: Path):
    hosts(tmp_path / "hosts")
    shutil.copy(tmp_path / "hosts" / "run.cpp", project)
    (project / "visa-lsp.toml").write_text("")
    lines = window.run("code.mjs", project, tmp_path / "pictures")
    assert {line["step"] for line in lines if "step" in line} >= {
        "the cursor marks the line of pseudo-code",
        "a click on pseudo-code marks its instructions",
        "an edit is followed",
        "of a broken text the last pseudo-code stays, with the reason",
        "in other themes",
        "a block in C++ too",
    }
    assert {"read-as-code-light.png", "read-as-code-dark.png"} <= {p.name for p in (tmp_path / "pictures").iterdir()}


@pytest.mark.skipif(shutil.which("GenX_IR") is None, reason="GenX_IR is not installed: apt-get install libigc-tools")
def test_machine_code_beside_a_text(window: Window, tmp_path: Path):
    lines = window.run("machine.mjs", compiled(tmp_path / "compiled"), tmp_path / "pictures")
    assert {line["step"] for line in lines if "step" in line} >= {
        "the cursor marks its partners",
        "a click on Gen marks the text and the source",
        "a click on the source marks the text and Gen",
        "by keyboard",
        "what lives where, by hover",
        "an edit is followed",
        "a broken line leaves the last result, greyed, with the reason",
        "a finalizer that is not there",
        "a finalizer that hangs",
        "an edit ends a finalizer that is under way",
        "a finalizer that crashes",
        "as a page to share",
        "in other themes",
    }


def test_pressure_and_heat(window: Window, project: Path, tmp_path: Path):
    shutil.copy(ROOT / "tests/own/run/TGLLP/gemm/tiles.visaasm", project)
    lines = window.run("performance.mjs", project, tmp_path / "pictures")
    assert {line["step"] for line in lines if "step" in line} == {
        "the curve of the kernel of the cursor",
        "what is live follows the cursor",
        "a click goes there",
        "by keyboard",
        "the lines of a variable are marked",
        "an edit counts anew",
        "heat of a run",
        "the flow graph in colours",
        "an edit takes the heat away",
    }
    made = {p.name for p in (tmp_path / "pictures").iterdir()}
    assert {"pressure.png", "heat.png", "heat-flow.png"} <= made


@pytest.mark.skipif(shutil.which("ocloc") is None, reason="ocloc is not installed: apt-get install intel-opencl-icd")
def test_a_source_is_compiled(window: Window, tmp_path: Path):
    folder = tmp_path / "sources"
    folder.mkdir()
    shutil.copy(ROOT / "tests/own/cl/axpy.cl", folder / "axpy.cl")
    lines = window.run("compile.mjs", folder, tmp_path / "pictures")
    assert {line["step"] for line in lines if "step" in line} >= {
        "a folder of sources wakes the extension, and kernels have lenses",
        "the text of a kernel is shown, and cannot be edited",
        "a kernel runs from its source, and its faults are there",
        "for another device",
        "what the compiler says is a problem of the source",
        "and goes when the source is mended and saved",
        "a compiler that is not there",
    }


def test_a_kernel_is_debugged(window: Window, project: Path, tmp_path: Path):
    lines = window.run("debug.mjs", project, tmp_path / "pictures")
    assert {line["step"] for line in lines if "step" in line} >= {
        "F5 stops on entry",
        "a breakpoint",
        "the operand under the cursor is outlined",
        "where the other threads stand",
        "a conditional stop",
        "a step forward and a step back",
        "hover",
        "a variable is set",
        "lanes, dark and light",
        "a fault stops before its effect",
        "who wrote this?",
        "a failing test is debugged",
        "an object without its text",
    }
    made = {p.name for p in (tmp_path / "pictures").iterdir()}
    assert {"debug-lanes-dark.png", "debug-lanes-light.png", "debug-fault.png", "debug-test.png"} <= made


def test_what_is_missing_is_offered(vsix: Path, project: Path, tmp_path: Path):
    with Window(vsix, program=None) as window:
        window.run("missing.mjs", project, tmp_path / "pictures")


def test_a_dump_folder_is_run_in_two_clicks(window: Window, tmp_path: Path):
    """As `ocloc` leaves it: texts and ze_info of the program, and no launch file."""
    folder = tmp_path / "dump"
    folder.mkdir()
    shutil.copy(ROOT / "examples" / "saxpy.visaasm", folder / "OCL_asm0123456789abcdef_simd16_saxpy.visaasm")
    window.run("dump.mjs", folder)


def test_the_package_holds_every_picture_of_its_page(vsix: Path):
    with zipfile.ZipFile(vsix) as package:
        page = package.read("extension/readme.md").decode()
    given = re.findall(
        r"!\[[^\]]*\]\(\.\./(docs/images/[\w-]+\.png)\)", (ROOT / "vscode-extension" / "README.md").read_text()
    )
    held = re.findall(r"!\[[^\]]*\]\(([^)]*)\)", page)
    assert len(held) == len(given) > 10
    for name, source in zip(given, held, strict=True):
        kind, _, data = source.partition(",")
        assert (kind, base64.b64decode(data)) == ("data:image/png;base64", (ROOT / name).read_bytes())


def test_nothing_runs_in_an_untrusted_folder(window: Window, project: Path):
    window.run("untrusted.mjs", project)


def test_a_block_stands_beside_its_source(window: Window, tmp_path: Path):
    folder = tmp_path / "hosts"
    hosts(folder)
    (folder / ".vscode").mkdir()
    (folder / ".vscode" / "settings.json").write_text('{"visa.embedded.enabled": true}')
    window.run("embedded.mjs", folder, tmp_path / "pictures")
    pictures = {p.name for p in (tmp_path / "pictures").iterdir()}
    assert {"embedded.png", "embedded-dark.png", "embedded-run.png", "embedded-run-dark.png"} <= pictures
