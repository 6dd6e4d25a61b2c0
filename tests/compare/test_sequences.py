"""Pairs of equal items, against the longest common subsequence by the book."""

import random
from itertools import pairwise

import pytest

from visa_lsp.compare import sequences
from visa_lsp.compare.sequences import align_levels, common


def longest(a, b):
    """Return the length of the longest common subsequence."""
    row = [0] * (len(b) + 1)
    for one in a:
        before = row[:]
        for j, other in enumerate(b):
            row[j + 1] = before[j] + 1 if one == other else max(before[j + 1], row[j])
    return row[-1]


def draws(count, letters):
    draw = random.Random(f"{count} {letters}")
    for _ in range(count):
        yield [[draw.randrange(letters) for _ in range(draw.randrange(25))] for _ in range(2)]


@pytest.mark.parametrize("letters", [1, 2, 3, 8, 30])
def test_pairs_are_equal_items_in_order(letters):
    for a, b in draws(200, letters):
        pairs = common(a, b)
        assert all(a[i] == b[j] for i, j in pairs)
        assert all(i < k and j < m for (i, j), (k, m) in pairwise(pairs))


def test_without_anchors_the_pairs_are_as_many_as_can_be(monkeypatch):
    monkeypatch.setattr(sequences, "_anchors", lambda *_: [])
    for letters in (1, 2, 3, 8):
        for a, b in draws(200, letters):
            assert len(common(a, b)) == longest(a, b), (a, b)


def test_a_stretch_with_too_many_edits_has_no_pairs_but_those_at_its_ends(monkeypatch):
    monkeypatch.setattr(sequences, "_MAX_EDITS", 3)
    a, b = [9, *[1, 2, 2, 1] * 5, 9], [9, *[2, 1, 1, 2, 2] * 5, 9]
    assert common(a, b) == [(0, 0), (len(a) - 1, len(b) - 1)]


def test_coarser_levels_fill_the_gaps_of_finer_ones():
    fine = ([1, 2, 3, 4], [1, 5, 6, 4])
    coarse = ([1, 7, 8, 4], [1, 8, 9, 4])
    assert align_levels([fine, coarse]) == [(0, 0, 0), (2, 1, 1), (3, 3, 0)]
