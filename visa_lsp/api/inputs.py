"""What a function of the interface is given: a path, a text or bytes.

Knows files, not what is in them. Invariant: a path-like object names a file, and so does a ``str`` in one line; a ``str``
with a line break is a text.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from visa_lsp.isa.platforms import PLATFORMS, platform_named
from visa_lsp.reading import MAX_OBJECT_BYTES, read_file

if TYPE_CHECKING:
    from typing import TypeAlias

    Source: TypeAlias = str | os.PathLike[str] | bytes | bytearray


@dataclass(frozen=True, slots=True)
class Material:
    """The bytes that were given, and the file that they are of, if they are of one."""

    data: bytes
    path: Path | None = None

    @property
    def name(self) -> str:
        """What messages call it."""
        return str(self.path) if self.path is not None else "text"


def path_of(given: Source) -> Path | None:
    """Return the file that is meant; None for a text and for bytes. Raises TypeError for what is neither."""
    if isinstance(given, os.PathLike) or (isinstance(given, str) and "\n" not in given and "\r" not in given):
        return Path(given)
    if isinstance(given, str | bytes | bytearray):
        return None
    raise TypeError(f"expected a path, a text or bytes, got {type(given).__name__}")


def material(given: Source) -> Material:
    """Read what was given. Raises OSError where a file cannot be read, and TypeError for what is no input."""
    path = path_of(given)
    if path is not None:
        return Material(read_file(path, MAX_OBJECT_BYTES, named=True), path)
    assert isinstance(given, str | bytes | bytearray)
    return Material(given.encode("utf-8", "surrogateescape") if isinstance(given, str) else bytes(given))


def known_platform(name: str | None) -> str | None:
    """Return the name of a platform as the table has it. Raises ValueError where there is none of that name."""
    if name is None:
        return None
    found = platform_named(name)
    if found is None:
        raise ValueError(f"unknown platform '{name}'; known platforms: {', '.join(p.name for p in PLATFORMS)}")
    return found.name
