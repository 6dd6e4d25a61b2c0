"""The C of `read` is compiled and run lane by lane: launches leave the same buffers as in the simulator, in one compilation."""

from __future__ import annotations

import numpy as np
import pytest
from c_runner import COMPILER, run_in_c
from corpus_launches import CASES, prepare

from visa_lsp.sim.machine import run

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
KINDS = (
    "axpy",
    "bytes",
    "folds",
    "gemm",
    "halves",
    "masks",
    "teams",
    "turn",
    "vecs",
    "bins",
    "blur",
    "julia",
    "wide",
    "atoms",
    "pixels",
    "scratch",
    "spaces",
    "deep",
)
LAUNCHES = list({(case.source, case.kernel): case for case in CASES if case.source in KINDS}.values())


def test_launches_leave_the_same():
    check(LAUNCHES[::3])


@pytest.mark.full
def test_all_launches_leave_the_same():
    check(LAUNCHES)


def check(cases):
    """Run launches both ways, and compare their buffers."""
    with np.errstate(all="ignore"):
        one, other = ([prepare(case, case.platforms[0]) for case in cases] for _ in range(2))
        for ready in other:
            run(ready.dispatch(50_000_000))
        said = run_in_c(one)
    wrong = [
        words or str(case)
        for case, words, mine, theirs in zip(cases, said, one, other, strict=True)
        if words or any(a.tobytes() != theirs.prepared.arrays[key].tobytes() for key, a in mine.prepared.arrays.items())
    ]
    assert wrong == []
