"""Texts in disguise and planted edits; ``python -m benchmarks.planted`` has thousands of them."""

import random

import pytest
from corpus import at_least, texts
from tiers import first

from benchmarks.disguise import disguise_text
from benchmarks.planted import EDITS, is_found, is_same, plant
from visa_lsp.app.diff.sides import side_of_text
from visa_lsp.compare.program_differences import compare_programs

TEXTS = texts()
SAMPLE = TEXTS[:: max(len(TEXTS) // 60, 1)]


def test_there_are_texts_to_be_disguised():
    assert len(SAMPLE) >= at_least(40, 20)


@pytest.mark.parametrize("every", first(1, [4, 1]))
def test_a_text_is_the_same_in_disguise(every):
    assert [str(path) for path in SAMPLE[::every] if not is_same(path)] == []


@pytest.mark.parametrize("disguise", [False, True])
@pytest.mark.parametrize("rounds", first(1, [1, 6]))
def test_planted_edits_are_found_at_their_lines_and_nothing_else(disguise, rounds):
    short = [path for path in TEXTS if path.stat().st_size < 20_000]
    missed = []
    for edit, a, b in plant(short, rounds * len(EDITS), 5, disguise=disguise):
        changes = [change for diff in compare_programs(a.bodies, b.bodies, a.end, b.end) for change in diff.changes]
        if not is_found(edit, changes):
            missed.append((edit.kind, sorted(edit.a), changes))
    assert len(missed) <= disguise, missed  # of a variable that has one use, either may be the one that was changed


@pytest.mark.full
def test_comparing_the_other_way_round_exchanges_the_sides():
    draw = random.Random(3)
    flipped = {"insert": "delete", "delete": "insert"}
    for path in SAMPLE[::6]:
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines()
        code = [n for n, line in enumerate(lines) if line.startswith("    ") and "(M1" in line]
        for n in sorted(draw.sample(code, len(code) // 8), reverse=True):
            lines[n : n + 1] = draw.choice(([], [lines[n], lines[draw.choice(code) % len(lines)]]))
        other, _ = disguise_text("\n".join(lines), draw)
        a, b = side_of_text("a", text, None), side_of_text("b", other, None)
        if not hasattr(b, "bodies"):  # a label or a declaration got in
            continue
        there = [c for diff in compare_programs(a.bodies, b.bodies) for c in diff.changes]
        back = [c for diff in compare_programs(b.bodies, a.bodies) for c in diff.changes]
        assert sorted((c.kind.value, c.a, c.b) for c in there) == sorted(
            (flipped.get(c.kind.value, c.kind.value), c.b, c.a) for c in back
        )
        assert there
