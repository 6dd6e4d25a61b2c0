"""Common parts of tests of processes: waiting for their end and for their output."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from benchmarks.attack.core import patiently


def is_alive(number: int) -> bool:
    """Return whether a process runs; an ended one that was not waited for yet (a zombie) does not."""
    try:
        os.kill(number, 0)
        about = Path(f"/proc/{number}/stat").read_text()
    except ProcessLookupError:
        return False
    except OSError:
        return not Path("/proc/self").exists()
    return about.rpartition(")")[2].split()[0] not in "ZX"


def wait_for_end(numbers: Iterable[int]) -> bool:
    """Return whether processes end within the time."""
    return all(patiently(lambda number=number: not is_alive(number)) for number in numbers)


def lines_of(path: Path, count: int) -> list[str]:
    """Return the first lines of a file once it has so many."""
    lines: list[str] = []

    def has_them() -> bool:
        lines[:] = path.read_text().split("\n")[:-1] if path.exists() else []
        return len(lines) >= count

    assert patiently(has_them)
    return lines
