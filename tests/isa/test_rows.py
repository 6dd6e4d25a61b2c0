"""The rows of all families: complete prose, slots that fill fields, consistent words; the words of the load/store controller."""

import itertools
import re

import pytest
from each_case import each_of

from visa_lsp.isa import lsc_codes
from visa_lsp.isa.lane import VOCABULARY, Effect, Expr, Lane, Unmodelled
from visa_lsp.isa.model import EVERY_DIALECT, Dialect, ExecStyle, FieldKind, Modifier, Shape, Trait
from visa_lsp.isa.rows import data_port, lsc, media, sampler, svm
from visa_lsp.isa.table import TABLE

MESSAGES = (*data_port.ROWS, *svm.ROWS, *sampler.ROWS, *media.ROWS, *lsc.ROWS)
OTHERS = [row for row in TABLE.rows if row not in MESSAGES]


def words_in(text):
    return re.findall(r"\w+", text)


SLOT_KINDS = {
    Shape.VECTOR: FieldKind.VECTOR,
    Shape.SIMPLE: FieldKind.VECTOR,
    Shape.RAW: FieldKind.RAW,
    Shape.LABEL: FieldKind.LABEL,
    Shape.LABELS: FieldKind.LABELS,
    Shape.VARIABLE: FieldKind.VARIABLE,
}
ADDRESS = words_in("addrtype surface immscale immoffset addrsize surfidx")
FILLS = {
    Shape.LSC_DATA: words_in("datasize elems order"),
    Shape.LSC_DATA_2D: words_in("datasize order blocks width height vnni"),
    Shape.LSC_DATA_TYPED_2D: words_in("width height"),
    Shape.LSC_ADDRESS: ADDRESS,
    Shape.LSC_ADDRESS_STRIDED: [*ADDRESS, "pitch"],
    Shape.LSC_ADDRESS_2D: [*(f"addr{i}" for i in range(6)), "immx", "immy"],
    Shape.LSC_ADDRESS_TYPED: words_in("addrtype surface addrsize surfidx u v r lod"),
    Shape.LSC_ADDRESS_TYPED_2D: words_in("addrtype surface surfidx src0 src1 immx immy"),
    Shape.LSC_SURFACE: words_in("addrtype surface surfidx"),
    Shape.RAWS: ["n"],
}
NAMELESS = {Shape.LSC_ADDRESS_2D, Shape.LSC_ADDRESS_TYPED, Shape.LSC_ADDRESS_TYPED_2D}


def filled(row):
    """Yield the fields that the operands of the text fill."""
    for slot in row.slots:
        if slot.shape not in NAMELESS:
            yield from slot.name.split(",")
        yield from FILLS.get(slot.shape, ())
        if slot.shape is Shape.LSC_DATA and row.has_field("chmask"):
            yield "chmask"


def row_id(row):
    return f"{row.mnemonic}-{row.fields[0].name if row.fields else ''}-{row.opcode}-{'.'.join(sorted(d.value for d in row.dialects))}"


each_row = each_of(TABLE.rows, row_id)


@each_row
def test_row_is_documented(row):
    assert row.summary.endswith(".")
    assert len(row.summary) < (110 if row in MESSAGES else 80)
    assert row.detail.endswith(".")
    assert 1 <= len(re.findall(r"\.(?=\s|$)", row.detail)) <= 6
    assert "  " not in row.detail
    assert all(text.endswith(".") and "  " not in text for text in row.pitfalls)
    assert all(part.doc for part in (*row.slots, *row.modifiers))
    assert row.dialects
    assert row.platforms


@each_row
def test_row_has_a_meaning(row):
    match row.meaning:
        case Lane(expr) if row not in MESSAGES:
            assert_words_known(expr, sum(slot.name.startswith("src") for slot in row.slots))
        case Effect():
            pass  # the generated cases of tests/sim run its body
        case Unmodelled(reason):
            assert reason
        case other:
            raise AssertionError(f"it has the meaning {other}")


def assert_words_known(expr, sources):
    assert len(expr.args) == VOCABULARY[expr.word].arity
    if expr.word == "src":
        assert isinstance(expr.args[0], int)
        assert expr.args[0] < sources
    for arg in expr.args:
        if isinstance(arg, Expr):
            assert_words_known(arg, sources)


@each_row
def test_slots_and_modifiers_fill_fields(row):
    kinds = {field.name: field.kind for field in row.fields}
    assert len(kinds) == len(row.fields)
    assert {*filled(row), *(m.field for m in row.modifiers)} <= {*kinds, "sat"}


@each_of(OTHERS, row_id)
def test_fields_are_of_the_kinds_of_their_slots(row):
    kinds = {field.name: field.kind for field in row.fields}
    for slot in row.slots:
        assert kinds[slot.name] is SLOT_KINDS.get(slot.shape, kinds[slot.name])
        assert (slot.shape is Shape.VECTOR) <= bool(slot.classes)
    assert ("exec" in kinds) == (row.exec_style is not ExecStyle.NONE)
    assert ("pred" in kinds) == (row.predicable and not row.predicate_lost)


@each_row
def test_what_the_text_leaves_out_is_constant_or_null(row):
    execs = {f.name for f in row.fields if f.kind in {FieldKind.EXEC, FieldKind.EXEC_CODE, FieldKind.EXEC_LOG2}}
    spoken = {*filled(row), *(m.field for m in row.modifiers), *execs, "pred", "prop"}
    for item in row.fields:
        if item.name in spoken or item.const is not None or not item.stored or item.kind is FieldKind.COUNT:
            continue
        null = row in MESSAGES and (item.kind is FieldKind.RAW or item.name in {"mod_byte", "unused", "ffid"})
        assert null or row.mnemonic == "nbarrier.wait", item  # its count repeats the id and has no place in the text


@each_row
def test_words_survive_printing(row):
    for modifier in row.modifiers:
        for word, value in modifier.words.items():
            text = modifier.format(value)
            assert text == "" or modifier.parse(text[1:]) == value, word


@each_of(OTHERS, row_id)
def test_each_word_is_that_of_its_value(row):
    for modifier in row.modifiers:
        for word, value in modifier.words.items():
            assert modifier.parse(word) == value
            if not word.isupper() or modifier.kind is Modifier.Kind.LETTERS:
                assert modifier.format(value) == "." + word


@each_of(MESSAGES, row_id)
def test_a_message_has_sizes_and_a_predicate_where_it_is_predicable(row):
    assert row.exec_sizes
    assert row.predicable == row.has_field("pred") or row.mnemonic == "lsc_fence"


def test_rows_are_told_apart():
    assert len({row.key for row in TABLE.rows}) == len(TABLE.rows)


def test_first_row_of_each_record_is_the_real_spelling():
    first = {}
    for row in TABLE.rows:
        if row.opcode is not None:
            first.setdefault((row.opcode, row.key[2]), row.mnemonic)
    assert (first[0x33, ()], first[0x51, ()], first[0x52, ()]) == ("call", "FILE", "LOC")


@pytest.mark.parametrize(
    ("mnemonic", "code"),
    [("asin", 0x1C), ("acos", 0x1D), ("atan", 0x1E), ("if", 0x60), ("else", 0x61), ("endif", 0x62), ("do", 0x63),
     ("while", 0x64), ("break", 0x65), ("cont", 0x66)],
)  # fmt: skip
def test_seed_words_have_no_opcode_of_their_own(mnemonic, code):
    row = TABLE.by_mnemonic[mnemonic][0]
    assert (row.opcode, row.seed_opcode, row.dialects) == (None, code, frozenset({Dialect.SEED}))
    assert TABLE.by_mnemonic["add"][0].dialects == EVERY_DIALECT


def test_fence_letters_and_kind_share_a_byte():
    local = TABLE.by_mnemonic["fence_local"][0]
    (mod,) = local.modifiers
    value = (local.fields[0].const or 0) | (mod.parse("EL1") or 0)
    assert value == 0x61
    assert mod.format(value) == ".EL1"


def test_shifts_are_the_rows_whose_lanes_shift():
    words = {"shl", "shr", "asr", "rol", "ror"}
    shifting = {row.mnemonic for row in OTHERS if isinstance(row.meaning, Lane) and row.meaning.expr.word in words}
    assert {row.mnemonic for row in OTHERS if row.has(Trait.SHIFT)} == shifting == words


# Words of the load/store controller.


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("d32", lsc_codes.DataShape(3, 1, None, 1)),
        ("d32x16t", lsc_codes.DataShape(3, 6, None, 2)),
        ("u8c32x2", lsc_codes.DataShape(5, 2, None, 1)),
        ("d16u32h", lsc_codes.DataShape(7, 1, None, 1)),
        ("d64t", lsc_codes.DataShape(4, 1, None, 2)),
        ("d32.xz", lsc_codes.DataShape(3, None, 5, 1)),
    ],
)
def test_data_shape(text, shape):
    assert lsc_codes.parse_data_shape(text) == shape


@pytest.mark.parametrize("text", ["", "d33", "d32x5", "d32x", "d32tt", "d32.zx", "d32.", "d32.xx", "x2", "32", "d32x²"])
def test_no_data_shape(text):
    assert lsc_codes.parse_data_shape(text) is None


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("d8.8x8nn", lsc_codes.BlockShape(1, 1, 8, 8, 1, 0)),
        ("d16.2x16x32nt", lsc_codes.BlockShape(2, 2, 16, 32, 1, 1)),
        ("d32.8x4t", lsc_codes.BlockShape(3, 1, 8, 4, 2, 0)),
        ("d8.4x4", lsc_codes.BlockShape(1, 1, 4, 4, 1, 0)),
    ],
)
def test_block_shape(text, shape):
    assert lsc_codes.parse_block_shape(text) == shape
    assert lsc_codes.parse_block_shape(lsc_codes.block_shape_text(shape)[1:]) == shape


@pytest.mark.parametrize("text", ["d8", "d8.8", "d8.1x2x3x4", "d8.8x8nnn", "d8.x8", "d8.8xn"])
def test_no_block_shape(text):
    assert lsc_codes.parse_block_shape(text) is None


@each_of(itertools.product(lsc_codes.DATASIZES, lsc_codes.ELEMS_VALUE, (1, 2), (False, True)))
def test_data_shape_text_reads_back(case):
    size, elems, order, v42 = case
    text = lsc_codes.data_shape_text(size, elems, order, v42=v42)
    assert lsc_codes.parse_data_shape(text[1:]) == lsc_codes.DataShape(size, elems, None, order)


def test_cache_words_are_all_or_none():
    assert lsc_codes.cache_text(0, 0) == ""
    assert lsc_codes.cache_text(0, 2) == ".df.ca"
    assert lsc_codes.cache_text(2, 2, 1) == ".ca.ca.uc"


def test_typed_and_untyped_rows_differ_by_their_memory():
    quads = TABLE.by_mnemonic["lsc_load_quad"]
    words = {word: row.opcode for row in quads for word in next(m for m in row.modifiers if m.field == "sfid").words}
    assert words == {"ugm": 0x89, "ugml": 0x89, "slm": 0x89, "tgm": 0x8A}


def test_dialects_split_the_sampler_forms():
    old, new, bindless = TABLE.by_mnemonic["sample_lz"]
    assert (old.opcode, old.dialects) == (0x6D, {Dialect.V41})
    assert (new.opcode, new.dialects) == (0x6D, {Dialect.V42})
    assert (bindless.opcode, bindless.dialects) == (None, {Dialect.V42})


def test_atomic_width_and_operation_share_a_byte():
    row = TABLE.by_mnemonic["svm_atomic"][0]
    assert [(m.field, m.parse(word), m.mask) for m, word in zip(row.modifiers, ("cmpxchg", "64"), strict=True)] == [
        ("op", 7, 0x1F),
        ("op", 0x40, 0x60),
    ]
    assert "".join(m.format(0x47) for m in row.modifiers) == ".cmpxchg.64"
    assert isinstance(row.modifiers[0], Modifier)
