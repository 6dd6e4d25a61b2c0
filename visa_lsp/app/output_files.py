"""Writes output files atomically and never over an input.

A regular file is replaced by a temporary one, which is nameless until the replacement if the system supports that, so that
no unfinished file remains. A symbolic link is kept and its target replaced, but an output that the user has not named follows
no link out of its folder. Other files (a FIFO, a device) are written to.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import signal
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Final, TextIO

from visa_lsp.app.errors import UserError, reason
from visa_lsp.app.inputs import STDIN
from visa_lsp.safe_io import PATIENCE

_PAUSE: Final = 0.05


@contextlib.contextmanager
def replace_file(target: Path, inputs: Iterable[str | Path] = (), *, is_default: bool = False) -> Iterator[IO[bytes]]:
    """Yield a stream whose bytes replace ``target`` when the block succeeds; else nothing changes.

    ``is_default``: the user has not named the file. Raises OSError if ``target`` is one of ``inputs`` by any name, leads out
    of its folder by default or cannot be written, and its subclass IsADirectoryError if it is a folder.
    """
    refuse_input(target, inputs)
    if is_default:
        refuse_link_out(target)
    about = _about(target)
    if about is not None and stat.S_ISDIR(about.st_mode):
        raise IsADirectoryError(21, "is a directory")
    if about is not None and _is_written_into(target, about):
        gathered = io.BytesIO()
        yield gathered
        _write_into(target, about, gathered.getvalue())
        return
    # A link stays a link, even a dangling one.
    real = Path(os.path.realpath(target))
    temporary = real.with_name(f".visa-lsp-{os.urandom(8).hex()}")
    mode = about.st_mode & 0o777 if about is not None else 0o666 & ~_umask()
    handle = _nameless(real.parent)
    if handle is not None:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fchmod(handle, mode)
            with _without_signals():
                # Python follows the link only if a descriptor is passed, which an absolute path does not use.
                os.link(f"/proc/self/fd/{handle}", temporary, src_dir_fd=handle)
                _put_in_place(temporary, real)
        return
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
        temporary.chmod(mode)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _put_in_place(temporary, real)


def write_file(path: str, data: bytes, inputs: Iterable[str | Path] = (), *, is_default: bool = False) -> None:
    """Write a file. Raises UserError if it cannot be written or is an input; ``is_default`` as in ``replace_file``."""
    try:
        with replace_file(Path(path), inputs, is_default=is_default) as stream:
            stream.write(data)
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: {reason(error)}") from None


def _nameless(folder: Path) -> int | None:
    """Open a nameless file that can be linked into a folder; None if the system has none."""
    if not hasattr(os, "O_TMPFILE"):
        return None
    try:
        handle = os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o600)
    except OSError:  # not supported, or an error of the folder that the fallback reports
        return None
    if os.path.exists(f"/proc/self/fd/{handle}"):  # noqa: PTH110 - a link to no name
        return handle
    os.close(handle)
    return None


def _put_in_place(temporary: Path, real: Path) -> None:
    try:
        temporary.replace(real)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def _without_signals() -> Iterator[None]:
    """Block signals that end the process, because two steps must happen together."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def refuse_link_out(target: str | Path) -> None:
    """Raise OSError if a file is a symbolic link that leads out of its folder."""
    real, folder = Path(os.path.realpath(target)), Path(os.path.realpath(os.path.dirname(target) or "."))  # noqa: PTH120
    if not real.is_relative_to(folder):
        raise OSError(f"is a symbolic link out of its folder, to {real}; name that file to write it")


def refuse_input(target: str | Path, inputs: Iterable[str | Path]) -> None:
    """Raise OSError if an output is also an input, by the same name or another link to the same file."""
    about = _about(target)
    for path in inputs:
        other = _about_input(path)
        if about is not None and other is not None and _is_same(about, other) and stat.S_ISREG(about.st_mode):
            name = "on standard input" if str(path) == STDIN else repr(str(path))
            raise OSError(f"this is also the input {name}; name another output")


def _about(path: str | Path) -> os.stat_result | None:
    """Return the status of a path, following links; None if it does not exist."""
    try:
        return os.stat(path)  # noqa: PTH116 - texts and paths alike
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        return None


def _about_input(path: str | Path) -> os.stat_result | None:
    if str(path) == STDIN:
        # Standard input may be redirected from the same file.
        with contextlib.suppress(OSError, ValueError, AttributeError):
            return os.fstat(sys.stdin.fileno())
        return None
    return _about(path) if str(path) else None


def _is_same(own: os.stat_result, other: os.stat_result) -> bool:
    return (own.st_dev, own.st_ino) == (other.st_dev, other.st_ino)


def _is_written_into(target: Path, about: os.stat_result) -> bool:
    """Return whether to write in place: the target is not a regular file, has other links, or is open as /dev/fd/N."""
    return not stat.S_ISREG(about.st_mode) or about.st_nlink > 1 or str(target).startswith(("/dev/", "/proc/"))


def _write_into(target: Path, about: os.stat_result, data: bytes) -> None:
    for stream in (sys.stdout, sys.stderr):
        # The open descriptor is used because a second one would overwrite earlier output from its start.
        if _is_stream(stream, about):
            stream.flush()
            stream.buffer.write(data)
            stream.buffer.flush()
            return
    regular = stat.S_ISREG(about.st_mode)
    handle = _open_to_write(target, about.st_mode)
    if hasattr(os, "set_blocking") and sys.platform != "win32":
        os.set_blocking(handle, True)
    with os.fdopen(handle, "wb") as into:
        into.write(data)
        into.flush()
        if regular:
            into.truncate()


def _is_stream(stream: TextIO, about: os.stat_result) -> bool:
    try:
        return _is_same(os.fstat(stream.fileno()), about) and hasattr(stream, "buffer")
    except (OSError, ValueError, AttributeError):
        return False


def _open_to_write(target: Path, mode: int) -> int:
    """Open a file for writing; wait for the reader of a FIFO, but not forever."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return os.open(target, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        except OSError as error:
            if error.errno != errno.ENXIO or not stat.S_ISFIFO(mode):
                raise
            if time.monotonic() > end:
                raise OSError(f"no process has read from this FIFO for {PATIENCE:.0f} seconds") from None
            time.sleep(_PAUSE)


def check_output(path: str | None, inputs: Iterable[str | Path]) -> None:
    """Raise UserError if an output is also an input; called before any work. None and ``-`` are not files."""
    if path is None or path == STDIN:
        return
    try:
        refuse_input(path, inputs)
    except (OSError, ValueError) as error:
        raise UserError(f"{path}: {reason(error)}") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
