"""Benchmarks say what they take when they are asked for help."""

import subprocess
import sys
from pathlib import Path

import pytest
from tiers import first


@pytest.mark.parametrize(
    "name",
    first(
        3,
        [
            "against",
            "check",
            "cluster",
            "debug",
            "edit",
            "embedded",
            "figures",
            "fuzz_dap",
            "gen",
            "hostile",
            "mutate_source",
            "newest",
            "open",
            "prove",
            "read",
            "run",
            "sources",
            "startup",
        ],
    ),
)
def test_a_benchmark_tells_its_usage(name: str):
    command = [sys.executable, "-m", f"benchmarks.{name}", "--help"]
    told = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False)
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.startswith(f"usage: python -m benchmarks.{name}")
