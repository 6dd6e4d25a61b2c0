"""The label that was likely meant is the one that a look at all labels finds."""

from __future__ import annotations

import random

import pytest

from visa_lsp.checks.context import near, near_name
from visa_lsp.ide.label_names import LabelNames

STEMS = ("_0_", "loop_", "L", "l", "_main_", "done", "Exit", "BB_00")


@pytest.mark.parametrize("seed", range(6))
def test_near_is_that_of_all_labels(seed: int) -> None:
    pick = random.Random(seed)
    names, labels = LabelNames(), dict.fromkeys(["_main_0"])
    for _ in range(300):
        name = pick.choice(STEMS) + pick.choice(("", str(pick.randrange(30)), f"{pick.randrange(30):03d}"))
        if pick.random() < 0.7:
            labels[name] = None
            names.add(name)
        else:
            labels.pop(name, None)
            names.drop(name)
        word = pick.choice(STEMS) + pick.choice(("", "x", str(pick.randrange(30)), f"{pick.randrange(30):02d}"))
        found, expected = names.near(word, labels, ("helper_1",), near), near_name(word, [*labels, "helper_1"], near)
        # Where several are equally near, which of them comes first is not told.
        assert (found is None) == (expected is None), (seed, word)
        if found is not None and expected is not None and found != expected:
            assert found.lower().rstrip("0123456789") == expected.lower().rstrip("0123456789"), (seed, word)
