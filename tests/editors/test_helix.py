"""Helix itself, in a terminal, with the configuration of ``docs/editors``: finding, fix, hover, jump, rename, completion."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from helix import PATIENCE, Terminal, environment, helix, why_missing
from lsp_client import BROKEN, BROKEN_FOUND, line_of, saxpy


@pytest.mark.skipif(bool(why_missing()), reason=why_missing() or "it is here")
def test_session_in_helix(tmp_path: Path):
    folder = tmp_path / "project"
    folder.mkdir()
    kernel = saxpy(folder)
    kernel.path.chmod(0o644)
    kernel.path.write_text(kernel.text.replace("mad (M1", "madd (M1"))
    (folder / "broken.launch.yaml").write_text(BROKEN)
    line = line_of(kernel.text, "mad (M1") + 1
    program = Path(sys.executable).with_name("visa-lsp")
    with Terminal([str(helix()), str(kernel.path)], folder, environment(tmp_path / "home", program)) as terminal:
        terminal.wait("NOR")
        terminal.wait("● 1")
        _command(terminal, f"goto {line}")
        terminal.text("gs")
        terminal.keys("Space")
        terminal.text("a")
        terminal.wait("change to `mad`")
        terminal.keys("Enter")
        terminal.wait("    mad (M1")
        _command(terminal, "write")
        terminal.wait("written")
        assert kernel.path.read_text() == kernel.text
        terminal.keys("Space")
        terminal.text("k")
        terminal.wait("Multiply, then add")
        terminal.keys("Escape")
        terminal.text("gsfV")  # the destination
        terminal.text("gd")
        terminal.wait(f"{line_of(kernel.text, '.decl V0065') + 1}:")
        terminal.keys("Space")
        terminal.text("r")
        terminal.wait("rename-to:")
        terminal.keys("C-u")
        terminal.text("product")
        terminal.keys("Enter")
        terminal.wait(".decl product")
        terminal.text("o")
        terminal.text("mu")
        terminal.wait("mulh")
        terminal.keys("Escape", "Escape")
        terminal.text("u")
        _command(terminal, "write")
        terminal.wait("written")
        # A broken launch file, by the same server: its findings are counted, and the fix of the first one is offered.
        _command(terminal, "open broken.launch.yaml")
        terminal.wait(f"● {len(BROKEN_FOUND)}")
        _command(terminal, f"goto {BROKEN_FOUND[0][1]}")
        terminal.text("gs")
        terminal.keys("Space")
        terminal.text("a")
        terminal.wait("change to 'local_size'")
        terminal.keys("Enter")
        terminal.wait(f"● {len(BROKEN_FOUND) - 1}")
        _command(terminal, "quit-all!")
        end = time.monotonic() + PATIENCE
        while not terminal.has_ended():
            assert time.monotonic() < end, terminal.screen()
            time.sleep(0.05)
    assert kernel.path.read_text() == kernel.text.replace("V0065", "product")


def _command(terminal: Terminal, words: str) -> None:
    terminal.text(f":{words}")
    terminal.keys("Enter")
