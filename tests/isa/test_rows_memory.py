"""The memory, sampler, media and message rows: complete prose, slots that fill fields, records as the real tools write them.

Record sizes and constants are checked against ``forms.tsv`` of the corpus with a sizing walk of this file's own, which
knows only the kinds of fields; the codec has its own tests.
"""

import itertools
import re

import corpus
import pytest
from corpus import at_least, files, texts
from each_case import each_of

from visa_lsp.isa import lsc_codes
from visa_lsp.isa.lane import Effect, Unmodelled
from visa_lsp.isa.model import Dialect, ExecStyle, FieldKind, Modifier, Shape
from visa_lsp.isa.platforms import platform_named
from visa_lsp.isa.rows import data_port, lsc, media, sampler, svm
from visa_lsp.isa.table import InstructionTable

ROWS = (*data_port.ROWS, *svm.ROWS, *sampler.ROWS, *media.ROWS, *lsc.ROWS)
TABLE = InstructionTable(ROWS)


def words_in(text):
    return re.findall(r"\w+", text)


EFFECTS = words_in(
    "oword_ld oword_st oword_ld_unaligned media_ld media_st gather scatter gather_scaled scatter_scaled gather4_scaled "
    "scatter4_scaled gather4_typed scatter4_typed dword_atomic typed_atomic qw_gather qw_scatter svm_block_ld "
    "svm_block_st svm_gather svm_scatter svm_atomic svm_gather4scaled svm_scatter4scaled sample_3d load_3d sample4 sample "
    "load sample_unorm resinfo sampleinfo lsc_load lsc_store lsc_load_quad lsc_store_quad lsc_load_block2d "
    "lsc_store_block2d lsc_load_strided lsc_store_strided lsc_atomic lsc_typed_load lsc_typed_store lsc_typed_atomic "
    "fence load_mcs lod lsc_load_quad_status lsc_load_status lsc_typed_load_block2d lsc_typed_load_msrt lsc_typed_load_quad_status lsc_typed_load_status lsc_typed_store_block2d lsc_typed_store_msrt"
)

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
OPTIONAL_FILLS = {"chmask"}


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
        case Effect(name):
            assert name in EFFECTS
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


# Records of the real tools.

SIZE = {
    FieldKind.EXEC: 1, FieldKind.PREDICATE: 2, FieldKind.RAW: 6, FieldKind.SURFACE: 1, FieldKind.SAMPLER: 1,
    FieldKind.U8: 1, FieldKind.U16: 2, FieldKind.U32: 4, FieldKind.S32: 4, FieldKind.EXEC_CODE: 1,
    FieldKind.EXEC_LOG2: 1, FieldKind.COUNT: 1,
}  # fmt: skip
WIDE_IMMEDIATES = {6, 11, 13}


def vector_size(record, at):
    match record[at] & 7:
        case 0:
            return 9
        case 1:
            return 5
        case 3:
            return 10
        case 5:
            return 10 if record[at + 1] in WIDE_IMMEDIATES else 6
        case 6:
            return 5
    raise AssertionError(f"operand class at {at} of {record.hex()}")


def walk(row, record):
    """Return the values of the record's fields; None if a constant differs or the record has the wrong length."""
    at, values = 1, {}
    for item in row.fields:
        if not item.stored:
            continue
        if item.kind is FieldKind.VECTOR:
            size = vector_size(record, at)
        elif item.kind is FieldKind.RAWS:
            size = 6 * values["n"]
        else:
            size = SIZE[item.kind]
        if at + size > len(record):
            return None
        value = values[item.name] = int.from_bytes(record[at : at + size], "little")
        if item.const is not None and (value ^ item.const) & item.const_mask & 0xFFFF:
            return None
        at += size
    return values if at == len(record) else None


FORM = re.compile(r"(?:\((?P<pred>[^)]*)\)\s*)?(?P<name>[a-z]\w*)(?P<words>(?:\.(?:[\w-]+|(?:<\w+>)+))*)")


def split_form(text):
    found = FORM.match(text.strip())
    if found is None:
        return "", []
    words = found["words"]
    return found["name"], re.findall(r"\.([\w-]+|(?:<\w+>)+)", words)


def match_words(row, words):
    """Return the bits that the words set, by field; None if they are not this row's words."""
    bits, at = {}, 0
    for modifier in row.modifiers:
        value = modifier.parse(words[at]) if at < len(words) else None
        if value is not None:
            bits.setdefault(modifier.field, []).append((value, modifier.mask))
            at += 1
        elif not modifier.optional:
            return None
    return bits if at == len(words) else None


def forms():
    pairs = {(form.text, form.code): None for form in corpus.forms() if form.code and form.status in {0, -11}}
    return [pair for pair in pairs if split_form(pair[0])[0] in TABLE.by_mnemonic]


@pytest.mark.corpus
def test_the_corpus_has_forms():
    assert len(forms()) >= at_least(45, 80)


@pytest.mark.corpus
@each_of(forms(), lambda pair: f"{pair[0]} {pair[1].hex()}")
def test_record_is_as_the_tools_write_it(pair):
    form, record = pair
    name, words = split_form(form)
    fitting = [
        (row, values) for row in TABLE.by_opcode[record[0]] if (values := walk(row, record)) is not None
    ]  # fmt: skip
    assert fitting, "no row has this record"
    row, values = fitting[0]
    assert row.mnemonic == name
    bits = match_words(row, words)
    assert bits is not None, f"{words} are not words of {row.syntax}"
    for field, parts in bits.items():
        item = row.fields[row.index[field]]
        if item.stored:
            for value, mask in parts:
                expected = 8 if "po_c.A" in form and values[field] == 8 else value
                assert values[field] & mask == expected & mask


@pytest.mark.corpus
def test_every_word_of_the_compilers_is_known():
    seen = set()
    for path in files("opcode_counts.tsv"):
        seen.update(line.split("\t")[0] for line in path.read_text(encoding="utf-8").splitlines())
    for path in texts():
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith(" ") and (found := FORM.match(line.strip())):
                seen.add(found["name"] + found["words"])
    unknown = []
    for form in sorted(seen):
        name, words = split_form(form)
        rows = TABLE.by_mnemonic.get(name)
        if rows and not any(match_words(row, words) is not None for row in rows):
            unknown.append(form)
        if rows is None and re.match(
            r"lsc_|svm_|oword|media|gather|scatter|sample_|sample4|load_|resinfo|raw_|typed_a|dword_a", name
        ):
            unknown.append(form)
    assert unknown == []


LINE = re.compile(FORM.pattern + r"\s*(?:\((?:(?P<mask>\w+),\s*)?(?P<size>\d+)\))?")


@pytest.mark.corpus
def test_rows_allow_what_the_compilers_print():
    """Platform, dialect and execution size of a row are never stricter than a text that a compiler printed."""
    uses = set()
    for folder, dialect in (("dev", Dialect.V41), ("dev42", Dialect.V42)):
        for path in files(f"{folder}/*/*.visaasm"):
            platform = platform_named(path.parent.name)
            assert platform is not None
            for line in path.read_text(encoding="utf-8").splitlines():
                if line.startswith(" ") and (found := LINE.match(line.strip())) and found["name"] in TABLE.by_mnemonic:
                    predicated, size = found["pred"] is not None, int(found["size"] or 0)
                    uses.add((found["name"], found["words"], size, predicated, platform.name, dialect))
    assert len(uses) >= at_least(150, 300)
    refused = [use for use in uses if not any(allows(row, *use[1:]) for row in TABLE.by_mnemonic[use[0]])]
    assert sorted(refused, key=str) == []


def allows(row, words, size, predicated, platform, dialect):
    return (
        match_words(row, re.findall(r"\.([\w-]+|(?:<\w+>)+)", words)) is not None
        and platform in row.platforms
        and dialect in row.dialects
        and (row.predicable or not predicated)
        and (size in row.exec_sizes if size and row.exec_style is not ExecStyle.NONE else True)
    )


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
    assert match_words(row, ["cmpxchg", "64"]) == {"op": [(7, 0x1F), (0x40, 0x60)]}
    assert "".join(m.format(0x47) for m in row.modifiers) == ".cmpxchg.64"
    assert isinstance(row.modifiers[0], Modifier)
