"""Facts computed from one chunk and cached with it, each under a typed key.

The module that computes a fact declares its key, documents the cached value and why it stays valid; no other module
uses the key. A chunk never changes, and an edit replaces it together with its memo, so that facts about the chunk alone
are always valid. A fact that depends on something else is stored with that and compared. At run time a memo is a plain
dict, because each keystroke reads it for every chunk. Invariant: the cache affects only speed, never the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar, cast

T = TypeVar("T")


class Key(Generic[T]):
    """The key of a fact of type ``T``; every key differs from all others."""


class Memo(Protocol):
    """The facts of one chunk by key."""

    def get(self, key: Key[T], /) -> T | None:
        """Return the fact; None if it is unknown."""

    def __setitem__(self, key: Key[T], fact: T, /) -> None:
        """Store a fact."""


# The protocol ties the type of each value to its key, which the type of a dict cannot; this is the only conversion.
new_memo = cast("Callable[[], Memo]", dict)
