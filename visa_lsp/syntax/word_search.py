"""Searches for words in a text, with a bit for each word, so that most chunks need not be searched.

A word is a run of letters, digits and other characters of names; ``%`` before it belongs to the name, but not to the
word. Invariant: a word with a clear bit is not in the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from visa_lsp.syntax.chunks import Chunk

_IN_WORDS: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$@?")
_APART: Final = {code: " " for code in range(128) if chr(code) not in _IN_WORDS}
_BITS: Final = 1 << 16
# The bits of a text with other than ASCII characters are all set.
_ALL: Final = bytes([255] * (_BITS // 8))
# The number of chunks that one query may index, if more queries follow.
AT_ONCE: Final = 40


class Needle(NamedTuple):
    """A searched name with the places of its bits: a byte, and the bit in it."""

    text: str
    places: tuple[tuple[int, int], ...]


def needle(name: str) -> Needle:
    """Return a name prepared for the search; a name of several words is searched by its words."""
    words = name.translate(_APART).split() if name.isascii() else []
    return Needle(name, tuple((at >> 3, 1 << (at & 7)) for at in (hash(word) % _BITS for word in words)))


def bits_of(text: str) -> bytes:
    """Return the bits of a text, one for the hash of each of its words."""
    if not text.isascii():
        return _ALL
    bits = bytearray(_BITS // 8)
    for word in set(text.translate(_APART).split()):
        at = hash(word) % _BITS
        bits[at >> 3] |= 1 << (at & 7)
    return bytes(bits)


def may_have(chunk: Chunk, needle: Needle) -> bool:
    """Return whether a word may be in the text of a chunk; False is certain."""
    bits = chunk.words
    return all(bits[at] & bit for at, bit in needle.places) if bits else needle.text in chunk.text


def chunks_with(chunks: Iterable[Chunk], names: Iterable[str], fresh: int = 0) -> Iterator[int]:
    """Yield the numbers of the chunks that may contain one of the names, even in a comment.

    Up to ``fresh`` chunks are indexed for later queries; other chunks without an index are searched.
    """
    needles = [needle(name) for name in names]
    # Nearly every name is one word, so that testing its bit suffices.
    bits = [wanted.places[0] for wanted in needles if len(wanted.places) == 1]
    others = [wanted for wanted in needles if len(wanted.places) != 1]
    for index, chunk in enumerate(chunks):
        if not chunk.words and fresh:
            fresh -= 1
            chunk.words = bits_of(chunk.text)
        if words := chunk.words:
            for at, bit in bits:
                if words[at] & bit:
                    yield index
                    break
            else:
                if others and any(may_have(chunk, wanted) for wanted in others):
                    yield index
        elif any(may_have(chunk, wanted) for wanted in needles):
            yield index


def lines_with(text: str, names: Iterable[str]) -> Iterator[int]:
    """Yield the lines of a text that contain one of the names as a word, in order."""
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
