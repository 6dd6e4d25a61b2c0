"""Command lines with words and outputs alone, read without ``argparse``: most are, and loading it is a tenth of a check.

A command declares its options to ``Plain`` as it does to a parser. Invariant: what comes out is what the parser would give.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

# An option that is declared with no more than this takes one value as it stands.
_SIMPLE: Final = frozenset({"metavar", "help"})


class Plain:
    """Takes the options of a command, which may have one list of words besides, and reads lines of the plain kind."""

    def __init__(self) -> None:
        self._defaults: dict[str, Any] = {}
        self._simple: dict[str, str] = {}
        self._words = ""
        self._least = 0

    def add_argument(self, *names: str, **how: Any) -> None:
        """Declare an option, or the words that are none, as many as come."""
        name = names[-1].lstrip("-").replace("-", "_")
        if not names[-1].startswith("-"):
            self._words = name
            self._least = 1 if how.get("nargs") == "+" else 0
        elif how.keys() <= _SIMPLE:
            self._simple |= dict.fromkeys(names, name)
        self._defaults[name] = how.get("default", False if how.get("action") == "store_true" else None)

    def parse_args(self, line: Sequence[str]) -> Any:
        """The values for a line; None where only a parser can tell them."""
        values, words, rest = dict(self._defaults), list[str](), iter(line)
        interrupted = False  # an option stands behind the words
        for word in rest:
            if not _may_be_option(word):
                if interrupted:
                    return None
                words.append(word)
            elif word in self._simple and not _may_be_option(value := next(rest, "--")):
                values[self._simple[word]] = value
                interrupted = bool(words)
            else:
                return None
        if len(words) < self._least:
            return None
        return SimpleNamespace(**{**values, **({self._words: words} if self._words else {})})


def _may_be_option(word: str) -> bool:
    """Whether a word begins as options do; ``-`` alone is standard input."""
    return word != "-" and word.startswith("-")
