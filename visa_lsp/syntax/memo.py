"""Facts that are computed once: of a chunk, of a snapshot, of all snapshots of a text, of a file.

The module that computes a fact declares its key, documents the cached value and why it stays valid; no other module
uses the key. A chunk never changes, and an edit replaces it together with its memo, so that facts about the chunk alone
are always valid. A fact that depends on something else names that. Invariant: the cache affects only speed, never the
answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Key(Generic[T]):
    """The key of a fact of type ``T``; every key differs from all others."""


class Memo(dict[Key[Any] | type[Any], tuple[object, Any]]):
    """Facts by key, each with its further inputs."""

    __slots__ = ()

    def fact(self, key: Key[T] | type[T], compute: Callable[[], T], of: object = None) -> T:
        """Return the cached fact; compute it if it is unknown or None, or if its inputs were not ``of``."""
        entry = self.get(key)
        if entry is None or entry[0] != of or entry[1] is None:
            entry = self[key] = (of, compute())
        fact: T = entry[1]
        return fact

    def part(self, kind: type[T]) -> T:
        """Return the state of a class that the module of the class changes; created by ``kind()`` if there is none yet."""
        return self.fact(kind, kind)
