"""The table and the simulator agree: every meaning that a row names has a body, real objects compile."""

from __future__ import annotations

import numpy as np
import pytest
from corpus import files

from visa_lsp.isa.lane import VOCABULARY, Effect
from visa_lsp.isa.table import TABLE
from visa_lsp.sim import words
from visa_lsp.sim.effects import EFFECTS


def test_every_effect_of_the_table_has_a_body():
    named = {row.meaning.name for row in TABLE.rows if isinstance(row.meaning, Effect)}
    assert named - set(EFFECTS) == set()


def test_every_word_of_the_vocabulary_has_a_body():
    for word in set(VOCABULARY) - {"src", "const"}:
        integer = words.int_body(word, 32, signed=True, count_bits=32)
        assert integer is not None or word in words.FLOAT, word


@pytest.mark.parametrize("word", sorted(words.FLOAT))
def test_float_words_give_lanes_of_their_own_type(word):
    lanes = np.array([0.25, 0.5, 0.75], np.float32)
    with np.errstate(all="ignore"):
        assert words.FLOAT[word](*[lanes] * VOCABULARY[word].arity).dtype == np.float32


@pytest.mark.parametrize("platform", ["TGLLP", "DG2", "PVCXT"])
def test_real_objects_compile_without_a_gap(platform):
    from visa_lsp.codec.decode import decode
    from visa_lsp.isa.platforms import platform_named
    from visa_lsp.sim import interp

    gaps = []
    objects = files(f"dev/{platform}/*.isa")[:20]
    assert len(objects) > 10
    for path in objects:
        for body in decode(path.read_bytes()).bodies:
            code = interp.Code(body, platform_named(platform).grf_bytes)
            gaps += [
                f"{path.name} {pc}"
                for pc in range(len(body.instructions))
                if getattr(code.op(pc), "__qualname__", "").startswith("_raiser")
            ]
    assert gaps == []
