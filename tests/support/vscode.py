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


def build_extension(folder: Path) -> Path:
    """The .vsix, built in a copy of the extension beside what it needs of the repository."""
    shutil.rmtree(folder, ignore_errors=True)  # what a build that failed has left
    for name in ("vscode-extension", "visa_lsp", "grammar", "docs/images", "pyproject.toml", "README.md", "LICENSE"):
        source, target = ROOT / name, folder / name
        if source.is_dir():
            skipped = shutil.ignore_patterns("node_modules", "dist", "*.vsix", "__pycache__")
            shutil.copytree(source, target, ignore=skipped)
        elif source.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target)
    extension = folder / "vscode-extension"
    for command in (["npm", "ci", "--ignore-scripts", "--silent"], ["npm", "run", "--silent", "package"]):
        done = subprocess.run(command, cwd=extension, env=environment(), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    return extension / "visa-lsp.vsix"


def drive(script: str, *arguments: object, timeout: float = 900) -> list[dict[str, Any]]:
    """Run one of the scripts and give the JSON lines that it printed; they are printed here too."""
    command = ["node", str(SCRIPTS / script), *map(str, arguments)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=timeout, check=False)
    print(done.stdout)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    failed = [line for line in lines if line.get("ok") is False]
    assert (failed, done.returncode) == ([], 0), done.stderr[-4000:]
    return lines
