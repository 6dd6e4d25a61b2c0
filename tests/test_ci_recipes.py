"""What CI services are given: the pre-commit hooks, the steps of the GitHub action, those of the container's recipe."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[1]
ACTION = ROOT / ".github" / "actions" / "check"
RECIPE = ROOT / ".ci" / "Dockerfile"
pytestmark = pytest.mark.full  # each makes an environment with what it installs
NO_PRE_COMMIT = "" if find_spec("pre_commit") else "pre-commit is not installed: pip install pre-commit"


def run(command: list[str], folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Return a command in a folder, with both streams as one."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PYTHONPATH"))}
    return subprocess.run(
        command, cwd=folder, env={**outside, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, timeout=600, check=False,
    )  # fmt: skip


@pytest.fixture
def project(tmp_path):
    """Somebody else's repository, with a kernel that is right and one that is not."""
    folder = tmp_path / "project"
    folder.mkdir()
    text = (ROOT / "examples" / "saxpy.visaasm").read_text(encoding="utf-8")
    (folder / "right.visaasm").write_text(text)
    (folder / "wrong.visaasm").write_text(text.replace("    mul (", "    mull ("))
    for words in (["init", "-q"], ["add", "-A"]):
        assert run(["git", *words], folder).returncode == 0
    return folder


# ---- pre-commit


@pytest.mark.skipif(bool(NO_PRE_COMMIT), reason=NO_PRE_COMMIT or "it is here")
def test_the_hooks_report_and_mend(project, tmp_path):
    tried = [sys.executable, "-m", "pre_commit", "try-repo", str(ROOT)]
    home = {"PRE_COMMIT_HOME": str(tmp_path / "home")}

    found = run([*tried, "visa-lsp-check", "--all-files"], project, **home)
    assert found.returncode == 1, found.stdout
    assert re.search(r"^wrong\.visaasm:\d+:5: error V201 unknown-mnemonic", found.stdout, re.MULTILINE), found.stdout
    assert "right.visaasm" not in found.stdout

    (project / "wrong.visaasm").write_text((project / "right.visaasm").read_text().replace("\ndone:", "\n  done:"))
    assert run(["git", "add", "-A"], project).returncode == 0
    mended = run([*tried, "visa-lsp-fix", "--all-files"], project, **home)
    assert mended.returncode == 1  # a hook that changes files stops the commit once
    assert "files were modified by this hook" in mended.stdout, mended.stdout
    assert (project / "wrong.visaasm").read_text() == (project / "right.visaasm").read_text()

    assert run(["git", "add", "-A"], project).returncode == 0
    clean = run([*tried, "visa-lsp-fix", "--all-files"], project, **home)
    assert clean.returncode == 0, clean.stdout


# ---- in an empty environment


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """Return the programs of a virtual environment that has nothing but pip."""
    folder = tmp_path_factory.mktemp("empty")
    assert run([sys.executable, "-m", "venv", str(folder)], folder).returncode == 0
    return folder / "bin"


def test_the_steps_of_the_action(empty, project):
    """The steps that are shell, as the service runs them: inputs come by the environment, with their defaults."""
    action = YAML(typ="safe").load((ACTION / "action.yml").read_text(encoding="utf-8"))
    given = {name: value["default"] for name, value in action["inputs"].items()}
    given |= {"platform": "TGLLP", "sarif-file": "found.sarif"}

    def filled(text: str) -> str:
        text = text.replace("${{ github.action_path }}", str(ACTION))
        return re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: given[found[1]], text)

    steps = [step for step in action["runs"]["steps"] if "run" in step]
    assert [step["name"] for step in steps] == ["Install visa-lsp", "Check"]
    said = []
    for step in steps:
        assert "${{" not in step["run"]  # an input could be read as a command there
        environment = {name: filled(value) for name, value in step["env"].items()}
        path = f"{empty}:{os.environ['PATH']}"
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        said.append(run(command, project, **environment, PATH=path))
    installed, checked = said
    assert installed.returncode == 0, installed.stdout
    assert checked.returncode == 1, checked.stdout
    assert re.search(r"^::error file=wrong\.visaasm,line=\d+,.*V201 unknown-mnemonic", checked.stdout, re.MULTILINE)
    (sarif,) = json.loads((project / "found.sarif").read_text())["runs"]
    assert [result["ruleId"] for result in sarif["results"]] == ["V201"]


def test_the_steps_of_the_containers_recipe(tmp_path, project):
    """What the recipe copies and runs, in an empty environment each for its two stages: no container engine is needed."""
    allowed = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    source, wheels = tmp_path / "source", tmp_path / "wheels"
    source.mkdir()
    for name in allowed:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, source)
    recipe = RECIPE.read_text(encoding="utf-8")
    stages = re.split(r"^FROM .*$", recipe, flags=re.MULTILINE)[1:]
    assert len(stages) == 2
    for number, stage in enumerate(stages):
        assert run([sys.executable, "-m", "venv", str(tmp_path / f"stage{number}")], tmp_path).returncode == 0
        path = f"{tmp_path / f'stage{number}' / 'bin'}:{os.environ['PATH']}"
        for line in re.findall(r"^RUN (.*)$", stage, re.MULTILINE):
            here = line.replace("/source", str(source)).replace("/wheels", str(wheels))
            done = run(["sh", "-ec", here], tmp_path, PATH=path)
            assert done.returncode == 0, done.stdout
    assert not wheels.exists()
    (entry,), (default,) = (
        map(json.loads, re.findall(rf"^{word} (.*)$", recipe, re.MULTILINE)) for word in ("ENTRYPOINT", "CMD")
    )
    found = run([*entry, *default], project, PATH=path)
    assert (found.returncode, found.stdout.count("error V201")) == (1, 1), found.stdout
    ran = run([*entry, "run", "saxpy.visaasm"], ROOT / "examples", PATH=path)
    assert ran.returncode == 0, ran.stdout
    assert "y: holds" in ran.stdout
