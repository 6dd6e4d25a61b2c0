"""The memory, sampler, media and message rows: complete prose, slots that fill fields; the words of the load/store controller."""

import itertools
import re

import pytest
from each_case import each_of

from visa_lsp.isa import lsc_codes
from visa_lsp.isa.lane import Effect, Unmodelled
from visa_lsp.isa.model import Dialect, FieldKind, Modifier, Shape
from visa_lsp.isa.rows import data_port, lsc, media, sampler, svm
from visa_lsp.isa.table import InstructionTable

ROWS = (*data_port.ROWS, *svm.ROWS, *sampler.ROWS, *media.ROWS, *lsc.ROWS)
TABLE = InstructionTable(ROWS)


def words_in(text):
    return re.findall(r"\w+", text)


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
    return f"{row.mnemonic}-{row.fields[0].name}-{row.opcode}-{'.'.join(sorted(d.value for d in row.dialects))}"


each_row = each_of(ROWS, row_id)


@each_row
def test_row_tells_what_it_does(row):
    assert row.summary.endswith(".")
    assert len(row.summary) < 110
    assert 1 <= len(re.findall(r"\.(?=\s|$)", row.detail)) <= 6
    assert row.exec_sizes
    assert row.platforms
    assert row.dialects
    match row.meaning:
        case Effect():
            pass  # tests/sim/test_table.py looks for its body
        case Unmodelled(reason):
            assert reason
        case _:
            raise AssertionError("a message has no meaning per lane")


@each_row
def test_slots_and_modifiers_fill_fields(row):
    names = [f.name for f in row.fields]
    assert len(names) == len(set(names))
    for name in filled(row):
        assert name in names
    for slot in row.slots:
        assert slot.doc
    for modifier in row.modifiers:
        assert modifier.field in names
        assert modifier.doc


@each_row
def test_what_the_text_leaves_out_is_constant_or_null(row):
    execs = {f.name for f in row.fields if f.kind in {FieldKind.EXEC, FieldKind.EXEC_CODE, FieldKind.EXEC_LOG2}}
    spoken = {*filled(row), *(m.field for m in row.modifiers), *execs, "pred"}
    silent = [f for f in row.fields if f.name not in spoken and f.const is None and f.stored]
    for item in silent:
        assert item.kind is FieldKind.RAW or item.name in {"mod_byte", "unused", "ffid"}, item


@each_row
def test_words_survive_printing(row):
    for modifier in row.modifiers:
        for word, value in modifier.words.items():
            text = modifier.format(value)
            assert text == "" or modifier.parse(text[1:]) == value, word


@each_row
def test_predicable_means_a_predicate_field(row):
    assert row.predicable == row.has_field("pred") or row.mnemonic == "lsc_fence"


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
