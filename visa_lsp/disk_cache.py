"""Disk cache for small facts: an append-only file of keys and values.

The first line of a file, its mark, identifies the files of the package for which it is valid; a file with another mark
counts as empty. Every other line is ``checksum TAB key TAB value``, with key and value in JSON. Knows nothing of the
values. Invariant: nothing here raises: an unreadable file counts as empty, and a torn or damaged line is skipped. A file
that has grown too large is restarted. Data of other users is not trusted: files and folders are used only if they belong
to the user and other users cannot write to them.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import msgspec

from visa_lsp.safe_io import open_file, read_stream

MAX_BYTES: Final = 16 << 20
_FLUSH_ENTRIES: Final = 64
# Does not wait for a FIFO in place of the file, and does not follow a link.
_CAREFUL: Final = getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)


class Kept:
    """The entries of one file of at most ``most`` bytes. ``put`` collects entries; ``flush`` writes them."""

    def __init__(self, path: Path, mark: str, most: int | None = None) -> None:
        self._path = path
        self._most = MAX_BYTES if most is None else most
        self._mark = mark.replace("\n", " ").encode() + b"\n"
        self._entries: dict[bytes, list[tuple[int, int]]] | None = None  # the lines of each key in `_data`
        self._data = b""
        self._fresh: list[bytes] = []
        self._size = 0
        self._written = 0  # entries added by this process

    def get(self, key: str) -> object:
        """Return the latest value of a key, of a JSON type; None if there is none."""
        entries = self._read() if self._entries is None else self._entries
        try:
            name = msgspec.json.encode(key)
        except ValueError:  # a lone surrogate, from bytes that are not text
            return None
        for start, end in reversed(entries.get(name, [])):
            checksum, _, rest = self._data[start:end].partition(b"\t")
            with contextlib.suppress(ValueError, RecursionError):
                if int(checksum, 16) == zlib.crc32(rest):
                    return msgspec.json.decode(rest.partition(b"\t")[2])
        return None

    def put(self, key: str, value: object) -> None:
        """Store a value, if JSON can represent it."""
        if self._written > self._most:
            return
        try:
            rest = msgspec.json.encode(key) + b"\t" + msgspec.json.encode(value)
        except (ValueError, TypeError, OverflowError, RecursionError):
            return
        self._fresh.append(b"%08x\t%s\n" % (zlib.crc32(rest), rest))
        if len(self._fresh) >= _FLUSH_ENTRIES:
            self.flush()

    def flush(self) -> None:
        """Append the new entries to the file."""
        fresh, self._fresh = b"".join(self._fresh), []
        if not fresh:
            return
        self._written += len(fresh)
        if self._entries is None:
            self._read()
        with contextlib.suppress(OSError):
            if self._size == 0 or self._size > self._most:
                self._begin(fresh)
            else:
                # One write at the end of the file, because two processes may write at once; a torn line fails its checksum.
                file = os.open(self._path, os.O_RDWR | os.O_APPEND | _CAREFUL)
                try:
                    # Another version may have restarted the file since it was read, and these facts do not hold for that version.
                    if _is_own(os.fstat(file), stat.S_ISREG) and os.read(file, len(self._mark)) == self._mark:
                        self._size += os.write(file, fresh)
                finally:
                    os.close(file)

    def _begin(self, fresh: bytes) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not self._folder_is_own():
            return
        # An unpredictable name, created exclusively.
        scratch = self._path.with_name(f"{self._path.name}.{os.urandom(8).hex()}")
        file = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _CAREFUL, 0o600)
        try:
            with os.fdopen(file, "wb") as stream:
                stream.write(self._mark + fresh)
            scratch.replace(self._path)
        finally:
            scratch.unlink(missing_ok=True)
        self._size = len(self._mark) + len(fresh)

    def _folder_is_own(self) -> bool:
        return _is_own(self._path.parent.stat(), stat.S_ISDIR)

    def _read(self) -> dict[bytes, list[tuple[int, int]]]:
        data = b""
        with contextlib.suppress(OSError):
            if self._folder_is_own():
                with open_file(self._path, self._most, own=True) as (stream, about):
                    if _is_own(about, stat.S_ISREG):
                        data = read_stream(stream, self._most, about.st_size)
        if not data.startswith(self._mark):
            data = b""
        self._size, self._data, self._entries = len(data), data, {}
        start = len(self._mark)
        while start < len(data):  # without copies of the lines, which may be megabytes
            end = data.find(b"\n", start)
            end = len(data) if end < 0 else end
            name_start = data.find(b"\t", start, end) + 1
            name_end = data.find(b"\t", name_start, end) if name_start else -1
            if name_end >= 0:
                self._entries.setdefault(data[name_start:name_end], []).append((start, end))
            start = end + 1
        return self._entries


def _is_own(about: os.stat_result, kind: Callable[[int], bool]) -> bool:
    """Return whether a file is of this kind and only the user, or the system, can have written to it."""
    if not kind(about.st_mode):
        return False
    # Without such owners (Windows), the system separates the folders of users.
    return not hasattr(os, "geteuid") or (about.st_uid == os.geteuid() and not about.st_mode & 0o022)


def open_for_user(name: str, files: Iterable[Path | os.DirEntry[str]], most: int | None = None) -> Kept | None:
    """Return the cache file of a name in the user's folder, of at most ``most`` bytes, valid while ``files`` do not change.

    None if ``VISA_LSP_CACHE`` is ``off`` or there is no such folder; ``VISA_LSP_CACHE`` may name the folder.
    """
    try:
        folder = folder_of_user()
        stats = [(file.name, s.st_size, s.st_mtime_ns) for file in files for s in (file.stat(),)]
    except (OSError, ValueError):
        return None
    if folder is None:
        return None
    return Kept(folder / f"{name}-{installation()}", f"visa-lsp {name} {sys.version_info[:3]} {stats}", most)


def folder_of_user() -> Path | None:
    """Return the user's folder for cache files; None if ``VISA_LSP_CACHE`` is ``off`` or there is none."""
    wish = os.environ.get("VISA_LSP_CACHE", "")
    if wish == "off":
        return None
    try:
        return Path(wish) if wish else _folder()
    except (OSError, RuntimeError, ValueError):
        return None


def installation() -> str:
    """Return a key of the package's folder, so that two installed versions do not overwrite each other's file."""
    return f"{zlib.crc32(str(Path(__file__).resolve()).encode()):08x}"


def _folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "visa-lsp" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "visa-lsp"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "visa-lsp"
