"""Reads the files of a capture, which may be damaged or hostile.

Invariant: only regular files inside the folder are read, also through links, and the contents of arrays together are at most
the limit of a launch.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import BinaryIO, Final

from visa_lsp.app.captures.model import MAX_FACTS_BYTES
from visa_lsp.app.errors import UserError, reason
from visa_lsp.program.elements import MAX_BUFFER_BYTES
from visa_lsp.safe_io import open_file, read_stream

_MAX_NAMES: Final = 20_000


class CaptureFolder:
    """The folder of a capture; counts the bytes of arrays that were read."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._root = os.path.realpath(path)
        self._left = MAX_BUFFER_BYTES

    def problem(self, words: str, name: str = "") -> UserError:
        """Return an error about the capture, or about the file ``name`` in it."""
        return UserError(f"{self.path}{f'/{name}' if name else ''}: {words}")

    def names(self, below: str = "") -> list[str]:
        """Return the sorted names in the folder or in one below it; empty if that is missing.

        Raises UserError if it is outside, unreadable or too full.
        """
        names: list[str] = []
        try:
            if below and not self._is_inside(below):
                raise self.problem("leads outside of the capture", below)
            with os.scandir(os.path.join(self.path, below)) as entries:  # noqa: PTH118
                for entry in entries:
                    names.append(entry.name)
                    if len(names) > _MAX_NAMES:
                        raise self.problem(f"more than {_MAX_NAMES} files", below)
        except FileNotFoundError:
            return []
        except (OSError, ValueError) as error:
            raise self.problem(reason(error), below) from None
        return sorted(names)

    def read(self, name: str, limit: int) -> bytes:
        """Return the bytes of a file. Raises UserError if it is missing, too large, irregular or outside of the folder."""
        with self.open_file(name, limit) as (stream, size):
            return read_stream(stream, limit, size)

    @contextlib.contextmanager
    def open_file(self, name: str, limit: int) -> Iterator[tuple[BinaryIO, int]]:
        """Open a file and yield it with its size. Raises UserError as ``read``."""
        try:
            if not self._is_inside(name):
                raise self.problem("leads outside of the capture", name)
            with open_file(os.path.join(self.path, name), limit) as (stream, about):  # noqa: PTH118
                yield stream, about.st_size
        except (OSError, ValueError) as error:
            raise self.problem(reason(error), name) from None

    def text(self, name: str) -> str:
        """Return the text of a small file without blanks at its ends. Raises UserError as ``read``, and for other bytes."""
        try:
            return self.read(name, MAX_FACTS_BYTES).decode("utf-8").strip("\0 \t\r\n")
        except UnicodeDecodeError:
            raise self.problem("is not UTF-8 text", name) from None

    def array(self, name: str) -> bytes:
        """Return the bytes of an array. Raises UserError as ``read``, and if all arrays together are too large."""
        with self.open_file(name, MAX_BUFFER_BYTES) as (stream, size):
            self.take(size, name)
            return read_stream(stream, size, size)

    def take(self, size: int, name: str) -> None:
        """Count the bytes of an array. Raises UserError if all arrays together are too large."""
        self._left -= size
        if self._left < 0:
            raise self.problem(f"the arrays of the capture have more than {MAX_BUFFER_BYTES >> 20} MiB", name)

    def _is_inside(self, name: str) -> bool:
        real = os.path.realpath(os.path.join(self.path, name))  # noqa: PTH118 - follows every link
        return real.startswith(os.path.join(self._root, ""))  # noqa: PTH118
