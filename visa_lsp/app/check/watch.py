"""Waits for files to change, by polling their times and sizes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

Stamp = tuple[int, int] | None
INTERVAL: Final = 0.3


def stamp(path: str) -> Stamp:
    """Return the time and size of a file; None if it does not exist."""
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size


def watch(
    files: Callable[[], Iterable[str]],
    check: Callable[[], int],
    pause: Callable[[float], None] = time.sleep,
    rounds: int | None = None,
) -> int:
    """Check now and after each change of the files, forever or for ``rounds``; return the status of the last check."""
    status = 0
    done = 0
    before: dict[str, Stamp] | None = None
    while True:
        now = {path: stamp(path) for path in files()}
        if now != before:
            before = now
            status = check()
            done += 1
            if rounds is not None and done >= rounds:
                return status
        else:
            pause(INTERVAL)
