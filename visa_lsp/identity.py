"""Which visa-lsp this is: its version, and a digest of all that an answer can depend on.

Two installations of one digest give the same answers, wherever they lie and whenever they were written: the digest is of
contents. Reading them all takes longer than a short check, so that it is kept on disk for as long as no file changes.
"""

from __future__ import annotations

import functools
from hashlib import sha256
from pathlib import Path
from typing import Final

import visa_lsp
from visa_lsp.kept import kept_for_user
from visa_lsp.syntax.grammar import grammar_path

_DIGITS: Final = 16
_KEY: Final = "digest"


@functools.cache
def digest() -> str:
    """A digest of every module of the package and of the grammar, in hexadecimal; OSError where one cannot be read."""
    package = Path(__file__).resolve().parent
    files = [*sorted(package.rglob("*.py")), grammar_path()]
    kept = kept_for_user("identity", files)
    known = kept.get(_KEY) if kept is not None else None
    if isinstance(known, str) and len(known) == _DIGITS:
        return known
    total = sha256()
    for file in files:
        name = file.relative_to(package).as_posix() if file.is_relative_to(package) else file.name
        data = file.read_bytes()
        total.update(f"{name} {len(data)}\n".encode() + data)
    found = total.hexdigest()[:_DIGITS]
    if kept is not None:
        kept.put(_KEY, found)
        kept.flush()
    return found


def identity() -> str:
    """Version and digest in words, as messages have them."""
    return f"{visa_lsp.__version__} ({digest()})"
