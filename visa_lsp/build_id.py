"""The identity of this installation: its version, and a digest of every file that an answer can depend on.

Two installations with one digest give the same answers, independent of their folders and dates, because the digest is of
contents. It is cached on disk until a file changes, because reading all files takes longer than a short check.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import visa_lsp
from visa_lsp.disk_cache import open_for_user
from visa_lsp.syntax.grammar import grammar_path

_DIGITS: Final = 16
_KEY: Final = "digest"


@functools.cache
def digest() -> str:
    """Return a digest of every module of the package and of the grammar, in hexadecimal.

    Raises OSError if one is unreadable.
    """
    package = Path(__file__).resolve().parent
    entries = sorted(_modules(package), key=lambda entry: entry.path.replace(os.sep, "/"))
    kept = open_for_user("identity", [*entries, grammar_path()])
    cached = kept.get(_KEY) if kept is not None else None
    if isinstance(cached, str) and len(cached) == _DIGITS:
        return cached
    digest = hashlib.sha256()
    for part in _contents([*map(Path, entries), grammar_path()], package):
        digest.update(part)
    digits = digest.hexdigest()[:_DIGITS]
    if kept is not None:
        kept.put(_KEY, digits)
        kept.flush()
    return digits


def _contents(files: Iterable[Path], package: Path) -> Iterator[bytes]:
    """Yield name and contents of each file."""
    for file in files:
        name = file.relative_to(package).as_posix() if file.is_relative_to(package) else file.name
        data = file.read_bytes()
        yield f"{name} {len(data)}\n".encode()
        yield data


def _modules(folder: Path | os.DirEntry[str]) -> Iterator[os.DirEntry[str]]:
    """Yield the modules below a folder; the facts of a file are taken from the folder's listing if possible."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _modules(entry)
            elif entry.name.endswith(".py"):
                yield entry


def identity() -> str:
    """Return version and digest as text for messages."""
    return f"{visa_lsp.__version__} ({digest()})"
