"""Facts computed from one chunk and kept with it, each under a key of its own type.

The module that works a fact out declares its key and documents there the kept value and why it stays right; no other
module uses it.
A chunk never changes and an edit replaces it together with its memo, so that what follows from the chunk alone needs no
care; what also depends on something else keeps that beside it and compares. At run time a memo is a plain dict: keystrokes
look into it for every chunk. Invariant: nothing here is needed for a right answer, only for a quick one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Key(Generic[T]):
    """The place of a fact of type ``T``; another key is another place, whatever its name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        """Tell the fact."""
        return f"Key({self.name!r})"


class Memo(Protocol):
    """The facts of one chunk by their keys."""

    def get(self, key: Key[T], /) -> T | None:
        """Return the fact; None where it is not known yet."""

    def __setitem__(self, key: Key[T], fact: T, /) -> None:
        """Keep a fact."""

    def __contains__(self, key: object, /) -> bool:
        """Return whether a fact is known."""


# A dict has no type that ties each value to its key; the protocol does. This is the one place where they meet.
new_memo = cast("Callable[[], Memo]", dict)
