"""Command lines without options, read without ``argparse``: most are, and loading it is a tenth of a check.

A command declares its options to ``Plain`` as it does to a parser. Invariant: what comes out is what the parser would give.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


def is_plain(words: Sequence[str]) -> bool:
    """Whether no word is, or may be, an option; ``-`` alone is standard input."""
    return all(word == "-" or not word.startswith("-") for word in words)


class Plain:
    """Takes the options of a command, which may have one list of words besides, and gives their defaults."""

    def __init__(self) -> None:
        self._defaults: dict[str, Any] = {}
        self._words = ""

    def add_argument(self, *names: str, **how: Any) -> None:
        """Declare an option, or the words that are none, as many as come."""
        name = names[-1].lstrip("-").replace("-", "_")
        if not names[-1].startswith("-"):
            self._words = name
        self._defaults[name] = how.get("default", False if how.get("action") == "store_true" else None)

    def parse_args(self, words: Sequence[str]) -> Any:
        """The values for a line of such words."""
        return SimpleNamespace(**{**self._defaults, **({self._words: list(words)} if self._words else {})})
