"""Finds instructions by words: of their names, of what they do, and of other assemblers and C."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from visa_lsp.isa.table import TABLE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from visa_lsp.isa.model import Instruction

_WORD: Final = re.compile(r"[a-z0-9_]+")
# Words of questions that say nothing about an instruction.
_EMPTY: Final = frozenset(
    ("a", "an", "and", "by", "for", "from", "how", "in", "into", "is", "of", "on", "or", "the", "to", "with")
)
_NAME_SCORE, _PREFIX_SCORE, _SUMMARY_SCORE, _DETAIL_SCORE = 8, 3, 4, 1
_MIN_STEM_CHARS: Final = 4


def search_instructions(query: str, platform: str | None = None) -> list[Instruction]:
    """Return the instructions that any word of a query fits, the best first; with a platform only those that it has.

    An empty query fits every instruction.
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
    # A row that several words fit is meant rather than one that a single word fits well.
    return sum(scores) * sum(score > 0 for score in scores)


@cache
def _words_of(row: Instruction) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """Return the words of the names, of the summary with the family, and of the rest."""
    names = [row.mnemonic, *row.mnemonic.replace("_", ".").split("."), *row.foreign]
    detail = " ".join((row.detail, *row.pitfalls))
    return (
        frozenset(name.lower() for name in names),
        frozenset(_WORD.findall(f"{row.summary} {row.family}".lower())),
        frozenset(_WORD.findall(detail.lower())),
    )


def _has_stem(words: frozenset[str], word: str) -> bool:
    """Return whether a word, or one that differs in its ending only, is among some."""
    if word in words:
        return True
    if len(word) < _MIN_STEM_CHARS:
        return False
    stem = word[: max(_MIN_STEM_CHARS, len(word) - 3)]
    return any(other.startswith(stem) and abs(len(other) - len(word)) <= 3 for other in words)
