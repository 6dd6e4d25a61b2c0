"""Compiles the layer for the loader of this system, finds the host's OpenCL, and makes the environment of a program.

Knows files and environments, not messages. Invariant: a library is used only if its name has the digest of its source and it
lies in a folder that only the user can write to.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import stat
from pathlib import Path
from typing import Final

from visa_lsp.app.errors import UserError
from visa_lsp.app.external_tools import run_tool
from visa_lsp.disk_cache import folder_of_user

SOURCE: Final = Path(__file__).with_name("layer.c")
_FLAGS: Final = ("-std=gnu11", "-O2", "-shared", "-fPIC")
_LIBRARIES: Final = ("-lpthread", "-lm")
_COMPILE_SECONDS: Final = 120
_VENDORS: Final = Path("/etc/OpenCL/vendors")
_HOSTS: Final = ("pocl", "intelocl")  # CPU platforms, by a part of the name of their library


def layer_library(session: Path) -> Path:
    """Return the compiled layer, from the user's cache or else in the folder of the session. Raises UserError."""
    data = SOURCE.read_bytes()
    name = f"exec-layer-{hashlib.sha256(data + ' '.join(_FLAGS).encode()).hexdigest()[:16]}.so"
    folder = _own_folder(folder_of_user()) or session
    library = folder / name
    if not _is_own(library):
        _compile(library, session)
    return library


def host_entries(session: Path) -> Path:
    """Return a folder that names the host's OpenCL alone, so that no driver of a GPU is loaded. Raises UserError."""
    chosen = os.environ.get("VISA_LSP_EXEC_HOST")
    entries = [Path(chosen)] if chosen else sorted(_VENDORS.glob("*.icd"))
    for host in _HOSTS:
        for entry in entries:
            try:
                is_library = chosen and entry.suffix != ".icd"
                words = (
                    str(entry.resolve()) if is_library else entry.read_text(encoding="utf-8", errors="replace").strip()
                )
            except OSError:
                continue
            if chosen or host in Path(words).name:
                digest = hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:8]
                folder = (_own_folder(folder_of_user()) or session) / f"exec-host-{digest}"
                folder.mkdir(mode=0o700, exist_ok=True)
                _write_whole(folder / "host.icd", f"{words}\n".encode())
                return folder
    raise UserError(
        "no OpenCL for the CPU is installed, which has to supply contexts and queues; on Debian and Ubuntu: apt-get install "
        "pocl-opencl-icd"
    )


def exec_environment(library: Path, vendors: Path) -> dict[str, str]:
    """Return the variables that lead a program's OpenCL to the layer."""
    return {"OPENCL_LAYERS": str(library), "OCL_ICD_VENDORS": str(vendors)}


def _write_whole(path: Path, data: bytes) -> None:
    """Write a file unless it has these bytes, so that a program of another run that reads it finds it whole."""
    with contextlib.suppress(OSError):
        if path.read_bytes() == data:
            return
    scratch = path.with_name(f".{path.name}.{os.urandom(6).hex()}")
    try:
        scratch.write_bytes(data)
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)


def _own_folder(folder: Path | None) -> Path | None:
    """Return a folder of the cache, made if it is missing; None if others could write to it."""
    if folder is None:
        return None
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        about = folder.stat()
    except OSError:
        return None
    return folder if about.st_uid == os.geteuid() and not about.st_mode & 0o022 else None


def _is_own(library: Path) -> bool:
    try:
        about = library.lstat()
    except OSError:
        return False
    return stat.S_ISREG(about.st_mode) and about.st_uid == os.geteuid() and not about.st_mode & 0o022


def _compile(library: Path, session: Path) -> None:
    """Compile the layer; the library appears as a whole. Raises UserError with the name of a missing package."""
    compiler = next((path for name in ("cc", "gcc", "clang") if (path := shutil.which(name))), None)
    if compiler is None:
        raise UserError(
            "no C compiler is installed, which has to compile the OpenCL layer once; on Debian and Ubuntu: apt-get install gcc"
        )
    compiled = session / library.name
    command = [compiler, *_FLAGS, "-o", str(compiled), str(SOURCE), *_LIBRARIES]
    try:
        ran = run_tool(command, session, _COMPILE_SECONDS, {**os.environ, "TMPDIR": str(session)})
    except UserError as error:
        raise UserError(f"{compiler} cannot compile the OpenCL layer: {error}") from None
    if ran.failure or ran.status:
        errors = (line for line in ran.said.splitlines() if "error" in line)
        error_line = ran.failure or next(errors, f"status {ran.status}")
        if "CL/" in error_line:
            raise UserError(
                "the headers of OpenCL are not installed, which the OpenCL layer needs; on Debian and Ubuntu: apt-get install "
                "opencl-headers"
            )
        raise UserError(f"{compiler} cannot compile the OpenCL layer: {error_line}")
    compiled.chmod(0o700)
    if compiled != library:
        # Copied beside its place first, because the session may be on another file system.
        scratch = library.with_name(f".{library.name}.{os.urandom(6).hex()}")
        try:
            shutil.copy2(compiled, scratch)
            scratch.replace(library)
        finally:
            scratch.unlink(missing_ok=True)
