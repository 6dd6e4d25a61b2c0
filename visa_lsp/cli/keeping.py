"""What a command keeps on disk for the next process; loaded only for commands that have something to keep."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Final

_READS_TEXTS: Final = ("check", "asm", "diff", "run", "zeinfo", "gen", "compile", "stats")


def keeping(command: str) -> AbstractContextManager[object]:
    """Around a command: what the parser knows is read before, and what it learnt is written behind."""
    if command not in _READS_TEXTS:
        return nullcontext()
    from visa_lsp.syntax.statement_cache import cached_statements

    return cached_statements()
