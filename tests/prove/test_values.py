"""The value that the interpreter computes is among those that the term of a work item allows, for every lane word and type."""

from __future__ import annotations

from itertools import product
from random import Random

import numpy as np
import pytest

from tests.prove import lane_values as values
from tests.prove.lane_values import HELD, RESULT, TYPES, Comparison, corners, destination, filled, instruction, source
from visa_lsp.isa import types as ty
from visa_lsp.isa.lane import Lane
from visa_lsp.isa.operands import OperandModifier
from visa_lsp.isa.table import TABLE
from visa_lsp.program.model import Immediate

pytest.importorskip("z3")

SEED = 59
SIGNS = (OperandModifier.NONE, OperandModifier.NEG, OperandModifier.ABS, OperandModifier.NEGABS)
LOGIC = (OperandModifier.NONE, OperandModifier.NOT)
SOME = pytest.mark.parametrize(
    "some", [pytest.param(True, id="some"), pytest.param(False, id="all", marks=pytest.mark.full)]
)
SHOWN = 5


def rows():
    """Return the rows of integers with a result per lane: their names, sources and further fields."""
    found = [row for row in TABLE.rows if isinstance(row.meaning, Lane) and types_of(row, "dst")]
    return [row for row in found if all(types_of(row, one) for one in sources_of(row))]


def types_of(row, name):
    slot = next(slot for slot in row.slots if slot.name == name)
    return [one for one in TYPES if one in (slot.types or ())]


def sources_of(row):
    return [field.name for field in row.fields if field.name.startswith("src")]


def modifiers_of(row):
    return LOGIC if row.family == "logic" else SIGNS


def cases(mnemonic, row, random, *, some, more=None):
    """Yield the types, modifiers and saturation of an instruction: every pair of a source and the destination."""
    names = sources_of(row)
    targets, types = types_of(row, "dst"), [types_of(row, name) for name in names]
    found = [(dst, *rest) for dst in targets for rest in product(*types)]
    if some or len(found) > 64:
        pairs = {(dst, at, one): None for dst in targets for at, of in enumerate(types) for one in of}
        chosen = [
            (dst, *(one if i == at else random.choice(of) for i, of in enumerate(types))) for dst, at, one in pairs
        ]
        found = random.sample(chosen, min(len(chosen), 4)) if some else chosen
    saturates = [False, True] if any(one.field == "sat" for one in row.modifiers) else [False]
    for dst, *rest in found:
        for modifier, sat in product(modifiers_of(row), saturates):
            if some and random.random() < 0.5:
                continue
            yield dst, rest, modifier, sat


def numbers(types, random, count, *, exhaustive):
    """Return the numbers of the sources: all pairs of bytes, or corners with corners and random numbers."""
    if exhaustive and len(types) <= 2 and all(one.size == 1 for one in types):
        grid = np.array(list(product(range(256), repeat=len(types))), np.uint8)
        return [
            np.ascontiguousarray(grid[:, at]).view(f"<{'i' if one.is_signed else 'u'}1") for at, one in enumerate(types)
        ]
    lists = [corners(one, random, count) for one in types]
    for one in lists[1:]:
        random.shuffle(one)
    # A small number as a count of a shift, a width or an offset
    lists[1:] = [[n if random.random() < 0.6 else n & 63 if n >= 0 else n for n in one] for one in lists[1:]]
    length = max(map(len, lists))
    return [
        filled(type_, [one[at % len(one)] for at in range(length)]) for type_, one in zip(types, lists, strict=True)
    ]


def compare(mnemonic, random, dst, types, modifier, *, sat=False, some=True, constant=None, target=None, **more):
    """Compare one instruction; return the number of compared values, and what is wrong."""
    arrays = numbers(types, random, 96, exhaustive=not some)
    fields = {
        f"src{at}": source(type_, at, modifier if at == 0 or random.random() < 0.3 else OperandModifier.NONE)
        for at, type_ in enumerate(types)
    }  # fmt: skip
    given = {fields[f"src{at}"].var: array for at, array in enumerate(arrays)}
    if constant is not None:
        last = f"src{len(types) - 1}"
        del given[fields[last].var]
        fields[last] = constant
    bits = np.array([random.random() < 0.5 for _ in arrays[0]])
    fields |= {"dst": target or destination(dst, sat=sat), **more}
    found = Comparison(instruction(mnemonic, **fields), given, bits).run()
    what = f"{mnemonic} {dst}{'.sat' if sat else ''} <- {' '.join(map(str, types))} {modifier.name}"
    return found.compared, [f"{what} {constant or ''}: {one}" for one in found.wrong]


def check(found):
    """Print the number of comparisons; fail with the first values that are not allowed."""
    count, wrong = 0, []
    for compared, problems in found:
        count += compared
        wrong += problems
    print(f"{count} values compared, {len(wrong)} instructions with a value that the term does not allow")
    assert not wrong, "\n".join(wrong[:SHOWN])
    assert count > 100


@SOME
def test_lane_words(some):
    random = Random(SEED)
    check(
        compare(row.mnemonic, random, dst, types, modifier, sat=sat, some=some)
        for row in rows()
        for dst, types, modifier, sat in cases(row.mnemonic, row, random, some=some)
    )


@SOME
def test_lane_words_with_a_constant(some):
    random = Random(SEED)

    def found():
        for row in rows():
            for dst, types, modifier, sat in cases(row.mnemonic, row, random, some=some):
                if len(types) > 1:
                    last = types[-1]
                    for value in random.sample(corners(last, random, 24), 1 if some else 4):
                        number = value & 63 if random.random() < 0.5 else value
                        if number >= 1 << last.bits - 1 and last.is_signed:
                            continue
                        constant = values.immediate(last, number)
                        yield compare(row.mnemonic, random, dst, types, modifier, sat=sat, some=True, constant=constant)

    check(found())


@SOME
def test_copies_choices_and_comparisons(some):
    random = Random(SEED)

    def found():
        for dst, one in product(TYPES, TYPES):
            for sat, modifier in product((False, True), SIGNS):
                if not some or random.random() < 0.3:
                    yield compare("mov", random, dst, [one], modifier, sat=sat, some=some)
        for dst, one, other in product(TYPES, TYPES, TYPES):
            if some and random.random() < 0.9:
                continue
            modifier = random.choice(SIGNS)
            yield compare("sel", random, dst, [one, other], modifier, sat=False, some=some, pred=HELD)
            for relation in range(6):
                if not some or random.random() < 0.3:
                    target = random.choice([destination(dst), RESULT])
                    yield compare("cmp", random, dst, [one, other], modifier, some=some, relop=relation, target=target)

    check(found())


@SOME
def test_results_in_two_registers_and_functions_of_bits(some):
    random = Random(SEED)
    none = OperandModifier.NONE

    def found():
        for mnemonic, second in (("addc", "carry"), ("subb", "borrow")):
            for one, other in product((ty.UD,), repeat=2):
                more = {second: destination(ty.UD, 1)}
                yield compare(mnemonic, random, ty.UD, [one, other], none, some=some, **more)
        kinds = [one for one in TYPES if one.size > 1]
        for table in range(0, 256, 5 if some else 1):
            for _ in range(1 if some else 6):
                dst, *types = (random.choice(kinds) for _ in range(4))
                yield compare("bfn", random, dst, types, random.choice(LOGIC), some=some, func=table)

    check(found())


def test_packed_constants():
    random = Random(SEED)

    def found():
        for bits, kind in product((0x76543210, 0x88888888, 0xFEDCBA98, 0x10101010), (ty.V, ty.UV)):
            for dst in TYPES:
                yield compare("add", random, dst, [ty.D, ty.W], OperandModifier.NONE, constant=Immediate(kind, bits))

    check(found())
