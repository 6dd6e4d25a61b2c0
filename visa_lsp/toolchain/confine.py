"""Confines a program to its working folder, its own files and the libraries of the system, where the kernel can (Landlock).

A small process sets the rules and becomes the program, because rules that this process sets would confine it too. On other
systems the program starts unconfined. Invariant: the rules cannot be lifted by the program or its children.
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

# System calls of Linux, with the same numbers on every processor.
_CREATE_RULESET: Final = 444
_VERSION: Final = 1
_LIBRARIES: Final = (
    "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/local/lib", "/lib", "/lib32", "/lib64", "/usr/bin", "/bin",
    "/etc/ld.so.cache", "/etc/OpenCL", "/dev/null", "/dev/urandom",
)  # fmt: skip
# Arguments: the folder that may be written, the number of paths that may be read, those paths, then the command.
_LAUNCHER: Final = """\
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
call = libc.syscall
call.restype = ctypes.c_long
EVERY, READ = 0x1FFF, 0x000D
rules = call(444, ctypes.byref(ctypes.c_uint64(EVERY)), 8, 0)
class Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("access", ctypes.c_uint64), ("fd", ctypes.c_int32)]
count = int(sys.argv[2])
for path, access in [(sys.argv[1], EVERY), *((path, READ) for path in sys.argv[3 : 3 + count])]:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        continue
    access &= EVERY if os.path.isdir(path) else 0x0005 if access == READ else 0x0007
    if path.startswith("/dev/"):
        access |= 0x0002
    call(445, rules, 1, ctypes.byref(Beneath(access, fd)), 0)
if libc.prctl(38, 1, 0, 0, 0) or call(446, rules, 0):
    sys.exit(126)
command = sys.argv[3 + count :]
os.execv(command[0], command)
"""


@cache
def can_confine() -> bool:
    """Return whether the kernel can confine a program."""
    if sys.platform != "linux":
        return False
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    return int(call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))) > 0


def confine_command(command: Sequence[str], folder: Path, read: Sequence[Path] = ()) -> list[str]:
    """Return a command that runs confined in ``folder``, and may also read the paths ``read``; the same if it cannot be."""
    if not can_confine():
        return list(command)
    paths = dict.fromkeys([*_LIBRARIES, *_files_of(Path(command[0])), *map(str, read)])
    return [sys.executable, "-I", "-S", "-c", _LAUNCHER, str(folder), str(len(paths)), *paths, *command]


def _files_of(tool: Path) -> list[str]:
    """Return the folders of a tool and of its libraries."""
    folders = [path for path in os.environ.get("LD_LIBRARY_PATH", "").split(":") if path]
    for path in (tool, tool.resolve()):
        folder = path.parent
        if folder in (Path.home(), Path(folder.anchor)):
            folders.append(str(path))  # not everything that is beside it
            continue
        folders.append(str(folder))
        if folder.name == "bin":
            folders += [str(folder.parent / name) for name in ("lib", "lib64", "share")]
    return folders
