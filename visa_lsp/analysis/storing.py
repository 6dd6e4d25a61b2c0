"""Whether this process keeps verdicts on disk, and in which store.

The store, and the modules behind it, are loaded when the first verdict is asked for: a text of a few lines asks for none.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from visa_lsp.analysis.verdict_store import VerdictStore


class _Wish:
    """A store that is made when it is needed."""

    def __init__(self, make: Callable[[], VerdictStore | None]) -> None:
        self._make = make
        self._made: list[VerdictStore | None] = []

    def store(self) -> VerdictStore | None:
        if not self._made:
            self._made.append(self._make())
        return self._made[0]

    def flush(self) -> None:
        for store in self._made:
            if store is not None:
                store.flush()


_wishes: Final[list[_Wish]] = []


def active_store() -> VerdictStore | None:
    """The store that this process uses, if it uses one."""
    return _wishes[-1].store() if _wishes else None


def _of_user() -> VerdictStore | None:
    from visa_lsp.analysis.verdict_store import store_of_user

    return store_of_user()


@contextlib.contextmanager
def storing(make: Callable[[], VerdictStore | None] = _of_user) -> Iterator[None]:
    """Let this process use a store, and write at the end what is new."""
    wish = _Wish(make)
    _wishes.append(wish)
    try:
        yield
    finally:
        _wishes.remove(wish)
        wish.flush()
