"""Work for the tests of the cluster: functions of a folder and a number that go wrong at the number 20, once or always."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

BAD = 20


def doubled(folder: str, number: int) -> int:
    """Nothing goes wrong."""
    return 2 * number


def told_by(folder: str, number: int) -> tuple[int, int]:
    """Also says which worker it was done by: the parent of the process that does it."""
    time.sleep(0.02)
    return 2 * number, os.getppid()


def hangs(folder: str, number: int) -> int:
    """One item never ends."""
    if number == BAD:
        time.sleep(1_000)
    return 2 * number


def hangs_once(folder: str, number: int) -> int:
    """Hang on one item in the first process only."""
    if number == BAD and _first(folder):
        time.sleep(1_000)
    return 2 * number


def dies_always(folder: str, number: int) -> int:
    """One item ends its process."""
    if number == BAD:
        os.kill(os.getpid(), signal.SIGKILL)
    return 2 * number


def ends_its_worker(folder: str, number: int) -> int:
    """One item ends the worker that has it, once."""
    time.sleep(0.01)
    if number == BAD and _first(folder):
        os.kill(os.getppid(), signal.SIGKILL)
    return 2 * number


def stops_its_worker(folder: str, number: int) -> int:
    """One item stops the worker that has it, once: it is there, and says nothing."""
    time.sleep(0.01)
    if number == BAD and _first(folder):
        (Path(folder) / "stopped").write_text(str(os.getppid()))
        os.kill(os.getppid(), signal.SIGSTOP)
    return 2 * number


def raises(folder: str, number: int) -> int:
    """One item is a mistake of ours."""
    return number // (number - BAD) * 0 + 2 * number


def loud(folder: str, number: int) -> int:
    """Print and read, which must not come between the answers."""
    print("noise", number, flush=True)
    os.write(1, b"more noise")
    assert os.read(0, 1) == b""
    return 2 * number


def _first(folder: str) -> bool:
    try:
        os.close(os.open(Path(folder) / "done", os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def another() -> str:
    """Return an identity that no two processes share."""
    return f"0.0 ({os.getpid()})"
