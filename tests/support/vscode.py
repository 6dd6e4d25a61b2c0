"""Where the VS Code of the tests is, the .vsix made from a copy of the extension, and how the scripts are run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from editors import ROOT

SCRIPTS = ROOT / "tests" / "editors" / "vscode"
INSTALLED = os.environ.get("VISA_LSP_TEST_VSCODE")
CHROMIUM = os.environ.get("VISA_LSP_TEST_CHROMIUM") or shutil.which("chromium")
PROGRAM = Path(sys.executable).with_name("visa-lsp")


def missing() -> str:
    """Why VS Code cannot be driven here; empty where it can."""
    if not INSTALLED or not (Path(INSTALLED) / "bin" / "node").exists():
        return "no VS Code (tests/editors/vscode/install.sh DIR, then VISA_LSP_TEST_VSCODE=DIR)"
    if CHROMIUM is None:
        return "no chromium to drive VS Code with (apt-get install chromium)"
    return "" if PROGRAM.exists() else f"visa-lsp is not installed beside {sys.executable}"


def environment() -> dict[str, str]:
    """The environment of the scripts: the installed node goes first."""
    path = f"{INSTALLED}/bin:{os.environ.get('PATH', '')}"
    return {**os.environ, "PATH": path, "VISA_LSP_TEST_CHROMIUM": str(CHROMIUM), "PYTHON": sys.executable}


def build_extension(folder: Path, target: str = "") -> Path:
    """The .vsix, built in a copy of the extension beside what it needs of the repository.

    With a target of the Marketplace it brings the wheels along that the server needs there, with the Python that a newcomer finds.
    """
    shutil.rmtree(folder, ignore_errors=True)  # what a build that failed has left
    for name in (
        "vscode-extension",
        "visa_lsp",
        "grammar",
        "docs/images",
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
    ):
        source, copy = ROOT / name, folder / name
        if source.is_dir():
            skipped = shutil.ignore_patterns("node_modules", "dist", "*.vsix", "__pycache__")
            shutil.copytree(source, copy, ignore=skipped)
        elif source.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, copy)
    extension = folder / "vscode-extension"
    versions = {"VISA_PYTHONS": _newcomers_python()} if target else {}
    package = ["npm", "run", "--silent", "package", *(["--", target] if target else [])]
    for command in (["npm", "ci", "--ignore-scripts", "--silent"], package):
        done = subprocess.run(
            command, cwd=extension, env={**environment(), **versions}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    return extension / (f"visa-lsp-{target}.vsix" if target else "visa-lsp.vsix")


def _newcomers_python() -> str:
    """The version of the Python that lib.mjs lets the extension find."""
    found = (
        shutil.which(f"python3{minor}", path="/usr/local/bin:/usr/bin:/bin") for minor in (".14", ".13", ".12", ".11")
    )
    program = next(filter(None, found), sys.executable)
    script = "import sys; print(*sys.version_info[:2], sep='.')"
    return subprocess.run([program, "-c", script], capture_output=True, text=True, check=True).stdout.strip()


# Runs a command where no other machine can be reached, and nothing but the loopback of its own is there.
CUT = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "cut"]


def drive(script: str, *arguments: object, timeout: float = 900, cut: bool = False) -> list[dict[str, Any]]:
    """Run one of the scripts and give the JSON lines that it printed; they are printed here too. ``cut``: without a network.

    A session that fails is tried once more: on a busy machine a key may come before the window has the focus.
    """
    command = [*(CUT if cut else []), "node", str(SCRIPTS / script), *map(str, arguments)]
    for _ in range(2):
        done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=timeout, check=False)
        print(done.stdout)
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        failed = [line for line in lines if line.get("ok") is False]
        if not failed and done.returncode == 0:
            break
    assert (failed, done.returncode) == ([], 0), done.stderr[-4000:]
    return lines
