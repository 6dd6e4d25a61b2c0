"""Pairs changed instructions: between two equal pairs, the instructions with most in common form pairs, in order.

Only unequal instructions are paired here.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from visa_lsp.compare.instruction_shapes import Item, is_label, parts_of
from visa_lsp.compare.sequences import common, gaps_between

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from visa_lsp.compare.model import ComparedBody
    from visa_lsp.compare.renaming import Renaming

_MAX_TABLE_CELLS: Final = 4_000  # cells of a table over two stretches
_FULL: Final = 100
_SAME_WORD: Final = 34  # the least likeness of two instructions of one mnemonic that are reported as a change
_OTHER_WORD: Final = 70


def similar_pairs(
    a: ComparedBody,
    b: ComparedBody,
    items_a: Sequence[Item],
    items_b: Sequence[Item],
    renaming: Renaming,
    equal: Sequence[tuple[int, int]],
    moved: Sequence[MovedRun],
) -> list[tuple[int, int]]:
    """Return pairs of items that are neither equal nor moved, each between two neighbouring pairs of ``equal``."""
    settled_a = {run.a + n for run in moved for n in range(run.length)}
    settled_b = {run.b + n for run in moved for n in range(run.length)}
    back = {other: ref for ref, other in renaming.items()}
    out = []
    for a_first, a_end, b_first, b_end in gaps_between(list(equal), (0, len(items_a), 0, len(items_b))):
        left = [i for i in range(a_first, a_end) if i not in settled_a]
        right = [j for j in range(b_first, b_end) if j not in settled_b]
        if left and right:
            ours = [_Features(items_a[i], a, None) for i in left]
            theirs = [_Features(items_b[j], b, back) for j in right]
            out += [(left[i], right[j]) for i, j in _pair_kernels(ours, theirs)]
    return out


class MovedRun(Struct, frozen=True, order=True):
    """A run of ``length`` items from ``a`` on that are at ``b`` in the other body."""

    a: int
    b: int
    length: int


_NOTHING: Final = (None, ())


class _Features:
    """The features for comparing an instruction: its word, and the shape of each field, with and without names."""

    __slots__ = ("fields", "is_label", "loose", "word")

    def __init__(self, item: Item, body: ComparedBody, names: Renaming | None) -> None:
        self.word = item.inst.row.mnemonic
        self.is_label = is_label(item)
        self.loose = item.loose
        self.fields: list[tuple[Hashable, Hashable]] = [
            (shape, refs if names is None else tuple(names.get(ref, ("of b", ref)) for ref in refs))
            for shape, refs in parts_of(item.inst, body.kernel)
        ]


def _likeness(a: _Features, b: _Features) -> int:
    """Return the likeness from 0 to 100; 0 for pairs that are not reported as a change."""
    if a.is_label != b.is_label:
        return 0
    # A part that both lack, such as a predicate, does not count.
    fields = [pair for pair in zip_longest(a.fields, b.fields, fillvalue=_NOTHING) if pair != (_NOTHING, _NOTHING)]
    count, points = len(fields), 0
    for (shape, names), (its_shape, its_names) in fields:
        points += 2 * (shape == its_shape and names == its_names) + (shape == its_shape or (names == its_names != ()))
    likeness = _FULL * points // (3 * count) if count else _FULL
    return likeness if likeness >= (_SAME_WORD if a.word == b.word else _OTHER_WORD) else 0


def _pair_kernels(a: Sequence[_Features], b: Sequence[_Features]) -> list[tuple[int, int]]:
    if len(a) * len(b) <= _MAX_TABLE_CELLS:
        return _best(a, b)
    numbers: dict[Hashable, int] = {}
    tokens = [[numbers.setdefault(features.loose, len(numbers)) for features in side] for side in (a, b)]
    pairs = common(*tokens)
    out = list(pairs)
    for a_first, a_end, b_first, b_end in gaps_between(pairs, (0, len(a), 0, len(b))):
        if (a_end - a_first) * (b_end - b_first) <= _MAX_TABLE_CELLS:
            out += [(a_first + i, b_first + j) for i, j in _best(a[a_first:a_end], b[b_first:b_end])]
    return sorted(out)


def _best(a: Sequence[_Features], b: Sequence[_Features]) -> list[tuple[int, int]]:
    """Return the ordered pairs with the greatest sum of likeness."""
    width = len(b) + 1
    table = [[0] * width for _ in range(len(a) + 1)]
    likeness = [[_likeness(features, other) for other in b] for features in a]
    for i in range(len(a) - 1, -1, -1):
        row, below, likes = table[i], table[i + 1], likeness[i]
        for j in range(len(b) - 1, -1, -1):
            alike = likes[j]
            row[j] = max(below[j], row[j + 1], below[j + 1] + alike if alike else 0)
    pairs = []
    i = j = 0
    while i < len(a) and j < len(b):
        if likeness[i][j] and table[i][j] == table[i + 1][j + 1] + likeness[i][j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif table[i][j] == table[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs
