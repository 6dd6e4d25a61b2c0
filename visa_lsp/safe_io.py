"""Bounded reading of untrusted files; files not named by the user must be regular.

A file that was *named* on a command line may be anything with bytes, such as the pipe of a shell's ``<(...)``. A file
that was *found* (below a folder, beside another file, by a name inside a file) must be a regular file, because reading
a FIFO would wait forever, and a device may have no end. ``limit_reading`` confines a process that works for an agent to
some folders, whatever names its inputs contain. Invariant: every failure is an ``OSError`` with words for a message; no
more than the limit is ever read.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from typing import TYPE_CHECKING, BinaryIO, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

MIB: Final = 1 << 20
MAX_TEXT_BYTES: Final = 64 * MIB  # twenty times the longest text of a compiler seen so far
MAX_OBJECT_BYTES: Final = 256 * MIB
MAX_SETTINGS_BYTES: Final = 4 * MIB
_PIECE: Final = 64 << 10  # bytes: the size of a pipe
# Seconds to wait for a writer of a FIFO that was named on a command line.
PATIENCE: Final = 10.0


class TooLargeError(OSError):
    """A file has more bytes than the limit for its kind."""

    def __init__(self, most: int) -> None:
        super().__init__(f"larger than {most // MIB} MiB, the limit for such a file")


class NotRegularError(OSError):
    """A path that should be a regular file is something else."""


class OutsideError(OSError):
    """A file is outside of the folders of ``limit_reading``."""


_folders: list[tuple[str, ...] | None] = [None]  # the real paths of the folders that may be read; None allows all


def limit_reading(folders: Iterable[str | Path] | None) -> None:
    """Refuse files outside of these folders from now on, also through links; None allows all files."""
    _folders[0] = None if folders is None else tuple(os.path.realpath(folder) for folder in folders)


def is_limited() -> bool:
    """Return whether ``limit_reading`` confines this process."""
    return _folders[0] is not None


def is_readable_place(path: str | Path) -> bool:
    """Return whether a path, after following links, is in a folder of ``limit_reading``."""
    if _folders[0] is None:
        return True
    real = os.path.realpath(path)
    return any(real == folder or real.startswith(os.path.join(folder, "")) for folder in _folders[0])  # noqa: PTH118


def read_file(path: str | Path, most: int = MAX_TEXT_BYTES, *, named: bool = False, own: bool = False) -> bytes:
    """Return all bytes of a file.

    Raises OSError if it has more than ``most``, or cannot be read. ``named``: the user named it, so that it may be a
    pipe or a device. ``own``: this program or one of its tools made the file, so that ``limit_reading`` does not apply.
    """
    with open_file(path, most, named=named, own=own) as (stream, about):
        return read_stream(stream, most, about.st_size)


@contextlib.contextmanager
def open_file(
    path: str | Path, most: int, *, named: bool = False, own: bool = False
) -> Iterator[tuple[BinaryIO, os.stat_result]]:
    """Open a file for reading, and yield it with its status.

    Raises OSError as ``read_file``, and OutsideError for a file that ``limit_reading`` refuses.
    """
    if not own and not is_readable_place(path):
        raise OutsideError("outside of the folders that may be read")
    # Non-blocking, because opening a FIFO waits for its other end. The opened file is checked, not the path, because the
    # path may have been replaced in between.
    handle = os.open(
        path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOCTTY", 0)
    )
    try:
        about = os.fstat(handle)
        _judge(about, most, named=named)
        _wait_for_writer(handle, about.st_mode)
        if hasattr(os, "set_blocking") and sys.platform != "win32":
            os.set_blocking(handle, True)
        stream = os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise
    with stream:
        yield stream, about


def _judge(about: os.stat_result, most: int, *, named: bool) -> None:
    if stat.S_ISDIR(about.st_mode):
        raise IsADirectoryError(21, "is a directory")
    if stat.S_ISREG(about.st_mode):
        if about.st_size > most:
            raise TooLargeError(most)
    elif not named:
        raise NotRegularError(f"this is {kind_of(about.st_mode)}, not a regular file")


def read_stream(stream: BinaryIO, most: int = MAX_TEXT_BYTES, expected: int = 0) -> bytes:
    """Return all bytes of a stream, at most ``most``. Raises TooLargeError for more.

    ``expected`` is the reported number of bytes, used to allocate the buffer.
    """
    parts, left, ask = [], most, max(expected + 1, _PIECE)
    # Some files, such as those of /proc, report size 0 and are not empty.
    while part := stream.read(min(left + 1, ask)):
        left -= len(part)
        if left < 0:
            raise TooLargeError(most)
        parts.append(part)
        ask = _PIECE
    return b"".join(parts)


def is_regular(path: str | Path) -> bool:
    """Return whether a path is a regular file that may be read, also through links; never raises."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode) and is_readable_place(path)  # noqa: PTH116 - a Path for each of many names costs
    except (OSError, ValueError):
        return False


def kind_of(mode: int) -> str:
    """Return the kind of a file that is not regular, in words for a message."""
    kinds = (
        (stat.S_ISDIR, "a directory"), (stat.S_ISFIFO, "a FIFO"), (stat.S_ISSOCK, "a socket"),
        (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"),
    )  # fmt: skip
    return next((words for test, words in kinds if test(mode)), "something else")


def _wait_for_writer(handle: int, mode: int) -> None:
    """Wait until a process writes into a FIFO, but at most ``PATIENCE`` seconds."""
    if not stat.S_ISFIFO(mode):
        return
    import select

    poll = select.poll()
    poll.register(handle, select.POLLIN)
    if not poll.poll(PATIENCE * 1000):
        raise OSError(f"no process has written into this FIFO for {PATIENCE:.0f} seconds")
