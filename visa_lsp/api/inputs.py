"""Inputs of API functions: a path, a text or bytes.

Invariant: a path-like object and a ``str`` without a line break name a file; a ``str`` with a line break is a text.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from visa_lsp.isa.platforms import PLATFORMS, platform_named
from visa_lsp.safe_io import MAX_OBJECT_BYTES, read_file
from visa_lsp.text import encode_text

if TYPE_CHECKING:
    Source: TypeAlias = str | os.PathLike[str] | bytes | bytearray


@dataclass(frozen=True, slots=True)
class Material:
    """The bytes of an input and its file, if any."""

    data: bytes
    path: Path | None = None

    @property
    def name(self) -> str:
        """The name in messages."""
        return str(self.path) if self.path is not None else "text"


def path_of(given: Source) -> Path | None:
    """Return the path of an input; None for a text or bytes. Raises TypeError for other types."""
    if isinstance(given, os.PathLike) or (isinstance(given, str) and "\n" not in given and "\r" not in given):
        return Path(given)
    if isinstance(given, str | bytes | bytearray):
        return None
    raise TypeError(f"expected a path, a text or bytes, got {type(given).__name__}")


def material(given: Source) -> Material:
    """Read an input. Raises OSError if a file cannot be read, and TypeError for other types."""
    path = path_of(given)
    if path is not None:
        return Material(read_file(path, MAX_OBJECT_BYTES, named=True), path)
    assert isinstance(given, str | bytes | bytearray)
    return Material(encode_text(given) if isinstance(given, str) else bytes(given))


def find_platform(name: str | None) -> str | None:
    """Return the canonical name of a platform. Raises ValueError for an unknown one."""
    if name is None:
        return None
    platform = platform_named(name)
    if platform is None:
        raise ValueError(f"unknown platform '{name}'; known platforms: {', '.join(p.name for p in PLATFORMS)}")
    return platform.name
