"""What a command keeps on disk for the next process; loaded only for commands that have something to keep."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

# A check asks where it has something to check: most often it knows what it found.
_READS_TEXTS: Final = ("asm", "diff", "run", "zeinfo", "gen", "compile", "stats")


@contextlib.contextmanager
def keeping(command: str) -> Iterator[None]:
    """Around a command: what parser and rules know is read where it is asked for, and what they learnt is written behind."""
    with contextlib.ExitStack() as stack:
        if command in _READS_TEXTS:
            stack.enter_context(learning())
        yield


@contextlib.contextmanager
def learning() -> Iterator[None]:
    """Around the reading of texts: parser and rules know what other processes have learnt, and keep what they learn."""
    from visa_lsp.kept import folder_of_user

    if folder_of_user() is None:
        yield
        return
    from visa_lsp.analysis.verdict_store import storing
    from visa_lsp.syntax.statement_cache import cached_statements

    with cached_statements(), storing():
        yield
