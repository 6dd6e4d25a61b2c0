"""Small launches of what only texts of the compiler of 2026 have, on both engines: results and findings as their files say."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiers import first

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from compiled_engine import compile_at_once

from visa_lsp.app.launch.file import read_launch_file
from visa_lsp.app.launch.runner import RunOptions, run_text

TEXTS = sorted((Path(__file__).parent / "newest").glob("*.visaasm"))


@pytest.mark.parametrize("path", first(6, TEXTS), ids=lambda path: path.stem)
def test_as_its_launch_file_says(path, monkeypatch):
    compile_at_once(monkeypatch.setattr)
    launch = read_launch_file(path.with_suffix(".launch.yaml"))
    for engine, checks in (("interp", "all"), ("jit", "none")):
        report = run_text(path.read_text(), launch, RunOptions(path, engine=engine, checks=checks))
        assert report.ok, (engine, checks, report)
