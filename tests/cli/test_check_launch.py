"""``check`` on launch files: those that are named are judged as a run judges them; a folder is searched for texts."""

import json
import shutil
from pathlib import Path

import pytest

from visa_lsp.cli.main import main

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def launch(tmp_path):
    """Return the example with a ze_info, in a folder of its own."""
    for path in EXAMPLES.iterdir():
        if path.name.startswith("mandelbrot"):
            shutil.copy(path, tmp_path)
    return tmp_path / "mandelbrot.launch.yaml"


def test_a_good_one_has_no_findings(printed, launch):
    assert printed("check", str(launch)) == ""


def test_every_mistake_is_reported_with_place_code_and_fix(printed, launch):
    text = launch.read_text()
    launch.write_text(text.replace("groups:", "group:").replace("{value: 36}", "{local: 36}"))
    first, second = json.loads(printed("check", "--format", "json", str(launch), status=1))
    assert (first["code"], first["name"], first["line"], first["column"]) == ("V801", "launch-unknown-key", 8, 1)
    assert first["fixes"][0]["edits"][0]["new_text"] == "groups"
    assert (second["code"], second["line"]) == ("V812", 12)


def test_the_endings_yml_and_stdin(printed, launch):
    other = launch.with_name("other.launch.yml")
    other.write_text("groups: [0]\n")
    assert "V805" in printed("check", str(other), status=1)


def test_findings_can_be_left_out(printed, launch):
    launch.write_text("groups: [0]\n")
    assert main(["check", "--ignore", "V8", str(launch)]) == 0
    assert "V805 launch-range" in printed("check", "--select", "launch-range", str(launch), status=1)


def test_a_folder_is_searched_for_texts(printed, launch):
    launch.write_text("groups: [0]\n")
    assert "launch" not in printed("check", str(launch.parent))


def test_fixes_are_not_applied_unasked(launch, capsys):
    launch.write_text("group: [1]\n")
    assert main(["check", "--fix", str(launch)]) == 1
    assert launch.read_text() == "group: [1]\n"
    assert "V801" in capsys.readouterr().out


@pytest.mark.parametrize(
    "text",
    [
        b"\xff\xfe",
        b"\0",
        b"groups: [1]\n&a *a",
        pytest.param(b"[" * 3000, marks=pytest.mark.full),
        b"a: &a [*a]",
        b"x: " + b"9" * 5000,
    ],
)
def test_hostile_ones_are_findings(printed, launch, text):
    launch.write_bytes(text)
    assert ": error V8" in printed("check", str(launch), status=1)
