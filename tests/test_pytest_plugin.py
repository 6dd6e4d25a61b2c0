"""The pytest plugin, in processes of pytest of their own: what is collected, what a failure shows, xdist, what is loaded."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from tiers import first

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
MODULE = "visa_lsp.pytest_plugin"
# An installation from before the plugin, or none at all, does not name it: it is named here then.
NAMED = [] if any(found.value == MODULE for found in entry_points(group="pytest11")) else ["-p", MODULE]


@pytest.fixture
def folder(tmp_path):
    for name in ("saxpy", "average"):
        for end in (".visaasm", ".launch.yaml"):
            shutil.copy(EXAMPLES / (name + end), tmp_path)
    launch = tmp_path / "average.launch.yaml"
    launch.write_text(launch.read_text().replace("expect_faults", "# expect_faults"))
    (tmp_path / "test_plain.py").write_text("def test_plain():\n    pass\n")
    return tmp_path


def ran(folder, *words, rewritten=False):
    """Return the output of a separate pytest for a folder, and its exit status; ``rewritten`` keeps its form of assertions."""
    form = [] if rewritten else ["--assert=plain"]  # which is what it makes of packages with plugins, and takes seconds
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:randomly",
        *form,
        *NAMED,
        *words,
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)
    return found.stdout + found.stderr, found.returncode


@pytest.mark.parametrize("asked", first(1, ["option", "setting"]))
def test_launch_files_are_tests_whose_failure_is_the_report(folder, asked):
    if asked == "setting":
        (folder / "pytest.ini").write_text("[pytest]\nvisa_launches = true\n")
    words, status = ran(folder, *(["--visa"] if asked == "option" else []), rewritten=asked == "setting")
    assert "1 failed, 2 passed" in words
    assert status == 1
    assert "FAILED average.launch.yaml::average - " in words
    assert "average.launch.yaml: kernel average" in words
    assert "  fault: out-of-bounds: reads bytes 128-131" in words
    assert re.search(r"^    \S*average\.visaasm:39: gather4_scaled", words, re.MULTILINE)
    assert "Traceback" not in words
    assert "pytest_plugin.py" not in words


@pytest.mark.full
def test_a_launch_file_with_a_sweep_is_run_at_every_point(folder):
    text = (EXAMPLES / "saxpy_sizes.launch.yaml").read_text()
    (folder / "sizes.launch.yaml").write_text(text)
    words, status = ran(folder, "--visa", "sizes.launch.yaml")
    assert (status, "1 passed" in words) == (0, True), words
    (folder / "sizes.launch.yaml").write_text(text.replace("x == x0", "y < 3"))
    words, status = ran(folder, "--visa", "sizes.launch.yaml")
    assert status == 1
    assert re.search(
        r"^sizes\.launch\.yaml at n = \d+, platform = TGLLP, seed = \d: kernel saxpy", words, re.MULTILINE
    ), words


@pytest.mark.full
def test_one_launch_can_be_named(folder):
    words, status = ran(folder, "--visa", "saxpy.launch.yaml::saxpy", "-vv")
    assert "saxpy.launch.yaml::saxpy PASSED" in words
    assert status == 0


@pytest.mark.full
def test_it_works_with_several_processes(folder):
    words, status = ran(folder, "--visa", "-n", "2")
    assert "1 failed, 2 passed" in words
    assert "  fault: data-race:" in words
    assert status == 1


@pytest.mark.full
def test_engine_and_checks_are_those_that_are_asked_for(folder):
    words, status = ran(folder, "--visa", "--visa-checks", "races", "--visa-engine", "interp")
    assert ("data-race" in words, "out-of-bounds" in words, status) == (True, False, 1)


@pytest.mark.full
def test_no_checks_can_be_asked_for_and_none_that_is_unknown(folder):
    assert ran(folder, "--visa", "--visa-checks", "none")[1] == 0
    words, status = ran(folder, "--visa", "--visa-checks", "everything")
    assert "unknown check 'everything'; known checks: all, none" in words
    assert status == 1
    assert ran(folder, "--visa", "--visa-engine", "fast")[1] == 4


@pytest.mark.full
def test_a_launch_that_cannot_be_made_fails_with_the_reason(folder):
    (folder / "average.launch.yaml").write_text("groups: [0, 1, 1]\n")
    (folder / "alone.launch.yml").write_text("groups: [1, 1, 1]\n")
    text = folder / "saxpy.visaasm"
    text.write_text(text.read_text().replace("mad (", "mud ("))
    words, status = ran(folder, "--visa")
    assert "3 failed, 1 passed" in words
    assert "average.launch.yaml:1:10: " in words
    assert "no program; name it with file: NAME.visaasm" in words
    assert re.search(r"saxpy\.visaasm:51:5: error V201 unknown-mnemonic", words)
    assert "Traceback" not in words
    assert status == 1


def test_unasked_it_collects_and_loads_nothing(folder):
    (folder / "conftest.py").write_text(
        "import sys\n\n\ndef pytest_sessionfinish():\n"
        "    found = sorted(n for n in sys.modules if n.split('.')[0] in ('visa_lsp', 'numpy', 'llvmlite'))\n"
        "    print('loaded', *found)\n"
    )
    words, status = ran(folder, "-s")
    assert ("1 passed" in words, status) == (True, 0)
    assert re.search(r"^\.?loaded visa_lsp visa_lsp\.pytest_plugin$", words, re.MULTILINE)


@pytest.mark.full
def test_without_numpy_a_launch_fails_with_what_is_missing(folder):
    (folder / "conftest.py").write_text("import sys\nsys.modules['numpy'] = None\n")
    words, status = ran(folder, "--visa", "saxpy.launch.yaml")
    assert "visa-lsp[run]" in words
    assert status == 1


@pytest.mark.full
def test_the_launch_files_of_the_examples_pass():
    words, status = ran(EXAMPLES, "--visa")
    assert status == 0, words
