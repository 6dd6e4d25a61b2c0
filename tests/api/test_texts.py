"""``visa_lsp.check``, ``assemble``, ``disassemble``, what a notebook shows, and when what is loaded."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import visa_lsp
from visa_lsp.api.result import LaunchResult
from visa_lsp.app.launch.report import BufferReport, ExpectationReport, RunReport
from visa_lsp.sim.dispatch import RunResult
from visa_lsp.sim.faults import Fault, FaultKind

EXAMPLES = Path(__file__).parents[2] / "examples"
SAXPY = EXAMPLES / "saxpy.visaasm"
BAD = '.version 4.1\n.kernel "<b>k</b>"\n    mov (M1, 8) V32(0,0)<1> <script>alert(1)</script>\n    ret (M1, 1)\n'


def test_findings_of_a_text_are_values():
    assert visa_lsp.check(SAXPY) == []
    found = visa_lsp.check('.version 4.1\n.kernel "k"\n    mov (M1, 8) V40(0,0)<1> 0x0:ud\n    ret (M1, 1)\n')
    (finding,) = [f for f in found if f.name == "undeclared-name"]
    assert (finding.line, finding.column, finding.severity, finding.path) == (3, 17, "error", "text")
    assert finding.excerpt.strip() == "mov (M1, 8) V40(0,0)<1> 0x0:ud"
    assert str(finding).startswith(f"text:3:17: error {finding.code} undeclared-name: ")


def test_a_launch_file_is_checked_too(tmp_path):
    path = tmp_path / "k.launch.yaml"
    path.write_text("groups: [0, 1, 1]\n")
    assert [f.line for f in visa_lsp.check(path)][:1] == [1]
    assert visa_lsp.check(EXAMPLES / "saxpy.launch.yaml") == []


def test_the_platform_counts():
    text = SAXPY.read_text().replace("num_elts=16 align=GRF", "num_elts=16 align=GRF", 1)
    assert visa_lsp.check(text, platform="PVCXT") == visa_lsp.check(text, "pvcxt")
    with pytest.raises(ValueError, match="unknown platform 'x'"):
        visa_lsp.check(text, "x")


def test_objects_go_there_and_back():
    data = visa_lsp.assemble(SAXPY)
    assert data[:4] == b"CISA"
    text = visa_lsp.disassemble(data)
    assert '.kernel "saxpy"' in text
    assert visa_lsp.assemble(text) == data


@pytest.mark.parametrize("data", [b"", b"CISA", b"\x7fELF", b"hello", bytearray(b"CISA\x04\x01\x00")])
def test_what_is_no_object_is_refused(data):
    with pytest.raises(visa_lsp.ObjectError, match="object"):
        visa_lsp.disassemble(data)


def test_what_is_no_text_is_refused(tmp_path):
    with pytest.raises(ValueError, match="object"):
        visa_lsp.check(visa_lsp.assemble(SAXPY))
    with pytest.raises(FileNotFoundError):
        visa_lsp.check("nowhere.visaasm")
    with pytest.raises(TypeError, match="expected a path, a text or bytes"):
        visa_lsp.check(7)


def test_a_notebook_shows_tables_in_which_everything_is_escaped(tmp_path):
    found = visa_lsp.check(BAD)
    shown = found._repr_html_()
    assert found
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert visa_lsp.FindingList()._repr_html_() == "<p>no findings</p>"
    path = tmp_path / "<i>average.visaasm"
    path.write_text((EXAMPLES / "average.visaasm").read_text())
    program = visa_lsp.load(path)
    result = program.launch(local_size=16, args=[np.zeros(8, "f4")])
    assert result.faults
    for value in (program, result):
        assert "<table>" in value._repr_html_()
        assert "<i>" not in value._repr_html_()


class Tags(HTMLParser):
    """The tags of a page, those that are open, and its texts."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.open, self.texts = set(), [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        assert not attrs
        self.tags.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_names_values_and_control_characters_are_text_in_a_notebook():
    hostile = "<b>&amp;\x1b[31m\0\u202e\r</td>"
    fault = Fault(FaultKind.RACE, hostile, hostile, (0, 0, 0), 0)
    arrays = {"empty": np.zeros((0, 4), np.float32), "scalar": np.array(3), "values": np.array([np.nan, -np.inf])}
    buffers = [BufferReport(key, hostile, array) for key, array in arrays.items()]
    expected = ExpectationReport("values", ok=False, message=hostile)
    report = RunReport(
        hostile, "TGLLP", "interp", (*buffers, BufferReport(7, hostile, arrays["empty"])), (expected,), (fault,), RunResult(1, 1),
        notes=(hostile,), printed=f"{hostile}\n",
    )  # fmt: skip
    page = Tags(LaunchResult(report, {})._repr_html_())
    assert (page.tags, page.open) == ({"p", "table", "tr", "th", "td", "pre"}, [])
    assert not re.search("[\0-\x08\x0b-\x1f\x7f\u202e]", "".join(page.texts))
    shown = "<b>&amp;\\x1b[31m\\x00\\u202e\\x0d</td>"
    assert {f"{shown} (argument 7)", f"note: {shown}", f"{shown}\n", "0x4", "nan, -inf", "3"} <= set(page.texts)


def loaded_by(code):
    """Return the modules that a process has loaded behind some code."""
    script = f"{code}\nimport sys\nprint(*sorted(sys.modules))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def test_the_interface_is_loaded_when_it_is_asked_for():
    assert {name for name in loaded_by("import visa_lsp") if name.startswith("visa_lsp")} == {"visa_lsp"}
    assert "visa_lsp.api" not in loaded_by("import visa_lsp.cli.main, visa_lsp.cli.asm, visa_lsp.cli.check")


def test_texts_and_objects_need_no_numpy():
    calls = ("check(b'x')", "assemble(PATH)", "disassemble(visa_lsp.assemble(PATH))", "TextError")
    code = f"import visa_lsp, pathlib\nPATH = pathlib.Path({str(SAXPY)!r})"
    assert not {"numpy", "pygls", "llvmlite"} & loaded_by("\n".join([code, *(f"visa_lsp.{call}" for call in calls)]))


def test_without_numpy_a_launch_says_what_is_missing():
    code = "import sys\nsys.modules['numpy'] = None\nimport visa_lsp\nvisa_lsp.load"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "launches need NumPy: pip install 'visa-lsp[run]'" in run.stderr


def test_every_name_of_the_interface_is_there_and_documented():
    for name in visa_lsp.__all__:
        assert getattr(visa_lsp, name).__doc__, name
    assert set(visa_lsp.__all__) <= set(dir(visa_lsp))
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        _ = visa_lsp.lode
