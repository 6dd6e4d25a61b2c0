"""The way of a new user: a source with three bugs is compiled, each launch file runs as it was written, and shows them all.

The texts beside the source are what the compiler makes of it, so that launches can be proposed for them where it is missing.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from visa_lsp.cli.main import main

FOLDER = Path(__file__).with_name("three_bugs")
# The kind of fault and the lines of the source that each kernel's report names.
BUGS = {
    "smooth": ("out-of-bounds", {6}),
    "reverse": ("data-race", {13, 14}),
    "histogram": ("data-race", {20}),
}


def check_launches(folder, capsys):
    """Run every launch file of a folder and check that each bug is found, at its lines."""
    capsys.readouterr()
    assert main(["run", *map(str, sorted(folder.glob("*.launch.yaml"))), "--format", "json"]) == 1
    found = {}
    for report in json.loads(capsys.readouterr().out):
        for fault in report["faults"]:
            lines = found.setdefault((report["kernel"], fault["kind"]), set())
            lines |= {int(fault[key].rpartition(":")[2]) for key in ("source", "other_source") if fault[key]}
    for kernel, (kind, lines) in BUGS.items():
        assert lines <= found.get((kernel, kind), set()), (kernel, found)


def test_launch_files_by_default_show_three_bugs(here, capsys):
    for path in FOLDER.iterdir():
        shutil.copy(path, here)
    for name in BUGS:
        assert main(["run", "--init", f"{name}.visaasm"]) == 0
    assert {path.name for path in here.glob("*.odd.launch.yaml")} == {
        "smooth.odd.launch.yaml",
        "histogram.odd.launch.yaml",
    }
    check_launches(here, capsys)


@pytest.mark.full
@pytest.mark.skipif(shutil.which("ocloc") is None, reason="needs ocloc")
def test_a_new_user_finds_three_bugs(printed, refused, here, capsys):
    shutil.copy(FOLDER / "three_bugs.cl", here)
    assert main(["compile", "three_bugs.cl", "-o", "built"]) == 0
    check_launches(here / "built", capsys)
    out = printed("run", "three_bugs.cl", "--kernel", "all", status=1)
    assert "three_bugs.cl:6: out[i] = 0.5f * (in[i] + in[i + 1]);" in out
    assert out.endswith("3 launches: 0 passed, 3 failed\n")
    assert "smooth, reverse, histogram" in refused("run", "three_bugs.cl", "--kernel", "smoth")


@pytest.mark.skipif(shutil.which("ocloc") is None, reason="needs ocloc")
def test_a_source_on_standard_input_runs(here, run):
    source = (FOLDER / "three_bugs.cl").read_bytes()
    status, out, _ = run("run", "-", "--stdin-filename", "typed.cl", "--kernel", "smooth", stdin=source)
    assert (status, "\n    typed.cl:6\n" in out) == (1, True)
