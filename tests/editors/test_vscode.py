"""VS Code itself: the .vsix in an empty profile, driven by a browser, and tests inside its extension host."""

from __future__ import annotations

import base64
import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from editors import ROOT
from vscode import PROGRAM, build_extension, drive, environment, missing

pytestmark = [
    pytest.mark.skipif(bool(missing()), reason=missing() or "it is here"),
    pytest.mark.usefixtures("alone"),
]


@pytest.fixture
def vsix(alone: None, shared_folder: Path) -> Path:
    """Built once for all workers; whoever has ``alone`` may look whether it is there."""
    made = shared_folder / "extension" / "vscode-extension" / "visa-lsp.vsix"
    return made if made.exists() else build_extension(shared_folder / "extension")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "examples", tmp_path / "project"))


def test_the_extension_by_itself(vsix: Path):
    for command in ("typecheck", "test", "test:grammar"):
        done = subprocess.run(
            ["npm", "run", "--silent", command],
            cwd=vsix.parent,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_inside_the_extension_host(vsix: Path, project: Path):
    launch = (project / "saxpy.launch.yaml").read_text()
    (project / "wrong.launch.yaml").write_text(
        launch.replace("      1, 3.5,", "      1, 4.5,") + "file: saxpy.visaasm\n"
    )
    subprocess.run([PROGRAM, "asm", "--zebin", project / "saxpy.visaasm"], check=True)
    seen = {line["test"] for line in drive("host_tests.mjs", vsix, project, PROGRAM) if "test" in line}
    wanted = {
        "activation",
        "squiggle",
        "hover",
        "definition",
        "completion",
        "rename",
        "semantic colours",
        "run results",
    }
    wanted |= {"testing view", "isa editor", "control flow", "task", "quick run", "values beside the lines"}
    wanted |= {"what a failed test says", "what is not as expected comes first", "a test that takes too long"}
    wanted |= {
        "the flow graph follows text and cursor",
        "zebin editor",
        "pages are read-only documents",
        "two programs side by side",
    }
    wanted |= {"untitled text", "messages of a run", "settings are live", "what the manifest names is there"}
    assert wanted <= seen


def test_ze_info_and_text(vsix: Path, tmp_path: Path):
    """A folder with ze_info alone wakes the extension; then the text comes, and each file leads into the other."""
    folder = tmp_path / "documents"
    folder.mkdir()
    document = (ROOT / "examples" / "mandelbrot.zeinfo.yaml").read_text()
    (folder / "mandelbrot.zeinfo.yaml").write_text(document)
    (folder / "wrong.ze_info").write_text("\n".join(line for line in document.splitlines() if "grf_count" not in line))
    shutil.copy(ROOT / "examples" / "mandelbrot.visaasm", folder / "mandelbrot.later")
    lines = drive("host_tests.mjs", vsix, folder, PROGRAM, "host_zeinfo")
    wanted = {
        "ze_info wakes the extension",
        "findings in a .ze_info file",
        "hover on a key",
        "definition of an argument is its input",
        "a disagreement leads to the text",
        "bytes beside sizes",
    }
    assert wanted == {line["test"] for line in lines if "test" in line}


def test_a_text_and_its_source(vsix: Path, tmp_path: Path):
    """A folder as ``ocloc -g`` leaves it: each leads into the other."""
    folder = tmp_path / "compiled"
    folder.mkdir()
    shutil.copy(ROOT / "tests/own/cl/axpy.cl", folder / "axpy.cl")
    shutil.copy(ROOT / "tests/own/dev/TGLLP/axpy.g.saxpy.visaasm", folder / "axpy.visaasm")
    lines = drive("host_tests.mjs", vsix, folder, PROGRAM, "host_sources")
    assert {line["test"] for line in lines if "test" in line} == {
        "an instruction leads to the source",
        "a mark is hovered with its line",
        "lenses of the source lead back",
        "so does the command at the cursor",
        "a text that changes changes the lenses",
        "the setting turns them off",
    }


def test_launch_files(vsix: Path, project: Path):
    """A launch file is a language: findings, completion, hover, links and fixes, with the kernel's arguments from ze_info."""
    lines = drive("host_tests.mjs", vsix, project, PROGRAM, "host_launch")
    wanted = {
        "a launch file has a language of its own",
        "findings, and a quick fix for a misspelt key",
        "an argument that does not fit its kernel",
        "completion of keys, words and arguments",
        "hover on keys and arguments",
        "links and definition",
        "the schema is there for the YAML extension",
    }
    assert wanted == {line["test"] for line in lines if "test" in line}


def test_how_a_dump_looks_when_it_is_opened(vsix: Path, tmp_path: Path):
    folder = tmp_path / "dump"
    folder.mkdir()
    for name in ("mandelbrot.visaasm", "other.visaasm", "third.visaasm"):
        shutil.copy(ROOT / "examples" / "mandelbrot.visaasm", folder / name)
    shutil.copy(ROOT / "examples" / "mandelbrot.zeinfo.yaml", folder)
    lines = drive("host_tests.mjs", vsix, folder, PROGRAM, "host_calm")
    wanted = {
        "the header is folded at the first opening",
        "what was unfolded stays unfolded",
        "a text that is opened at a declaration shows it",
        "types stand nowhere, or on the line of the cursor",
        "nothing is counted that is not there, and no name is a link",
        "groups of the outline",
        "hover of an alias",
    }
    assert wanted <= {line["test"] for line in lines if "test" in line}


def test_a_file_without_a_folder(vsix: Path, tmp_path: Path):
    document = (ROOT / "examples" / "mandelbrot.zeinfo.yaml").read_text()
    lone = tmp_path / "lone.ze_info"
    lone.write_text("\n".join(line for line in document.splitlines() if "grf_count" not in line))
    lines = drive("host_tests.mjs", vsix, lone, PROGRAM, "host_lone")
    assert {"a lone .ze_info file wakes the extension"} == {line["test"] for line in lines if "test" in line}


def test_what_a_user_sees(vsix: Path, project: Path, tmp_path: Path):
    drive("views.mjs", vsix, project, PROGRAM, tmp_path / "pictures")
    assert {
        "hover.png",
        "problems.png",
        "run-image.png",
        "run-findings.png",
        "quick-run.png",
        "flow.png",
        "isa.png",
    } <= {p.name for p in (tmp_path / "pictures").iterdir()}


def test_results_are_readable(vsix: Path, project: Path, tmp_path: Path):
    lines = drive("results.mjs", vsix, project, PROGRAM, tmp_path / "pictures")
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


def test_the_views_that_show(vsix: Path, project: Path, tmp_path: Path):
    drive("shown.mjs", vsix, project, PROGRAM, tmp_path / "pictures")
    made = {p.name for p in (tmp_path / "pictures" / "themes").iterdir()}
    assert {
        f"{name}-{theme}-high-contrast.png" for name in ("flow", "zebin", "isa") for theme in ("dark", "light")
    } <= made
    assert {"flow-dark-modern.png", "flow-light-modern.png"} <= made


@pytest.mark.skipif(shutil.which("GenX_IR") is None, reason="GenX_IR is not installed: apt-get install libigc-tools")
def test_machine_code_beside_a_text(vsix: Path, tmp_path: Path):
    folder = tmp_path / "compiled"
    folder.mkdir()
    shutil.copy(ROOT / "tests/own/cl/axpy.cl", folder / "axpy.cl")
    shutil.copy(ROOT / "tests/own/dev/TGLLP/axpy.g.saxpy.visaasm", folder / "axpy.visaasm")
    lines = drive("machine.mjs", vsix, folder, PROGRAM, tmp_path / "pictures")
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
        "in four themes",
    }


def test_pressure_and_heat(vsix: Path, project: Path, tmp_path: Path):
    shutil.copy(ROOT / "tests/own/run/TGLLP/gemm/tiles.visaasm", project)
    lines = drive("performance.mjs", vsix, project, PROGRAM, tmp_path / "pictures")
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
def test_a_source_is_compiled(vsix: Path, tmp_path: Path):
    folder = tmp_path / "sources"
    folder.mkdir()
    shutil.copy(ROOT / "tests/own/cl/axpy.cl", folder / "axpy.cl")
    lines = drive("compile.mjs", vsix, folder, PROGRAM, tmp_path / "pictures")
    assert {line["step"] for line in lines if "step" in line} >= {
        "a folder of sources wakes the extension, and kernels have lenses",
        "the text of a kernel is shown, and cannot be edited",
        "for another device",
        "what the compiler says is a problem of the source",
        "and goes when the source is mended and saved",
        "a compiler that is not there",
    }


def test_a_kernel_is_debugged(vsix: Path, project: Path, tmp_path: Path):
    lines = drive("debug.mjs", vsix, project, PROGRAM, tmp_path / "pictures")
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
    drive("missing.mjs", vsix, project, tmp_path / "pictures")


def test_a_dump_folder_is_run_in_two_clicks(vsix: Path, tmp_path: Path):
    """As `ocloc` leaves it: texts and ze_info of the program, and no launch file."""
    folder = tmp_path / "dump"
    folder.mkdir()
    shutil.copy(ROOT / "examples" / "saxpy.visaasm", folder / "OCL_asm0123456789abcdef_simd16_saxpy.visaasm")
    drive("dump.mjs", vsix, folder, PROGRAM)


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


def test_the_newcomers_path(vsix: Path, project: Path, tmp_path: Path):
    lines = drive("newcomer.mjs", vsix, project, tmp_path / "pictures")
    seconds = sum(line["seconds"] for line in lines)
    figure = f"from an empty profile to a passed test and a run with its buffers: {seconds:.1f} s"
    print(figure)
    if kept := os.environ.get("VISA_LSP_TEST_FIGURES"):  # workers' output is not shown
        Path(kept).write_text(f"{figure}\n")
    assert {"install.png", "open.png", "testing.png", "run.png"} <= {p.name for p in (tmp_path / "pictures").iterdir()}


def test_nothing_runs_in_an_untrusted_folder(vsix: Path, project: Path):
    drive("untrusted.mjs", vsix, project, PROGRAM)


def hosts(tmp_path: Path) -> Path:
    """A folder with vISA in OpenCL and in C++, a mistake in each, and a source without one."""
    folder = tmp_path / "hosts"
    (folder / ".vscode").mkdir(parents=True)
    (folder / ".vscode" / "settings.json").write_text('{"visa.embedded.enabled": true}')
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
    return folder


def test_visa_in_other_languages(vsix: Path, tmp_path: Path):
    """A ``.cl`` and a ``.cpp``, without and with a second server of their languages, and a block as a text of its own."""
    folder = hosts(tmp_path)
    lines = drive("host_tests.mjs", vsix, folder, PROGRAM, "host_embedded")
    assert {line["test"] for line in lines if "test" in line} == {
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


def test_a_block_stands_beside_its_source(vsix: Path, tmp_path: Path):
    drive("embedded.mjs", vsix, hosts(tmp_path), PROGRAM, tmp_path / "pictures")
    pictures = {p.name for p in (tmp_path / "pictures").iterdir()}
    assert {"embedded.png", "embedded-dark.png", "embedded-run.png", "embedded-run-dark.png"} <= pictures
