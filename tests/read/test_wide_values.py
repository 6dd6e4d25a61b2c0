"""Values of 64 bits that a compiler computes in halves are printed as one, and the C leaves the same buffers as the simulator."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from c_runner import COMPILER, run_in_c
from corpus_launches import prepare_file

from visa_lsp.app.read.pseudo_code import as_text, read_data
from visa_lsp.sim.machine import run

FOLDER = Path(__file__).with_name("wide")
NAMES = ("bignum", "keccak", "xxh64")
LEAST = 0x8000000080000000  # two dwords whose negatives have no dword
HALVES = re.compile(r"\b(?:carry|borrow)\(|\bu?int2\b")


@pytest.mark.parametrize("name", NAMES)
def test_halves_are_printed_as_one_value(name):
    path = FOLDER / f"{name}.visaasm"
    read = read_data(str(path), path.read_bytes(), None, say=print)
    assert read is not None
    text = as_text(read)
    assert HALVES.search(text) is None, text
    assert "rotate_left_64(" in text


@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
def test_launches_of_random_values_leave_the_same():
    names = (*NAMES, "negated")
    one, other = ([prepare_file(FOLDER / f"{name}.launch.yaml", "TGLLP") for name in names] for _ in range(2))
    random = np.random.default_rng(64)
    for mine, theirs in zip(one, other, strict=True):
        for key, array in mine.prepared.arrays.items():
            array[:] = random.integers(0, 1 << 64, array.shape, np.uint64)
            array[:2] = LEAST, 1
            theirs.prepared.arrays[key][:] = array
        run(theirs.dispatch(50_000_000))
    said = run_in_c(one)
    wrong = [
        words or name
        for name, words, mine, theirs in zip(names, said, one, other, strict=True)
        if words or any(a.tobytes() != theirs.prepared.arrays[key].tobytes() for key, a in mine.prepared.arrays.items())
    ]
    assert wrong == []
