"""Kernels compiled by ocloc with the launches that ``compile`` proposes: these find the faults of ``default_launches.cl``, and no others."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from visa_lsp.cli.main import main

SOURCE = Path(__file__).with_name("default_launches.cl")
pytestmark = [pytest.mark.full, pytest.mark.skipif(shutil.which("ocloc") is None, reason="ocloc is not installed")]
RACE, BOUNDS = "data-race", "out-of-bounds"
# What the launch files of a kernel find together.
FAULTS = {
    "total": {BOUNDS}, "rowdiff": {BOUNDS}, "rev": {BOUNDS}, "lbound": {BOUNDS}, "fill": {BOUNDS},
    "reduce": {RACE}, "trans": {RACE}, "hist2": {RACE}, "shift": {RACE}, "all3": {RACE, BOUNDS},
    "good": set(), "scan": set(), "spmv": set(), "scatter": set(), "mm": set(), "red": set(), "dct": set(),
}  # fmt: skip


def test_launches_by_default_find_the_faults_of_each_kernel(here, capsys):
    assert main(["compile", str(SOURCE), "-o", "."]) == 0
    capsys.readouterr()
    assert main(["run", *sorted(path.name for path in here.glob("*.launch.yaml")), "--format", "json"]) == 1
    found: dict[str, set[str]] = {name: set() for name in FAULTS}
    for report in json.loads(capsys.readouterr().out):
        kinds = {fault["kind"] for fault in report["faults"]}
        # What a missing barrier leaves unwritten is read before it is written.
        found[report["kernel"]] |= kinds & {RACE, BOUNDS}
        assert kinds <= {RACE, BOUNDS, "uninitialised-read"}
    assert found == FAULTS
