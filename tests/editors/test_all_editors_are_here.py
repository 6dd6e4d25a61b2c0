"""Where VISA_LSP_TEST_REQUIRE names editors, their absence is a failure and not a skip: .ci/run names all that it installs."""

from __future__ import annotations

import os
import shutil

import helix
import pytest
import vscode
from editors import has_emacs, neovims

REQUIRED = os.environ.get("VISA_LSP_TEST_REQUIRE", "").split()


def _neovim(major: int, minor: int) -> str:
    found = {n.version for n in neovims()}
    return "" if (major, minor) in found else f"of Neovim there is {sorted(found)}, not {major}.{minor}"


WHY_NOT = {
    "neovim-0.7": lambda: _neovim(0, 7),
    "neovim-0.11": lambda: _neovim(0, 11),
    "vim": lambda: "" if shutil.which("vim") else "no vim",
    "emacs": lambda: "" if has_emacs("eglot") else "no emacs with eglot",
    "dap-mode": lambda: "" if has_emacs("eglot", "dap-ui") else "no emacs with dap-mode",
    "vscode": vscode.why_missing,
    "helix": helix.why_missing,
}


@pytest.mark.skipif(not REQUIRED, reason="VISA_LSP_TEST_REQUIRE names no editor; what is missing here may be skipped")
@pytest.mark.parametrize("name", REQUIRED or ["none"])
def test_editor_is_here(name: str):
    assert WHY_NOT[name]() == ""
