"""What a command keeps on disk for the next process; loaded only for commands that have something to keep."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_READS_TEXTS: Final = ("check", "asm", "diff", "run", "zeinfo", "gen", "compile", "stats")


@contextlib.contextmanager
def keeping(command: str) -> Iterator[None]:
    """Around a command: what parser and rules know is read where it is asked for, and what they learnt is written behind."""
    with contextlib.ExitStack() as stack:
        if command in _READS_TEXTS:
            from visa_lsp.syntax.statement_cache import cached_statements

            stack.enter_context(cached_statements())
            # A check says for each of its processes which verdicts it uses.
            if command != "check":
                from visa_lsp.analysis.disk.storing import storing

                stack.enter_context(storing())
        yield
