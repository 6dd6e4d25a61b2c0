"""Running a program that is not ours: a folder of its own, no shell, a time limit, bounded output, nothing left behind.

Knows nothing of what the program does. Invariant: when ``run_program`` returns or raises, or this process ends, the program and all that
it has started in its process group have ended, and no more than the bound was kept of what it said.
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
from typing import TYPE_CHECKING, Final

from visa_lsp.children import ended_with_us
from visa_lsp.reading import MIB

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import BinaryIO

MAX_OUTPUT_BYTES: Final = 32 * MIB
MAX_WRITTEN_BYTES: Final = 1024 * MIB
_MAX_FILES: Final = 10_000
_LARGEST: Final = 4 * MAX_WRITTEN_BYTES  # file that it can write, seen by us or not
_LOOK: Final = 0.25  # seconds between two looks at what was written


class ToolError(Exception):
    """A program that cannot be started, or an option or platform that it does not know: a mistake of its user, in words."""


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended: what it said on both streams, its status, and in words what went wrong with the run itself.

    ``failure`` is empty where the program ended by itself, with whatever status.
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
    """Run a program in a folder; both of its streams are read as one.

    ``environment`` is the whole of it, that of this process by default; ``stop`` is asked now and then whether nobody
    waits any more. Raises ToolError where the program cannot be started.
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
        with ended_with_us(process):
            try:
                _limit(process.pid, seconds)
                failure = _waited(process, folder, said, seconds, stop)
            finally:
                _end(process)
        said.seek(0)
        text = said.read(MAX_OUTPUT_BYTES).decode("utf-8", "replace")
    if not failure and process.returncode < 0:
        failure = f"crashed ({_signal_words(-process.returncode)})"
    return Ran(text, process.returncode, failure)


def _waited(
    process: subprocess.Popen[bytes],
    folder: Path,
    said: BinaryIO,
    seconds: float,
    stop: Callable[[], bool] | None,
) -> str:
    """Wait for the end of a process; gives in words why it has to be ended before."""
    end = time.monotonic() + seconds
    while True:
        if _ends_within(process, max(0.0, min(_LOOK, end - time.monotonic()))):
            # Looked at once more: a quick program may have written a lot.
            return _too_much(folder, said)
        if time.monotonic() >= end:
            return f"did not end within {seconds:g} seconds"
        if stop is not None and stop():
            return "was cancelled"
        if too_much := _too_much(folder, said):
            return too_much


def _limit(pid: int, seconds: float) -> None:
    """Have the system bound the time of a program and the size of its files, and write no memory dump."""
    if sys.platform == "linux":
        import resource

        time_of_all_threads = int(seconds * (os.cpu_count() or 1)) + 1
        limits = (
            (resource.RLIMIT_CPU, time_of_all_threads), (resource.RLIMIT_FSIZE, _LARGEST), (resource.RLIMIT_CORE, 0),
        )  # fmt: skip
        for what, most in limits:
            # It may have ended already, or have a lower limit.
            with contextlib.suppress(OSError, ValueError):
                resource.prlimit(pid, what, (most, most))


def _ends_within(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Return whether a process ends within so many seconds."""
    if sys.platform == "linux":
        # The library looks now and then, up to 50 ms late; the system tells at once.
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
    with contextlib.suppress(OSError):  # files come and go while they are counted
        for entry in os.scandir(folder):
            files += 1
            size += entry.stat(follow_symlinks=False).st_size
    if size > MAX_WRITTEN_BYTES:
        return f"wrote more than {MAX_WRITTEN_BYTES // MIB} MiB"
    return f"wrote more than {_MAX_FILES} files" if files > _MAX_FILES else ""


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what is left of a program and of all that it has started."""
    if hasattr(os, "killpg"):
        # A group of which nobody is left, or only what has ended, cannot be signalled.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    elif process.poll() is None:
        process.kill()
    process.wait()


def _signal_words(number: int) -> str:
    return (signal.strsignal(number) or f"signal {number}").lower()
