"""Whether this process keeps verdicts on disk, and in which store.

The store, and the modules behind it, are loaded when the first verdict is asked for: a text of a few lines asks for none.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from visa_lsp.analysis.disk.stores import stores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from visa_lsp.analysis.disk.verdict_store import VerdictStore
    from visa_lsp.analysis.line_classes import Verdicts


class _LazyStore:
    """A store that is made when it is needed."""

    def __init__(self, make: Callable[[], VerdictStore | None]) -> None:
        self._make = make
        self._made: list[VerdictStore] | None = None

    def _stores(self) -> list[VerdictStore]:
        if self._made is None:
            store = self._make()
            self._made = [] if store is None else [store]
        return self._made

    def load(self, verdicts: Verdicts) -> None:
        for store in self._stores():
            store.load(verdicts)

    def put(self, key: object, news: Verdicts) -> None:
        for store in self._stores():
            store.put(key, news)

    def flush(self) -> None:
        for store in self._made or ():
            store.flush()


def _of_user() -> VerdictStore | None:
    from visa_lsp.analysis.disk.verdict_store import store_of_user

    return store_of_user()


@contextlib.contextmanager
def storing(make: Callable[[], VerdictStore | None] = _of_user) -> Iterator[None]:
    """Let this process use a store, and write at the end what is new."""
    store = _LazyStore(make)
    stores.append(store)
    try:
        yield
    finally:
        stores.remove(store)
        store.flush()
