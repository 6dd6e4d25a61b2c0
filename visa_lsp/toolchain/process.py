"""Runs an external program in its own folder, without a shell, with a time limit and bounded output.

Invariant: when ``run_program`` returns or raises, or this process ends, the program and its process group have ended, and no
more than the limit of its output was kept.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Final

from visa_lsp.children import end_with_us
from visa_lsp.safe_io import MIB

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

MAX_OUTPUT_BYTES: Final = 32 * MIB
MAX_WRITTEN_BYTES: Final = 1024 * MIB
_MAX_FILES: Final = 10_000
_MAX_FOLDER_BYTES: Final = 4 * MAX_WRITTEN_BYTES  # written files, including hidden ones
_LOOK: Final = 0.25  # seconds between two checks of the written files


class ToolError(Exception):
    """A program that cannot start, or does not know an option or platform: a user error."""


@dataclass(frozen=True, slots=True)
class Ran:
    """The end of a program: its output on both streams, its status, and a message about a failed run.

    ``failure`` is empty if the program ended by itself, with any status.
    """

    said: str
    status: int
    failure: str = ""


def run_program(
    command: Sequence[str],
    folder: Path,
    seconds: float,
    *,
    environment: Mapping[str, str] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Ran:
    """Run a program in a folder; its two output streams are merged.

    ``environment`` replaces that of this process; ``stop`` is called at intervals and returns whether the run was cancelled.
    Raises ToolError if the program cannot start.
    """
    with tempfile.TemporaryFile() as said:
        try:
            process = subprocess.Popen(
                list(command), cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=said,
                stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            words = getattr(error, "strerror", None) or error
            raise ToolError(f"{command[0]}: cannot start: {words}") from None
        with end_with_us(process):
            try:
                _limit(process.pid, seconds)
                failure = _wait_for_end(process, folder, said, seconds, stop)
            finally:
                _end(process)
        said.seek(0)
        text = said.read(MAX_OUTPUT_BYTES).decode("utf-8", "replace")
    if not failure and process.returncode < 0:
        failure = f"crashed ({_signal_words(-process.returncode)})"
    return Ran(text, process.returncode, failure)


def _wait_for_end(
    process: subprocess.Popen[bytes],
    folder: Path,
    said: BinaryIO,
    seconds: float,
    stop: Callable[[], bool] | None,
) -> str:
    """Wait for the end of a process; return a message if it must be killed earlier."""
    end = time.monotonic() + seconds
    while True:
        if _ends_within(process, max(0.0, min(_LOOK, end - time.monotonic()))):
            # Checked once more, because a quick program may have written a lot.
            return _too_much(folder, said)
        if time.monotonic() >= end:
            return f"did not end within {seconds:g} seconds"
        if stop is not None and stop():
            return "was cancelled"
        if too_much := _too_much(folder, said):
            return too_much


def _limit(pid: int, seconds: float) -> None:
    """Limit the time of a program and the size of its files, and disable core dumps."""
    if sys.platform == "linux":
        import resource

        time_of_all_threads = int(seconds * (os.cpu_count() or 1)) + 1
        limits = (
            (resource.RLIMIT_CPU, time_of_all_threads), (resource.RLIMIT_FSIZE, _MAX_FOLDER_BYTES), (resource.RLIMIT_CORE, 0),
        )  # fmt: skip
        for what, most in limits:
            # The program may have ended already, or have a lower limit.
            with contextlib.suppress(OSError, ValueError):
                resource.prlimit(pid, what, (most, most))


def _ends_within(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Return whether a process ends within ``seconds``."""
    if sys.platform == "linux":
        # The library polls and may be 50 ms late; the system call returns at once.
        with contextlib.suppress(OSError):
            handle = os.pidfd_open(process.pid)
            try:
                waiting = select.poll()
                waiting.register(handle, select.POLLIN)
                waiting.poll(seconds * 1000)
            finally:
                os.close(handle)
            seconds = 0
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _too_much(folder: Path, said: BinaryIO) -> str:
    if os.fstat(said.fileno()).st_size > MAX_OUTPUT_BYTES:
        return f"printed more than {MAX_OUTPUT_BYTES // MIB} MiB"
    size = files = 0
    with contextlib.suppress(OSError):  # files may appear and vanish meanwhile
        for entry in os.scandir(folder):
            files += 1
            size += entry.stat(follow_symlinks=False).st_size
    if size > MAX_WRITTEN_BYTES:
        return f"wrote more than {MAX_WRITTEN_BYTES // MIB} MiB"
    return f"wrote more than {_MAX_FILES} files" if files > _MAX_FILES else ""


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process group of a program."""
    if hasattr(os, "killpg"):
        # A group without running processes cannot be signalled.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    elif process.poll() is None:
        process.kill()
    process.wait()


def _signal_words(number: int) -> str:
    return (signal.strsignal(number) or f"signal {number}").lower()
