from random import Random

from each_case import each_of

from visa_lsp.flow.masks import Atoms, BitFields
from visa_lsp.flow.solve import closure, solve
from visa_lsp.flow.structured_words import structure_of
from visa_lsp.flow.value_flow import ValueFlow
from visa_lsp.isa.model import FlowClass


def test_closure_goes_on_to_the_end():
    assert closure([3], lambda n: [n // 2, n * 2] if n < 20 else []) == {0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32}


@each_of(range(20))
def test_the_order_does_not_change_the_answer(seed):
    rng = Random(seed)
    count = 30
    ahead = [[rng.randrange(count) for _ in range(2)] for _ in range(count)]
    behind = [[n for n in range(count) if m in ahead[n]] for m in range(count)]

    def answer(order: list[int]) -> list[int]:
        values = [0] * count

        def evaluate(node: int) -> int:
            found = 1 << node
            for before in behind[node]:
                found |= values[before]
            return found

        return solve(values, order, ahead, evaluate)

    order = list(range(count))
    expected = answer(order)
    for _ in range(5):
        rng.shuffle(order)
        assert answer(order) == expected
    for node in range(count):
        assert expected[node] == sum(1 << n for n in closure([node], lambda n: behind[n]))


def test_nodes_that_are_not_asked_for_stay_as_they_are():
    assert solve([0, 7], [0], [[1], [0]], lambda _: 3) == [3, 7]


def test_words_that_belong_together():
    f = FlowClass
    words = [f.DO, f.IF, f.BREAK, f.ELSE, f.CONTINUE, f.ENDIF, f.WHILE, f.RETURN]
    found = structure_of(words)
    assert (found.other, found.start) == ({1: 3}, {6: 0})
    assert found.end == {1: 5, 3: 5, 0: 6, 2: 6, 4: 6}
    assert [found.targets(n, w) for n, w in enumerate(words)] == [(), (4,), (7,), (5,), (6,), (), (0,), ()]


def test_words_without_a_partner_lead_nowhere():
    f = FlowClass
    words = [f.ENDIF, f.WHILE, f.BREAK, f.ELSE, f.IF, f.DO]
    found = structure_of(words)
    assert [found.targets(n, w) for n, w in enumerate(words)] == [()] * 6


def test_conditions_and_loops_nest_apart():
    f = FlowClass
    assert structure_of([f.IF, f.DO, f.ENDIF, f.WHILE]).end == {0: 2, 1: 3}


def test_values_and_where_they_come_from():
    values = ValueFlow()
    values.add([1, 2], 3)
    values.add([3], 4)
    values.add([4], 3)
    assert values.find_reached([1]) == {1, 3, 4}
    assert values.origins([1, 2]) == {1: {1}, 2: {2}, 3: {1, 2, 3}, 4: {1, 2, 4}}


def test_codes_are_packed_and_unpacked():
    numbering = BitFields({8: 3, 16: 70, 24: 0, 32: 2})
    codes = {8: 0b101, 16: 1 << 69, 32: 0b10}
    packed = numbering.pack({**codes, 99: 1, 24: 5})
    assert numbering.size == 75
    assert numbering.unpack(packed) == codes
    assert numbering.unpack(0) == {}
    assert numbering.pack({8: 0b1111}) == 0b111


@each_of(range(20))
def test_packing_loses_nothing(seed):
    rng = Random(seed)
    widths = {variable: rng.randrange(5) for variable in range(30)}
    codes = {v: rng.randrange(1 << w) for v, w in widths.items()}
    numbering = BitFields(widths)
    assert numbering.unpack(numbering.pack(codes)) == {v: code for v, code in codes.items() if code}


def test_bits_that_nothing_tells_apart_are_one():
    atoms = Atoms({8: {0xFF, 0x0F, 0}, 16: {1 << 500}, 24: ()})
    assert atoms.widths == {8: 2, 16: 1, 24: 0}
    assert [atoms.decode(8, atoms.encode(8, mask)) for mask in (0, 0x0F, 0xF0, 0xFF)] == [0, 0x0F, 0xF0, 0xFF]
    assert atoms.decode(16, atoms.encode(16, 1 << 500)) == 1 << 500
    assert atoms.encode(99, 1) == 0


@each_of(range(20))
def test_every_mask_is_a_union_of_groups(seed):
    rng = Random(seed)
    masks = {rng.randrange(1 << 12) for _ in range(rng.randrange(1, 6))}
    atoms = Atoms({8: masks})
    assert {atoms.decode(8, atoms.encode(8, mask)) for mask in masks} == masks
