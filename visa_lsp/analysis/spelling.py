"""Names by what they begin with, so that what a misspelt one may have meant is found without a look at all of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

_KIND: Final = re.compile(r"v_type\s*=\s*(\S+)")
_DIGITS: Final = "0123456789"


class Stems:
    """The stems of all names that were ever declared: a name without the number at its end."""

    __slots__ = ("_plain", "_stems", "_widths")

    def __init__(self) -> None:
        self._stems: dict[str, set[str]] = {}  # by their small letters
        self._plain: set[str] = set()  # names without a number at the end
        self._widths: set[int] = set()  # how many digits the numbers have

    def note(self, names: Collection[str]) -> None:
        """Some names are declared."""
        stemmed = [n.rstrip(_DIGITS) for n in names]
        self._widths.update(map(int.__sub__, map(len, names), map(len, stemmed)))
        stems = set(stemmed)
        for stem in stems:
            self._stems.setdefault(stem.lower(), set()).add(stem)
        self._plain.update(stems.intersection(names))

    def near(
        self,
        word: str,
        declared: Collection[str],
        rest_of: Callable[[str], str],
        like: Callable[[str, Iterable[str]], str | None],
    ) -> set[str]:
        """Those of the declared names that ``near_name`` could find for a word, whatever class of variable is meant.

        ``rest_of`` gives the declaration of a name.
        """
        stem = word.rstrip(_DIGITS)
        found: set[str] = set()
        if stem != word:
            number = word[len(stem) :].lstrip("0") or "0"
            widths = [width for width in self._widths if width >= len(number)]
            for other in self._stems.get(stem.lower(), ()):
                names = [other + number.zfill(width) for width in widths]
                found.update(filter(declared.__contains__, names))
            if len(stem) <= 2:
                return found
        by_kind: dict[str, list[str]] = {}
        for name in [n for n in self._plain if n in declared]:
            match = _KIND.search(rest_of(name))
            letter = match.group(1) if match else ""
            by_kind.setdefault(letter if letter in "APST" else "G", []).append(name)
        for names in by_kind.values():
            best = like(word, names)
            if best:
                found.add(best)
        return found
