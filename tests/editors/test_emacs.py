"""Emacs with eglot, in batch, with the configuration of ``docs/editors/emacs``; the server must end cleanly too."""

from __future__ import annotations

from pathlib import Path

import pytest
from editors import drive_emacs, has_emacs
from fake_tools import fake_tool
from lsp_client import BROKEN, BROKEN_FOUND, line_of, saxpy

from visa_lsp.isa.table import TABLE

HOST = """void scale(int *to, int from) {
    int result;
    __asm__("addd (M1, 8) %0(0,0)<1> %1(0,0)<1;1,0> 0x1:d" : "=rw"(result) : "rw"(from));
    *to = result;
}
"""


@pytest.mark.skipif(
    not has_emacs("eglot"), reason="no emacs with eglot on this machine (apt-get install emacs-nox elpa-eglot)"
)
def test_session_in_emacs(tmp_path: Path):
    folder = tmp_path / "project"
    folder.mkdir()
    kernel = saxpy(folder)
    kernel.path.chmod(0o644)  # the corpus is read-only, and Emacs minds that
    kernel.path.write_text(kernel.text.replace("mad (M1", "madd (M1"))
    (folder / "broken.launch.yaml").write_text(BROKEN)
    (folder / "scale.c").write_text(HOST)
    (folder / "visa-lsp.toml").write_text(f'finalizer = "{fake_tool(tmp_path / "bin", "write_listing()")}"\n')
    seen = drive_emacs("emacs_session.el", kernel.path, tmp_path)
    assert (seen["mode"], seen["server"]) == ("visa-mode", "visa-lsp")
    assert line_of(kernel.text, "mad (M1") + 1 == seen["line"]
    assert "did you mean" in seen["message"]
    assert TABLE.by_mnemonic["mad"][0].summary in seen["hover"]
    assert line_of(kernel.text, ".decl V0061") + 1 == seen["declared"]
    assert seen["buffers"][0][:3] == [1.0, 3.5, 6.0]
    assert "kernel saxpy" in seen["shown"]
    assert Path(seen["assembled"]).read_bytes()[:4] == b"CISA"
    label = line_of(kernel.text, "_main_0:") + 1
    assert f"saxpy.visaasm:{label}:         mov (8|M0)" in seen["gen"]
    assert seen["launch-mode"] == "visa-launch-mode"
    assert seen["launch-findings"] == [line for _, line in BROKEN_FOUND]
    assert "did you mean 'local_size'?" in seen["launch-message"]
    assert seen["host-place"] == [3, HOST.split("\n")[2].index("addd")]
    assert "did you mean `add`" in seen["host-message"]
    assert seen["exit"] == 0
