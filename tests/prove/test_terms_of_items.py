"""Terms by the values of all work items of a launch, and in terms of global ids, against their values for one work item."""

from __future__ import annotations

from itertools import product

import pytest

pytest.importorskip("z3")

from visa_lsp.app.prove.fences import Stretches
from visa_lsp.app.prove.global_ids import GlobalIds
from visa_lsp.app.prove.payload import symbols_of
from visa_lsp.app.prove.sampled_values import NotSampled, SampledValues
from visa_lsp.app.prove.spaces import ItemAccess
from visa_lsp.app.prove.terms import Level, SumPool, at_most, both, equal, less, negation, number
from visa_lsp.program.payload import ExecutionEnv, KernelInfo

LOCAL, GROUPS = 5, 3


def evaluate(pool, thing, values):
    replace = pool.replace_in if hasattr(thing, "word") else pool.replace_atoms
    return replace(thing, lambda atom: number(values[atom.name]) if atom.name in values else None, {})


def build():
    """Return the symbols of a launch, and terms and conditions of the global id along x."""
    pool = SumPool()
    symbols = symbols_of(pool, KernelInfo("k", ExecutionEnv(16)), {})
    x = pool.product(symbols.groups[0], symbols.local[0]) + symbols.ids[0]
    terms = [
        x * 4, pool.wrap(x + -7, 32, signed=False, line=1), pool.wrap(x * 40, 8, signed=True, line=1),
        pool.product(x + 1, pool.quotient(x, 2)), pool.common_bits(x, number(6), 0, 7),
        pool.choice(less(x, 9), x * 2, number(3) - x), pool.mask_bits(x, 11, 32),
    ]  # fmt: skip
    claims = [at_most(terms[2], 0), negation(equal(terms[4], 2)), both(less(x, 11), at_most(terms[5], 4))]
    return pool, symbols, terms, claims


def test_values_of_all_work_items_are_those_of_each():
    pool, symbols, terms, claims = build()
    sizes = {"local_size_x": LOCAL}
    (group, _), (item, _) = symbols.groups[0].factors[0], symbols.ids[0].factors[0]
    values = SampledValues({item: LOCAL, group: GROUPS})
    for thing in (*terms, *claims):
        sampled = evaluate(pool, thing, sizes)
        own = values.claim(sampled) if hasattr(thing, "word") else values.term(sampled)
        for local, number_ in product(range(LOCAL), range(GROUPS)):
            one = evaluate(pool, thing, {**sizes, "local_id_x": local, "group_id_x": number_})
            found = own[min(local, own.shape[0] - 1), min(number_, own.shape[1] - 1)]
            assert found == (one.word == "true" if hasattr(thing, "word") else one.constant)
    wide = pool.quotient(terms[0] + -7, 1 << 64)
    for unknown in (
        symbols.ids[1],
        wide,
        pool.product(pool.product(terms[0] * (1 << 31), terms[0]), terms[0] * (1 << 20)),
    ):
        with pytest.raises(NotSampled):
            values.term(evaluate(pool, unknown, sizes))


def test_a_number_of_more_than_64_bits_is_not_sampled():
    pool = SumPool()
    large = pool.symbol("large", Level.ITEM, 0, 1 << 70)
    with pytest.raises(NotSampled):
        SampledValues({large.factors[0][0]: LOCAL}).term(pool.quotient(large, 1 << 64))


def test_an_access_has_the_same_place_in_terms_of_global_ids():
    pool, symbols, terms, claims = build()
    by_global_ids = GlobalIds(symbols, [0], pool.symbol("lane", Level.ITEM, 0, 15))

    def access(offset, path):
        return ItemAccess(0, 1, True, False, ("buffer", 0), offset, 4, path, frozenset(), Stretches())

    for offset, path in product(terms, claims):
        made = access(offset, path)
        other = by_global_ids.rewrite(made)
        assert other is not None
        for local, group in product(range(LOCAL), range(GROUPS)):
            values = {"local_size_x": LOCAL, "local_id_x": local, "group_id_x": group, "item_x": group * LOCAL + local}
            for one, two in ((made.offset, other.offset), (made.path, other.path)):
                assert evaluate(pool, one, values) == evaluate(pool, two, values)
    assert by_global_ids.rewrite(access(symbols.ids[0] * 4, claims[0])) is None
    assert by_global_ids.rewrite(access(symbols.groups[0] * 4, claims[0])) is None
