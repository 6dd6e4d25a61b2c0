"""VS Code for tests: its place, a .vsix built from a copy of the extension, and running scripts."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import threading
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from editors import ROOT

SCRIPTS = ROOT / "tests" / "editors" / "vscode"
INSTALLED = os.environ.get("VISA_LSP_TEST_VSCODE")
CHROMIUM = os.environ.get("VISA_LSP_TEST_CHROMIUM") or shutil.which("chromium")
PATIENCE = 600.0  # a script that takes longer has failed
PROGRAM = Path(sys.executable).with_name("visa-lsp")


def why_missing() -> str:
    """Return the reason why VS Code cannot be driven here; empty where it can."""
    if not INSTALLED or not (Path(INSTALLED) / "bin" / "node").exists():
        return "no VS Code (tests/editors/vscode/install.sh DIR, then VISA_LSP_TEST_VSCODE=DIR)"
    if CHROMIUM is None:
        return "no chromium to drive VS Code with (apt-get install chromium)"
    return "" if PROGRAM.exists() else f"visa-lsp is not installed beside {sys.executable}"


def environment() -> dict[str, str]:
    """Return the environment of the scripts: the installed node is first on the path."""
    path = f"{INSTALLED}/bin:{os.environ.get('PATH', '')}"
    return {**os.environ, "PATH": path, "VISA_LSP_TEST_CHROMIUM": str(CHROMIUM), "PYTHON": sys.executable}


def copy_extension(folder: Path) -> Path:
    """Return a copy of the extension, with the needed files of the repository and the packages that build it."""
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
    run_npm(extension, "ci", "--ignore-scripts", "--silent")
    return extension


def build_extension(extension: Path, target: str = "") -> Path:
    """Return the .vsix. With a target of the Marketplace it includes the wheels that the server needs there, with a newcomer's Python."""
    versions = {"VISA_PYTHONS": _newcomers_python()} if target else {}
    run_npm(extension, "run", "--silent", "package", *(["--", target] if target else []), **versions)
    return extension / (f"visa-lsp-{target}.vsix" if target else "visa-lsp.vsix")


def run_npm(extension: Path, *words: str, **more: str) -> None:
    """Run npm in the copy of the extension; it has to be content."""
    command = ["npm", *words]
    done = subprocess.run(
        command, cwd=extension, env={**environment(), **more}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _newcomers_python() -> str:
    """Return the version of the Python that lib.mjs lets the extension find."""
    found = (
        shutil.which(f"python3{minor}", path="/usr/local/bin:/usr/bin:/bin") for minor in (".14", ".13", ".12", ".11")
    )
    program = next(filter(None, found), sys.executable)
    script = "import sys; print(*sys.version_info[:2], sep='.')"
    return subprocess.run([program, "-c", script], capture_output=True, text=True, check=True).stdout.strip()


# Runs a command where no other machine can be reached, and nothing but the loopback of its own is there.
CUT = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "cut"]


@dataclass
class Window:
    """A VS Code and a browser in which scripts run one behind the other, each with a page of its own; started for the first one.

    Without a program the server is not there yet. ``cut``: without a network.
    """

    vsix: Path
    program: Path | None = PROGRAM
    cut: bool = False
    process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End VS Code and the browser."""
        if self.process is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.communicate(timeout=30)
            self.process.kill()
            self.process = None

    def run(self, script: str, *words: object) -> list[dict[str, Any]]:
        """Run a script with its arguments and give the JSON lines that it printed; they are printed here too.

        A script that fails is tried once more, in a new window: on a busy machine a key may arrive before the window
        has the focus.
        """
        for _ in range(2):
            lines = self._play([script, *map(str, words)])
            if lines[-1]["passed"]:
                return lines
            self.close()
            warnings.warn(f"{script} failed: {lines}", stacklevel=2)
        raise AssertionError([line for line in lines if line.get("ok") is not True])

    def _play(self, job: list[str]) -> list[dict[str, Any]]:
        if self.process is None:
            command = [*(CUT if self.cut else []), "node", str(SCRIPTS / "session.mjs"), str(self.vsix)]
            command += [str(self.program)] if self.program else []
            self.process = subprocess.Popen(
                command, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        process = self.process
        assert process.stdin is not None
        assert process.stdout is not None
        timer = threading.Timer(PATIENCE, process.kill)
        timer.start()
        lines = []
        process.stdin.write(json.dumps(job) + "\n")
        process.stdin.flush()
        for text in process.stdout:
            print(text, end="")
            if text.startswith("{"):
                lines.append(json.loads(text))
                if "passed" in lines[-1]:
                    break
        else:
            lines.append({"passed": False, "why": f"{job[0]} came to no end"})
        timer.cancel()
        return lines
