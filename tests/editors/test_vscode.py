"""VS Code itself: the .vsix in an empty profile, driven by a browser, and tests inside its extension host."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from editors import ROOT
from vscode import PROGRAM, build_extension, drive, environment, missing

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "it is here")
NEWCOMER_SECONDS = 120


@pytest.fixture(scope="module")
def vsix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_extension(tmp_path_factory.mktemp("extension"))


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
    assert wanted | {"testing view", "isa editor", "control flow", "task"} <= seen


def test_what_a_user_sees(vsix: Path, project: Path, tmp_path: Path):
    drive("views.mjs", vsix, project, PROGRAM, tmp_path / "pictures")
    assert {"hover.png", "problems.png", "run-image.png", "flow.png", "testing-failed.png", "isa.png"} <= {
        p.name for p in (tmp_path / "pictures").iterdir()
    }


def test_the_newcomers_path(vsix: Path, project: Path, tmp_path: Path):
    lines = drive("newcomer.mjs", vsix, project, tmp_path / "pictures")
    assert sum(line["seconds"] for line in lines) < NEWCOMER_SECONDS


def test_nothing_runs_in_an_untrusted_folder(vsix: Path, project: Path):
    drive("untrusted.mjs", vsix, project, PROGRAM)
