"""SHA-256 without what hashlib loads for it: OpenSSL, 4 MB of memory that a check of a short text needs for nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    from _sha2 import sha256
except ImportError:
    try:
        from _sha256 import sha256  # Python 3.11
    except ImportError:  # a Python that has it from OpenSSL alone
        from hashlib import sha256

if TYPE_CHECKING:
    from collections.abc import Iterable


def digest_of(parts: Iterable[bytes]) -> str:
    """The SHA-256 of the parts one after the other, each taken when it is needed: 64 hexadecimal digits."""
    total = sha256()
    for part in parts:
        total.update(part)
    digits: str = total.hexdigest()
    return digits
