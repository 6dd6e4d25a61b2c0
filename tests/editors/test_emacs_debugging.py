"""Emacs with dap-mode, in batch, with the configuration of ``docs/editors/emacs``: breakpoint, stop, variables, step, to the end."""

from __future__ import annotations

import shutil

import pytest
from debugging import EXAMPLES
from editors import drive_emacs, has_emacs


@pytest.mark.skipif(
    not has_emacs("eglot", "dap-ui"),
    reason="no emacs with dap-mode on this machine (apt-get install emacs-nox elpa-eglot elpa-dap-mode)",
)
def test_debugging_in_emacs(tmp_path):
    for name in ("saxpy.visaasm", "saxpy.launch.yaml"):
        shutil.copy(EXAMPLES / name, tmp_path)
    program = tmp_path / "saxpy.visaasm"
    seen = drive_emacs("emacs_debug_session.el", program, tmp_path)
    lines = program.read_text().splitlines()
    assert "mul (M1_NM, 1) group_base" in lines[seen["entry"] - 1]
    assert seen["line"] == seen["wanted"]
    assert seen["values"] == ["3", "6", "true"]
    assert seen["scope"] == "Variables"
    assert seen["variables"]["index"] == str(list(range(16)))
    assert seen["next"] == seen["line"] + 1
    assert seen["changed"] == "8.5"
    assert seen["output"].splitlines()[-1].strip() == "ok"
