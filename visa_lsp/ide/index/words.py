"""Whether, and where, a text has a word: with a bit for each word, so that most chunks need not be searched.

A word is a run of letters, digits and the other signs that names are made of; ``%`` before it belongs to the name and
not to the word. Knows no chunks. Invariant: a word that the bits deny is not in the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_IN_WORDS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$@?")
_APART: Final = {code: " " for code in range(128) if chr(code) not in _IN_WORDS}
_BITS: Final = 1 << 16


class Needle(NamedTuple):
    """A name that is looked for, with the places of its bits in ``Part.words``."""

    text: str
    places: tuple[tuple[int, int], ...]


def needle(name: str) -> Needle:
    """A name prepared for the search; of one that is no word, its words are looked for."""
    words = name.translate(_APART).split() if name.isascii() else []
    return Needle(name, tuple((at >> 3, 1 << (at & 7)) for at in (hash(word) % _BITS for word in words)))


def bits_of(text: str) -> bytes:
    """The bits of a text of ASCII: one for the hash of each of its words."""
    bits = bytearray(_BITS // 8)
    for word in set(text.translate(_APART).split()):
        at = hash(word) % _BITS
        bits[at >> 3] |= 1 << (at & 7)
    return bytes(bits)


def lines_with(text: str, names: Iterable[str]) -> Iterator[int]:
    """The lines of a text that have one of some names as a word, in order."""
    starts = []
    for name in names:
        at = text.find(name)
        while at >= 0:
            end = at + len(name)
            before, behind = text[at - 1 : at], text[end : end + 1]
            if not (before in _IN_WORDS or before == "%" or behind in _IN_WORDS):
                starts.append(at)
            at = text.find(name, at + 1)
    line = seen = 0
    last = -1
    for start in sorted(starts):
        line += text.count("\n", seen, start)
        seen = start
        if line != last:
            last = line
            yield line
