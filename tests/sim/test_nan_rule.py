"""The NaN that an operation of the interpreter gives: the first among its sources, made quiet, however many lanes there are."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from visa_lsp.sim import exact, words
from visa_lsp.sim.values import Rounding

# Bits of NaNs of both signs, quiet and signalling, of infinity, zero and one.
BITS = {
    np.float32: [0x7FC00000, 0xFFC01234, 0x7F800001, 0xFF812345, 0x7F800000, 0xFF800000, 0, 0x3F800000],
    np.float64: [0x7FF8 << 48, 0xFFF8000000012345, 0x7FF0000000000001, 0xFFF0123400000000, 0x7FF0 << 48, 0xFFF0 << 48, 0, 0x3FF0 << 48],
}  # fmt: skip
QUIET = {np.float32: 1 << 22, np.float64: 1 << 51}
COUNTS = {"add": 2, "sub": 2, "mul": 2, "div": 2, "mad": 3}


def bodies(word, kind):
    """Yield the bodies that compute a word for a type, in any rounding."""
    if word != "mad" or kind is np.float32:
        yield words.FLOAT[word]
    yield lambda *s: exact.evaluate(word, list(s), Rounding.EVEN, double=True).astype(kind)
    if kind is np.float32:
        yield lambda *s: exact.evaluate(word, list(s), Rounding.UP, double=False).astype(kind)


@pytest.mark.parametrize("lanes", [1, 8, 16, 32])
@pytest.mark.parametrize("kind", BITS)
@pytest.mark.parametrize("word", COUNTS)
def test_the_first_nan_is_taken(word, kind, lanes):
    unsigned = np.dtype(f"u{np.dtype(kind).itemsize}")
    with np.errstate(all="ignore"):
        invalid = (np.zeros(1, kind) / np.zeros(1, kind)).view(unsigned)[0]
        every = np.array(list(itertools.product(BITS[kind], repeat=COUNTS[word])), unsigned)
        every = every[: len(every) // lanes * lanes].reshape(-1, lanes, COUNTS[word])
        for body in bodies(word, kind):
            for some in every:
                found = body(*(column.copy().view(kind) for column in some.T))
                for sources, one in zip(some, found, strict=True):
                    nans = [bits | QUIET[kind] for bits in sources.tolist() if np.isnan(unsigned.type(bits).view(kind))]
                    assert bool(nans) <= bool(np.isnan(one))
                    if np.isnan(one):
                        assert hex(one.view(unsigned)) == hex(nans[0] if nans else invalid), [hex(s) for s in sources]


def test_an_infinite_addend_hides_a_product_that_is_too_large():
    lanes = [np.array([v]) for v in (1e300, 1e300, -np.inf)]
    assert exact.evaluate("mad", lanes, Rounding.EVEN, double=True).tolist() == [-np.inf]
