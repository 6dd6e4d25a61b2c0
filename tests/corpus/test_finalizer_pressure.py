"""Register pressure agrees with the estimate that the finalizer prints, on the texts that a compiler made."""

import pytest
from corpus import OWN
from tiers import first

from benchmarks.measure import PEER
from benchmarks.pressure import PASSES, compare, correlation, estimate, figures, ours, texts

# Share of peaks that agree, their rank correlation, that of lines: the median and the lowest tenth. The benchmark has higher
# limits for all texts; of these few each counts for more.
LEAST = (0.88, 0.97, 0.92, 0.75)
NEEDS = "GenX_IR is not installed: apt-get install libigc-tools"


@pytest.mark.skipif(PEER is None, reason=NEEDS)
@pytest.mark.parametrize("name", first(1, PASSES))
@pytest.mark.parametrize("every", first(1, [8, 1]))
def test_pressure_is_what_the_finalizer_estimates(name: str, every: int):
    compared = []
    for path, platform in texts([OWN / "dev"])[::every]:
        text = path.read_text("utf-8")
        rows, theirs = ours(text, platform), estimate(text, platform, PASSES[name])
        if rows is not None and theirs is not None:
            compared.append(compare(path, rows, theirs))
    assert len(compared) >= 70 // every
    found = figures(compared)
    assert all(value >= limit for value, limit in zip(found, LEAST, strict=True)), found


def test_ranks_of_equal_values_are_shared():
    assert correlation([1, 2, 2, 9], [10, 20, 20, 30]) == 1
    assert correlation([1, 2, 3], [3, 2, 1]) == -1
    assert correlation([1, 2], [5, 5]) is None
