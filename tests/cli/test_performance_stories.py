"""The stories of docs/performance.md are true: their commands print the lines that stand below them."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from benchmarks.measure import PEER
from benchmarks.pressure import estimate
from visa_lsp.cli.main import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "performance.md").read_text("utf-8")
USED = ("examples", "docs/performance", "tests/own/run/TGLLP/turn", "tests/own/run/TGLLP/gemm")
LEAN, TILES = (Path("tests/own/run/TGLLP/gemm") / f"{name}.visaasm" for name in ("lean", "tiles"))


@pytest.fixture
def repository(here):
    """Return a copy of the folders that the stories use."""
    for folder in USED:
        shutil.copytree(ROOT / folder, here / folder)
    return here


def blocks() -> list[tuple[list[str], list[str]]]:
    """Commands and the lines that they print; a block without a command belongs to the one before it."""
    found: list[tuple[list[str], list[str]]] = []
    for block in re.findall(r"(?m)(?:^ {4}\S.*\n?)+", PAGE[PAGE.index("Three stories") :]):
        lines = [line.strip() for line in block.splitlines()]
        commands = [line[2:] for line in lines if line.startswith("$ ")]
        if commands:
            found.append((commands, []))
        found[-1][1].extend(line for line in lines if not line.startswith("$ "))
    return found


def lean(repository: Path) -> None:
    script = (repository / "docs/performance/tiles.sed").read_text()
    done = subprocess.run(["sed", "-E", script, TILES], capture_output=True, text=True, check=True)
    LEAN.write_text(done.stdout)


@pytest.mark.skipif(shutil.which("sed") is None, reason="there is no sed")
def test_the_commands_print_what_the_page_says(repository, capsys):
    assert len(blocks()) == 7
    for commands, wanted in blocks():
        printed: list[str] = []
        for command in commands:
            if command.startswith("sed "):
                subprocess.run(["sh", "-c", command], check=True)
                continue
            word, *argv = shlex.split(command)
            assert (word, main(argv)) == ("visa-lsp", 0), command
            printed += [line.strip() for line in capsys.readouterr().out.splitlines()]
        assert [line for line in wanted if line not in printed] == [], commands


@pytest.mark.full
@pytest.mark.skipif(shutil.which("sed") is None, reason="there is no sed")
def test_the_lean_product_is_the_same(repository, capsys):
    lean(repository)
    for path in (TILES, LEAN):
        assert main(["run", str(path), "--out", path.stem]) == 0
    capsys.readouterr()
    assert np.array_equal(np.load("tiles/arg2.npy"), np.load("lean/arg2.npy"))
    assert np.load("lean/arg2.npy").any()


@pytest.mark.skipif(
    PEER is None or shutil.which("sed") is None, reason="GenX_IR is not installed: apt-get install libigc-tools"
)
def test_the_finalizer_agrees_with_the_last_story(repository):
    lean(repository)
    found = [estimate(path.read_text(), "TGLLP") for path in (TILES, LEAN)]
    assert [one and one.peak for one in found] == [101, 75]
