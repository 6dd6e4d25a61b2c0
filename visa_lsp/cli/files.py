"""Output files: complete or untouched. A temporary file beside the target is renamed over it."""

from __future__ import annotations

import contextlib
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING

from visa_lsp.cli.common import STDIN, CliError, reason

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def replacing(target: Path) -> Iterator[IO[bytes]]:
    """A stream whose bytes become the whole of ``target`` when the block ends well; else nothing is touched."""
    handle, temporary = import_module("tempfile").mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
        Path(temporary).chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
        Path(temporary).replace(target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_output(path: str, data: bytes) -> None:
    """Write a whole file, or standard output for ``-``; ``CliError`` when it cannot be written."""
    if path == STDIN:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    target = Path(path)
    try:
        if target.is_dir():
            raise IsADirectoryError(21, "is a directory")
        with replacing(target) as stream:
            stream.write(data)
    except (OSError, ValueError) as error:
        raise CliError(f"{path}: {reason(error)}") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read_bytes(path: str) -> bytes:
    """The bytes of a file, or of standard input for ``-``; ``CliError`` when it cannot be read."""
    if path == STDIN:
        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise CliError(f"{path}: {reason(error)}") from None
