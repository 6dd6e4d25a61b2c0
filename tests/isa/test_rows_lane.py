"""The rows of the lane and flow families: complete, and consistent with themselves."""

from __future__ import annotations

from importlib import import_module

import pytest
from each_case import each_of

from visa_lsp.isa.lane import VOCABULARY, Effect, Expr, Lane, Unmodelled
from visa_lsp.isa.model import EVERY_DIALECT, Dialect, ExecStyle, FieldKind, Instruction, Modifier, Shape, Trait

FAMILIES = ("mov", "arith", "math", "logic", "compare", "address", "flow", "simd_flow", "sync", "matrix", "misc")
ROWS: list[Instruction] = [row for family in FAMILIES for row in import_module(f"visa_lsp.isa.rows.{family}").ROWS]

SLOT_KINDS = {
    Shape.VECTOR: FieldKind.VECTOR,
    Shape.SIMPLE: FieldKind.VECTOR,
    Shape.RAW: FieldKind.RAW,
    Shape.LABEL: FieldKind.LABEL,
    Shape.LABELS: FieldKind.LABELS,
    Shape.VARIABLE: FieldKind.VARIABLE,
}


def row_id(row: Instruction) -> str:
    return f"{row.family}-{row.mnemonic}-{row.opcode}"


def row_named(mnemonic: str) -> Instruction:
    return next(row for row in ROWS if row.mnemonic == mnemonic)


@each_of(ROWS, row_id)
def test_row_is_documented(row: Instruction) -> None:
    assert row.summary.endswith(".")
    assert len(row.summary) < 80
    assert row.detail.endswith(".")
    assert "  " not in row.detail
    assert all(text.endswith(".") and "  " not in text for text in row.pitfalls)
    assert all(slot.doc for slot in row.slots)
    assert all(mod.doc for mod in row.modifiers)
    assert row.dialects
    assert row.platforms


@each_of(ROWS, row_id)
def test_row_has_a_meaning(row: Instruction) -> None:
    match row.meaning:
        case Lane(expr):
            assert_words_known(expr, sum(slot.name.startswith("src") for slot in row.slots))
        case Effect():
            pass  # tests/sim/test_table.py looks for its body
        case Unmodelled(reason):
            assert reason
        case other:
            raise AssertionError(f"it has the meaning {other}")


def assert_words_known(expr: Expr, sources: int) -> None:
    assert len(expr.args) == VOCABULARY[expr.word].arity
    if expr.word == "src":
        assert isinstance(expr.args[0], int)
        assert expr.args[0] < sources
    for arg in expr.args:
        if isinstance(arg, Expr):
            assert_words_known(arg, sources)


@each_of(ROWS, row_id)
def test_slots_and_modifiers_fill_fields(row: Instruction) -> None:
    kinds = {field.name: field.kind for field in row.fields}
    assert len(kinds) == len(row.fields)
    for slot in row.slots:
        assert kinds[slot.name] is SLOT_KINDS.get(slot.shape, kinds[slot.name])
        assert (slot.shape is Shape.VECTOR) <= bool(slot.classes)
    for mod in row.modifiers:
        assert mod.field == "sat" or mod.field in kinds
    assert ("exec" in kinds) == (row.exec_style is not ExecStyle.NONE)
    assert ("pred" in kinds) == (row.predicable and not row.predicate_lost)
    if row.mnemonic == "nbarrier.wait":
        return  # its count repeats the id and has no place in the text
    filled = {slot.name for slot in row.slots} | {mod.field for mod in row.modifiers} | {"exec", "pred", "prop"}
    free = {f.name for f in row.fields if f.const is None and f.kind is not FieldKind.COUNT and f.name not in filled}
    assert free == set()


@each_of(ROWS, row_id)
def test_modifier_words_survive_printing(row: Instruction) -> None:
    for mod in row.modifiers:
        for word, value in mod.words.items():
            assert mod.parse(word) == value
            if not word.isupper() or mod.kind is Modifier.Kind.LETTERS:
                assert mod.format(value) == "." + word


def test_rows_are_told_apart() -> None:
    assert len({row.key for row in ROWS}) == len(ROWS)


def test_first_row_of_each_record_is_the_real_spelling() -> None:
    first: dict[object, str] = {}
    for row in ROWS:
        if row.opcode is not None:
            first.setdefault((row.opcode, row.key[2]), row.mnemonic)
    assert (first[0x33, ()], first[0x51, ()], first[0x52, ()]) == ("call", "FILE", "LOC")


@pytest.mark.parametrize(
    ("mnemonic", "code"),
    [("asin", 0x1C), ("acos", 0x1D), ("atan", 0x1E), ("if", 0x60), ("else", 0x61), ("endif", 0x62), ("do", 0x63),
     ("while", 0x64), ("break", 0x65), ("cont", 0x66)],
)  # fmt: skip
def test_seed_words_have_no_opcode_of_their_own(mnemonic: str, code: int) -> None:
    row = row_named(mnemonic)
    assert (row.opcode, row.seed_opcode, row.dialects) == (None, code, frozenset({Dialect.SEED}))
    assert row_named("add").dialects == EVERY_DIALECT


def test_fence_letters_and_kind_share_a_byte() -> None:
    local = row_named("fence_local")
    (mod,) = local.modifiers
    value = (local.fields[0].const or 0) | (mod.parse("EL1") or 0)
    assert value == 0x61
    assert mod.format(value) == ".EL1"


def test_shifts_are_the_rows_whose_lanes_shift() -> None:
    words = {"shl", "shr", "asr", "rol", "ror"}
    shifting = {row.mnemonic for row in ROWS if isinstance(row.meaning, Lane) and row.meaning.expr.word in words}
    assert {row.mnemonic for row in ROWS if row.has(Trait.SHIFT)} == shifting == words
