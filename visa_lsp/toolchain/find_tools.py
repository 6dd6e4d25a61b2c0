"""Finds the finalizer and ocloc: the named program, else the one on PATH, with installation advice.

Starts neither.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from visa_lsp.toolchain.process import ToolError


@dataclass(frozen=True, slots=True)
class Tool:
    """An external program: its name on PATH, its option, its description, and its package."""

    program: str
    option: str
    setting: str
    what: str
    package: str


FINALIZER: Final = Tool(
    "GenX_IR", "--tool", "finalizer", "Intel's finalizer, which makes machine code from vISA", "libigc-tools"
)
OCLOC: Final = Tool(
    "ocloc",
    "--ocloc",
    "ocloc",
    "Intel's offline compiler, which compiles OpenCL C",
    "intel-opencl-icd, in newer releases intel-ocloc",
)


def find_tool(tool: Tool, named: str | None = None) -> str:
    """Return the path of a tool: the ``named`` file or program, else the one on PATH.

    Raises ToolError with installation advice if there is no such program.
    """
    program = shutil.which(named or tool.program)
    if program is not None:
        # The path is made absolute because the tool starts in another folder.
        return str(Path(program).absolute())
    if named:
        path = Path(named)
        reason = "is a folder" if path.is_dir() else "cannot be executed" if path.exists() else "does not exist"
        raise ToolError(f"{named}: {reason}; name the program {tool.program} ({tool.what})")
    raise ToolError(
        f"{tool.program} is not installed: {tool.what}. On Debian and Ubuntu: apt-get install {tool.package}. If it is not "
        f'on PATH, name it with {tool.option} PATH or in the settings: {tool.setting} = "PATH"'
    )
