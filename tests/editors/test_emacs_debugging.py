"""Emacs with dap-mode, in batch, with the configuration of ``docs/editors/emacs``: breakpoint, stop, variables, step, to the end."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest
from debugging import EXAMPLES, ROOT

EMACS = shutil.which("emacs")


def has_dap_mode() -> bool:
    command = [str(EMACS), "--batch", "--eval", "(progn (package-initialize) (require 'eglot) (require 'dap-ui))"]
    return EMACS is not None and subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(
    not has_dap_mode(),
    reason="no emacs with dap-mode on this machine (apt-get install emacs-nox elpa-eglot elpa-dap-mode)",
)
def test_debugging_in_emacs(tmp_path):
    for name in ("saxpy.visaasm", "saxpy.launch.yaml"):
        shutil.copy(EXAMPLES / name, tmp_path)
    program, report = tmp_path / "saxpy.visaasm", tmp_path / "report.json"
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "VISA_LSP_COMMAND": json.dumps(
            [sys.executable, "-c", "import sys; from visa_lsp.cli.main import main; sys.exit(main())"]
        ),
        "VISA_FILE": str(program),
        "VISA_REPORT": str(report),
        "VISA_STATE": str(tmp_path),
    }
    load = [
        "-L",
        str(ROOT / "docs" / "editors" / "emacs"),
        "-l",
        str(ROOT / "tests" / "editors" / "emacs_debug_session.el"),
    ]
    done = subprocess.run(
        [str(EMACS), "--batch", *load], capture_output=True, text=True, timeout=300, check=False, env=environment, cwd=tmp_path,
    )  # fmt: skip
    assert report.exists(), done.stdout + done.stderr[-2000:]
    seen = json.loads(report.read_text())
    assert seen.get("ok") is True, (seen, done.stderr[-2000:])
    lines = program.read_text().splitlines()
    assert "mul (M1_NM, 1) group_base" in lines[seen["entry"] - 1]
    assert seen["line"] == seen["wanted"]
    assert seen["values"] == ["3", "6", "true"]
    assert seen["scope"] == "Variables"
    assert seen["variables"]["index"] == str(list(range(16)))
    assert seen["next"] == seen["line"] + 1
    assert seen["changed"] == "8.5"
    assert seen["output"].splitlines()[-1].strip() == "ok"
