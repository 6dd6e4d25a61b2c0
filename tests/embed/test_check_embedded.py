"""``check --embedded``: which files it takes, what it says of them, what it mends."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from visa_lsp.app.check.formats.table import FORMATS
from visa_lsp.cli.main import main

FAULTY = """kernel void k(global int *d) {
  int x = d[0];
  __asm__("mov (M1, 16) %0(0,0)<1> nope(0,0)<1;1,0>\\n" : "=rw"(x));
}
"""
RIGHT = FAULTY.replace("nope", "%0")


@pytest.fixture
def folder(here):
    for name in ("a.cl", "b.c", "b.h", "b.cpp", "b.hpp", "b.cxx", "b.sycl"):
        (here / name).write_text(FAULTY)
    (here / "c.py").write_text('# visa: asm\nX = "mov (M1, 16) nope(0,0)<1> 0x1:d\\n"\n')
    (here / "plain.cpp").write_text("int main() { return 0; }\n" * 10)
    (here / "t.visaasm").write_text('.version 4.1\n.kernel "k"\n    ret (M1, 1)\n')
    (here / "notes.txt").write_text(FAULTY)
    return here


def test_all_hosts_of_a_folder_are_checked_when_asked(printed, folder):
    lines = printed("check", "--embedded", "--format", "concise", ".", status=1).splitlines()
    assert sorted(line.partition(":")[0].removeprefix("./") for line in lines) == [
        "a.cl",
        "b.c",
        "b.cpp",
        "b.cxx",
        "b.h",
        "b.hpp",
        "b.sycl",
        "c.py",
    ]
    assert lines[0].startswith("./a.cl:3:36: error V101 undeclared-name: ")


def test_without_being_asked_none_is(refused, folder):
    assert main(["check", "--format", "concise", "."]) == 0
    assert "OpenCL C" in refused("check", "a.cl")


def test_a_setting_asks_for_all(printed, refused, folder):
    (folder / "visa-lsp.toml").write_text("embedded = true\n")
    assert "b.cpp:3:36" in printed("check", "--format", "concise", ".", status=1)
    assert "embedded = true" in printed("check", "--show-settings", ".")
    (folder / "visa-lsp.toml").write_text("embedded = 1\n")
    assert "true or false" in refused("check", ".")


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_tells_of_a_string_in_a_host(printed, form, folder):
    out = printed("check", "--embedded", "--format", form, "a.cl", status=1)
    assert "a.cl" in out
    assert "nope" in out


def test_the_text_of_standard_input_is_what_its_name_says(printed, folder):
    words = ("--embedded", "--format", "json", "--stdin-filename", "x.cl", "-")
    out = printed("check", *words, stdin=FAULTY.encode(), status=1)
    (finding,) = json.loads(out)
    assert (finding["path"], finding["line"], finding["column"], finding["end_column"]) == ("x.cl", 3, 36, 40)


def test_a_baseline_holds_for_hosts_too(printed, folder):
    assert main(["check", "--embedded", "--write-baseline", "known.json", "."]) == 0
    assert main(["check", "--embedded", "--baseline", "known.json", "."]) == 0
    (folder / "a.cl").write_text(FAULTY.replace("nope", "other"))
    assert "`other`" in printed("check", "--embedded", "--baseline", "known.json", "--format", "concise", ".", status=1)


FIXABLE = """kernel void k(global int *d) {
  int x;
  __asm__("mov (M1, 8) %0(0,0)<1> 0x1:d  // visa: ignore[V101]\\n"
          R"(mov (M1, 8) %0(0,0)<1> 0x1:d  // visa: ignore[V102]
)" : "=rw"(x));  // visa: ignore[V103]
}
"""


def test_fixes_stay_inside_of_their_strings(folder):
    (folder / "a.cl").write_text(FIXABLE)
    assert main(["check", "--embedded", "--fix", "a.cl"]) == 0
    assert (folder / "a.cl").read_text() == FIXABLE.replace("  // visa: ignore[V101]", "").replace(
        "  // visa: ignore[V102]", ""
    ).replace("  // visa: ignore[V103]", "")


def test_without_the_grammars_the_message_says_what_to_install(refused, folder, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    assert "pip install 'visa-lsp[embed]'" in refused("check", "--embedded", ".")


def test_a_file_without_assembly_needs_no_grammar_loaded(folder):
    code = (
        "import sys; from visa_lsp.cli.main import main; status = main(['check', '--embedded', 'plain.cpp']);"
        "print(status, [m for m in sys.modules if m.startswith(('tree_sitter', 'pygls', 'numpy'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=folder)
    assert done.stdout.splitlines()[-1] == "0 []", done.stdout + done.stderr


def test_a_right_host_is_clean(folder):
    for name in ("a.cl", "b.cpp"):
        (folder / name).write_text(RIGHT)
    assert main(["check", "--embedded", "a.cl", "b.cpp"]) == 0
