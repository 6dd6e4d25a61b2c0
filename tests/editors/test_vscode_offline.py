"""The .vsix of one platform holds what the server needs: with the network cut, Install works, tests pass, a kernel runs."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from editors import ROOT
from vscode import CUT, Window, why_missing

TARGET = {"x86_64": "linux-x64", "aarch64": "linux-arm64"}.get(platform.machine(), "")


def cannot_cut() -> str:
    """Why the network cannot be cut here; empty where it can."""
    if sys.platform != "linux" or not TARGET or shutil.which("unshare") is None or shutil.which("ip") is None:
        return "the network is cut with Linux's unshare and ip"
    done = subprocess.run([*CUT, "true"], capture_output=True, text=True, check=False)
    return f"unshare --net is not allowed here: {done.stderr.strip()}" if done.returncode else ""


REASON = why_missing() or cannot_cut()
pytestmark = pytest.mark.skipif(bool(REASON), reason=REASON or "it is here")


@pytest.fixture(scope="module")
def offline(built: Callable[[str], Path]) -> Path:
    return built(TARGET)


def test_the_package_holds_what_the_server_needs(offline: Path):
    with zipfile.ZipFile(offline) as package:
        names = package.namelist()
        manifest = package.read("extension.vsixmanifest").decode()
        changes = package.read("extension/changelog.md").decode()
    wheels = {Path(name).name.partition("-")[0] for name in names if "/server/needed/" in name}
    assert {"pygls", "lsprotocol", "parsimonious", "msgspec", "numpy", "tree_sitter"} <= wheels
    assert f'TargetPlatform="{TARGET}"' in manifest
    assert changes == (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_newcomers_path_with_the_network_cut(offline: Path, tmp_path: Path):
    project = shutil.copytree(ROOT / "examples", tmp_path / "project")
    with Window(offline, program=None, cut=True) as window:
        lines = window.run("newcomer.mjs", project, tmp_path / "pictures")
    seen = {line["step"]: line["seen"] for line in lines if line.get("seen")}
    # The first row of the table of the run: y = 2.5 x + 1.
    assert seen["run the kernel"][1:4] == ["1", "3.5", "6"]
    assert {"install.png", "open.png", "testing.png", "run.png"} <= {p.name for p in (tmp_path / "pictures").iterdir()}
    seconds = sum(line["seconds"] for line in lines if "step" in line)
    figure = f"from an empty profile to a passed test and a run with its buffers: {seconds:.1f} s"
    print(figure)
    if kept := os.environ.get("VISA_LSP_TEST_FIGURES"):  # workers' output is not shown
        Path(kept).write_text(f"{figure}\n")
