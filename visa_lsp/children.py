"""Child processes and temporary folders that do not outlive this process, whatever ends it.

A child that runs our own code calls ``end_with_parent``. For other programs, and for folders, there is a *keeper*: a
small process in a separate session, which gets their names through a pipe, and ends or removes them when the pipe ends.
If the keeper is killed, this process starts another. If both are killed, the next process that makes a folder removes
those whose lock is free. Knows nothing about the work of children. Invariant: the keeper gets the name of a process or
folder before it exists, or immediately after.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_PR_SET_PDEATHSIG: Final = 1
_LOOK_SECONDS: Final = 0.25  # seconds between two checks of the parent, if the system sends no signal
_SYNCHRONIZE: Final = 0x0010_0000  # the right to wait for a process of Windows
_FOLDER_NAME: Final = re.compile(r"visa-lsp-([a-z]+-)?[0-9a-f]{20}")
_LOCK_SECONDS: Final = 60.0  # from making a folder to locking it, at most
# Reads lines: "+" or "-", then "group N" or "folder HEX". A folder is removed repeatedly, because a process that writes
# into it may take a moment to end.
_KEEPER: Final = """\
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
known = set()
for line in sys.stdin.buffer:
    (known.add if line[:1] == b"+" else known.discard)(line[1:].decode().strip())
kinds = [word.split() for word in known]
for _ in range(5 if kinds else 0):
    import shutil
    for kind, name in kinds:
        try:
            if kind == "folder":
                shutil.rmtree(bytes.fromhex(name), ignore_errors=True)
            elif hasattr(os, "killpg"):
                os.killpg(int(name), 9)
            else:
                os.kill(int(name), 15)
        except OSError:
            pass
    time.sleep(0.05)
os._exit(0)
"""


# ---- children that run our own code


def command_of(module: str) -> list[str]:
    """Return the command that runs a module of ours as a child; it has to call ``end_with_parent`` first."""
    # -P: do not import modules from the current folder
    return [sys.executable, "-P", "-m", module, str(os.getpid())]


def end_with_parent(parent: int | None = None) -> None:
    """End this process as soon as its parent ends; ``parent`` is its number, by default the argument from ``command_of``."""
    number = parent or (int(sys.argv[1]) if len(sys.argv) > 1 else os.getppid())
    if _end_with_parent_by_system():
        if os.getppid() != number:  # it ended before the request
            os._exit(1)
    else:
        threading.Thread(target=_watch, args=(number,), daemon=True).start()


def end_program_with_us() -> None:
    """Let Linux end this process with its parent: a ``preexec_fn``, for a program that keeps the terminal of ours."""
    if sys.platform == "linux":
        with contextlib.suppress(ImportError, OSError, AttributeError):
            import ctypes

            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _end_with_parent_by_system() -> bool:
    """Let Linux end this process with its parent, even while no Python code runs; return False on other systems."""
    if sys.platform != "linux":
        return False
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes

        return int(ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)) == 0
    return False


def _watch(parent: int) -> None:
    """End this process when the parent has ended."""
    if sys.platform == "win32":
        import _winapi

        with contextlib.suppress(OSError):  # it has ended already
            _winapi.WaitForSingleObject(_winapi.OpenProcess(_SYNCHRONIZE, False, parent), _winapi.INFINITE)
    else:
        while os.getppid() == parent:
            time.sleep(_LOOK_SECONDS)
    os._exit(1)


# ---- other programs, and folders


@contextlib.contextmanager
def temporary_folder(prefix: str = "visa-lsp-", parent: Path | None = None) -> Iterator[Path]:
    """Make a folder that only this user can enter; it is removed afterwards, even if this process is killed."""
    folder = (parent or Path(tempfile.gettempdir())).resolve() / f"{prefix}{os.urandom(10).hex()}"
    with _keep(f"folder {os.fsencode(folder).hex()}"):
        _remove_abandoned_folders(folder.parent)
        folder.mkdir(mode=0o700)
        lock = _lock(folder)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            if lock is not None:
                os.close(lock)


@functools.cache
def _remove_abandoned_folders(parent: Path) -> None:
    """Remove temporary folders of this user whose processes and keepers were killed; once for each ``parent``."""
    if sys.platform == "win32":  # a folder cannot be locked
        return
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if not _FOLDER_NAME.fullmatch(entry.name) or not entry.is_dir(follow_symlinks=False):
                continue
            about = entry.stat(follow_symlinks=False)
            if about.st_uid != os.geteuid() or abs(time.time() - about.st_mtime) < _LOCK_SECONDS:
                continue
            lock = _lock(Path(entry.path))
            if lock is not None:
                shutil.rmtree(entry.path, ignore_errors=True)
                os.close(lock)


def _lock(folder: Path) -> int | None:
    """Lock a folder until the descriptor is closed, also by a kill; None if another process has the lock."""
    if sys.platform == "win32":
        return None
    import fcntl

    descriptor = -1
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        if descriptor >= 0:
            os.close(descriptor)
        return None
    return descriptor


def end_with_us(process: subprocess.Popen[bytes]) -> contextlib.AbstractContextManager[None]:
    """End a program, the leader of a process group, and its group if this process ends within the block."""
    return _keep(f"group {process.pid}")


@contextlib.contextmanager
def _keep(what: str) -> Iterator[None]:
    _keeper.hear(f"+{what}")
    try:
        yield
    finally:
        _keeper.hear(f"-{what}")


class _Keeper:
    """The keeper process, which outlives this one for a moment; started with the first process or folder."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._names: set[str] = set()  # of living processes and folders, for another keeper if this one is killed
        self._owner = 0  # because a fork must start its own
        self._lock = threading.Lock()

    def hear(self, line: str) -> None:
        """Send the keeper a line; without effect if no keeper can be started."""
        with self._lock:
            if self._owner != os.getpid():
                self._process, self._names, self._owner = None, set(), os.getpid()
                atexit.register(self.end)
            (self._names.add if line[0] == "+" else self._names.discard)(line[1:])
            if not self._send(line):
                self._send(line)

    def end(self) -> None:
        """End the keeper, which then ends remaining processes and removes remaining folders."""
        with self._lock:
            if self._owner != os.getpid() or self._process is None:
                return
            if self._names:
                self._send("")
            with contextlib.suppress(OSError):
                self._process.communicate()

    def _send(self, line: str) -> bool:
        """Send a line, or all names to a new keeper if there is none; return whether that was possible."""
        with contextlib.suppress(OSError, ValueError, RuntimeError):  # the last at the end of the interpreter
            if self._process is None or self._process.poll() is not None:
                self._process = _start_keeper()
                line = "\n".join(f"+{name}" for name in self._names)
            assert self._process.stdin is not None
            if line:
                self._process.stdin.write(f"{line}\n".encode())
            return True
        return False


_keeper: Final = _Keeper()


def _start_keeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _KEEPER], bufsize=0,
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        cwd=os.path.abspath(os.sep), start_new_session=True,  # noqa: PTH100 - no folder is kept from being removed
    )  # fmt: skip
