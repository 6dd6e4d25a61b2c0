"""Finds instructions by words of their names and descriptions, and by the words of C and other assemblers."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from visa_lsp.isa.table import TABLE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.isa.model import Instruction

_WORD: Final = re.compile(r"[a-z0-9_]+")
# Words that do not describe an instruction.
_EMPTY: Final = frozenset(
    ("a", "an", "and", "by", "for", "from", "how", "in", "into", "is", "of", "on", "or", "the", "to", "with")
)
_NAME_SCORE, _PREFIX_SCORE, _SUMMARY_SCORE, _DETAIL_SCORE = 8, 3, 4, 1
_MIN_STEM_CHARS: Final = 4


def search_instructions(query: str, platform: str | None = None) -> list[Instruction]:
    """Return the instructions that match any word of a query, the best first; with a platform only those that it has.

    An empty query matches every instruction.
    """
    words = [word for word in dict.fromkeys(_WORD.findall(query.lower())) if word not in _EMPTY]
    rows = [row for row in TABLE.rows if platform is None or platform in row.platforms]
    if not words:
        return rows
    scored = [(_score(row, words), -number) for number, row in enumerate(rows)]
    return [rows[-number] for score, number in sorted(scored, reverse=True) if score]


def _score(row: Instruction, words: Iterable[str]) -> int:
    names, summary, detail = _words_of(row)
    scores = []
    for word in words:
        of_name = _NAME_SCORE if word in names else _PREFIX_SCORE if any(n.startswith(word) for n in names) else 0
        of_text = _SUMMARY_SCORE if _has_stem(summary, word) else _DETAIL_SCORE if _has_stem(detail, word) else 0
        scores.append(of_name + of_text)
    # A row that matches several words ranks above one that matches a single word well.
    return sum(scores) * sum(score > 0 for score in scores)


@cache
def _words_of(row: Instruction) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Return three sets of words: of the names, of the summary and family, and of the other texts."""
    names = [row.mnemonic, *row.mnemonic.replace("_", ".").split("."), *row.foreign]
    detail = " ".join((row.detail, *row.pitfalls))
    return (
        frozenset(name.lower() for name in names),
        frozenset(_WORD.findall(f"{row.summary} {row.family}".lower())),
        frozenset(_WORD.findall(detail.lower())),
    )


def _has_stem(words: frozenset[str], word: str) -> bool:
    """Return whether a word, or one that differs only in its ending, is among the words."""
    if word in words:
        return True
    if len(word) < _MIN_STEM_CHARS:
        return False
    stem = word[: max(_MIN_STEM_CHARS, len(word) - 3)]
    return any(other.startswith(stem) and abs(len(other) - len(word)) <= 3 for other in words)
