"""Suggestions for misspelt words: the one measure of likeness behind every "did you mean".

Knows no vISA. Words are compared without case by their edits: a letter added, dropped or changed, or two neighbours
swapped, counts 1. If no word is near, a word that starts with the misspelt one is suggested. Invariant: the answer does
not depend on the order of the candidates.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from os.path import commonprefix
from typing import Final

# One edit is allowed per this number of letters of the longer word; with fewer letters, short words would match
# unrelated words.
_LETTERS_PER_EDIT: Final = 3
# Longer words are not compared, because the time grows with the square of the length, and such words are not typed by hand.
_MAX_CHARS: Final = 255


def nearest(word: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate that a misspelt word most likely means, or None if none is near.

    The word itself is not a candidate; a candidate that differs only in the case of its letters is the nearest.
    """
    pool, shapes = _pool(frozenset(candidates))
    low = word.lower()
    if pool.get(low, word) != word:
        return pool[low]
    if len(low) > _MAX_CHARS:
        return None
    letters, size = _letter_bits(low), len(low)
    best: tuple[int, int, int, str] | None = None
    for other, other_letters, length in shapes:
        limit = max(max(size, length) // _LETTERS_PER_EDIT, 1)
        # Each letter in only one of the words needs an edit, which excludes most candidates at once.
        missing = max((letters & ~other_letters).bit_count(), (other_letters & ~letters).bit_count())
        if max(missing, abs(size - length)) > limit or other == low:
            continue
        edits = edit_distance(low, other, limit)
        has_same_letters = letters == other_letters
        # Of two letters one edit would leave too little, so that only a swap or a repeated letter counts as a misspelling.
        if edits <= limit and (has_same_letters or max(size, length) >= _LETTERS_PER_EDIT):
            score = (
                edits,
                0 if sorted(low) == sorted(other) else 2 - has_same_letters,
                -len(commonprefix((low, other))),  # noqa: RUF071 - letters are compared, not folders
                other,
            )
            best = score if best is None else min(best, score)
    if best is not None:
        return pool[best[3]]
    begun = [other for other, _, length in shapes if length <= 2 * size and other.startswith(low) and other != low]
    return pool[min(begun, key=lambda other: (len(other), other))] if begun and size >= _LETTERS_PER_EDIT else None


def edit_distance(word: str, other: str, limit: int) -> int:
    """Return the number of edits between two words; ``limit + 1`` if it is greater than ``limit``."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(word, 1):
        above, row_before = row, before
        row = [i]
        for j, its in enumerate(other, 1):
            cost = min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (letter != its))
            if i > 1 and j > 1 and letter == other[j - 2] and its == word[i - 2]:
                cost = min(cost, row_before[j - 2] + 1)
            row.append(cost)
        before = above
        # A swap uses the row before the last, so that two rows must exceed the limit.
        if min(row) > limit and min(before) > limit:
            return limit + 1
    return min(row[-1], limit + 1)


@lru_cache(maxsize=8)
def _pool(words: frozenset[str]) -> tuple[dict[str, str], list[tuple[str, int, int]]]:
    """Return the words by their lower case, and each lower case with its letters and its length."""
    pool = {word.lower(): word for word in sorted(words, reverse=True)}
    return pool, [(low, _letter_bits(low), len(low)) for low in sorted(pool)]


def _letter_bits(word: str) -> int:
    """Return the letters of a word as bits; several letters may share one."""
    bits = 0
    for letter in word:
        bits |= 1 << (ord(letter) & 63)
    return bits
