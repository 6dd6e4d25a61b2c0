"""Which program is meant by the finalizer and by ocloc: the one that is named, else the one on PATH.

Knows how a user gets them; starts neither.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from visa_lsp.toolchain.process import ToolError


@dataclass(frozen=True, slots=True)
class Tool:
    """A program that others make: what it is called on PATH and on our command line, what it is, and how to get it."""

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
    """Return the path of a tool: the file that is ``named``, or a name that PATH has.

    Raises ToolError, with how to get the tool, where there is no such program.
    """
    found = shutil.which(named or tool.program)
    if found is not None:
        # The tool is started in another folder.
        return str(Path(found).absolute())
    if named:
        path = Path(named)
        reason = "is a folder" if path.is_dir() else "cannot be executed" if path.exists() else "does not exist"
        raise ToolError(f"{named}: {reason}; name the program {tool.program} ({tool.what})")
    raise ToolError(
        f"{tool.program} is not installed: {tool.what}. On Debian and Ubuntu: apt-get install {tool.package}. If it is not "
        f'on PATH, name it with {tool.option} PATH or in the settings: {tool.setting} = "PATH"'
    )
