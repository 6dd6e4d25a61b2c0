"""Caches of parser and rules that a command shares with later processes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final

# ``check`` opens the caches itself, because most of its verdicts are cached.
_READS_TEXTS: Final = ("asm", "diff", "run", "zeinfo", "gen", "compile", "stats")


@contextlib.contextmanager
def open_caches(command: str) -> Iterator[None]:
    """Open the caches on demand during a command, and write them at its end."""
    with contextlib.ExitStack() as stack:
        if command in _READS_TEXTS:
            stack.enter_context(open_rule_caches())
        yield


@contextlib.contextmanager
def open_rule_caches() -> Iterator[None]:
    """Open the caches of parser and rules, and write the new entries at the end."""
    from visa_lsp.disk_cache import folder_of_user

    if folder_of_user() is None:
        yield
        return
    from visa_lsp.analysis.verdict_store import use_store
    from visa_lsp.syntax.statement_cache import use_cache_of_user

    with use_cache_of_user(), use_store():
        yield
